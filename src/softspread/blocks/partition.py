"""Items in blocks: a block is a k-means cell, so that its items are near each other and touch few others.

    sample  ->  centres, cells of bounded size  ->  first and second nearest cell of each item
            ->  "assign": items by cell, one file per chunk of the input
            ->  "gathered": the same by group of cells, from all chunks  ->  "vectors": one block per cell

An item visits its second cell only if that can hold one of its neighbours: all items there lie beyond the
plane half-way between the two centres, and the k-th neighbour is no farther than the k-th nearest of the
items beside it in the block's order.

Cells in groups keep the number of reads down: chunks times groups, instead of chunks times cells.
Where items coincide no centre can divide them: such a cell gets copies of its centre, and the items take
turns.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.blocks.job import Job
from softspread.graph.neighbors import leaf_order, nearest_items

ITEM_PARTS = ("rows", "second", "X")  # what an item brings along while items are sorted by cell


@dataclass(frozen=True, slots=True)
class CellRule:
    """How cells are found."""

    sample_per_cell: int = 400  # enough to know a cell's share within about 5 %
    largest: float = 1.5  # of the mean size of a cell, on the sample; beyond, the cell is divided
    rounds: int = 12  # each divides all cells that are too large
    iterations: int = 15  # of k-means: cells need not be perfect, only even
    at_once: int = 256  # cells found by one k-means; more are found as the cells of cells
    window: int = 6  # times k items bound the distance of a k-th neighbour; in four dimensions 1.3 times it
    windows_at_once: int = 256


RULE = CellRule()


def choose_centres(
    sample: AnyArray, n_cells: int, rng: np.random.Generator, workers: Workers, rule: CellRule = RULE
) -> FloatArray:
    """(at least n_cells, d) centres; no cell has much more than its share of the sample."""
    points = np.asarray(sample, dtype=np.float64)
    centres = _centres(points, min(n_cells, len(points)), rng, workers, rule)
    limit = max(1.0, rule.largest * len(points) / n_cells)
    for _ in range(rule.rounds):
        first, _ = two_nearest(points, np.arange(len(points)), centres, workers)
        counts = np.bincount(first, minlength=len(centres))
        large = np.flatnonzero(counts > limit)
        if not len(large):
            break
        kept = np.delete(centres, large, axis=0)
        members = _members(first, len(centres))
        parts = [_divided(points[members[cell]], limit, rng, workers, rule) for cell in large]
        centres = np.concatenate([kept, *parts])
    return centres


def _members(homes: IntArray, n_cells: int) -> list[IntArray]:
    """The items of each cell."""
    ends = np.cumsum(np.bincount(homes, minlength=n_cells))
    return np.split(np.argsort(homes, kind="stable"), ends[:-1])


def _divided(
    points: FloatArray, limit: float, rng: np.random.Generator, workers: Workers, rule: CellRule
) -> FloatArray:
    """Centres of the parts of one cell; copies of one centre where its points coincide."""
    n_parts = int(np.ceil(len(points) / limit))
    parts = _centres(points, n_parts, rng, workers, rule)
    return parts if len(parts) > 1 else np.repeat(parts, max(2, n_parts), axis=0)


def _centres(
    points: FloatArray, n_cells: int, rng: np.random.Generator, workers: Workers, rule: CellRule
) -> FloatArray:
    """Distinct centres by k-means; many of them in two levels, in each cell as many as it has points for."""
    if n_cells <= rule.at_once:
        return _kmeans(points, n_cells, rng, rule)
    coarse = _kmeans(points, math.isqrt(n_cells), rng, rule)
    homes = nearest_items(coarse, points, 1, workers)[0][:, 0]
    shares = n_cells / len(points)
    parts = [
        _centres(points[mine], max(1, round(shares * len(mine))), rng, workers, rule)
        for mine in _members(homes, len(coarse))
        if len(mine)
    ]
    return np.concatenate(parts)


def _kmeans(points: FloatArray, n_cells: int, rng: np.random.Generator, rule: CellRule) -> FloatArray:
    from sklearn.cluster import KMeans

    n_distinct = len(np.unique(points, axis=0))
    seed = int(rng.integers(2**31 - 1))
    search = KMeans(min(n_cells, n_distinct), n_init=1, max_iter=rule.iterations, random_state=seed)
    return np.unique(search.fit(points).cluster_centers_, axis=0)


def two_nearest(
    X: AnyArray, rows: IntArray, centres: FloatArray, workers: Workers
) -> tuple[IntArray, IntArray]:
    """The nearest and the second nearest cell of each item, (n,) each; the second is -1 with one cell.

    Items between copies of one centre take turns by their row.
    """
    distinct, group = np.unique(centres, axis=0, return_inverse=True)
    members = _members(group.ravel(), len(distinct))
    copies = np.array([len(some) for some in members])
    starts, flat = np.cumsum(copies) - copies, np.concatenate(members)
    near = nearest_items(distinct, X, min(2, len(distinct)), workers)[0]
    turn = rows % copies[near[:, 0]]
    first = flat[starts[near[:, 0]] + turn]
    if len(centres) == 1:
        return first, np.full(len(X), -1)
    shared = copies[near[:, 0]] > 1
    beside = flat[starts[near[:, 0]] + (rows + 1) % copies[near[:, 0]]]
    other = flat[starts[near[:, -1]] + rows % copies[near[:, -1]]]
    return first, np.where(shared, beside, other)


def gap_to_plane(X: AnyArray, own: FloatArray, others: FloatArray) -> FloatArray:
    """(n,) distance of each item to the plane half-way between its centre and one of (n, d) others."""
    points = np.asarray(X, dtype=np.float64)
    apart = np.sqrt(((others - own) ** 2).sum(axis=1))
    beyond = ((points - others) ** 2).sum(axis=1) - ((points - own) ** 2).sum(axis=1)
    gaps = np.divide(np.maximum(beyond, 0.0), 2 * apart, out=np.zeros(len(points)), where=apart > 0)
    return np.asarray(gaps)


def reach_at_most(X: AnyArray, k: int, rule: CellRule = RULE) -> FloatArray:
    """(n,) bounds of the distance to the k-th neighbour: the k-th nearest in a window of the items' order."""
    size = min(len(X), rule.window * k)
    if size <= k:
        return np.full(len(X), np.inf)
    bounds = np.empty(len(X))
    starts = np.minimum(np.arange(0, len(X), size), len(X) - size)
    for some in np.split(starts, range(rule.windows_at_once, len(starts), rule.windows_at_once)):
        rows = some[:, None] + np.arange(size)
        P = np.asarray(X[rows], dtype=np.float64)
        P -= P[:, :1]
        squares = np.einsum("ijk,ijk->ij", P, P)
        squared = squares[:, :, None] + squares[:, None] - 2 * P @ P.transpose(0, 2, 1)
        bounds[rows] = np.sqrt(np.maximum(np.partition(squared, k, axis=2)[:, :, k], 0.0))  # 0 is the item
    return bounds


# --------------------------------------------------------------------------------------------- tasks
def sample_rows(job: Job, n_cells: int, rule: CellRule = RULE) -> AnyArray:
    """A sample of the items for the centres, read chunk by chunk."""
    n, rng = job.source.n_items, job.rng("cells")
    rows = np.sort(rng.choice(n, min(n, rule.sample_per_cell * n_cells), replace=False))
    parts = []
    for number in range(job.n_chunks):
        first, last = job.chunk(number)
        mine = rows[(rows >= first) & (rows < last)]
        if len(mine):
            parts.append(job.source.read(first, last)[mine - first])
    return np.concatenate(parts)


def find_cells(job: Job, _: int) -> dict[str, Any]:
    """Stage "cells", one block: the centres."""
    n_cells = max(1, -(-job.source.n_items // job.settings.block_items))
    with job.workers() as workers:
        centres = choose_centres(sample_rows(job, n_cells), n_cells, job.rng("centres"), workers)
    return job.store.write("cells", 0, {"centres": centres}, {"n_cells": len(centres)})


def assign_chunk(job: Job, number: int) -> dict[str, Any]:
    """Stage "assign", one block per chunk of the input: its items by nearest cell, in groups of cells."""
    first, last = job.chunk(number)
    X, centres = job.source.read(first, last), job.store.read("cells", 0)["centres"]
    rows = np.arange(first, last)
    with job.workers() as workers:
        home, second = two_nearest(X, rows, centres, workers)
    items = {"rows": rows, "second": second, "X": X}
    sizes = np.bincount(home, minlength=len(centres))
    order, arrays = np.argsort(home, kind="stable"), dict[str, AnyArray]()
    for group, mine in enumerate(_cut(order, sizes, job.settings.group_cells)):
        if len(mine):
            arrays |= {f"{name}_{group}": values[mine] for name, values in items.items()}
    return job.store.write("assign", number, arrays, {"sizes": sizes.tolist()})


def _cut(order: IntArray, sizes: IntArray, n_together: int) -> list[IntArray]:
    """Items sorted by cell, a fixed number of cells at a time."""
    return np.split(order, np.cumsum(sizes)[n_together - 1 : -1 : n_together])


def gather_group(job: Job, group: int) -> dict[str, Any]:
    """Stage "gathered": the items of a group of cells from all chunks, by cell."""
    size = job.settings.group_cells
    cells = slice(group * size, (group + 1) * size)
    names = [f"{name}_{group}" for name in ITEM_PARTS]
    parts, homes = [], []
    for number in range(job.n_chunks):
        found = job.store.read("assign", number, names)
        if found:
            counts = job.store.facts("assign", number)["sizes"][cells]
            parts.append(found)
            homes.append(np.repeat(np.arange(len(counts)), counts))
    if not parts:  # cells that no item has as its first choice
        return job.store.write("gathered", group, {})
    home = np.concatenate(homes)
    order, sizes = np.argsort(home, kind="stable"), np.bincount(home)
    arrays = dict[str, AnyArray]()
    for part, name in zip(ITEM_PARTS, names, strict=True):
        values = np.concatenate([found.pop(name) for found in parts])
        for cell, mine in enumerate(_cut(order, sizes, 1), start=group * size):
            if len(mine):
                arrays[f"{part}_{cell}"] = values[mine]
    return job.store.write("gathered", group, arrays)


def order_block(job: Job, block: int) -> dict[str, Any]:
    """Stage "vectors": the items of one cell, near ones beside each other, and which cells they visit."""
    cell = int(job.layout.cells[block])
    names = [f"{part}_{cell}" for part in ITEM_PARTS]
    found = job.store.read("gathered", cell // job.settings.group_cells, names)
    rows, second, X = (found[name] for name in names)
    order = leaf_order(X)
    X, second = X[order], second[order]
    centres = job.store.read("cells", 0)["centres"]
    radius = float(np.sqrt(((np.asarray(X, dtype=np.float64) - centres[cell]) ** 2).sum(axis=1).max()))
    visited = np.full(len(rows), -1)
    if second[0] >= 0:
        near = gap_to_plane(X, centres[cell], centres[second]) <= reach_at_most(X, job.settings.n_neighbors)
        visited[near] = job.layout.block_of_cell[second[near]]
    arrays = {"rows": rows[order], "second": visited, "X": X}
    where, counts = np.unique(visited[visited >= 0], return_counts=True)
    facts = {"radius": radius, "visits": [[int(a), int(b)] for a, b in zip(where, counts, strict=True)]}
    return job.store.write("vectors", block, arrays, facts)
