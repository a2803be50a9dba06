"""How good are the soft labels, and is it worth to go on? Both from votes alone, without ground truth.

    E|p - f|^2 = |p - t|^2 + var(f):   |p - t|^2  is estimated by  p.p - 2 p.f + sum_c k_c (k_c - 1) / (r (r - 1))

theory: [quality]. f = k / r are the shares of r votes on an item, t is its true soft label. Comparing p with f counts
the noise of few votes as error; pairs of votes on the same item measure that noise, and it is taken off. With
T_v = E sum_c t_c (1 - t_c)^v

    noise of one vote = T_1,     entropy of t = sum_v T_v / v,     T_1 .. T_(r-1) estimated without bias from r votes

What r votes cannot see of the entropy (v >= r) is continued by the moments of a Beta distribution, made heavier as in
real crowds; the interval of KL holds every continuation that is possible. Stopping: thin the votes, watch held-out
predictions improve, continue their curve as a + c m^-g, then add the own votes that items will have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import digamma, entr, gammaln, pdtrik, xlogy

from softspread import checks
from softspread.data import BoolArray, FloatArray, IntArray
from softspread.errors import InputError, MissingExtraError
from softspread.intervals import wilson
from softspread.live import SpreadState
from softspread.metrics import KL_FLOOR, ROW_SUM
from softspread.spreading import Diffusion, soft_labels
from softspread.tuning import hold_out, own_reach
from softspread.votes import VoteTable

N_BOOTSTRAP = 400  # the ends of a 90 % interval are then known to about a tenth of its width
FEWEST_REPEATED = 20  # items with two or more votes; below, the noise of votes is not known well enough to be taken off
ENOUGH_ITEMS = 20  # a moment T_v is read off the votes only if this many items have more than v votes
BETA_FIRST = 0.75  # a of Beta(a, b) where only T_1 is known; real crowds would ask for 0.7 to 0.9, see docs/quality.md
LEAST_BETA_FIRST = 0.5  # a smaller a would put weight on votes that can hardly happen
LARGEST_BETA_SUM = 1e6  # from here the Beta distribution is a point
HEAVIER_TAIL = 4 / 3  # clear items with rare slips: real crowds have so much more unseen entropy than one Beta, or less
RANGE_MOMENTS = 3  # that bound the entropy; later ones are too noisy to rule anything out
BOUND_POINTS = 2_000  # of the curve of largest entropy, to find where a line touches it
UNKNOWN_NOISE = 0.5  # without repeats the noise is anything from nothing to the whole Brier score: half of it is named
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
CURVE_DOUBT = 0.25  # share of the predicted gain by which real continuations missed it, see docs/quality.md
NOISE_SHARES = 200  # steps of the share of the held-out score that may be noise
FORECASTS = (0.1, 0.25, 0.5, 1.0)  # further votes in the frame of points, as shares of those so far
FEWEST_VOTES = 30  # a learning curve needs some votes to thin


# ------------------------------------------------------------------------------------------------------------- results
@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with an interval."""

    value: float
    lower: float
    upper: float

    def __format__(self, spec: str) -> str:
        spec = spec or ".4f"
        return f"{self.value:{spec}} ({self.lower:{spec}} to {self.upper:{spec}})"


@dataclass(frozen=True, slots=True)
class Quality:
    """Estimated distance of soft labels from the unknown truth.

    ``brier`` and ``agreement`` compare with single votes and need no repeats. ``rmse``, ``kl`` and ``accuracy`` compare
    with the truth and need 20 items with two or more votes; with fewer, their intervals hold all that is possible,
    their values are a point inside, and ``notes`` says so.
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
    exponent: float  # g of a + c m^-g, the curve of held-out scores

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


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """One subset of the votes, as seen by every voted item with its own votes left out."""

    brier: FloatArray  # (v,)  of the others' prediction against all votes of the item
    evidence: FloatArray  # (v,)  of the others and the prior
    reach: FloatArray  # (v,)  phi_qq
    share: FloatArray  # of all items, with 0, 1, ... votes in the subset


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
    >>> quality = estimate_quality(0.8 * truth + 0.2 / 3, votes, rng=rng)
    >>> quality.rmse.lower < 0.067 < quality.rmse.upper < 0.2  # 0.067 is true; shares of votes as truth would say 0.207
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
    cast: VoteTable | None = None,
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
    cast : the votes before annotators were weighted, of those who can be trusted: they tell the noise of votes, which
        weights hide; None where all votes count as they were cast
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
    own = held.own if cast is None else cast.counts(n, state.n_classes)[held.voted]
    whole = np.round(own)
    whole[(np.abs(whole - own) > ROW_SUM).any(axis=1)] = 0.0  # soft votes say nothing about the noise of votes
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
    n_items, n_classes = trials.votes.shape
    # Row 0 counts every item once: the estimate itself. The others are bootstrap samples of the items.
    times = np.vstack([np.ones(n_items), rng.multinomial(n_items, np.full(n_items, 1 / n_items), size=n_bootstrap)])
    f = trials.judged / trials.judged.sum(axis=1, keepdims=True)
    top = trials.p.argmax(axis=1)
    squares = np.einsum("ij,ij->i", trials.p, trials.p)
    brier = _mean(trials, squares - 2 * np.einsum("ij,ij->i", trials.p, f) + 1, times)
    agreement = _interval(_mean(trials, f[np.arange(len(top)), top], times), level)
    # a bootstrap of items that all agree knows no doubt
    agreed = n_items * agreement.value
    lower, upper = (float(ends[0, 0]) for ends in wilson(np.array([[agreed, n_items - agreed]]), level))
    agreement = Estimate(agreement.value, min(agreement.lower, lower), max(agreement.upper, upper))
    repeated = trials.votes.sum(axis=1) >= 2
    n_repeated = int(repeated.sum())
    cross = _mean(trials, -(f * np.log(np.maximum(trials.p, KL_FLOOR))).sum(axis=1), times)
    notes = []
    if n_repeated >= FEWEST_REPEATED:
        moments = vote_moments(trials.votes, times)
        noise = _interval(moments[0], level)
        rmse = _interval(np.sqrt(np.maximum(brier - moments[0], 0.0) / n_classes), level)
        kl = _kl(cross, moments, n_classes, level)
        accuracy = _interval(_accuracy(trials, repeated, times, rng), level)
    else:
        rmse, kl, accuracy, noise = _all_possible(brier, cross, agreement, n_classes, level)
        notes.append(
            f"items with two or more votes: {n_repeated}; {FEWEST_REPEATED} are needed to tell the noise of votes from "
            "error: the intervals of RMSE, KL and accuracy hold all that is possible, their values are a guess. "
            f"RMSE is at most {rmse.upper:.3f} or so. Get second votes on {FEWEST_REPEATED - n_repeated} more items."
        )
    return Quality(
        rmse,
        kl,
        accuracy,
        agreement,
        _interval(brier, level),
        noise,
        source,
        n_items,
        int(trials.votes.sum()),
        n_repeated,
        level,
        tuple(notes),
    )


def _kl(cross: FloatArray, moments: FloatArray, n_classes: int, level: float) -> Estimate:
    """Cross entropy less entropy; the interval holds every entropy that the moments allow."""
    least, most = entropy_range(moments[:, 0], n_classes)
    entropy = entropy_from_moments(moments)
    moved = float(np.clip(entropy[0], least, most))
    plain = _interval(np.maximum(cross - entropy + (entropy[0] - moved), 0.0), level)
    lower, upper = plain.lower - (most - moved), plain.upper + (moved - least)
    return Estimate(plain.value, max(0.0, lower), upper)


def _all_possible(
    brier: FloatArray, cross: FloatArray, agreed: Estimate, n_classes: int, level: float
) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """RMSE, KL, accuracy and noise where nothing tells noise from error; the intervals hold both extremes.

    A predicted class that does not lead has a share of at most 1/2, so agreement <= accuracy + (1 - accuracy) / 2.
    """
    score, information = _interval(brier, level), _interval(cross, level)
    squared = (1 - UNKNOWN_NOISE) * score.value / n_classes
    return (
        Estimate(float(np.sqrt(squared)), 0.0, float(np.sqrt(score.upper / n_classes))),
        Estimate((1 - UNKNOWN_NOISE) * information.value, 0.0, information.upper),
        Estimate(agreed.value, max(0.0, 2 * agreed.lower - 1), 1.0),
        Estimate(UNKNOWN_NOISE * score.value, 0.0, score.upper),
    )


def _interval(values: FloatArray, level: float) -> Estimate:
    """The estimate (first) and the bootstrap's quantiles."""
    drawn = values[1:][np.isfinite(values[1:])]
    if not len(drawn):
        return Estimate(float(values[0]), float(values[0]), float(values[0]))
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
    """Mean entropy sum_v T_v / v, (samples,), from T_1 .. T_V, (V, samples); what lies beyond T_V is continued.

    Examples
    --------
    >>> float(entropy_from_moments(np.zeros((2, 1)))[0]) < 1e-9
    True
    """
    order = np.arange(1, len(moments) + 1)[:, None]
    return np.asarray((moments / order).sum(axis=0) + _unseen_entropy(moments))


def entropy_range(moments: FloatArray, n_classes: int) -> tuple[float, float]:
    """The smallest and largest mean entropy of soft labels with the moments T_1 .. T_V, (V,).

    Notes
    -----
    One moment: :func:`entropy_bounds`. More: also a linear programme over how often a class probability t occurs,
    with sum_t = n_classes, mean of the sum of t = 1 and the first three moments. Estimated moments that no soft labels
    have are first moved to the nearest ones that some have.

    Examples
    --------
    >>> truth = np.array([0.9, 0.1])
    >>> least, most = entropy_range(np.array([(truth * (1 - truth) ** v).sum() for v in (1, 2, 3)]), 2)
    >>> bool(least <= -(truth * np.log(truth)).sum() + 1e-3 and most < 0.4)
    True
    """
    from scipy.optimize import linprog, nnls  # slow to load, and only needed here

    least, most = (float(end[0]) for end in entropy_bounds(moments[:1], n_classes))
    used = moments[:RANGE_MOMENTS]
    if len(used) < 2 or n_classes < 2:
        return least, most
    t = np.concatenate([[0.0], np.geomspace(1e-5, 0.05, 60), np.arange(6, 101) / 100, 1 / np.arange(3, 8)])
    powers = np.arange(1, len(used) + 1)[:, None]
    A = np.vstack([np.ones_like(t), t, t * (1 - t) ** powers])
    A_eq = A / np.append([n_classes, 1.0], np.maximum(used, np.finfo(np.float64).eps))[:, None]
    possible = A_eq @ nnls(A_eq, np.ones(len(A)))[0]
    ends = [linprog(sign * entr(t), A_eq=A_eq, b_eq=possible) for sign in (1.0, -1.0)]  # t at least 0 by default
    low = max(least, float(ends[0].fun)) if ends[0].status == 0 else least
    high = min(most, float(-ends[1].fun)) if ends[1].status == 0 else most
    return min(low, high), max(low, high)


def entropy_bounds(differ: FloatArray, n_classes: int) -> tuple[FloatArray, FloatArray]:
    """The smallest and largest mean entropy of soft labels of which two votes differ with this mean probability.

    Parameters
    ----------
    differ : (samples,) T_1 = mean of 1 - sum_c t_c^2

    Notes
    -----
    Smallest: items shared out among certain ones and even splits between k classes, which is a polygon through
    (1 - 1/k, ln k). Largest: one class ahead and the others even (Harremoes and Topsoe, 2001), all items alike, or
    beyond a point some such items and some that are even between all classes.

    Examples
    --------
    >>> lower, upper = entropy_bounds(np.array([0.5]), 2)
    >>> bool(np.isclose(lower, np.log(2))[0]), bool(np.isclose(upper, np.log(2))[0])
    (True, True)
    """
    classes = np.arange(1, n_classes + 1)
    most = 1 - 1 / n_classes
    found = np.clip(differ, 0.0, most)
    lower = np.interp(found, 1 - 1 / classes, np.log(classes))
    if n_classes < 2:
        return np.asarray(lower), np.asarray(lower)

    def one_ahead(differing: FloatArray) -> FloatArray:
        others = most * (1 - np.sqrt(1 - differing / most))  # what the class ahead leaves to the others
        return np.asarray(entr(1 - others) + entr(others) + others * np.log(n_classes - 1))

    grid = most * np.linspace(0, 1, BOUND_POINTS, endpoint=False)
    slopes = (np.log(n_classes) - one_ahead(grid)) / (most - grid)  # of the lines to the even split of all classes
    touching = int(slopes.argmin())
    line = np.log(n_classes) - slopes[touching] * (most - found)
    upper = np.where(found <= grid[touching], one_ahead(found), line)
    return np.asarray(lower), np.asarray(np.maximum(upper, lower))


def _unseen_entropy(moments: FloatArray) -> FloatArray:
    """sum_v T_v / v beyond the last moment that was seen, continued by those of a Beta distribution and made heavier.

    If the probability x of a random vote's class has a Beta(a, b) distribution, T_v = E(1 - x)^v and the whole sum is
    digamma(a + b) - digamma(a). T_1 and T_2 give a and b. Real crowds mix clear items that show rare slips with
    ambiguous ones: their tail is heavier, as later moments show; with T_1 and T_2 alone that is assumed.
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
    modelled, term = np.zeros_like(first), np.ones_like(first)
    for v in range(1, n_moments + 1):
        term = term * (b + v - 1) / (total + v - 1)
        modelled += term / v
    rest = np.maximum(digamma(total) - digamma(a) - modelled, 0.0)
    misfit = np.maximum(moments[-1], 0.0) / np.maximum(term, np.finfo(np.float64).tiny)
    heavier = {1: 1.0, 2: HEAVIER_TAIL}.get(n_moments, np.clip(misfit, 1.0, HEAVIER_TAIL))
    return np.asarray(rest * misfit * heavier)


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
    if n_classes < 2:
        return np.ones(len(times))
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
    """How far ``more`` further votes on random items would lower the RMSE.

    Parameters
    ----------
    diffusions : the graph at the alpha in use, or at several: each number of votes then takes its best one
    votes : whole votes, in the user's numbering
    more : number of further votes
    prior : (n, n_classes); None = uniform

    Notes
    -----
    Cost: 13 solves per diffusion. Votes are thinned at random to 35, 50, 70 and 85 %, three times each; each subset's
    held-out Brier score, every voted item judged without its own votes, is fitted by a + c m^-g. Continued to more
    votes, it gives the error before own votes, theory [expected error] the error with them. The intervals come from a
    bootstrap over voted items, draws of the noise of votes, and a quarter of the gain for the form of the curve.
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
    noise = _noise(counts[voted], times, parts, rng)
    errors = np.array([[_error(part, noise, times) for part in one] for one in parts])  # (alphas, subsets, samples)
    best = errors[:, :, 0].argmin(axis=0)
    curve = _root(errors[best, np.arange(len(subsets))], n_classes)
    m = np.array([subset.sum() for subset in subsets])
    ahead = np.array(sorted({round(m[-1] * (1 + share)) for share in FORECASTS} | {round(m[-1]) + more}))
    continued = [_continue(m, one, noise, times, ahead, n) for one in parts]
    future = np.array([error for error, _ in continued])  # (alphas, ahead, samples)
    best = future[:, :, 0].argmin(axis=0)
    rmse = _root(future[best, np.arange(len(ahead))], n_classes)
    exponent = continued[int(best[ahead == round(m[-1]) + more][0])][1]
    return _forecast(m, curve, ahead, rmse, more, level, exponent)


def _root(error: FloatArray, n_classes: int) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum(error, 0.0) / n_classes))


def _continue(
    m: FloatArray, parts: list[_Judged], noise: FloatArray, times: FloatArray, ahead: FloatArray, n_items: int
) -> tuple[FloatArray, float]:
    """Expected errors with more votes, (ahead, samples), and the exponent of the fall of held-out scores."""
    brier = np.array([times @ part.brier for part in parts]) / times.sum(axis=1)
    fitted, exponent = _fit_power(m, brier, np.append(ahead, m[-1]))
    now = np.maximum(fitted[-1], np.finfo(np.float64).tiny)
    last, errors = parts[-1], []
    for votes, value in zip(ahead.tolist(), fitted, strict=False):
        mean = (votes - m[-1]) / n_items  # further votes on one item
        counts = np.arange(int(np.ceil(pdtrik(1 - np.finfo(np.float64).eps, mean))) + 1)
        arriving = np.exp(xlogy(counts, mean) - mean - gammaln(counts + 1))  # Poisson
        share = np.convolve(last.share, arriving)
        part = _Judged(last.brier, last.evidence * votes / m[-1], last.reach, share / share.sum())
        errors.append(_error(part, noise, times, value / now))
    return np.array(errors), exponent


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


def _noise(votes: FloatArray, times: FloatArray, parts: list[list[_Judged]], rng: np.random.Generator) -> FloatArray:
    """The chance that two votes on an item differ, (samples,): from repeats, at most the lowest held-out score.

    Before repeats are seen, any share of the held-out score is equally likely to be noise. The first sample takes the
    posterior mean, the others draw from the posterior.
    """
    lowest = np.min([times @ one[-1].brier / times.sum(axis=1) for one in parts], axis=0)
    size = votes.sum(axis=1)
    pairs = np.maximum(size - 1, 0.0)
    same = (votes * (votes - 1)).sum(axis=1) / np.maximum(size, 1.0)  # (r - 1) times the share of equal pairs
    differing = float((pairs - same).sum())
    share = (np.arange(NOISE_SHARES) + 0.5) / NOISE_SHARES
    chance = np.clip(share * lowest[0], np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).eps)
    log_likelihood = differing * np.log(chance) + (float(pairs.sum()) - differing) * np.log1p(-chance)
    posterior = np.exp(log_likelihood - log_likelihood.max())
    posterior /= posterior.sum()
    drawn = rng.choice(share, size=len(times), p=posterior)
    drawn[0] = posterior @ share
    return np.asarray(drawn * lowest)


def _error(part: _Judged, noise: FloatArray, times: FloatArray, factor: FloatArray | float = 1.0) -> FloatArray:
    """Expected sum_c (p - t)^2 of an item, (samples,), theory [expected error].

    With others' prediction q and j own votes of total mass j phi_qq, p = (1 - w) q + w f and
    E|p - t|^2 = (1 - w)^2 |q - t|^2 + w^2 noise / j; averaged over j as it is among all items. ``factor`` multiplies
    the held-out scores.
    """
    total = times.sum(axis=1)
    error = np.zeros(len(times))
    for j, share in enumerate(part.share.tolist()):
        if share == 0:
            continue
        w = j * part.reach / (part.evidence + j * part.reach) if j else np.zeros_like(part.brier)
        kept = (1 - w) ** 2
        own = w**2 / max(j, 1)
        error += share * (factor * (times @ (kept * part.brier)) + noise * (times @ (own - kept))) / total
    return error


def _forecast(
    m: FloatArray, curve: FloatArray, ahead: FloatArray, rmse: FloatArray, more: int, level: float, exponent: float
) -> GainForecast:
    """Measured RMSE (subsets, samples) and predicted (ahead, samples), in words and a frame."""
    n_votes = round(m[-1])
    now, then = curve[-1], rmse[ahead == n_votes + more][0]
    gain = _interval(now - then, level)
    doubt = CURVE_DOUBT * abs(gain.value)
    gain = Estimate(gain.value, gain.lower - doubt, gain.upper + doubt)
    points = [(votes, _interval(curve[m == votes].mean(axis=0), level), "measured") for votes in np.unique(m)]
    points += [(n_votes, _interval(now, level), "predicted")]
    points += [(votes, _interval(row, level), "predicted") for votes, row in zip(ahead, rmse, strict=True)]
    frame = pd.DataFrame(
        {
            "votes": [int(votes) for votes, _, _ in points],
            "rmse": [value.value for _, value, _ in points],
            "lower": [value.lower for _, value, _ in points],
            "upper": [value.upper for _, value, _ in points],
            "kind": [kind for _, _, kind in points],
        }
    )
    return GainForecast(n_votes, more, _interval(now, level), _interval(then, level), gain, frame, exponent)


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
        raise MissingExtraError('plots need: pip install "softspread[plots]"') from error
    axes = plt.figure(figsize=(6, 4)).add_subplot() if axes is None else axes
    for kind, style, front in (("measured", "o", 3), ("predicted", "--.", 2)):
        part = forecast.points[forecast.points["kind"] == kind]
        (line,) = axes.plot(part["votes"], part["rmse"], style, label=kind, zorder=front)
        if kind == "predicted":
            axes.fill_between(
                part["votes"], part["lower"], part["upper"], color=line.get_color(), alpha=0.2, linewidth=0
            )
    axes.axvline(forecast.n_votes, color="grey", linewidth=0.8)
    axes.set_title(
        f"{forecast.more:,} more votes: RMSE {forecast.rmse_now.value:.4f} to {forecast.rmse_then.value:.4f}, "
        f"a gain of {forecast.gain.value:.4f}",
        fontsize="medium",
    )
    axes.set_xlabel("votes")
    axes.set_ylabel("estimated RMSE")
    axes.legend()
    return axes
