"""Pushes: residual moves into the answer where it is largest.

x_u += r_u,  r_v += alpha S_vu r_u,  r_u = 0        theory: [push]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softspread._common.types import FloatArray, IndexArray, IntArray
from softspread._kernels.system import compiled

PUSH_LEVEL = 0.5  # each level of the push is this much finer than the one before ...
LEVEL_COST = 2.0  # ... and costs about this much more
NO_BUDGET = 1 << 62


class PushScratch(NamedTuple):
    """Memory of one thread for pushes, (n,) each; marks are 0 between pushes."""

    touched: IndexArray  # nodes that the push has met
    mark: NDArray[np.uint8]  # 1 = met
    queue: IndexArray
    queued: NDArray[np.uint8]  # 1 = waiting in the queue


class UnitPush(NamedTuple):
    """Memory of one thread for pushes of unit sources, clean between them."""

    x: FloatArray  # (n,)
    r: FloatArray  # (n,)
    scratch: PushScratch


def push_scratch(n: int) -> PushScratch:
    """For a graph of n items."""
    nodes, marks = np.zeros((2, n), dtype=np.uint32), np.zeros((2, n), dtype=np.uint8)
    return PushScratch(nodes[0], marks[0], nodes[1], marks[1])


def unit_push(n: int) -> UnitPush:
    """For a graph of n items."""
    return UnitPush(np.zeros(n), np.zeros(n), push_scratch(n))


class NewVotes(NamedTuple):
    """Votes, as :func:`push_votes` sees them; (m,) each."""

    rows: IntArray
    columns: IntArray
    amounts: FloatArray  # what each puts into the system


class VotedItems(NamedTuple):
    """Items with votes, as :func:`push_sums` sees them."""

    seeds: IndexArray  # (v,)
    sources: FloatArray  # (v,)  what a vote of weight 1 puts into the system
    weights: FloatArray  # (v, 2)  sum of the weights of an item's votes, and of their squares


@compiled
def push(system, x, r, floor, edge_budget, n_touched, scratch):
    """Move residual r into x, largest first, in levels.

    Stops when |r_u| <= floor root_u everywhere or the budget is spent.

    Keeps (I - alpha S) x + r constant. ``scratch.touched[:n_touched]`` lists the nodes whose residual may be
    above the floor (with a mark of 1) and grows as residual spreads. Returns the level reached (every touched
    |r_u| / root_u is at most that), the number of touched nodes and the number of edges visited.
    """
    indptr, indices, weights, root, alpha = system
    touched, mark, queue, queued = scratch
    size = len(queue)
    level = 0.0
    for t in range(n_touched):
        u = touched[t]
        level = max(level, abs(r[u]) / root[u])
    edges = 0
    cost = 0
    while level > floor and edges + LEVEL_COST * cost <= edge_budget:
        before = edges
        next_level = max(floor, level * PUSH_LEVEL)
        head = 0
        waiting = 0
        for t in range(n_touched):
            u = touched[t]
            if abs(r[u]) > next_level * root[u]:
                queue[(head + waiting) % size] = u
                queued[u] = 1
                waiting += 1
        # A level is always finished, so that what is reported holds.
        while waiting > 0:
            u = queue[head]
            head = (head + 1) % size
            waiting -= 1
            queued[u] = 0
            amount = r[u]
            x[u] += amount
            r[u] = 0.0
            for edge in range(indptr[u], indptr[u + 1]):
                v = indices[edge]
                r[v] += alpha * weights[edge] * amount
                if mark[v] == 0:
                    mark[v] = 1
                    touched[n_touched] = v
                    n_touched += 1
                if queued[v] == 0 and abs(r[v]) > next_level * root[v]:
                    queued[v] = 1
                    queue[(head + waiting) % size] = v
                    waiting += 1
            edges += indptr[u + 1] - indptr[u]
        level = next_level
        cost = edges - before
    return level, n_touched, edges


@compiled
def push_votes(system, X, R, votes, floor, edges_per_vote, scratch, levels, squares):
    """Add votes to R and push each of their columns into X from the items voted on.

    ``levels`` and ``squares`` stay bounds of |R_u| / root_u and of |R|_2^2 in each column. Returns the
    largest level reached; clean scratch memory stays clean.
    """
    rows, columns, amounts = votes
    worst = 0.0
    for vote in range(len(rows)):
        R[rows[vote], columns[vote]] += amounts[vote]
    for first in range(len(rows)):
        column = columns[first]
        n_votes = 0
        n_touched = 0
        for vote in range(len(rows)):
            if columns[vote] != column:
                continue
            if vote < first:  # the column has had its turn
                n_votes = 0
                break
            n_votes += 1
            if scratch.mark[rows[vote]] == 0:
                scratch.mark[rows[vote]] = 1
                scratch.touched[n_touched] = rows[vote]
                n_touched += 1
        if n_votes == 0:
            continue
        budget = max(1, round(edges_per_vote * n_votes))
        level, n_touched, _ = push(system, X[:, column], R[:, column], floor, budget, n_touched, scratch)
        total = 0.0
        for t in range(n_touched):
            u = scratch.touched[t]
            scratch.mark[u] = 0
            total += system.root[u] ** 2
        levels[column] = max(levels[column], level)
        squares[column] += level**2 * total
        worst = max(worst, level)
    return worst


@compiled
def push_unit(system, seed, floor, unit):
    """Push e_seed down to ``floor``; returns how many nodes it touched and how many edges it visited.

    :func:`clear` makes the memory clean again.
    """
    unit.r[seed] = 1.0
    unit.scratch.touched[0] = seed
    unit.scratch.mark[seed] = 1
    _, n_touched, edges = push(system, unit.x, unit.r, floor, NO_BUDGET, 1, unit.scratch)
    return n_touched, edges


@compiled
def clear(unit, n_touched):
    """Zeros again where a push has been."""
    for t in range(n_touched):
        u = unit.scratch.touched[t]
        unit.x[u] = 0.0
        unit.r[u] = 0.0
        unit.scratch.mark[u] = 0


@compiled
def push_profiles(system, seeds, floor, unit):
    """Push e_q for each seed q down to ``floor``.

    Returns the number of entries per seed, their nodes, their values of M e_q, and the edges visited in all.
    """
    x = unit.x
    sizes = np.empty(len(seeds), dtype=np.int64)
    nodes = np.empty(1024, dtype=np.int64)
    values = np.empty(1024)
    filled = 0
    work = 0
    for s in range(len(seeds)):
        n_touched, edges = push_unit(system, seeds[s], floor, unit)
        work += edges
        if filled + n_touched > len(nodes):
            room = max(2 * len(nodes), filled + n_touched)
            more_nodes = np.empty(room, dtype=np.int64)
            more_values = np.empty(room)
            more_nodes[:filled] = nodes[:filled]
            more_values[:filled] = values[:filled]
            nodes, values = more_nodes, more_values
        start = filled
        for t in range(n_touched):
            u = unit.scratch.touched[t]
            if x[u] > 0.0:
                nodes[filled] = u
                values[filled] = x[u]
                filled += 1
        sizes[s] = filled - start
        clear(unit, n_touched)
    return sizes, nodes[:filled].copy(), values[:filled].copy(), work


@compiled
def push_sums(system, voted, item_factor, features, lipschitz, floor, unit, sums):
    """Add the contribution of each item's votes to every item they reach.

    phi = x_u sources[s] item_factor[u]; ``sums[u]`` grows by weight phi, weight**2 phi**2 and, unless
    ``lipschitz`` is negative, weight phi min(1, L dist).
    """
    x = unit.x
    for s in range(len(voted.seeds)):
        seed = voted.seeds[s]
        n_touched, _ = push_unit(system, seed, floor, unit)
        for t in range(n_touched):
            u = unit.scratch.touched[t]
            if x[u] > 0.0:
                phi = x[u] * voted.sources[s] * item_factor[u]
                sums[u, 0] += voted.weights[s, 0] * phi
                sums[u, 1] += voted.weights[s, 1] * phi * phi
                if lipschitz >= 0.0:
                    squared = 0.0
                    for c in range(features.shape[1]):
                        difference = np.float64(features[u, c]) - np.float64(features[seed, c])
                        squared += difference * difference
                    sums[u, 2] += voted.weights[s, 0] * phi * min(1.0, lipschitz * np.sqrt(squared))
        clear(unit, n_touched)
