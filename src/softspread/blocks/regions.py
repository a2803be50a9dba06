"""A part of the graph around some items, with whole rows near them and a wall farther out.

    seeds  ->  rings of neighbours, over as many blocks as it takes  ->  Region (system, degrees)

A local solve may enter every item whose row the region has. An item beyond gets an impossible number of
edges, so that a local solve that wants to enter it stops as if its memory had run out: it says that the
certificate was not reached, and never takes a missing row for an empty one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softspread._common.types import FloatArray, IntArray
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


class _Patch:
    """One block while a region grows."""

    def __init__(self, job: Job, block: int) -> None:
        self.job, self.block = job, block
        self.start, end = (int(edge) for edge in job.layout.starts[block : block + 2])
        self.known = np.zeros(end - self.start, dtype=bool)  # items with rows in the region
        self.met = np.zeros(end - self.start, dtype=bool)  # those, and the ends of their edges
        self.numbers = np.full(end - self.start, -1)  # in the region, once it is complete

    @cached_property
    def operator(self) -> BlockOperator:
        """The block's rows, read when the first is needed."""
        return read_operator(self.job, self.block)

    def edges(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Edges of some rows: where they stand in the operator, and how many each row has."""
        counts = np.diff(self.operator.indptr)[rows]
        return _ranges(self.operator.indptr[rows], counts), counts

    def enter(self, rows: IntArray) -> IntArray:
        """Give some items their rows; returns the places in other blocks that they touch."""
        self.known[rows] = True
        columns, n_own = self.operator.columns[self.edges(rows)[0]], self.operator.n_items
        own = columns < n_own
        self.met[columns[own]] = True
        touched = np.zeros(len(self.operator.halo), dtype=bool)
        touched[columns[~own] - n_own] = True
        return np.asarray(self.operator.halo[touched])


class _Patches:
    """The blocks of a region, by number."""

    def __init__(self, job: Job) -> None:
        self.job, self.found = job, dict[int, _Patch]()

    def meet(self, places: IntArray) -> None:
        """Take note of places, ascending."""
        for block, local in self._by_block(places):
            if block not in self.found:
                self.found[block] = _Patch(self.job, block)
            self.found[block].met[local] = True

    def numbers(self, places: IntArray) -> IntArray:
        """Numbers in the region of places, ascending; -1 for those outside."""
        found = [np.full(len(local), -1) for _, local in self._by_block(places)]
        for part, (block, local) in zip(found, self._by_block(places), strict=True):
            if block in self.found:
                part[:] = self.found[block].numbers[local]
        return np.concatenate([places[:0], *found])

    def _by_block(self, places: IntArray) -> list[tuple[int, IntArray]]:
        home = self.job.layout.block_of(places)
        blocks = np.flatnonzero(np.bincount(home))
        parts = np.split(places, np.searchsorted(home, blocks[1:]))
        return [
            (block, part - self.job.layout.starts[block])
            for block, part in zip(blocks.tolist(), parts, strict=False)
        ]

    def in_order(self) -> list[_Patch]:
        """The blocks in the order of their items."""
        return [self.found[block] for block in sorted(self.found)]


def grow_region(job: Job, seeds: IntArray, alpha: float, rings: int, most_rows: int) -> Region:
    """Whole rows of the seeds and of ``rings`` rings of neighbours, at most ``most_rows``."""
    patches, n_known = _Patches(job), 0
    patches.meet(np.unique(seeds))
    for ring in range(rings + 1):
        frontier = [(patch, np.flatnonzero(patch.met & ~patch.known)) for patch in patches.in_order()]
        n_more = sum(len(rows) for _, rows in frontier)
        if not n_more or (ring and n_known + n_more > most_rows):
            break
        n_known += n_more
        touched = [patch.enter(rows) for patch, rows in frontier if len(rows)]
        for places in touched:
            patches.meet(places)
    return _assembled(patches, n_known, alpha)


def _ranges(first: IntArray, counts: IntArray) -> IntArray:
    """first[0], first[0] + 1, ..., counts[0] of them, then those of the next."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(first - (ends - counts), counts))


def _assembled(patches: _Patches, n_known: int, alpha: float) -> Region:
    """Rows in ascending order of their places, then the items beyond, each behind a wall."""
    n_inside, n_beyond = 0, 0
    for patch in patches.in_order():
        inside, beyond = np.flatnonzero(patch.known), np.flatnonzero(patch.met & ~patch.known)
        patch.numbers[inside] = n_inside + np.arange(len(inside))
        patch.numbers[beyond] = n_known + n_beyond + np.arange(len(beyond))
        n_inside, n_beyond = n_inside + len(inside), n_beyond + len(beyond)
    places, counts, columns, values, degrees = [], [], [], [], []
    for patch in patches.in_order():
        rows = np.flatnonzero(patch.known)
        if not len(rows):
            continue
        edges, per_row = patch.edges(rows)
        numbers = np.concatenate([patch.numbers, patches.numbers(patch.operator.halo)])
        places.append(patch.start + rows)
        counts.append(per_row)
        columns.append(numbers[patch.operator.columns[edges]].astype(np.uint32))
        values.append(patch.operator.values[edges].astype(np.float64))
        degrees.append(patch.operator.degrees[rows])
    ends = np.cumsum(np.concatenate(counts))
    walls = ends[-1] + WALL * np.arange(1, n_beyond + 1)
    indptr = np.concatenate([[0], ends, walls]).astype(np.int64)
    all_degrees = np.concatenate([*degrees, np.zeros(n_beyond)])
    root = np.sqrt(np.where(all_degrees > 0, all_degrees, 1.0))
    system = System(indptr, np.concatenate(columns), np.concatenate(values), root, alpha)
    return Region(np.concatenate(places), system, all_degrees)
