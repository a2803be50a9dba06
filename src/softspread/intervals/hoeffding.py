"""Hoeffding intervals, which hold for soft labels that change slowly from item to item.

Y/N +- sqrt(ln(2/delta)/2 * sum_j w_j^2 phi_ij^2) / N  +- B        theory: [hoeffding]
"""

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.graph.graph import Graph
from softspread.intervals.vote_sums import SumsOfSquares

LIPSCHITZ_QUANTILE = 0.95  # the steepest edges are mostly noise of single votes
LIPSCHITZ_EVIDENCE = 1.0  # an end with less than one virtual vote says nothing about a slope
LIPSCHITZ_EDGES = 20  # a high quantile of fewer slopes is no estimate


def hoeffding(
    p: FloatArray, mass: FloatArray, sums: SumsOfSquares, confidence_level: float, n_intervals: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Hoeffding's interval around mass / evidence, plus the bias bound, theory [hoeffding], [bias bound].

    Holds for any probabilities of the voted items, if they change by at most ``sums.lipschitz`` per unit of
    distance; with ``lipschitz=0`` it covers only the weighted mean of the voted items' probabilities, not the
    item's own.

    Parameters
    ----------
    p : (n, n_classes) soft labels; the interval is widened to contain them where a prior moves them
    mass : (n, n_classes)
    sums : from :func:`sums_of_squares` with a Lipschitz constant
    confidence_level : of each interval, or of ``n_intervals`` together (union bound)

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    if sums.bias is None:
        raise InputError(
            "a Hoeffding interval needs a Lipschitz constant for its bias bound: pass lipschitz, "
            "see estimate_lipschitz; 0 leaves the bias out."
        )
    evidence = mass.sum(axis=1, keepdims=True)
    known = np.where(evidence > 0, evidence, 1.0)
    spread = np.sqrt(0.5 * np.log(2 * n_intervals / (1 - level)) * sums.upper)[:, None]
    half = np.minimum((spread + sums.bias[:, None]) / known, 1.0)
    half = np.where(evidence > 0, half, 1.0)
    share = mass / known
    lower, upper = np.clip(share - half, 0.0, 1.0), np.clip(share + half, 0.0, 1.0)
    return np.minimum(lower, p), np.maximum(np.where(evidence > 0, upper, 1.0), p)


def estimate_lipschitz(graph: Graph, p: FloatArray, evidence: FloatArray) -> float:
    """How fast soft labels change with distance: a robust high slope over the graph's edges.

    The 0.95 quantile of max_c |p_i - p_j| / |x_i - x_j| over the longer half of the edges whose two ends have
    received at least one virtual vote each. Short edges are left out because single votes, not the truth,
    make them steep. This is an estimate, not a bound: smoothing flattens slopes, noise steepens them. A
    constant known from the problem is better.

    Parameters
    ----------
    graph : with features
    p : (n, n_classes) in the user's order
    evidence : (n,)

    Returns
    -------
    L, not negative; :class:`InputError` where the graph has no features or too few items have evidence
    """
    if graph.features is None:
        raise InputError(
            "the Lipschitz constant cannot be estimated: this graph was made from an affinity and has no "
            "features. Pass lipschitz=0 for intervals without bias, or method='wilson'."
        )
    starts, ends = graph.edges()
    known = evidence >= LIPSCHITZ_EVIDENCE
    both_known = known[starts] & known[ends]
    starts, ends = starts[both_known], ends[both_known]
    X = np.asarray(graph.features)
    distances = _row_norms(X, starts, ends)
    long_enough = (
        (distances > 0) & (distances >= np.median(distances)) if len(distances) else np.zeros(0, dtype=bool)
    )
    if int(long_enough.sum()) < LIPSCHITZ_EDGES:
        raise InputError(
            f"the Lipschitz constant cannot be estimated: only {int(long_enough.sum())} pairs of neighbours "
            f"with at least {LIPSCHITZ_EVIDENCE:g} virtual vote each, {LIPSCHITZ_EDGES} are needed. Collect "
            "more votes, or pass lipschitz."
        )
    starts, ends, distances = starts[long_enough], ends[long_enough], distances[long_enough]
    return float(np.quantile(np.abs(p[starts] - p[ends]).max(axis=1) / distances, LIPSCHITZ_QUANTILE))


def _row_norms(X: AnyArray, first: IntArray, second: IntArray, block: int = 1 << 18) -> FloatArray:
    """|X[first] - X[second]|, a block at a time."""
    out = np.empty(len(first))
    for start in range(0, len(first), block):
        part = slice(start, start + block)
        out[part] = np.linalg.norm(X[first[part]].astype(np.float64) - X[second[part]], axis=1)
    return out
