"""Items in blocks: a block is a k-means cell, so that its items are near each other and touch few others.

    sample  ->  centres, cells of bounded size  ->  first and second nearest cell of each item
            ->  "assign": rows by cell, one file per chunk of the input  ->  "vectors": one block per cell

Where items coincide no centre can divide them: such a cell gets copies of its centre, and the items take
turns.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.blocks.job import Job
from softspread.graph.neighbors import leaf_order

ROWS_AT_ONCE = 65_536  # compared with all centres at once


@dataclass(frozen=True, slots=True)
class CellRule:
    """How cells are found."""

    sample_per_cell: int = 400  # enough to know a cell's share within about 5 %
    largest: float = 1.5  # of the mean size of a cell, on the sample; beyond, the cell is divided
    rounds: int = 12  # each divides all cells that are too large
    iterations: int = 15  # of k-means: cells need not be perfect, only even


RULE = CellRule()


def choose_centres(
    sample: AnyArray, n_cells: int, rng: np.random.Generator, rule: CellRule = RULE
) -> FloatArray:
    """(at least n_cells, d) centres; no cell has much more than its share of the sample."""
    points = np.asarray(sample, dtype=np.float64)
    centres = _centres(points, min(n_cells, len(points)), rng, rule)
    limit = max(1.0, rule.largest * len(points) / n_cells)
    for _ in range(rule.rounds):
        first, _ = two_nearest(points, np.arange(len(points)), centres)
        counts = np.bincount(first, minlength=len(centres))
        large = np.flatnonzero(counts > limit)
        if not len(large):
            break
        kept = np.delete(centres, large, axis=0)
        parts = [
            _divided(points[first == cell], int(np.ceil(counts[cell] / limit)), rng, rule) for cell in large
        ]
        centres = np.concatenate([kept, *parts])
    return centres


def _divided(points: FloatArray, n_parts: int, rng: np.random.Generator, rule: CellRule) -> FloatArray:
    """Centres of the parts of one cell; copies of one centre where its points coincide."""
    parts = _centres(points, n_parts, rng, rule)
    return parts if len(parts) > 1 else np.repeat(parts, max(2, n_parts), axis=0)


def _centres(points: FloatArray, n_cells: int, rng: np.random.Generator, rule: CellRule) -> FloatArray:
    from sklearn.cluster import KMeans

    n_distinct = len(np.unique(points, axis=0))
    seed = int(rng.integers(2**31 - 1))
    search = KMeans(min(n_cells, n_distinct), n_init=1, max_iter=rule.iterations, random_state=seed)
    return np.unique(search.fit(points).cluster_centers_, axis=0)


def two_nearest(X: AnyArray, rows: IntArray, centres: FloatArray) -> tuple[IntArray, IntArray]:
    """The nearest and the second nearest cell of each item, (n,) each; the second is -1 with one cell.

    Items between copies of one centre take turns by their row.
    """
    distinct, group = np.unique(centres, axis=0, return_inverse=True)
    group = group.ravel()
    members = [np.flatnonzero(group == number) for number in range(len(distinct))]
    copies = np.array([len(some) for some in members])
    starts, flat = np.cumsum(copies) - copies, np.concatenate(members)
    near = np.concatenate([_nearest_groups(part, distinct) for part in _pieces(X)])
    turn = rows % copies[near[:, 0]]
    first = flat[starts[near[:, 0]] + turn]
    if len(centres) == 1:
        return first, np.full(len(X), -1)
    shared = copies[near[:, 0]] > 1
    beside = flat[starts[near[:, 0]] + (rows + 1) % copies[near[:, 0]]]
    other = flat[starts[near[:, -1]] + rows % copies[near[:, -1]]]
    return first, np.where(shared, beside, other)


def _pieces(X: AnyArray) -> list[AnyArray]:
    return [X[first : first + ROWS_AT_ONCE] for first in range(0, max(1, len(X)), ROWS_AT_ONCE)]


def _nearest_groups(X: AnyArray, centres: FloatArray) -> IntArray:
    """(n, 2) numbers of the two nearest of distinct centres, or (n, 1) where there is one."""
    middle = centres.mean(axis=0)  # products around the middle lose no digits to an offset
    moved, around = np.asarray(X, dtype=np.float64) - middle, centres - middle
    squared = np.einsum("ij,ij->i", around, around) - 2 * (moved @ around.T)
    n_wanted = min(2, len(centres))
    near = np.argpartition(squared, n_wanted - 1, axis=1)[:, :n_wanted]
    order = np.argsort(np.take_along_axis(squared, near, axis=1), axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1)


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
    centres = choose_centres(sample_rows(job, n_cells), n_cells, job.rng("centres"))
    return job.store.write("cells", 0, {"centres": centres}, {"n_cells": len(centres)})


def assign_chunk(job: Job, number: int) -> dict[str, Any]:
    """Stage "assign", one block per chunk of the input: its items by nearest cell."""
    first, last = job.chunk(number)
    X, centres = job.source.read(first, last), job.store.read("cells", 0)["centres"]
    rows = np.arange(first, last)
    home, second = two_nearest(X, rows, centres)
    order = np.argsort(home, kind="stable")
    ends = np.cumsum(np.bincount(home, minlength=len(centres)))
    arrays: dict[str, AnyArray] = {}
    for cell, mine in enumerate(np.split(order, ends[:-1])):
        if len(mine):
            arrays |= {f"rows_{cell}": rows[mine], f"second_{cell}": second[mine], f"X_{cell}": X[mine]}
    sizes = np.diff(ends, prepend=0).tolist()
    return job.store.write("assign", number, arrays, {"sizes": sizes})


def gather_block(job: Job, block: int) -> dict[str, Any]:
    """Stage "vectors": the items of one cell, near ones beside each other, and which cells they visit."""
    cell = int(job.layout.cells[block])
    names = [f"rows_{cell}", f"second_{cell}", f"X_{cell}"]
    parts = [job.store.read("assign", number, names) for number in range(job.n_chunks)]
    rows, second, X = (np.concatenate([part[name] for part in parts if name in part]) for name in names)
    order = leaf_order(X)
    centre = job.store.read("cells", 0)["centres"][cell]
    radius = float(np.sqrt(((np.asarray(X, dtype=np.float64) - centre) ** 2).sum(axis=1).max()))
    visited = job.layout.block_of_cell[second[order]] if second[0] >= 0 else np.full(len(rows), -1)
    arrays = {"rows": rows[order], "second": visited, "X": X[order]}
    where, counts = np.unique(visited[visited >= 0], return_counts=True)
    facts = {"radius": radius, "visits": [[int(a), int(b)] for a, b in zip(where, counts, strict=True)]}
    return job.store.write("vectors", block, arrays, facts)
