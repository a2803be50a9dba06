"""A part of the graph around some items, with whole rows near them and a wall farther out.

    seeds  ->  rings of neighbours, over as many blocks as it takes  ->  Region (system, degrees)

A local solve may enter every item whose row the region has. An item beyond gets an impossible number of
edges, so that a local solve that wants to enter it stops as if its memory had run out: it says that the
certificate was not reached, and never takes a missing row for an empty one.
"""

from dataclasses import dataclass

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread._kernels.local_scales import LocalWork, local_work
from softspread._kernels.system import System
from softspread.blocks.job import Job
from softspread.blocks.operator import BlockOperator, read_operator

WALL = 1 << 36  # edges of an item whose row is not here: more than any memory, and 10^8 of them fit an int64


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Items with their rows, then items beyond the wall."""

    places: IntArray  # (r,)  items with rows, ascending
    system: System
    degrees: FloatArray  # (r + beyond,)

    def numbers(self, places: IntArray) -> IntArray:
        """Numbers in the region of items that have rows here."""
        return np.searchsorted(self.places, places)

    def work(self, most_rows: int) -> LocalWork:
        """Scratch memory for local solves of at most this many rows."""
        n, r = len(self.degrees), len(self.places)
        counts = np.diff(self.system.indptr[: r + 1])
        longest, rows = int(counts.max(initial=0)), min(r, most_rows)
        edges = min(len(self.system.indices), 40 * rows + longest)
        return local_work(n, rows, min(n, 10 * rows) + longest, edges)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows of S with places as columns."""

    places: IntArray
    counts: IntArray
    columns: IntArray
    values: AnyArray
    degrees: FloatArray


def grow_region(job: Job, seeds: IntArray, alpha: float, rings: int, most_rows: int) -> Region:
    """Whole rows of the seeds and of ``rings`` rings of neighbours, at most ``most_rows``."""
    cache: dict[int, BlockOperator] = {}
    found, known = [], np.empty(0, dtype=np.int64)
    frontier = np.unique(seeds)
    for ring in range(rings + 1):
        if not len(frontier) or (ring and len(known) + len(frontier) > most_rows):
            break
        rows = _rows_at(job, frontier, cache)
        found.append(rows)
        known = np.union1d(known, frontier)
        frontier = np.setdiff1d(rows.columns, known)
    return _assembled(found, known, alpha)


def _rows_at(job: Job, places: IntArray, cache: dict[int, BlockOperator]) -> _Rows:
    blocks = job.layout.block_of(places)
    parts = []
    for block in np.unique(blocks).tolist():
        if block not in cache:
            cache[block] = read_operator(job, block)
        start = int(job.layout.starts[block])
        parts.append(_rows_of(cache[block], start, places[blocks == block] - start))
    joined = (np.concatenate([getattr(part, name) for part in parts]) for name in _Rows.__slots__)
    return _Rows(*joined)


def _rows_of(operator: BlockOperator, start: int, rows: IntArray) -> _Rows:
    """Some rows of one block."""
    counts = np.diff(operator.indptr)[rows]
    edges = _ranges(operator.indptr[rows], counts)
    columns = operator.columns[edges].astype(np.int64)
    outside = columns >= operator.n_items
    columns[outside] = operator.halo[columns[outside] - operator.n_items]
    columns[~outside] += start
    return _Rows(rows + start, counts, columns, operator.values[edges], operator.degrees[rows])


def _ranges(first: IntArray, counts: IntArray) -> IntArray:
    """first[0], first[0] + 1, ..., counts[0] of them, then those of the next."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(first - (ends - counts), counts))


def _assembled(found: list[_Rows], known: IntArray, alpha: float) -> Region:
    """Rows in ascending order of their places, then the items beyond, each behind a wall."""
    places = np.concatenate([rows.places for rows in found])
    counts = np.concatenate([rows.counts for rows in found])
    columns = np.concatenate([rows.columns for rows in found])
    values = np.concatenate([rows.values for rows in found])
    order = np.argsort(places)
    edges = _ranges((np.cumsum(counts) - counts)[order], counts[order])
    columns, values = columns[edges], values[edges].astype(np.float64)
    beyond = np.setdiff1d(columns, known)
    numbers = np.searchsorted(known, columns)
    inside = numbers < len(known)
    inside[inside] = known[numbers[inside]] == columns[inside]
    numbers[~inside] = len(known) + np.searchsorted(beyond, columns[~inside])
    ends = np.cumsum(counts[order])
    walls = (ends[-1] if len(ends) else 0) + WALL * np.arange(1, len(beyond) + 1)
    indptr = np.concatenate([[0], ends, walls]).astype(np.int64)
    degrees = np.concatenate([np.concatenate([rows.degrees for rows in found])[order], np.zeros(len(beyond))])
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    return Region(known, System(indptr, numbers.astype(np.uint32), values, root, alpha), degrees)
