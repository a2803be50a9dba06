"""How often the predicted class is the truly most probable one: a model of soft labels fitted to votes."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import gammaln

from softspread._common.types import BoolArray, FloatArray, IntArray
from softspread.quality.result import Trials
from softspread.votes.repeats import REPEATS

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class AccuracyModel:
    """The grid of shapes of soft labels, and how finely the model is fitted."""

    thetas: tuple[float, ...] = (2.0, 8.0, 32.0, 128.0)  # how closely soft labels stick to their mean
    deltas: tuple[float, ...] = (0.005, 0.02, 0.07, 0.2, 0.4, 0.6)  # what the leading class leaves to others
    groups: int = 3  # accuracy is learned separately for low, middle and high top probability
    items_per_group: int = 30
    draws: int = 50  # of each posterior soft label
    steps: int = 50  # of expectation maximisation
    least_rate: float = 1e-6  # a rate of exactly 0 or 1 could never change again
    most_trials: int = 4_000  # more held-out votes would not change the estimate

    @property
    def shapes(self) -> FloatArray:
        """(shapes, 2) theta, delta."""
        return np.array(list(product(self.thetas, self.deltas)))


MODEL = AccuracyModel()


def estimate_accuracy(
    trials: Trials,
    repeated: BoolArray,
    times: FloatArray,
    rng: np.random.Generator,
    model: AccuracyModel = MODEL,
) -> FloatArray:
    """Share of items whose predicted class is the truly most probable one, for each row of ``times``.

    An item has a leading class and a shape; its soft label is Dirichlet(theta ((1 - delta) e_lead + delta
    m)), m the class shares. Items with two or more votes fix how common each shape (theta, delta) of a grid
    is, the judging votes then fix how often the predicted class leads, both by expectation maximisation;
    draws of the posterior soft label do the rest.
    """
    if len(trials.p) > model.most_trials:
        keep = np.sort(rng.choice(len(trials.p), model.most_trials, replace=False))
        kept = {name: getattr(trials, name)[keep] for name in ("p", "judged", "weights", "item")}
        trials = replace(trials, **kept)
    n_classes = trials.p.shape[1]
    if n_classes < 2:
        return np.ones(len(times))
    marginal = (trials.votes.sum(axis=0) + 1) / (trials.votes.sum() + n_classes)
    sample = trials.votes[repeated]
    if len(sample) > model.most_trials:
        sample = sample[rng.choice(len(sample), model.most_trials, replace=False)]
    likelihood = _likelihoods(trials.judged, marginal, model)  # (t, shapes, leads)
    rows, top = np.arange(len(trials.p)), trials.p.argmax(axis=1)
    # where the predicted class does not lead, any other may; near misses more often
    others = trials.p + marginal
    others[rows, top] = 0.0
    if_not = likelihood * (others / others.sum(axis=1, keepdims=True))[:, None, :]
    if_top = likelihood[rows, :, top]
    start = np.full(len(model.shapes), 1 / len(model.shapes))
    common = np.tile(
        _mixture((_likelihoods(sample, marginal, model) * marginal).sum(axis=2), start, model), (2, 1)
    )
    telling = trials.judged.sum(axis=1) >= 2
    if REPEATS.are_enough(
        int(telling.sum())
    ):  # wrong predictions sit on ambiguous items: their shapes differ
        common = _shapes_by_success(if_top[telling], if_not[telling].sum(axis=2), common[0], model)
    if_top = if_top * common[0]
    if_not = if_not * common[1][:, None]
    ratio = if_top.sum(axis=1) / np.maximum(if_not.sum(axis=(1, 2)), TINY)
    counted = trials.weights * times[:, trials.item]
    leads = _leading(ratio, _confidence_groups(trials.p.max(axis=1), model), counted, model)
    n_shapes = if_top.shape[1]
    wins = np.zeros((2, len(rows)))
    for _ in range(model.draws):
        shape = _draw_columns(if_top, rng)
        wins[0] += _drawn_top(trials.judged, marginal, shape, top, rng, model) == top
        drawn = _draw_columns(if_not.reshape(len(rows), n_shapes * n_classes), rng)
        shape, lead = np.divmod(drawn, n_classes)
        wins[1] += _drawn_top(trials.judged, marginal, shape, lead, rng, model) == top
    wins /= model.draws
    value = leads * wins[0] + (1 - leads) * wins[1]
    return np.asarray((counted * value).sum(axis=1) / np.maximum(counted.sum(axis=1), TINY))


def _leading(ratio: FloatArray, group: IntArray, counted: FloatArray, model: AccuracyModel) -> FloatArray:
    """Posterior chance that the predicted class leads, (samples, t), its rate learned in each group."""
    leads = np.empty_like(counted)
    for number in range(int(group.max(initial=0)) + 1):
        mine = group == number
        weight = counted[:, mine]
        total = np.maximum(weight.sum(axis=1, keepdims=True), TINY)
        rate = np.full((len(counted), 1), 0.5)
        for _ in range(model.steps):
            posterior = rate * ratio[mine] / (rate * ratio[mine] + 1 - rate)
            found = (weight * posterior).sum(axis=1, keepdims=True) / total
            rate = np.clip(found, model.least_rate, 1 - model.least_rate)
        leads[:, mine] = posterior
    return leads


def _confidence_groups(confidence: FloatArray, model: AccuracyModel) -> IntArray:
    n_groups = int(np.clip(len(confidence) // model.items_per_group, 1, model.groups))
    return np.asarray(np.searchsorted(np.quantile(confidence, np.arange(1, n_groups) / n_groups), confidence))


def _mixture(likelihood: FloatArray, common: FloatArray, model: AccuracyModel) -> FloatArray:
    """How common each component is, by maximum likelihood; ``likelihood`` is (items, components)."""
    for _ in range(model.steps):
        joint = likelihood * common
        common = (joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY)).mean(axis=0)
    return np.asarray(common)


def _shapes_by_success(
    if_top: FloatArray, if_not: FloatArray, start: FloatArray, model: AccuracyModel
) -> FloatArray:
    """How common each shape is where the predicted class leads and where it does not, (2, shapes)."""
    common = _mixture(np.concatenate([if_top, if_not], axis=1), np.concatenate([start, start]) / 2, model)
    parts = np.maximum(common.reshape(2, -1), TINY)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _likelihoods(votes: FloatArray, marginal: FloatArray, model: AccuracyModel) -> FloatArray:
    """Dirichlet-multinomial likelihood, (items, shapes, leading classes), up to a factor per item."""
    size = votes.sum(axis=1)
    logs = np.empty((len(votes), len(model.shapes), votes.shape[1]))
    for number, (theta, delta) in enumerate(model.shapes.tolist()):
        spill = theta * delta * marginal
        rising = gammaln(votes + spill) - gammaln(spill)
        first = spill + theta * (1 - delta)
        leading = gammaln(votes + first) - gammaln(first)
        constant = gammaln(theta) - gammaln(size + theta)
        logs[:, number] = (rising.sum(axis=1) + constant)[:, None] + leading - rising
    return np.asarray(np.exp(logs - logs.max(axis=(1, 2), keepdims=True)))


def _drawn_top(
    votes: FloatArray,
    marginal: FloatArray,
    shape: IntArray,
    lead: IntArray,
    rng: np.random.Generator,
    model: AccuracyModel,
) -> IntArray:
    """The largest class of one posterior draw of each item's soft label."""
    theta, delta = model.shapes[shape].T
    parameters = votes + (theta * delta)[:, None] * marginal
    parameters[np.arange(len(votes)), lead] += theta * (1 - delta)
    return np.asarray(rng.standard_gamma(parameters).argmax(axis=1))


def _draw_columns(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """One column of each row, with chances in proportion to the entries."""
    total = np.cumsum(weights, axis=1)
    drawn = rng.random((len(weights), 1)) * total[:, -1:]
    return np.asarray((drawn >= total).sum(axis=1).clip(max=weights.shape[1] - 1))
