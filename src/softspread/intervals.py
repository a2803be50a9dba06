"""Intervals for soft labels: mass, sums of squares and a level -> lower, upper.

    Wilson      Y successes in N trials; ends near 0 and 1 snap to them                     theory: [wilson]
    Hoeffding   Y/N +- sqrt(ln(2/delta)/2 * sum_j w_j^2 phi_ij^2) / N  +- B                 theory: [hoeffding]
    bias        B_i = sum_j (w_j phi_ij / N_i) min(1, L |x_j - x_i|)                        theory: [bias bound]

Mass is linear in the votes, its sums of squares are not: they come from local profiles. A push with floor f finds
phi = kept + missing with 0 <= missing_iq <= e_i b_q, where e_i = f sqrt(d_i) / (1 - alpha) and b_q = 1 / s_q, and the
missing mass rest_i = N_i - sum_q (sum w)_q kept_iq is known, because N_i is. By the triangle inequality for the norm
whose square is the sum of w^2 phi^2 over the votes,                                        theory: [missing squares]

    sqrt(sum w^2 phi^2) <= sqrt(sum w^2 kept^2) + sqrt(min(e_i rest_i max_q(w_q b_q), e_i^2 sum w^2 b_q^2))

so that intervals may come out too wide, never too narrow; the bias of the missing mass is at most
rest_i min(1, L diameter). In the random-walk form e_i = f / (1 - alpha) and b_q = sqrt(d_q) / s_q.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from scipy.special import ndtri

from softspread import _kernels, checks
from softspread.data import AnyArray, BoolArray, FloatArray, IntArray
from softspread.diffusion.push import PushWork
from softspread.errors import InputError
from softspread.graph.operator import Graph
from softspread.spreading import Diffusion
from softspread.votes import RETRACTED, VoteTable

METHODS = ("wilson", "wilson_floor", "hoeffding", "calibrated")
DENSE_ITEMS = 2_000  # up to here the dense inverse takes about a second and misses nothing
FLOORS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)  # of the push; finer costs more and misses less
EDGE_BUDGET = 1_000_000_000  # edges that all pushes together may visit: 6 to 20 s on one core
ENOUGH_MISSED = 0.01  # of a profile's weight; a finer floor would no longer narrow an interval
SAMPLE_SEEDS = 16  # items on which the cost of a floor is measured
N_BLOCKS = 8  # blocks of seeds with sums of their own; fixed, so that results do not depend on the number of threads
DENSE_BLOCK = 256  # voted items per block of the dense path; memory n x block

SNAP = 0.005  # ends this close to 0 or 1 may as well be 0 or 1, where many true probabilities are

LIPSCHITZ_QUANTILE = 0.95  # the steepest edges are mostly noise of single votes
LIPSCHITZ_EVIDENCE = 1.0  # an end with less than one virtual vote says nothing about a slope
LIPSCHITZ_EDGES = 20  # a high quantile of fewer slopes is no estimate


# ------------------------------------------------------------------------------------------------------------- Wilson


def wilson(
    mass: FloatArray, confidence_level: float, n_intervals: int = 1, rounded: bool = False, snapped: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Wilson score interval of each class against the rest, reading mass as votes.

    Parameters
    ----------
    mass : (n, n_classes)
    confidence_level : of each interval, or of ``n_intervals`` together (union bound)
    rounded : round mass and evidence down to whole votes first, as the paper does; such an interval need not contain
        the soft label itself, and its ends stay where they are
    snapped : move ends near 0 and 1 onto them, see :func:`snap_ends`; False gives the textbook's ends

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence
    """
    level = checks.between_0_and_1("confidence_level", confidence_level)
    z = -float(ndtri((1 - level) / (2 * n_intervals)))
    successes, trials = mass, mass.sum(axis=1, keepdims=True)
    if rounded:
        # A sum that rounding left at 1 - 1e-9 is one vote, not none.
        successes, trials = np.floor(successes + 1e-6), np.floor(trials + 1e-6)
        successes = np.minimum(successes, trials)
    share = successes / np.where(trials > 0, trials, 1.0)
    # Numerator and denominator times the number of trials: nothing is divided by evidence, which may be 1e-200.
    centre = successes + z * z / 2
    half = z * np.sqrt(successes * (1 - share) + z * z / 4)
    scale = trials + z * z
    lower = np.where(successes > 0, (centre - half) / scale, 0.0)  # exactly 0 and 1 where rounding would miss them
    upper = np.where(successes < trials, (centre + half) / scale, 1.0)
    lower, upper = np.clip(lower, 0.0, share), np.clip(upper, share, 1.0)
    return snap_ends(lower, upper) if snapped and not rounded else (lower, upper)


def snap_ends(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move ends within 0.005 of 0 or 1 onto them: spread mass is hardly ever 0, many true probabilities are."""
    return np.where(lower < SNAP, 0.0, lower), np.where(upper > 1 - SNAP, 1.0, upper)


# -------------------------------------------------------------------------------------------------- votes that stand


@dataclass(frozen=True, slots=True, eq=False)
class StandingVotes:
    """The votes that no retraction took back, by distinct item (in the user's numbering, sorted)."""

    rows: IntArray  # (v,)    distinct voted items
    counts: FloatArray  # (v, n_classes)  sum of weights per class
    squares: FloatArray  # (v,)  sum of squared weights
    largest: FloatArray  # (v,)  largest weight
    n_votes: IntArray  # (v,)  how many votes

    @property
    def totals(self) -> FloatArray:
        """(v,) sum of weights."""
        return np.asarray(self.counts.sum(axis=1))


def standing_votes(votes: VoteTable, n_classes: int, weights_are_counts: bool = False) -> StandingVotes:
    """Votes per distinct item, retractions carried out.

    Parameters
    ----------
    votes : in the user's numbering; a negative weight takes back from the same item, class and annotator. Where it is
        not clear which of several votes was taken back, the lightest are: that leaves the largest sum of squares. What
        one named annotator says about one item is one vote of the total weight: its parts are not independent
    weights_are_counts : a weight of 3 is three votes (a table of counts), not one vote that counts three times

    Returns
    -------
    The votes of each item that has any left
    """
    rows, columns, weights = votes.rows, votes.columns, votes.weights
    who = np.full(len(rows), -1) if votes.annotators is None else pd.factorize(pd.Series(votes.annotators))[0]
    if len(weights) and weights.min() < 0:
        rows, columns, weights, who = _retracted(rows, columns, weights, who)
    distinct, where = np.unique(rows, return_inverse=True)
    counts = np.zeros((len(distinct), n_classes))
    np.add.at(counts, (where, columns), weights)
    whole = np.floor(weights) if weights_are_counts else np.zeros_like(weights)
    if not weights_are_counts and (who >= 0).any():
        where, weights = _one_vote_each(where, weights, who)
        whole = np.zeros_like(weights)
    rest = weights - whole
    squares = np.bincount(where, whole + rest * rest, len(distinct))
    largest = np.zeros(len(distinct))
    np.maximum.at(largest, where, np.where(whole > 0, 1.0, rest))
    n_votes = np.bincount(where, whole + (rest > 0), len(distinct)).astype(np.int64)
    kept = counts.sum(axis=1) > 0
    return StandingVotes(distinct[kept], counts[kept], squares[kept], largest[kept], n_votes[kept])


def _one_vote_each(where: IntArray, weights: FloatArray, who: IntArray) -> tuple[IntArray, FloatArray]:
    """Items and weights with the rows of each annotator (number ``who``, -1 = nobody) on one item added up."""
    named = who >= 0
    n_annotators = int(who.max()) + 1
    pairs, place = np.unique(where[named] * n_annotators + who[named], return_inverse=True)
    totals = np.bincount(place, weights[named], len(pairs))
    return np.append(where[~named], pairs // n_annotators), np.append(weights[~named], totals)


def _retracted(
    rows: IntArray, columns: IntArray, weights: FloatArray, who: IntArray
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    table = pd.DataFrame({"row": rows, "column": columns, "who": who, "weight": weights})
    keys = ["row", "column", "who"]
    table["left"] = table.groupby(keys, sort=False)["weight"].transform("sum")
    table = table[table["weight"] > 0].sort_values("weight", ascending=False, kind="stable")
    before = table.groupby(keys, sort=False)["weight"].cumsum() - table["weight"]
    left = np.clip((table["left"] - before).to_numpy(), 0.0, table["weight"].to_numpy())
    kept = table[left > RETRACTED]
    return kept["row"].to_numpy(), kept["column"].to_numpy(), left[left > RETRACTED], kept["who"].to_numpy()


# --------------------------------------------------------------------------------------------------- sums of squares


@dataclass(frozen=True, slots=True, eq=False)
class SumsOfSquares:
    """What Hoeffding's inequality needs beyond mass, per item in the user's order."""

    squares: FloatArray  # (n,)   sum of w^2 phi^2 over the votes as far as the profiles go: a lower bound
    missing: FloatArray  # (n,)   the same sum over what the profiles miss is at most this
    rest: FloatArray  # (n,)      evidence that the profiles miss
    bias: FloatArray | None  # (n,)  sum of w phi min(1, L dist) is at most this; None without a Lipschitz constant
    lipschitz: float | None
    voted: IntArray  # (v,)       distinct voted items
    own: FloatArray  # (v,)       phi of a vote at its own item, 1 unless another item is its profile's peak
    floor: float  # of the push; 0 = nothing missed

    @property
    def upper(self) -> FloatArray:
        """(n,) sum of w^2 phi^2 over the votes, never too small, theory [missing squares]."""
        return np.asarray((np.sqrt(self.squares) + np.sqrt(self.missing)) ** 2)


def sums_of_squares(
    diffusion: Diffusion,
    votes: VoteTable,
    mass: FloatArray,
    *,
    lipschitz: float | None = None,
    weights_are_counts: bool = False,
    mass_error: Any = 0.0,
    floor: float | None = None,
) -> SumsOfSquares:
    """Sums over the votes of w^2 phi^2, and of w phi min(1, L dist), for every item.

    Parameters
    ----------
    diffusion : the graph and alpha with which the votes were spread
    votes : (m,) in the user's numbering
    mass : (n, n_classes) in the user's order, all votes spread
    lipschitz : change of a soft label per unit of distance; None leaves the bias out
    weights_are_counts : see :func:`standing_votes`
    mass_error : (n,) or a number, proven bound on the error of an item's evidence; widens what may be missing
    floor : of the push, smaller = tighter and slower; None = fine enough to miss 1 % of a profile, or the finest that
        visits at most a billion edges

    Returns
    -------
    Bounds that are never too small. Up to 2000 items exact, by the dense inverse. Memory: about 200 bytes an item.
    """
    graph = diffusion.graph
    if lipschitz is not None:
        lipschitz = checks.not_negative("lipschitz", lipschitz)
        if lipschitz > 0 and graph.features is None:
            raise InputError(
                "a Lipschitz constant needs distances, but this graph was made from an affinity and has no features; "
                "pass lipschitz=0 for intervals without bias, or method='wilson'."
            )
    standing = standing_votes(votes, mass.shape[1], weights_are_counts)
    rows = diffusion.rank[standing.rows]
    by_place = np.argsort(rows)  # neighbours in memory one after the other
    rows = rows[by_place]
    vote_sums = np.ascontiguousarray(np.stack([standing.totals, standing.squares], axis=1)[by_place])
    sources = diffusion.sources(rows, np.ones(len(rows)))
    if graph.n_items <= DENSE_ITEMS and floor is None:
        floor = 0.0
        sums, own = _dense_sums(diffusion, rows, sources, vote_sums, lipschitz)
    else:
        floor = affordable_floor(diffusion, rows, EDGE_BUDGET) if floor is None else checks.positive("floor", floor)
        sums, own = _pushed_sums(diffusion, rows, sources, vote_sums, lipschitz, floor)
    factor = diffusion.error_factor()
    evidence = mass.sum(axis=1)[graph.order]
    rest = np.maximum(evidence - sums[:, 0], 0.0) if floor else np.zeros(graph.n_items)
    rest += np.broadcast_to(np.asarray(mass_error, dtype=np.float64), (graph.n_items,))[graph.order]
    reach = floor * diffusion.root * factor / (1 - diffusion.alpha)  # e_i
    heaviest = float((standing.largest[by_place] * sources).max(initial=0.0))
    everywhere = float(vote_sums[:, 1] @ sources**2)
    missing = np.minimum(reach * heaviest * rest, reach**2 * everywhere)  # [missing squares]
    bias = None
    if lipschitz is not None:
        bias = sums[:, 2] + rest * min(1.0, lipschitz * _diameter(graph) if lipschitz else 0.0)
    own_first = np.argsort(by_place)
    return SumsOfSquares(
        squares=graph.to_user_order(sums[:, 1]),
        missing=graph.to_user_order(missing),
        rest=graph.to_user_order(rest),
        bias=None if bias is None else graph.to_user_order(bias),
        lipschitz=lipschitz,
        voted=standing.rows,
        own=np.minimum(own * sources * factor[rows], np.inf if diffusion.scaling == "none" else 1.0)[own_first],
        floor=floor,
    )


def _diameter(graph: Graph) -> float:
    """No two items are further apart than the diagonal of the box around all of them."""
    X = np.asarray(graph.features, dtype=np.float64)
    return float(np.linalg.norm(X.max(axis=0) - X.min(axis=0)))


def _dense_sums(
    diffusion: Diffusion, rows: IntArray, sources: FloatArray, vote_sums: FloatArray, lipschitz: float | None
) -> tuple[FloatArray, FloatArray]:
    graph = diffusion.graph
    M = dense_inverse(diffusion)
    factor = diffusion.error_factor()
    sums = np.zeros((graph.n_items, 3))
    X = None if not lipschitz else np.asarray(graph.features, dtype=np.float64)[graph.order]
    for first in range(0, len(rows), DENSE_BLOCK):
        part = slice(first, first + DENSE_BLOCK)
        phi = M[:, rows[part]] * sources[part] * factor[:, None]
        sums[:, 0] += phi @ vote_sums[part, 0]
        sums[:, 1] += (phi * phi) @ vote_sums[part, 1]
        if X is not None and lipschitz:
            sums[:, 2] += (phi * np.minimum(1.0, lipschitz * cdist(X, X[rows[part]]))) @ vote_sums[part, 0]
    return sums, M[rows, rows]


def dense_inverse(diffusion: Diffusion) -> FloatArray:
    """(I - alpha S)^-1 of the symmetric system, (n, n) in inner numbering, no entry negative."""
    A = -diffusion.alpha * diffusion.graph.inner_operator().toarray()
    np.fill_diagonal(A, A.diagonal() + 1.0)
    factor, _ = dpotrf(A, lower=1, overwrite_a=1)  # positive definite for every alpha below 1
    half, _ = dpotri(factor, lower=1, overwrite_c=1)
    half = np.tril(half)
    return np.asarray(np.maximum(half + np.tril(half, -1).T, 0.0))


class PushMemory:
    """Scratch memory of one thread for pushes of unit sources."""

    def __init__(self, n: int) -> None:
        work = PushWork(n)
        self.arrays = (np.zeros(n), np.zeros(n), work.touched, work.mark, work.queue, work.queued)


def affordable_floor(diffusion: Diffusion, rows: IntArray, edge_budget: int) -> float:
    """The floor at which pushes from these (inner) rows miss 1 %, or the finest that visits at most so many edges.

    Both are judged by a sample. As S sqrt(d) = sqrt(d), a profile holds sum_i M_iq sqrt(d_i) = sqrt(d_q) / (1 - alpha).
    """
    graph = diffusion.graph
    rows = rows[graph.inner_degrees[rows] > 0]  # an isolated item is done after one step
    if len(rows) == 0:
        return FLOORS[-1]
    sample = rows[np.linspace(0, len(rows) - 1, min(SAMPLE_SEEDS, len(rows))).astype(np.int64)].astype(np.uint32)
    memory = PushMemory(graph.n_items)
    weights = np.stack([diffusion.root, np.zeros(graph.n_items)], axis=1)
    ones = np.ones(graph.n_items)
    whole = diffusion.root[sample] / (1 - diffusion.alpha)
    afford = FLOORS[0]
    for floor in FLOORS:
        out = np.empty((len(sample), 5))
        edges = _kernels.push_gather(
            graph.indptr,
            graph.indices,
            graph.weights,
            diffusion.root,
            diffusion.alpha,
            sample,
            ones,
            ones,
            weights,
            floor,
            *memory.arrays,
            out,
        )
        if edges / len(sample) * len(rows) > edge_budget:
            break
        afford = floor
        if np.mean(1 - out[:, 0] / whole) <= ENOUGH_MISSED:
            break
    return afford


def _pushed_sums(
    diffusion: Diffusion,
    rows: IntArray,
    sources: FloatArray,
    vote_sums: FloatArray,
    lipschitz: float | None,
    floor: float,
) -> tuple[FloatArray, FloatArray]:
    graph = diffusion.graph
    n = graph.n_items
    features = np.zeros((1, 0)) if not lipschitz else np.asarray(graph.features)[graph.order]
    factor = diffusion.error_factor()
    seeds = rows.astype(np.uint32)
    own = np.empty(len(rows))
    cuts = np.linspace(0, len(rows), N_BLOCKS + 1).astype(np.int64)
    sums = [np.zeros((0, 3)) for _ in range(N_BLOCKS)]

    def work(block: int, memory: PushMemory) -> None:
        part = slice(int(cuts[block]), int(cuts[block + 1]))
        if part.start == part.stop:
            return
        sums[block] = np.zeros((n, 3))
        _kernels.push_sums(
            graph.indptr,
            graph.indices,
            graph.weights,
            diffusion.root,
            diffusion.alpha,
            seeds[part],
            sources[part],
            factor,
            vote_sums[part],
            features,
            lipschitz if lipschitz else -1.0,
            floor,
            *memory.arrays,
            sums[block],
            own[part],
        )

    run_pushes(diffusion, work, N_BLOCKS)
    total = np.zeros((n, 3))
    for part in sums:
        if len(part):
            total += part
    return total, own


def run_pushes(diffusion: Diffusion, work: Callable[[int, PushMemory], None], n_blocks: int) -> None:
    """Call ``work(block, memory)`` for each block, every thread with scratch memory of its own."""
    scratch = threading.local()

    def with_memory(block: int) -> None:
        if not hasattr(scratch, "memory"):
            scratch.memory = PushMemory(diffusion.graph.n_items)
        work(block, scratch.memory)

    diffusion.workers.run(with_memory, range(n_blocks))


def sums_for_newcomers(
    graph: Graph, alpha: float, ties: csr_array, X: AnyArray, mass: FloatArray, sums: SumsOfSquares
) -> SumsOfSquares:
    """Sums of squares of new items from those of their neighbours.

    A new item receives phi_x = alpha sum_j s_xj phi_j, theory [new items]; so sqrt(sum phi_x^2) <= alpha sum_j s_xj
    sqrt(sum phi_j^2), and |x - x_q| <= |x - x_j| + |x_j - x_q| bounds the bias.

    Parameters
    ----------
    ties : (n_new, n) rows s_x over the graph's items in the user's order, see :func:`tie_newcomers`
    X : (n_new, d)
    mass : (n, n_classes) of the graph's items in the user's order
    sums : of the graph's items

    Returns
    -------
    For :func:`hoeffding` with the new items' mass, alpha * ties @ mass; never too small
    """
    root = alpha * (ties @ np.sqrt(sums.upper))
    bias = None
    if sums.bias is not None:
        bias = alpha * (ties @ sums.bias)
        if sums.lipschitz:
            ends = ties.tocoo()
            gap = np.asarray(X, dtype=np.float64)[ends.row] - np.asarray(graph.features, dtype=np.float64)[ends.col]
            step = np.minimum(1.0, sums.lipschitz * np.linalg.norm(gap, axis=1))
            bias += alpha * np.bincount(ends.row, ends.data * step * mass.sum(axis=1)[ends.col], ties.shape[0])
    nothing = np.zeros(ties.shape[0])
    none = np.empty(0, dtype=np.int64)
    return SumsOfSquares(root**2, nothing, nothing, bias, sums.lipschitz, none, np.empty(0), sums.floor)


# ---------------------------------------------------------------------------------------------------------- Hoeffding


def hoeffding(
    p: FloatArray, mass: FloatArray, sums: SumsOfSquares, confidence_level: float, n_intervals: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Hoeffding's interval around mass / evidence, plus the bias bound, theory [hoeffding], [bias bound].

    Holds for any probabilities of the voted items, if they change by at most ``sums.lipschitz`` per unit of distance;
    with ``lipschitz=0`` it covers only the weighted mean of the voted items' probabilities, not the item's own.

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
    level = checks.between_0_and_1("confidence_level", confidence_level)
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

    The 0.95 quantile of max_c |p_i - p_j| / |x_i - x_j| over the longer half of the edges whose two ends have received
    at least one virtual vote each. Short edges are left out because single votes, not the truth, make them steep. This
    is an estimate, not a bound: smoothing flattens slopes, noise steepens them. A constant known from the problem is
    better.

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
            "the Lipschitz constant cannot be estimated: this graph was made from an affinity and has no features. "
            "Pass lipschitz=0 for intervals without bias, or method='wilson'."
        )
    user = graph.order
    starts = user[np.repeat(np.arange(graph.n_items), np.diff(graph.indptr))]
    ends = user[graph.indices]
    known = evidence >= LIPSCHITZ_EVIDENCE
    once = (starts < ends) & known[starts] & known[ends]
    starts, ends = starts[once], ends[once]
    X = np.asarray(graph.features)
    distances = _row_norms(X, starts, ends)
    long_enough = (distances > 0) & (distances >= np.median(distances)) if len(distances) else np.zeros(0, dtype=bool)
    if int(long_enough.sum()) < LIPSCHITZ_EDGES:
        raise InputError(
            f"the Lipschitz constant cannot be estimated: only {int(long_enough.sum())} pairs of neighbours with at "
            f"least {LIPSCHITZ_EVIDENCE:g} virtual vote each, {LIPSCHITZ_EDGES} are needed. Collect more votes, "
            "or pass lipschitz."
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


# --------------------------------------------------------------------------------------------- two kinds of uncertainty


CLEAR, AMBIGUOUS, TOO_FEW = "clear", "ambiguous", "not enough votes"


@dataclass(frozen=True, slots=True, eq=False)
class UncertaintySplit:
    """Why an item is uncertain: because people disagree, or because too few were asked."""

    aleatoric: FloatArray  # (n,)  entropy of p over its largest value: 0 = all agree, 1 = all classes alike
    epistemic: FloatArray  # (n,)  mean width of the item's intervals: 0 = known, 1 = unknown
    evidence: FloatArray  # (n,)   virtual votes
    verdict: AnyArray  # (n,)      "clear", "ambiguous" or "not enough votes"

    def to_frame(self) -> pd.DataFrame:
        """One row per item."""
        columns = ("aleatoric", "epistemic", "evidence", "verdict")
        return pd.DataFrame({name: getattr(self, name) for name in columns})


def uncertainty_split(
    p: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    evidence: FloatArray,
    *,
    agreement: float = 0.7,
    narrow: float = 0.2,
) -> UncertaintySplit:
    """Tell items on which people truly disagree from items on which too few votes were cast.

    Parameters
    ----------
    p, lower, upper : (n, n_classes) soft labels and their intervals
    evidence : (n,)
    agreement : an item is clear if a class has at least this probability
    narrow : an item whose widest interval is at most this is known; its p alone decides

    Returns
    -------
    Verdict "clear": some lower end reaches ``agreement``; "ambiguous": no upper end does, so more votes would not
    change it; "not enough votes": the interval leaves both open and is not narrow, or no evidence arrived

    Examples
    --------
    >>> p = np.array([[0.95, 0.05], [0.5, 0.5], [0.5, 0.5]])
    >>> half = np.array([[0.05], [0.1], [0.4]])
    >>> uncertainty_split(p, p - half, p + half, np.array([50.0, 80.0, 2.0])).verdict.tolist()
    ['clear', 'ambiguous', 'not enough votes']
    """
    agreement = checks.between_0_and_1("agreement", agreement)
    narrow = checks.not_negative("narrow", narrow)
    if not p.shape == lower.shape == upper.shape or evidence.shape != p.shape[:1]:
        raise InputError(
            f"p, lower and upper must have one shape and evidence one entry per item, got {p.shape}, {lower.shape}, "
            f"{upper.shape} and {evidence.shape}."
        )
    n_classes = p.shape[1]
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    entropy = np.maximum(-(p * logs).sum(axis=1), 0.0)
    aleatoric = np.minimum(entropy / np.log(n_classes), 1.0) if n_classes > 1 else np.zeros(len(p))
    width = upper - lower
    known: BoolArray = width.max(axis=1) <= narrow
    clear = (lower.max(axis=1) >= agreement) | (known & (p.max(axis=1) >= agreement))
    ambiguous = ~clear & ((upper.max(axis=1) < agreement) | known)
    verdict = np.where(clear, CLEAR, np.where(ambiguous, AMBIGUOUS, TOO_FEW))
    verdict = np.where(evidence > 0, verdict, TOO_FEW)
    return UncertaintySplit(aleatoric, np.asarray(width.mean(axis=1)), np.asarray(evidence), verdict)
