"""Profiles of many items, kept only where they are large enough to matter, and sums over them.

    phi_q[i] = M_iq / s_q  for the items i that a push to ``floor`` reaches    theory: [profile], [push bound]

A push only ever adds, so every kept value is a lower bound, and what it misses is at most
sqrt(d_i) floor / ((1 - alpha) s_q), in the random-walk form sqrt(d_q) floor / ((1 - alpha) s_q).
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from softspread._common.types import FloatArray, IntArray
from softspread._kernels.push import UnitPush, VotedItems, push_profiles, push_sums, unit_push
from softspread.diffusion.diffusion import Diffusion

CHUNK = 64  # profiles per task
SUM_BLOCKS = 8  # blocks of seeds with sums of their own; fixed, so that threads do not change results


@dataclass(frozen=True, slots=True)
class ProfileRule:
    """How far profiles are followed."""

    dense_items: int = 2_000  # up to here the dense inverse takes about a second and misses nothing
    dense_block: int = 256  # voted items per block of the dense path; memory n x block
    floors: tuple[float, ...] = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)  # of the push
    edge_budget: int = 1_000_000_000  # edges that all pushes together may visit: 6 to 20 s on one core
    enough_missed: float = 0.01  # of a profile's weight; a finer floor would no longer narrow an interval
    sample: int = 16  # items on which the cost of a floor is measured


RULE = ProfileRule()


def _run_pushes(diffusion: Diffusion, work: Callable[[int, UnitPush], None], n_blocks: int) -> None:
    """Call ``work(block, unit)`` for each block, every thread with memory of its own."""
    local = threading.local()

    def with_memory(block: int) -> None:
        if not hasattr(local, "unit"):
            local.unit = unit_push(diffusion.n_items)
        work(block, local.unit)

    diffusion.workers.run(with_memory, range(n_blocks))


def local_profiles(diffusion: Diffusion, rows: IntArray, floor: float = 1e-4) -> csr_array:
    """Scaled profiles of the given rows, (len(rows), n).

    ``result[j, i]`` is how much item i receives from one vote on ``rows[j]``. Memory and time grow as 1 /
    floor.
    """
    graph = diffusion.graph
    seeds = graph.rank[rows].astype(np.uint32)
    n_chunks, system = -(-len(rows) // CHUNK), graph.inner_system(diffusion.alpha)
    empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    parts: list[tuple[IntArray, IntArray, FloatArray]] = [empty for _ in range(max(1, n_chunks))]

    def work(number: int, unit: UnitPush) -> None:
        part = seeds[number * CHUNK : (number + 1) * CHUNK]
        parts[number] = push_profiles(system, part, floor, unit)[:3]

    _run_pushes(diffusion, work, n_chunks)
    sizes, nodes, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    owner = np.repeat(np.arange(len(rows)), sizes)
    values = values * diffusion.sources(rows)[owner] * diffusion.inner_error_factor()[nodes]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    profiles = csr_array((values, graph.order[nodes], indptr), shape=(len(rows), diffusion.n_items))
    profiles.sort_indices()
    return profiles


def dense_inverse(diffusion: Diffusion) -> FloatArray:
    """(I - alpha S)^-1 of the symmetric system, (n, n), no entry negative."""
    rank = diffusion.graph.rank
    return np.asarray(_inner_inverse(diffusion)[np.ix_(rank, rank)])


def _inner_inverse(diffusion: Diffusion) -> FloatArray:
    A = -diffusion.alpha * diffusion.graph.inner_operator().toarray()
    np.fill_diagonal(A, A.diagonal() + 1.0)
    factor, _ = dpotrf(A, lower=1, overwrite_a=1)  # positive definite for every alpha below 1
    half, _ = dpotri(factor, lower=1, overwrite_c=1)
    half = np.tril(half)
    return np.asarray(np.maximum(half + np.tril(half, -1).T, 0.0))


# ---------------------------------------------------------------------------------------- sums over all votes
@dataclass(frozen=True, slots=True, eq=False)
class ProfileSums:
    """Sums over the votes of what each item receives, as far as the profiles were followed."""

    mass: FloatArray  # (n,)     w phi
    squares: FloatArray  # (n,)  w^2 phi^2
    bias: FloatArray  # (n,)     w phi min(1, L dist)
    floor: float  # of the push; 0 = nothing missed


def profile_sums(
    diffusion: Diffusion,
    rows: IntArray,
    weights: FloatArray,
    lipschitz: float,
    floor: float | None = None,
    rule: ProfileRule = RULE,
) -> ProfileSums:
    """Sums over votes of w phi, w^2 phi^2 and w phi min(1, L dist) for every item.

    Parameters
    ----------
    rows : (v,) distinct voted items
    weights : (v, 2) sum of the weights of an item's votes, and sum of their squares
    lipschitz : L; 0 needs no features
    floor : of the push; None = exact up to 2000 items, else fine enough to miss 1 % of a profile, or the
        finest that visits at most a billion edges
    """
    graph = diffusion.graph
    inner = graph.rank[rows]
    by_place = np.argsort(inner)  # neighbours in memory one after the other
    seeds, sources = inner[by_place], diffusion.sources(rows)[by_place]
    weights = np.ascontiguousarray(weights[by_place])
    if floor is None and diffusion.n_items <= rule.dense_items:
        floor = 0.0
        sums = _dense_sums(diffusion, seeds, sources, weights, lipschitz, rule.dense_block)
    else:
        floor = affordable_floor(diffusion, rows, rule) if floor is None else floor
        sums = _pushed_sums(diffusion, seeds, sources, weights, lipschitz, floor)
    mass, squares, bias = (graph.to_user_order(column) for column in sums.T)
    return ProfileSums(mass, squares, bias, floor)


def _dense_sums(
    diffusion: Diffusion,
    seeds: IntArray,
    sources: FloatArray,
    weights: FloatArray,
    lipschitz: float,
    block: int,
) -> FloatArray:
    graph, M = diffusion.graph, _inner_inverse(diffusion)
    factor = diffusion.inner_error_factor()
    sums = np.zeros((diffusion.n_items, 3))
    X = np.asarray(graph.places, dtype=np.float64)[graph.order] if lipschitz else None
    for first in range(0, len(seeds), block):
        part = slice(first, first + block)
        phi = M[:, seeds[part]] * sources[part] * factor[:, None]
        sums[:, 0] += phi @ weights[part, 0]
        sums[:, 1] += (phi * phi) @ weights[part, 1]
        if X is not None:
            sums[:, 2] += (phi * np.minimum(1.0, lipschitz * cdist(X, X[seeds[part]]))) @ weights[part, 0]
    return sums


def affordable_floor(diffusion: Diffusion, rows: IntArray, rule: ProfileRule = RULE) -> float:
    """The floor at which pushes from these rows miss 1 %, or the finest that the edge budget allows.

    Both are judged by a sample. As S sqrt(d) = sqrt(d), a profile holds sum_i M_iq sqrt(d_i) = sqrt(d_q) / (1
    - alpha).
    """
    graph = diffusion.graph
    seeds = np.sort(graph.rank[rows])
    seeds = seeds[graph.inner_degrees[seeds] > 0]  # an isolated item is done after one step
    if len(seeds) == 0:
        return rule.floors[-1]
    places = np.linspace(0, len(seeds) - 1, min(rule.sample, len(seeds))).astype(np.int64)
    sample = seeds[places].astype(np.uint32)
    system, unit = graph.inner_system(diffusion.alpha), unit_push(diffusion.n_items)
    whole = system.root[sample] / (1 - diffusion.alpha)
    afford = rule.floors[0]
    for floor in rule.floors:
        sizes, nodes, values, edges = push_profiles(system, sample, floor, unit)
        seed = np.repeat(np.arange(len(sample)), sizes)
        found = np.bincount(seed, values * system.root[nodes], len(sample))
        if edges / len(sample) * len(seeds) > rule.edge_budget:
            break
        afford = floor
        if np.mean(1 - found / whole) <= rule.enough_missed:
            break
    return afford


def _pushed_sums(
    diffusion: Diffusion,
    seeds: IntArray,
    sources: FloatArray,
    weights: FloatArray,
    lipschitz: float,
    floor: float,
) -> FloatArray:
    graph = diffusion.graph
    features = np.asarray(graph.places)[graph.order] if lipschitz else np.zeros((1, 0))
    factor, unsigned = diffusion.inner_error_factor(), seeds.astype(np.uint32)
    system = graph.inner_system(diffusion.alpha)
    cuts = np.linspace(0, len(seeds), SUM_BLOCKS + 1).astype(np.int64)
    sums = [np.zeros((0, 3)) for _ in range(SUM_BLOCKS)]

    def work(block: int, unit: UnitPush) -> None:
        part = slice(int(cuts[block]), int(cuts[block + 1]))
        if part.start == part.stop:
            return
        sums[block] = np.zeros((diffusion.n_items, 3))
        voted = VotedItems(unsigned[part], sources[part], weights[part])
        push_sums(system, voted, factor, features, lipschitz or -1.0, floor, unit, sums[block])

    _run_pushes(diffusion, work, SUM_BLOCKS)
    total = np.zeros((diffusion.n_items, 3))
    for part in sums:
        if len(part):
            total += part
    return total
