"""How often the predicted class is the truly most probable one: a model of soft labels, fitted to the
votes.
"""

import numpy as np
from scipy.special import gammaln

from softspread._common.types import BoolArray, FloatArray, IntArray
from softspread.quality.result import FEWEST_REPEATED, Trials

# Shapes of soft labels: how closely they stick to their mean (theta), what the leading class leaves to others
# (delta)
SHAPES = tuple(
    (theta, delta) for theta in (2.0, 8.0, 32.0, 128.0) for delta in (0.005, 0.02, 0.07, 0.2, 0.4, 0.6)
)
CONFIDENCE_GROUPS = 3  # accuracy is learned apart for items with low, middle and high top probability
ITEMS_PER_GROUP = 30
POSTERIOR_DRAWS = 50
EM_STEPS = 50
LEAST_RATE = 1e-6  # a rate of exactly 0 or 1 could never change again
MOST_TRIALS = 4_000  # for accuracy; more held-out votes would not change the estimate


def estimate_accuracy(
    trials: Trials, repeated: BoolArray, times: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Share of items whose predicted class is the truly most probable one, for each row of ``times``.

    An item has a leading class and a shape; its soft label is Dirichlet(theta ((1 - delta) e_lead + delta
    m)), m the class shares. Items with two or more votes fix how common each shape (theta, delta) of a grid
    is, the judging votes then fix how often the predicted class leads, both by expectation maximisation;
    draws of the posterior soft label do the rest.
    """
    if len(trials.p) > MOST_TRIALS:
        keep = np.sort(rng.choice(len(trials.p), MOST_TRIALS, replace=False))
        trials = Trials(
            trials.p[keep], trials.judged[keep], trials.weights[keep], trials.item[keep], trials.votes
        )
    n_classes = trials.p.shape[1]
    if n_classes < 2:
        return np.ones(len(times))
    marginal = (trials.votes.sum(axis=0) + 1) / (trials.votes.sum() + n_classes)
    sample = trials.votes[repeated]
    if len(sample) > MOST_TRIALS:
        sample = sample[rng.choice(len(sample), MOST_TRIALS, replace=False)]
    likelihood = _likelihoods(trials.judged, marginal)  # (t, shapes, leads)
    rows, top = np.arange(len(trials.p)), trials.p.argmax(axis=1)
    others = (
        trials.p + marginal
    )  # where the predicted class does not lead, any other may; near misses more often
    others[rows, top] = 0.0
    if_not = likelihood * (others / others.sum(axis=1, keepdims=True))[:, None, :]
    if_top = likelihood[rows, :, top]
    common = np.tile(_common_shapes(sample, marginal), (2, 1))
    telling = trials.judged.sum(axis=1) >= 2
    if (
        telling.sum() >= FEWEST_REPEATED
    ):  # wrong predictions sit on ambiguous items: their shapes are learned apart
        common = _shapes_by_success(if_top[telling], if_not[telling].sum(axis=2), common[0])
    if_top = if_top * common[0]
    if_not = if_not * common[1][:, None]
    ratio = if_top.sum(axis=1) / np.maximum(if_not.sum(axis=(1, 2)), np.finfo(np.float64).tiny)
    counted = trials.weights * times[:, trials.item]
    leads = _leading(ratio, _confidence_groups(trials.p.max(axis=1)), counted)
    n_shapes = if_top.shape[1]
    wins = np.zeros((2, len(rows)))
    for _ in range(POSTERIOR_DRAWS):
        wins[0] += _drawn_top(trials.judged, marginal, _draw_columns(if_top, rng), top, rng) == top
        shape, lead = np.divmod(
            _draw_columns(if_not.reshape(len(rows), n_shapes * n_classes), rng), n_classes
        )
        wins[1] += _drawn_top(trials.judged, marginal, shape, lead, rng) == top
    wins /= POSTERIOR_DRAWS
    value = leads * wins[0] + (1 - leads) * wins[1]
    return np.asarray(
        (counted * value).sum(axis=1) / np.maximum(counted.sum(axis=1), np.finfo(np.float64).tiny)
    )


def _leading(ratio: FloatArray, group: IntArray, counted: FloatArray) -> FloatArray:
    """Posterior chance that the predicted class leads, (samples, t), its rate learned in each group."""
    leads = np.empty_like(counted)
    for number in range(int(group.max(initial=0)) + 1):
        mine = group == number
        weight = counted[:, mine]
        total = np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        rate = np.full((len(counted), 1), 0.5)
        for _ in range(EM_STEPS):
            posterior = rate * ratio[mine] / (rate * ratio[mine] + 1 - rate)
            rate = np.clip(
                (weight * posterior).sum(axis=1, keepdims=True) / total, LEAST_RATE, 1 - LEAST_RATE
            )
        leads[:, mine] = posterior
    return leads


def _confidence_groups(confidence: FloatArray) -> IntArray:
    n_groups = int(np.clip(len(confidence) // ITEMS_PER_GROUP, 1, CONFIDENCE_GROUPS))
    return np.asarray(np.searchsorted(np.quantile(confidence, np.arange(1, n_groups) / n_groups), confidence))


def _common_shapes(votes: FloatArray, marginal: FloatArray) -> FloatArray:
    """How common each shape is, (shapes,), by maximum likelihood."""
    likelihood = (_likelihoods(votes, marginal) * marginal).sum(axis=2)
    common = np.full(len(SHAPES), 1 / len(SHAPES))
    for _ in range(EM_STEPS):
        joint = likelihood * common
        common = (joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)).mean(
            axis=0
        )
    return np.asarray(common)


def _shapes_by_success(if_top: FloatArray, if_not: FloatArray, start: FloatArray) -> FloatArray:
    """How common each shape is where the predicted class leads and where it does not, (2, shapes)."""
    both = np.concatenate([if_top, if_not], axis=1)
    common = np.concatenate([start, start]) / 2
    for _ in range(EM_STEPS):
        joint = both * common
        common = (joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)).mean(
            axis=0
        )
    parts = np.maximum(common.reshape(2, -1), np.finfo(np.float64).tiny)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _likelihoods(votes: FloatArray, marginal: FloatArray) -> FloatArray:
    """Dirichlet-multinomial likelihood of the votes, (items, shapes, leading classes), up to a factor per
    item.
    """
    size = votes.sum(axis=1)
    logs = np.empty((len(votes), len(SHAPES), votes.shape[1]))
    for number, (theta, delta) in enumerate(SHAPES):
        spill = theta * delta * marginal
        rising = gammaln(votes + spill) - gammaln(spill)
        first = spill + theta * (1 - delta)
        leading = gammaln(votes + first) - gammaln(first)
        constant = gammaln(theta) - gammaln(size + theta)
        logs[:, number] = (rising.sum(axis=1) + constant)[:, None] + leading - rising
    return np.asarray(np.exp(logs - logs.max(axis=(1, 2), keepdims=True)))


def _drawn_top(
    votes: FloatArray, marginal: FloatArray, shape: IntArray, lead: IntArray, rng: np.random.Generator
) -> IntArray:
    """The largest class of one posterior draw of each item's soft label."""
    theta, delta = np.array(SHAPES)[shape].T
    parameters = votes + (theta * delta)[:, None] * marginal
    parameters[np.arange(len(votes)), lead] += theta * (1 - delta)
    return np.asarray(rng.standard_gamma(parameters).argmax(axis=1))


def _draw_columns(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """One column of each row, with chances in proportion to the entries."""
    total = np.cumsum(weights, axis=1)
    drawn = rng.random((len(weights), 1)) * total[:, -1:]
    return np.asarray((drawn >= total).sum(axis=1).clip(max=weights.shape[1] - 1))
