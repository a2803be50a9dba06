"""The entropy of unknown soft labels, from a few votes on each.

    T_v = E sum_c t_c (1 - t_c)^v,   entropy of t = sum_v T_v / v                            theory: [quality]

r votes estimate T_1 .. T_(r-1) without bias; T_1 is the noise of one vote. What r votes cannot see (v >= r)
is continued by the moments of a Beta distribution, made heavier as in real crowds; :func:`entropy_range`
holds every continuation that is possible.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, entr

from softspread._common.types import FloatArray


@dataclass(frozen=True, slots=True)
class EntropyModel:
    """How moments are used and continued; figures behind the numbers: docs/measurements-votes.md."""

    # A moment T_v is read off the votes only if this many items have more than v votes
    enough_items: int = 20
    beta_first: float = 0.75  # a of Beta(a, b) where only T_1 is known; real crowds ask for 0.7 to 0.9
    least_beta_first: float = 0.5  # a smaller a would put weight on votes that can hardly happen
    largest_beta_sum: float = 1e6  # from here the Beta distribution is a point
    heavier_tail: float = (
        4 / 3
    )  # clear items with rare slips: at most this much more unseen entropy than Beta
    range_moments: int = 3  # that bound the entropy; later ones are too noisy to rule anything out
    bound_points: int = 2_000  # of the curve of largest entropy, to find where a line touches it


MODEL = EntropyModel()


def vote_moments(
    votes: FloatArray, times: FloatArray | None = None, model: EntropyModel = MODEL
) -> FloatArray:
    """T_1, T_2, ...: unbiased estimates of the mean of sum_c t_c (1 - t_c)^v, (V, rows of ``times``).

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
    enough = min(model.enough_items, int((size >= 2).sum()))
    n_moments = max(1, int(order[enough - 1]) - 1) if enough else 1
    # the share of votes for c, times the chance that v others all differ
    term = votes / np.maximum(size, 1.0)[:, None]
    moments = []
    for v in range(1, n_moments + 1):
        usable = size > v
        others = np.maximum(size - v, 1.0)[:, None]
        term = np.where(
            usable[:, None], term * np.maximum(size[:, None] - votes - (v - 1), 0.0) / others, 0.0
        )
        weight = times @ usable
        moments.append((times @ term.sum(axis=1)) / np.where(weight > 0, weight, np.nan))
    return np.array(moments)


def entropy_from_moments(moments: FloatArray, model: EntropyModel = MODEL) -> FloatArray:
    """Mean entropy sum_v T_v / v, (samples,), from T_1 .. T_V, (V, samples), continued beyond T_V.

    Examples
    --------
    >>> float(entropy_from_moments(np.zeros((2, 1)))[0]) < 1e-9
    True
    """
    order = np.arange(1, len(moments) + 1)[:, None]
    return np.asarray((moments / order).sum(axis=0) + _unseen_entropy(moments, model))


def entropy_range(moments: FloatArray, n_classes: int, model: EntropyModel = MODEL) -> tuple[float, float]:
    """The smallest and largest mean entropy of soft labels with the moments T_1 .. T_V, (V,).

    Notes
    -----
    One moment: :func:`entropy_bounds`. More: also a linear programme over how often a class probability t
    occurs, with sum_t = n_classes, mean of the sum of t = 1 and the first three moments. Estimated moments
    that no soft labels have are first moved to the nearest ones that some have.

    Examples
    --------
    >>> truth = np.array([0.9, 0.1])
    >>> least, most = entropy_range(np.array([(truth * (1 - truth) ** v).sum() for v in (1, 2, 3)]), 2)
    >>> bool(least <= -(truth * np.log(truth)).sum() + 1e-3 and most < 0.4)
    True
    """
    from scipy.optimize import linprog, nnls  # slow to load, and only needed here

    least, most = (float(end[0]) for end in entropy_bounds(moments[:1], n_classes, model))
    used = moments[: model.range_moments]
    if len(used) < 2 or n_classes < 2:
        return least, most
    t = np.concatenate([[0.0], np.geomspace(1e-5, 0.05, 60), np.arange(6, 101) / 100, 1 / np.arange(3, 8)])
    powers = np.arange(1, len(used) + 1)[:, None]
    A = np.vstack([np.ones_like(t), t, t * (1 - t) ** powers])
    A_eq = A / np.append([n_classes, 1.0], np.maximum(used, np.finfo(np.float64).eps))[:, None]
    possible = A_eq @ nnls(A_eq, np.ones(len(A)))[0]
    ends = [linprog(sign * entr(t), A_eq=A_eq, b_eq=possible) for sign in (1.0, -1.0)]  # t >= 0 by default
    low = max(least, float(ends[0].fun)) if ends[0].status == 0 else least
    high = min(most, float(-ends[1].fun)) if ends[1].status == 0 else most
    return min(low, high), max(low, high)


def entropy_bounds(
    differ: FloatArray, n_classes: int, model: EntropyModel = MODEL
) -> tuple[FloatArray, FloatArray]:
    """The smallest and largest mean entropy where two votes on an item differ with this mean probability.

    Parameters
    ----------
    differ : (samples,) T_1 = mean of 1 - sum_c t_c^2

    Notes
    -----
    Smallest: items shared out among certain ones and even splits between k classes, which is a polygon
    through (1 - 1/k, ln k). Largest: one class ahead and the others even (Harremoes and Topsoe, 2001), all
    items alike, or beyond a point some such items and some that are even between all classes.

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

    grid = most * np.linspace(0, 1, model.bound_points, endpoint=False)
    # of the lines to the even split of all classes
    slopes = (np.log(n_classes) - one_ahead(grid)) / (most - grid)
    touching = int(slopes.argmin())
    line = np.log(n_classes) - slopes[touching] * (most - found)
    upper = np.where(found <= grid[touching], one_ahead(found), line)
    return np.asarray(lower), np.asarray(np.maximum(upper, lower))


def _unseen_entropy(moments: FloatArray, model: EntropyModel) -> FloatArray:
    """sum_v T_v / v beyond the last known moment, continued by those of a Beta distribution, made heavier.

    If the probability x of a random vote's class has a Beta(a, b) distribution, T_v = E(1 - x)^v and the
    whole sum is digamma(a + b) - digamma(a). T_1 and T_2 give a and b. Real crowds mix clear items that show
    rare slips with ambiguous ones: their tail is heavier, as later moments show; with T_1 and T_2 alone that
    is assumed.
    """
    first = np.clip(moments[0], 1e-12, 1 - 1e-12)
    n_moments = len(moments)
    total = np.full_like(first, model.beta_first) / (1 - first)
    if n_moments > 1:
        ratio = np.clip(moments[1] / first, 0.0, 1 - 1e-9)
        with np.errstate(divide="ignore"):
            fitted = np.where(
                ratio > first, (1 - ratio) / np.where(ratio > first, ratio - first, 1.0), np.inf
            )
        total = np.clip(fitted, model.least_beta_first / (1 - first), model.largest_beta_sum)
    a, b = total * (1 - first), total * first
    modelled, term = np.zeros_like(first), np.ones_like(first)
    for v in range(1, n_moments + 1):
        term = term * (b + v - 1) / (total + v - 1)
        modelled += term / v
    rest = np.maximum(digamma(total) - digamma(a) - modelled, 0.0)
    misfit = np.maximum(moments[-1], 0.0) / np.maximum(term, np.finfo(np.float64).tiny)
    heavier = {1: 1.0, 2: model.heavier_tail}.get(n_moments, np.clip(misfit, 1.0, model.heavier_tail))
    return np.asarray(rest * misfit * heavier)
