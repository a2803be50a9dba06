"""How good are the soft labels, and is it worth to go on? Both from votes alone, without ground truth.

    E|p - f|^2 = |p - t|^2 + var(f):   |p - t|^2  is estimated by  p.p - 2 p.f + sum_c k_c (k_c - 1) / (r (r - 1))

theory: [quality]. f = k / r are the shares of r votes on an item, t is its true soft label. Comparing p with f counts
the noise of few votes as error; pairs of votes on the same item measure that noise, and it is taken off. With
T_v = E sum_c t_c (1 - t_c)^v

    noise of one vote = T_1,     entropy of t = sum_v T_v / v,     T_1 .. T_(r-1) estimated without bias from r votes

What r votes cannot see of the entropy (v >= r) is continued by the moments of a Beta distribution. Stopping: thin the
votes, watch the error fall, continue the curve as a + c m^-g.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import digamma, gammaln

from softspread import checks
from softspread.data import BoolArray, FloatArray, IntArray
from softspread.errors import InputError, MissingExtraError
from softspread.live import SpreadState
from softspread.metrics import KL_FLOOR, ROW_SUM
from softspread.spreading import Diffusion, soft_labels
from softspread.tuning import hold_out, own_reach
from softspread.votes import VoteTable

N_BOOTSTRAP = 400  # the ends of a 90 % interval are then known to about a tenth of its width
FEWEST_REPEATED = 20  # items with two or more votes; below, the noise of votes is not known well enough to be taken off
ENOUGH_ITEMS = 20  # a moment T_v is read off the votes only if this many items have more than v votes
BETA_FIRST = 1.0  # of Beta(a, b) where only T_1 is known: the probability of a random vote's class is uniform near 0
LEAST_BETA_FIRST = 0.5  # a smaller a would put weight on votes that can hardly happen
LARGEST_BETA_SUM = 1e6  # from here the Beta distribution is a point
# Shapes of soft labels: how closely they stick to their mean (theta), what the leading class leaves to others (delta)
SHAPES = tuple((theta, delta) for theta in (2.0, 8.0, 32.0, 128.0) for delta in (0.005, 0.02, 0.07, 0.2, 0.4, 0.6))
CONFIDENCE_GROUPS = 3  # accuracy is learned apart for items with low, middle and high top probability
ITEMS_PER_GROUP = 30
POSTERIOR_DRAWS = 50
EM_STEPS = 50
LEAST_RATE = 1e-6  # a rate of exactly 0 or 1 could never change again
MOST_TRIALS = 4_000  # for accuracy; more held-out votes would not change the estimate
SHARES = (0.35, 0.5, 0.7, 0.85, 1.0)  # of the votes, for the learning curve
THINNINGS = 3  # random subsets per share
EXPONENTS = np.linspace(0.1, 1.5, 29)  # g in a + c m^-g
USUAL_EXPONENT, EXPONENT_SPREAD = 0.6, 0.4  # keeps g sane where the curve is too noisy to tell ...
PRIOR_MISFIT = 0.02  # ... at this share of the curve's variance per squared spread
PRIOR_PAIRS, PRIOR_SHARE = 30.0, 0.7  # noise before repeats are seen: this share of the held-out score, worth 30 pairs
FORECASTS = (0.1, 0.25, 0.5, 1.0)  # further votes in the frame of points, as shares of those so far
FEWEST_VOTES = 30  # a learning curve needs some votes to thin


# ------------------------------------------------------------------------------------------------------------- results
@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with an interval; NaN where the votes cannot tell."""

    value: float
    lower: float
    upper: float

    def __format__(self, spec: str) -> str:
        spec = spec or ".4f"
        return f"{self.value:{spec}} ({self.lower:{spec}} to {self.upper:{spec}})"


UNKNOWN = Estimate(np.nan, np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class Quality:
    """Estimated distance of soft labels from the unknown truth.

    ``brier`` and ``agreement`` compare with single votes and need no repeats; ``rmse``, ``kl`` and ``accuracy`` compare
    with the truth and need items with two or more votes.
    """

    rmse: Estimate
    kl: Estimate
    accuracy: Estimate  # against the truly most probable class
    agreement: Estimate  # share of further votes that name the predicted class
    brier: Estimate  # mean of sum_c (p_c - vote_c)^2 over further votes
    noise: Estimate  # the part of ``brier`` that no method can avoid: the chance that two votes on an item differ
    source: str  # "set apart" or "held out"
    n_items: int
    n_votes: int
    n_repeated: int  # items with two or more votes
    confidence_level: float
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row per measure: measure, value, lower, upper."""
        names = ("rmse", "kl", "accuracy", "agreement", "brier", "noise")
        parts = [getattr(self, name) for name in names]
        return pd.DataFrame(
            {
                "measure": names,
                "value": [part.value for part in parts],
                "lower": [part.lower for part in parts],
                "upper": [part.upper for part in parts],
            }
        )


@dataclass(frozen=True, slots=True, eq=False)
class GainForecast:
    """What further votes are expected to bring."""

    n_votes: int
    more: int
    rmse_now: Estimate
    rmse_then: Estimate
    gain: Estimate  # rmse_now - rmse_then
    points: pd.DataFrame  # votes, rmse, lower, upper, kind ("measured" or "predicted")
    exponent: float  # g of a + c m^-g

    def worthwhile(self, smallest_share: float = 0.02) -> bool:
        """Whether the further votes may lower the RMSE by at least this share; False = stop.

        Judged by the upper end of the gain's interval: stop only when a worthwhile gain is unlikely.
        """
        return bool(self.gain.upper >= checks.not_negative("smallest_share", smallest_share) * self.rmse_now.value)


@dataclass(frozen=True, slots=True, eq=False)
class _Trials:
    """Predictions, the votes that judge them, and all votes of the items they belong to."""

    p: FloatArray  # (t, n_classes)
    judged: FloatArray  # (t, n_classes)  votes that judge; not in p
    weights: FloatArray  # (t,)
    item: IntArray  # (t,)  0 .. items - 1
    votes: FloatArray  # (items, n_classes)  whole votes


# ----------------------------------------------------------------------------------------------------- two entry points
def estimate_quality(
    p: Any,
    counts: Any,
    *,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
) -> Quality:
    """Quality of soft labels, from items with votes of their own that were not used for the soft labels.

    Parameters
    ----------
    p : (items, n_classes) soft labels of a random sample of items, made without the votes in ``counts``
    counts : (items, n_classes) whole votes on these items, two or more on most; single votes help with ``brier``
    confidence_level : of the intervals, which come from a bootstrap over items

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet([0.3, 0.3, 0.3], size=500)
    >>> votes = np.array([rng.multinomial(3, row) for row in truth])
    >>> estimate_quality(truth, votes, rng=rng).rmse.value < 0.05  # three votes look like an RMSE of 0.17
    True
    """
    table, votes = _checked_pair(p, counts)
    level = checks.between_0_and_1("confidence_level", confidence_level)
    size = votes.sum(axis=1)
    table, votes, size = table[size > 0], votes[size > 0], size[size > 0]
    if not len(size):
        raise InputError("counts holds no votes; quality needs items with two or more votes each.")
    trials = _Trials(table, votes, np.ones(len(size)), np.arange(len(size)), votes)
    return _estimate(trials, "set apart", level, rng, checks.count("n_bootstrap", n_bootstrap, smallest=20))


def held_out_quality(
    state: SpreadState,
    prior: FloatArray,
    prior_strength: float,
    *,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
) -> Quality:
    """Quality of the soft labels of all items, from the votes behind them, each held out in turn.

    A vote held out on an item with j + 1 votes judges for the items with j votes. Right for votes on items drawn at
    random; votes on items chosen for their ambiguity overstate the error.

    Parameters
    ----------
    state : the fitted state, refined
    prior : (n, n_classes), in the user's order
    """
    level = checks.between_0_and_1("confidence_level", confidence_level)
    rng = np.random.default_rng() if rng is None else rng
    n = state.diffusion.graph.n_items
    if not len(state.votes):
        raise InputError("there are no votes to hold out; quality needs votes.")
    held = hold_out(state.votes, n, state.n_classes, rng=rng)
    inner = state.diffusion.rank[held.voted]
    reach, at = own_reach(state.diffusion, inner), held.position
    left = state.mass(inner)[at] - held.removed.toarray() * reach[at][:, None]
    p = soft_labels(left, prior[held.voted][at], prior_strength)
    whole = np.round(held.own)
    whole[(np.abs(whole - held.own) > ROW_SUM).any(axis=1)] = 0.0  # soft votes say nothing about the noise of votes
    trials = _Trials(p, held.judged.toarray(), held.shares, at, whole)
    return _estimate(trials, "held out", level, rng, checks.count("n_bootstrap", n_bootstrap, smallest=20))


def _checked_pair(p: Any, counts: Any) -> tuple[FloatArray, FloatArray]:
    try:
        table, votes = np.asarray(p, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("p and counts must be tables of numbers, items by classes.") from error
    if table.ndim != 2 or table.shape != votes.shape:
        raise InputError(f"p and counts must have one shape (items, n_classes), got {table.shape} and {votes.shape}.")
    if not np.isfinite(table).all() or (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > ROW_SUM).any():
        raise InputError("the rows of p must be probabilities: not negative, summing to 1.")
    if not np.isfinite(votes).all() or (votes < 0).any() or (votes != np.round(votes)).any():
        raise InputError("counts must be whole numbers of votes, 0 or more; soft votes cannot show the noise of votes.")
    return table, votes


# ------------------------------------------------------------------------------------------------------------ estimates
def _estimate(trials: _Trials, source: str, level: float, rng: np.random.Generator | None, n_bootstrap: int) -> Quality:
    rng = np.random.default_rng() if rng is None else rng
    n_items = len(trials.votes)
    # Row 0 counts every item once: the estimate itself. The others are bootstrap samples of the items.
    times = np.vstack([np.ones(n_items), rng.multinomial(n_items, np.full(n_items, 1 / n_items), size=n_bootstrap)])
    f = trials.judged / trials.judged.sum(axis=1, keepdims=True)
    top = trials.p.argmax(axis=1)
    squares = np.einsum("ij,ij->i", trials.p, trials.p)
    brier = _mean(trials, squares - 2 * np.einsum("ij,ij->i", trials.p, f) + 1, times)
    agreement = _mean(trials, f[np.arange(len(top)), top], times)
    repeated = trials.votes.sum(axis=1) >= 2
    n_repeated = int(repeated.sum())
    rmse = kl = accuracy = noise = UNKNOWN
    notes = []
    if n_repeated >= FEWEST_REPEATED:
        moments = vote_moments(trials.votes, times)
        noise = _interval(moments[0], level)
        n_classes = trials.p.shape[1]
        rmse = _interval(np.sqrt(np.maximum(brier - moments[0], 0.0) / n_classes), level)
        cross = _mean(trials, -(f * np.log(np.maximum(trials.p, KL_FLOOR))).sum(axis=1), times)
        kl = _interval(np.maximum(cross - entropy_from_moments(moments), 0.0), level)
        accuracy = _interval(_accuracy(trials, repeated, times, rng), level)
    else:
        highest = np.sqrt(brier[0] / trials.p.shape[1])
        notes.append(
            f"only {n_repeated} items have two or more votes, {FEWEST_REPEATED} are needed to tell the noise of votes "
            f"from error: RMSE, KL and accuracy stay unknown. RMSE is at most about {highest:.3f}."
        )
    return Quality(
        rmse,
        kl,
        accuracy,
        _interval(agreement, level),
        _interval(brier, level),
        noise,
        source,
        n_items,
        int(trials.votes.sum()),
        n_repeated,
        level,
        tuple(notes),
    )


def _interval(values: FloatArray, level: float) -> Estimate:
    """The estimate (first) and the bootstrap's quantiles."""
    drawn = values[1:][np.isfinite(values[1:])]
    if not len(drawn):
        return Estimate(float(values[0]), np.nan, np.nan)
    lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(values[0]), float(min(lower, values[0])), float(max(upper, values[0])))


def _mean(trials: _Trials, values: FloatArray, times: FloatArray) -> FloatArray:
    """Weighted mean over trials for each row of ``times``."""
    n_items = len(trials.votes)
    total = np.bincount(trials.item, trials.weights * values, n_items)
    weight = np.bincount(trials.item, trials.weights, n_items)
    return np.asarray((times @ total) / np.maximum(times @ weight, np.finfo(np.float64).tiny))


def vote_moments(votes: FloatArray, times: FloatArray | None = None) -> FloatArray:
    """T_1, T_2, ...: unbiased estimates of the mean over items of sum_c t_c (1 - t_c)^v, (V, rows of ``times``).

    Parameters
    ----------
    votes : (items, n_classes) whole votes
    times : (samples, items) how often each item counts; None = once

    Examples
    --------
    >>> vote_moments(np.array([[1.0, 1.0], [2.0, 0.0]])).ravel().tolist()
    [0.5]
    """
    size = votes.sum(axis=1)
    times = np.ones((1, len(size))) if times is None else times
    order = np.sort(size)[::-1]
    enough = min(ENOUGH_ITEMS, int((size >= 2).sum()))
    n_moments = max(1, int(order[enough - 1]) - 1) if enough else 1
    term = votes / np.maximum(size, 1.0)[:, None]  # the share of votes for c, times the chance that v others all differ
    moments = []
    for v in range(1, n_moments + 1):
        usable = size > v
        others = np.maximum(size - v, 1.0)[:, None]
        term = np.where(usable[:, None], term * np.maximum(size[:, None] - votes - (v - 1), 0.0) / others, 0.0)
        weight = times @ usable
        moments.append((times @ term.sum(axis=1)) / np.where(weight > 0, weight, np.nan))
    return np.array(moments)


def entropy_from_moments(moments: FloatArray) -> FloatArray:
    """Mean entropy sum_v T_v / v, (samples,), the unseen terms continued by those of a Beta distribution.

    If the probability x of a random vote's class has a Beta(a, b) distribution, T_v = E(1 - x)^v and the whole sum is
    digamma(a + b) - digamma(a). T_1 and T_2 give a and b; the continuation starts at the last moment that was seen.
    """
    first = np.clip(moments[0], 1e-12, 1 - 1e-12)
    n_moments = len(moments)
    total = np.full_like(first, BETA_FIRST) / (1 - first)
    if n_moments > 1:
        ratio = np.clip(moments[1] / first, 0.0, 1 - 1e-9)
        with np.errstate(divide="ignore"):
            fitted = np.where(ratio > first, (1 - ratio) / np.where(ratio > first, ratio - first, 1.0), np.inf)
        total = np.clip(fitted, LEAST_BETA_FIRST / (1 - first), LARGEST_BETA_SUM)
    a, b = total * (1 - first), total * first
    seen, modelled, term = np.zeros_like(first), np.zeros_like(first), np.ones_like(first)
    for v in range(1, n_moments + 1):
        term = term * (b + v - 1) / (total + v - 1)
        seen += moments[v - 1] / v
        modelled += term / v
    rest = np.maximum(digamma(total) - digamma(a) - modelled, 0.0)
    return np.asarray(seen + rest * np.maximum(moments[-1], 0.0) / np.maximum(term, np.finfo(np.float64).tiny))


# ------------------------------------------------------------------------------------------------------------- accuracy
def _accuracy(trials: _Trials, repeated: BoolArray, times: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Share of items whose predicted class is the truly most probable one, for each row of ``times``.

    An item has a leading class and a shape; its soft label is Dirichlet(theta ((1 - delta) e_lead + delta m)), m the
    class shares. Items with two or more votes fix how common each shape (theta, delta) of a grid is, the judging votes
    then fix how often the predicted class leads, both by expectation maximisation; draws of the posterior soft label do
    the rest.
    """
    if len(trials.p) > MOST_TRIALS:
        keep = np.sort(rng.choice(len(trials.p), MOST_TRIALS, replace=False))
        trials = _Trials(trials.p[keep], trials.judged[keep], trials.weights[keep], trials.item[keep], trials.votes)
    n_classes = trials.p.shape[1]
    marginal = (trials.votes.sum(axis=0) + 1) / (trials.votes.sum() + n_classes)
    sample = trials.votes[repeated]
    if len(sample) > MOST_TRIALS:
        sample = sample[rng.choice(len(sample), MOST_TRIALS, replace=False)]
    likelihood = _likelihoods(trials.judged, marginal)  # (t, shapes, leads)
    rows, top = np.arange(len(trials.p)), trials.p.argmax(axis=1)
    others = trials.p + marginal  # where the predicted class does not lead, any other may; near misses more often
    others[rows, top] = 0.0
    if_not = likelihood * (others / others.sum(axis=1, keepdims=True))[:, None, :]
    if_top = likelihood[rows, :, top]
    common = np.tile(_common_shapes(sample, marginal), (2, 1))
    telling = trials.judged.sum(axis=1) >= 2
    if telling.sum() >= FEWEST_REPEATED:  # wrong predictions sit on ambiguous items: their shapes are learned apart
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
        shape, lead = np.divmod(_draw_columns(if_not.reshape(len(rows), n_shapes * n_classes), rng), n_classes)
        wins[1] += _drawn_top(trials.judged, marginal, shape, lead, rng) == top
    wins /= POSTERIOR_DRAWS
    value = leads * wins[0] + (1 - leads) * wins[1]
    return np.asarray((counted * value).sum(axis=1) / np.maximum(counted.sum(axis=1), np.finfo(np.float64).tiny))


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
            rate = np.clip((weight * posterior).sum(axis=1, keepdims=True) / total, LEAST_RATE, 1 - LEAST_RATE)
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
        common = (joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)).mean(axis=0)
    return np.asarray(common)


def _shapes_by_success(if_top: FloatArray, if_not: FloatArray, start: FloatArray) -> FloatArray:
    """How common each shape is where the predicted class leads and where it does not, (2, shapes)."""
    both = np.concatenate([if_top, if_not], axis=1)
    common = np.concatenate([start, start]) / 2
    for _ in range(EM_STEPS):
        joint = both * common
        common = (joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)).mean(axis=0)
    parts = np.maximum(common.reshape(2, -1), np.finfo(np.float64).tiny)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _likelihoods(votes: FloatArray, marginal: FloatArray) -> FloatArray:
    """Dirichlet-multinomial likelihood of the votes, (items, shapes, leading classes), up to a factor per item."""
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


# ------------------------------------------------------------------------------------------------------------- stopping
def predict_gain(
    diffusions: Sequence[Diffusion],
    votes: VoteTable,
    n_classes: int,
    more: int,
    *,
    prior: FloatArray | None = None,
    prior_strength: float = 1e-4,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
) -> GainForecast:
    """How far ``more`` further votes, placed like the present ones, would lower the RMSE.

    Parameters
    ----------
    diffusions : the graph at the alpha in use, or at several: each number of votes then takes its best one
    votes : whole votes, in the user's numbering
    more : number of further votes
    prior : (n, n_classes); None = uniform

    Notes
    -----
    Cost: 13 solves per diffusion. Votes are thinned at random to 35, 50, 70 and 85 %, three times each; each subset's
    expected squared error is fitted by a + c m^-g. The interval comes from a bootstrap over voted items.
    """
    level = checks.between_0_and_1("confidence_level", confidence_level)
    more = checks.count("more", more, smallest=1)
    rng = np.random.default_rng() if rng is None else rng
    n = diffusions[0].graph.n_items if len(diffusions) else 0
    counts = votes.counts(n, n_classes) if n else np.zeros((0, 0))
    if not n or (counts != np.round(counts)).any() or counts.sum() < FEWEST_VOTES:
        raise InputError(
            f"a forecast needs a diffusion and at least {FEWEST_VOTES} whole votes, got "
            f"{len(diffusions)} diffusions and {counts.sum():g} votes."
        )
    share = np.full(n_classes, 1 / n_classes) if prior is None else prior
    given = np.broadcast_to(share, (n, n_classes))
    voted = np.flatnonzero(counts.sum(axis=1))
    times = np.vstack(
        [np.ones(len(voted)), rng.multinomial(len(voted), np.full(len(voted), 1 / len(voted)), n_bootstrap)]
    )
    subsets = _thin(counts, rng)
    parts = [[_judge(d, subset, counts, voted, given[voted], prior_strength) for subset in subsets] for d in diffusions]
    noise = _noise(counts[voted], times, parts)
    errors = np.array([[_error(part, noise, times) for part in one] for one in parts])  # (alphas, subsets, samples)
    best = errors[:, :, 0].argmin(axis=0)
    curve = np.maximum(errors[best, np.arange(len(subsets))], 0.0) / n_classes
    return _forecast(np.array([subset.sum() for subset in subsets]), curve, more, level)


def _thin(counts: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
    """Random subsets of the votes, (n, n_classes) each, the last one holding all."""
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns].astype(np.int64)
    votes = np.repeat(np.arange(len(rows)), times)
    subsets = []
    for share in SHARES:
        for _ in range(THINNINGS if share < 1 else 1):
            kept = rng.permutation(votes)[: round(share * len(votes))]
            subset = np.zeros_like(counts)
            subset[rows, columns] = np.bincount(kept, minlength=len(rows))
            subsets.append(subset)
    return subsets


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """One subset of the votes, as seen by every voted item with its own votes left out."""

    brier: FloatArray  # (v,)  of the others' prediction against all votes of the item
    evidence: FloatArray  # (v,)  of the others and the prior
    reach: FloatArray  # (v,)  phi_qq
    share: FloatArray  # of all items, with 0, 1, ... votes in the subset


def _judge(
    diffusion: Diffusion, subset: FloatArray, counts: FloatArray, voted: IntArray, prior: FloatArray, strength: float
) -> _Judged:
    rows, columns = np.nonzero(subset)
    state = SpreadState(diffusion, VoteTable(rows, columns, subset[rows, columns]), subset.shape[1])
    state.solve()
    inner = diffusion.rank[voted]
    reach = own_reach(diffusion, inner)
    left = np.maximum(state.mass(inner) - reach[:, None] * subset[voted], 0.0)
    p = soft_labels(left, prior, strength)
    f = counts[voted] / counts[voted].sum(axis=1, keepdims=True)
    brier = np.einsum("ij,ij->i", p, p) - 2 * np.einsum("ij,ij->i", p, f) + 1
    own = np.bincount(subset.sum(axis=1).astype(np.int64))
    return _Judged(brier, left.sum(axis=1) + strength, reach, own / len(subset))


def _noise(votes: FloatArray, times: FloatArray, parts: list[list[_Judged]]) -> FloatArray:
    """The chance that two votes on an item differ, (samples,): from repeats, at most the lowest held-out score."""
    mean = [times @ one[-1].brier / times.sum(axis=1) for one in parts]
    lowest = np.min(mean, axis=0)
    size = votes.sum(axis=1)
    pairs = times @ np.maximum(size - 1, 0.0)
    same = (votes * (votes - 1)).sum(axis=1) / np.maximum(size, 1.0)  # (r - 1) times the share of equal pairs
    differing = pairs - times @ same
    return np.asarray(np.minimum(lowest, (differing + PRIOR_PAIRS * PRIOR_SHARE * lowest) / (pairs + PRIOR_PAIRS)))


def _error(part: _Judged, noise: FloatArray, times: FloatArray) -> FloatArray:
    """Expected sum_c (p - t)^2 of an item, (samples,), theory [expected error].

    With others' prediction q and j own votes of total mass j phi_qq, p = (1 - w) q + w f and
    E|p - t|^2 = (1 - w)^2 |q - t|^2 + w^2 noise / j; averaged over j as it is among all items.
    """
    total = times.sum(axis=1)
    error = np.zeros(len(times))
    for j, share in enumerate(part.share.tolist()):
        if share == 0:
            continue
        w = j * part.reach / (part.evidence + j * part.reach) if j else np.zeros_like(part.brier)
        kept = (1 - w) ** 2
        own = w**2 / max(j, 1)
        error += share * (times @ (kept * part.brier) + noise * (times @ (own - kept))) / total
    return error


def _forecast(m: FloatArray, curve: FloatArray, more: int, level: float) -> GainForecast:
    """Fit a + c m^-g to mean squared errors (subsets, samples) and read it off beyond the votes so far."""
    n_votes = int(m[-1])
    ahead = np.array(sorted({round(n_votes * (1 + share)) for share in FORECASTS} | {n_votes, n_votes + more}))
    fitted, exponents = _fit_power(m, curve, ahead)
    rmse = np.sqrt(fitted)  # (ahead, samples)
    now, then = rmse[ahead == n_votes][0], rmse[ahead == n_votes + more][0]
    measured = np.unique(m)
    points = [(int(votes), _interval(np.sqrt(curve[m == votes].mean(axis=0)), level), "measured") for votes in measured]
    points += [(int(votes), _interval(row, level), "predicted") for votes, row in zip(ahead, rmse, strict=True)]
    frame = pd.DataFrame(
        {
            "votes": [votes for votes, _, _ in points],
            "rmse": [value.value for _, value, _ in points],
            "lower": [value.lower for _, value, _ in points],
            "upper": [value.upper for _, value, _ in points],
            "kind": [kind for _, _, kind in points],
        }
    )
    return GainForecast(
        n_votes, more, _interval(now, level), _interval(then, level), _interval(now - then, level), frame, exponents
    )


def _fit_power(m: FloatArray, curve: FloatArray, ahead: FloatArray) -> tuple[FloatArray, float]:
    """Least squares of a + c m^-g with a, c >= 0, for each sample; values at ``ahead`` and the first sample's g."""
    unit = float(m[-1])
    weight = np.sqrt(m / unit)  # more votes, less noise
    n_samples = curve.shape[1]
    best, values, exponent = np.full(n_samples, np.inf), np.zeros((len(ahead), n_samples)), USUAL_EXPONENT
    scale = np.var(curve - curve.mean(axis=0), axis=0) + np.finfo(np.float64).tiny
    for g in EXPONENTS.tolist():
        x = (m / unit) ** -g
        slope = _covariance(x, curve, weight) / _covariance(x, x[:, None], weight)
        slope = np.maximum(slope, 0.0)
        middle = np.average(curve, axis=0, weights=weight**2)
        level = middle - slope * np.average(x, weights=weight**2)
        sunk = level < 0  # then the curve through 0 that fits best
        through = ((weight**2 * x) @ curve) / float((weight**2 * x) @ x)
        slope, level = np.where(sunk, through, slope), np.where(sunk, 0.0, level)
        misfit = ((weight[:, None] * (curve - level - np.outer(x, slope))) ** 2).mean(axis=0) / scale
        score = misfit + PRIOR_MISFIT * ((g - USUAL_EXPONENT) / EXPONENT_SPREAD) ** 2
        better = score < best
        best = np.where(better, score, best)
        values[:, better] = level[better] + np.outer((ahead / unit) ** -g, slope[better])
        if better[0]:
            exponent = g
    return values, exponent


def _covariance(x: FloatArray, Y: FloatArray, weight: FloatArray) -> FloatArray:
    w = weight**2 / (weight**2).sum()
    return np.asarray((w * (x - w @ x)) @ (Y - w @ Y))


def plot_forecast(forecast: GainForecast, axes: Any = None) -> Any:
    """Draw measured and predicted RMSE against the number of votes; returns matplotlib axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError('plots need: pip install "softspread[report]"') from error
    axes = plt.figure(figsize=(6, 4)).add_subplot() if axes is None else axes
    for kind, style in (("measured", "o"), ("predicted", "--s")):
        part = forecast.points[forecast.points["kind"] == kind]
        axes.plot(part["votes"], part["rmse"], style, label=kind)
        if kind == "predicted":
            axes.fill_between(part["votes"], part["lower"], part["upper"], alpha=0.2)
    axes.axvline(forecast.n_votes, color="grey", linewidth=0.8)
    axes.set_xlabel("votes")
    axes.set_ylabel("RMSE")
    axes.legend()
    return axes
