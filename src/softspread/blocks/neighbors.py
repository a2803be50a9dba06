"""The nearest neighbours of every item, cell by cell.

    "lists"      every item among its cell's members and visitors, by any neighbour search
    "merged"     the better of both, for items that visit their second cell
    "neighbors"  one pass over neighbours' neighbours; or exact, from all cells that are near enough

Neighbours are places, squared distances in double precision; the recall is measured against an exact search
of all blocks for a sample of items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread._kernels.blocks import widen_rows
from softspread._kernels.neighbors import drop_self, sort_rows, squared_distances
from softspread.blocks.job import Job
from softspread.blocks.places import NOBODY, PlaceSet
from softspread.graph.neighbors import RECALL_SAMPLE, TIE, nearest_items
from softspread.graph.search import search_neighbors

EXACT = ("exact", "tree", "brute")  # searches after which all cells are looked into
ROUNDING = 1e-12  # of squared distances to centres, as a share of the largest
ROWS_AT_ONCE = 8_192  # of a pass over neighbours' neighbours, per thread


def nearest_of(squared: FloatArray, places: IntArray, k: int) -> tuple[FloatArray, IntArray]:
    """The k nearest distinct places of each row, nearest first; what is missing is NOBODY at infinity."""
    squared, places = squared.copy(), places.astype(np.int64)
    squared[places == NOBODY] = np.inf
    sort_rows(squared, places)
    twice = np.zeros(places.shape, dtype=bool)
    twice[:, 1:] = (
        places[:, 1:] == places[:, :-1]
    )  # the same pair has the same distance, so copies are together
    squared[twice] = np.inf
    places[np.isinf(squared)] = NOBODY
    sort_rows(squared, places)
    if squared.shape[1] < k:
        room = ((0, 0), (0, k - squared.shape[1]))
        squared, places = (
            np.pad(squared, room, constant_values=np.inf),
            np.pad(places, room, constant_values=-1),
        )
    return squared[:, :k].copy(), places[:, :k].copy()


# --------------------------------------------------------------------------------------- approximate
def search_cell(job: Job, block: int) -> dict[str, Any]:
    """Stage "lists": the neighbours of a cell's members among them; visitors' lists by their home block."""
    own = job.store.read("vectors", block, ["X"])["X"]
    start, parts, places, homes = int(job.layout.starts[block]), [own], [], []
    places.append(start + np.arange(len(own)))
    for home in job.facts["visitors"].get(str(block), []):
        found = job.store.read("vectors", home, ["X", "second"])
        here = np.flatnonzero(found["second"] == block)
        parts.append(found["X"][here])
        places.append(int(job.layout.starts[home]) + here)
        homes.append((home, len(here)))
    X, everyone = np.concatenate(parts), np.concatenate(places)
    k = min(_k(job), len(X) - 1)
    with job.workers() as workers:
        found_here = search_neighbors(X, k, job.settings.index, workers, job.rng("search", block), False)
    near, squared, first = everyone[found_here.indices], found_here.squared, len(own)
    arrays = {"near": near[:first], "squared": squared[:first]}
    for home, size in homes:
        part = slice(first, first + size)
        arrays |= {f"near_{home}": near[part], f"squared_{home}": squared[part]}
        first += size
    return job.store.write("lists", block, arrays)


def merge_lists(job: Job, block: int) -> dict[str, Any]:
    """Stage "merged": the better of what an item's two cells have found."""
    k = _k(job)
    own, second = job.store.read("lists", block, ["near", "squared"]), _visits(job, block)
    squared, near = np.full((len(second), 2 * k), np.inf), np.full((len(second), 2 * k), NOBODY)
    width = own["near"].shape[1]
    squared[:, :width], near[:, :width] = own["squared"], own["near"]
    for visited in np.unique(second[second >= 0]).tolist():
        names = [f"near_{block}", f"squared_{block}"]
        there, rows = job.store.read("lists", visited, names), np.flatnonzero(second == visited)
        width = there[names[0]].shape[1]
        near[rows, k : k + width], squared[rows, k : k + width] = there[names[0]], there[names[1]]
    squared, near = nearest_of(squared, near, k)
    return job.store.write("merged", block, {"near": near, "squared": squared})


def _visits(job: Job, block: int) -> IntArray:
    return np.asarray(job.store.read("vectors", block, ["second"])["second"])


def refine_lists(job: Job, block: int) -> dict[str, Any]:
    """Stage "neighbors": the lists of one block, improved by neighbours' neighbours."""
    merged = job.store.read("merged", block)
    near, squared = merged["near"], merged["squared"]
    start = int(job.layout.starts[block])
    own = np.arange(start, start + len(near))
    close = PlaceSet.of(job.layout, own, near).places
    lists = rows_of_blocks(job, "merged", "near", close)
    region = PlaceSet.of(job.layout, close, lists)
    X = rows_of_blocks(job, "vectors", "X", region.places)
    table = np.full((len(region.places), near.shape[1]), NOBODY)
    table[region.numbers(close)] = region.numbers(lists)
    indices, mine = region.numbers(near), region.numbers(own)

    def work(first: int) -> None:
        widen_rows(X, table, mine, first, min(len(near), first + ROWS_AT_ONCE), indices, squared)

    with job.workers() as workers:
        workers.run(work, range(0, len(near), ROWS_AT_ONCE))
    found = np.where(indices >= 0, region.places[indices], NOBODY)
    missing = np.flatnonzero((found < 0).any(axis=1))
    if len(missing):  # a cell with too few members: everybody is asked
        empty = np.full((len(missing), _k(job)), NOBODY), np.full((len(missing), _k(job)), np.inf)
        everywhere = range(job.layout.n_blocks)
        found[missing], squared[missing] = _looked_into(
            job, everywhere, own[missing], X[mine[missing]], *empty
        )
    return _write_neighbors(job, block, found, squared)


def rows_of_blocks(job: Job, stage: str, name: str, places: IntArray) -> AnyArray:
    """Rows of an array that is kept in blocks, at ascending places."""
    blocks = job.layout.block_of(places)
    parts = []
    for block in np.flatnonzero(np.bincount(blocks)).tolist():
        here = places[slice(*np.searchsorted(blocks, [block, block + 1]))] - job.layout.starts[block]
        parts.append(job.store.read(stage, block, [name])[name][here])
    return np.concatenate(parts)


# --------------------------------------------------------------------------------------------- exact
def exact_lists(job: Job, block: int) -> dict[str, Any]:
    """Stage "neighbors" of an exact search: each cell that could hold a nearer item is looked into."""
    X, start, k = job.store.read("vectors", block, ["X"])["X"], int(job.layout.starts[block]), _k(job)
    with job.workers() as workers:
        found, _ = nearest_items(X, X, min(k + 1, len(X)), workers)
    near, squared = (
        np.empty((len(X), min(k, len(X) - 1)), dtype=np.int64),
        np.empty((len(X), min(k, len(X) - 1))),
    )
    drop_self(found, 0, near)
    squared_distances(X, X, near, squared)
    squared, near = nearest_of(squared, near + start, k)
    others = [other for other in range(job.layout.n_blocks) if other != block]
    found, squared = _looked_into(job, others, start + np.arange(len(X)), X, near, squared)
    return _write_neighbors(job, block, found, squared)


def _k(job: Job) -> int:
    return job.settings.n_neighbors


def _looked_into(
    job: Job,
    blocks: Sequence[int],
    places: IntArray,
    X: AnyArray,
    near: IntArray,
    squared: FloatArray,
    limits: FloatArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """The lists of some items after a look into every one of the blocks that may hold a nearer item.

    Parameters
    ----------
    places, X : (q,), (q, d) the items
    near, squared : (q, k) their lists so far, NOBODY at infinity where there is none
    limits : (q,) squared distances beyond which no item matters, apart from those in ``squared``
    """
    gaps, radii, k = CellGaps.of(job, places, X), job.facts["radii"], near.shape[1]
    limits = np.full(len(X), np.inf) if limits is None else limits
    for other in sorted(blocks, key=gaps.of_middle):
        reach = np.minimum(limits, squared[:, -1]) * (1 + TIE)
        rows = np.flatnonzero(gaps.to(other, radii[other]) ** 2 <= reach)
        if not len(rows):
            continue
        there = job.store.read("vectors", other, ["X"])["X"]
        with job.workers() as workers:
            found, distances = nearest_items(there, X[rows], min(k + 1, len(there)), workers)
        found = found + int(job.layout.starts[other])
        distances[found == places[rows, None]] = np.inf
        more = np.hstack([near[rows], found])
        squared[rows], near[rows] = nearest_of(np.hstack([squared[rows], distances]), more, k)
    return near, squared


@dataclass(frozen=True, slots=True, eq=False)
class CellGaps:
    """How near the items of a block can be, at least, to some items.

    An item is nearest to the centre of its own cell, so the plane half-way between two centres lies between
    their items, and all items of a cell lie within its radius.
    """

    X: FloatArray  # (q, d)
    own: FloatArray  # (q, d)  centre of each item's cell
    centres: FloatArray  # (blocks, d)
    slack: float  # squared distances to centres are known up to this

    @classmethod
    def of(cls, job: Job, places: IntArray, X: AnyArray) -> "CellGaps":
        """For items at some places."""
        centres = job.store.read("cells", 0, ["centres"])["centres"][job.layout.cells]
        points, middle = np.asarray(X, dtype=np.float64), centres.mean(axis=0)
        farthest = max(float(((part - middle) ** 2).sum(axis=1).max()) for part in (points, centres))
        return cls(points, centres[job.layout.block_of(places)], centres, ROUNDING * farthest)

    def of_middle(self, block: int) -> float:
        """How far the centre of a block is from the middle of the items, squared."""
        return float(((self.centres[block] - self.X.mean(axis=0)) ** 2).sum())

    def to(self, block: int, radius: float) -> FloatArray:
        """(q,) lower bounds of the distances to all items of a block."""
        centre = self.centres[block]
        there = ((self.X - centre) ** 2).sum(axis=1)
        here = ((self.X - self.own) ** 2).sum(axis=1)
        apart = np.sqrt(((self.own - centre) ** 2).sum(axis=1))
        beyond = np.maximum(there - here - self.slack, 0.0)
        plane = np.divide(beyond, 2 * apart, out=np.zeros(len(beyond)), where=apart > 0)
        return np.asarray(np.maximum(plane, np.sqrt(there) - radius - np.sqrt(self.slack)))


def _write_neighbors(job: Job, block: int, near: IntArray, squared: FloatArray) -> dict[str, Any]:
    facts = {"kth": float(squared[:, -1].sum()), "all": float(squared.sum()), "items": len(near)}
    return job.store.write("neighbors", block, {"near": near, "squared": squared}, facts)


# -------------------------------------------------------------------------------------------- recall
def measure_recall(job: Job, _: int) -> dict[str, Any]:
    """Stage "recall", one block: the share of the true neighbours of a sample that were found."""
    n, rng = job.source.n_items, job.rng("recall")
    places = np.sort(rng.choice(n, min(n, RECALL_SAMPLE), replace=False))
    X = rows_of_blocks(job, "vectors", "X", places)
    found = rows_of_blocks(job, "neighbors", "squared", places)
    empty = np.full(found.shape, NOBODY), np.full(found.shape, np.inf)
    squared = _looked_into(job, range(job.layout.n_blocks), places, X, *empty, found[:, -1])[1]
    limit = np.minimum(found, squared)[:, -1:] * (1 + TIE)
    return job.store.write("recall", 0, {}, {"recall": float((found <= limit).mean()), "sample": len(places)})
