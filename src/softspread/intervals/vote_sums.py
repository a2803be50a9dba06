"""Sums of squares of what each item has received, and the bias of it.

    bias        B_i = sum_j (w_j phi_ij / N_i) min(1, L |x_j - x_i|)                      theory: [bias bound]

Mass is linear in the votes, its sums of squares are not: they come from local profiles. A push with floor f
finds phi = kept + missing with 0 <= missing_iq <= e_i b_q, where e_i = f sqrt(d_i) / (1 - alpha) and b_q = 1
/ s_q, and the missing mass rest_i = N_i - sum_q (sum w)_q kept_iq is known, because N_i is. By the triangle
inequality for the norm
whose square is the sum of w^2 phi^2 over the votes,                                 theory: [missing squares]

    sqrt(sum w^2 phi^2) <= sqrt(sum w^2 kept^2) + sqrt(min(e_i rest_i max_q(w_q b_q), e_i^2 sum w^2 b_q^2))

so that intervals may come out too wide, never too narrow; the bias of the missing mass is at most
rest_i min(1, L diameter). In the random-walk form e_i = f / (1 - alpha) and b_q = sqrt(d_q) / s_q.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from softspread import _kernels
from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.push import PushWork
from softspread.errors import InputError
from softspread.graph.graph import Graph
from softspread.votes.ballots import standing_votes
from softspread.votes.table import VoteTable

DENSE_ITEMS = 2_000  # up to here the dense inverse takes about a second and misses nothing
FLOORS = (
    1e-2,
    3e-3,
    1e-3,
    3e-4,
    1e-4,
    3e-5,
    1e-5,
    3e-6,
    1e-6,
)  # of the push; finer costs more and misses less
EDGE_BUDGET = 1_000_000_000  # edges that all pushes together may visit: 6 to 20 s on one core
ENOUGH_MISSED = 0.01  # of a profile's weight; a finer floor would no longer narrow an interval
SAMPLE_SEEDS = 16  # items on which the cost of a floor is measured
N_BLOCKS = (
    8  # blocks of seeds with sums of their own; fixed, so that results do not depend on the number of threads
)
DENSE_BLOCK = 256  # voted items per block of the dense path; memory n x block


@dataclass(frozen=True, slots=True, eq=False)
class SumsOfSquares:
    """What Hoeffding's inequality needs beyond mass, per item in the user's order."""

    squares: FloatArray  # (n,)   sum of w^2 phi^2 over the votes as far as the profiles go: a lower bound
    missing: FloatArray  # (n,)   the same sum over what the profiles miss is at most this
    rest: FloatArray  # (n,)      evidence that the profiles miss
    bias: (
        FloatArray | None
    )  # (n,)  sum of w phi min(1, L dist) is at most this; None without a Lipschitz constant
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
    floor : of the push, smaller = tighter and slower; None = fine enough to miss 1 % of a profile, or the
    finest that
        visits at most a billion edges

    Returns
    -------
    Bounds that are never too small. Up to 2000 items exact, by the dense inverse. Memory: about 200 bytes an
    item.
    """
    graph = diffusion.graph
    if lipschitz is not None:
        lipschitz = validation.not_negative("lipschitz", lipschitz)
        if lipschitz > 0 and graph.features is None:
            raise InputError(
                "a Lipschitz constant needs distances, but this graph was made from an affinity and has no "
                "features; "
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
        floor = (
            affordable_floor(diffusion, rows, EDGE_BUDGET)
            if floor is None
            else validation.positive("floor", floor)
        )
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
        own=np.minimum(own * sources * factor[rows], np.inf if diffusion.scaling == "none" else 1.0)[
            own_first
        ],
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
    """The floor at which pushes from these (inner) rows miss 1 %, or the finest that visits at most so many
    edges.

    Both are judged by a sample. As S sqrt(d) = sqrt(d), a profile holds sum_i M_iq sqrt(d_i) = sqrt(d_q) / (1
    - alpha).
    """
    graph = diffusion.graph
    rows = rows[graph.inner_degrees[rows] > 0]  # an isolated item is done after one step
    if len(rows) == 0:
        return FLOORS[-1]
    sample = rows[np.linspace(0, len(rows) - 1, min(SAMPLE_SEEDS, len(rows))).astype(np.int64)].astype(
        np.uint32
    )
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

    A new item receives phi_x = alpha sum_j s_xj phi_j, theory [new items]; so sqrt(sum phi_x^2) <= alpha
    sum_j s_xj sqrt(sum phi_j^2), and |x - x_q| <= |x - x_j| + |x_j - x_q| bounds the bias.

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
            gap = (
                np.asarray(X, dtype=np.float64)[ends.row]
                - np.asarray(graph.features, dtype=np.float64)[ends.col]
            )
            step = np.minimum(1.0, sums.lipschitz * np.linalg.norm(gap, axis=1))
            bias += alpha * np.bincount(
                ends.row, ends.data * step * mass.sum(axis=1)[ends.col], ties.shape[0]
            )
    nothing = np.zeros(ties.shape[0])
    none = np.empty(0, dtype=np.int64)
    return SumsOfSquares(root**2, nothing, nothing, bias, sums.lipschitz, none, np.empty(0), sums.floor)
