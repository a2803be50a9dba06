"""The nearest neighbours of every item, cell by cell.

    "lists"      every item among the members of its two nearest cells, by any neighbour search
    "merged"     the better of both, per item
    "neighbors"  one pass over neighbours' neighbours; or exact, from all cells that are near enough

Neighbours are places, squared distances in double precision; the recall is measured against an exact search
of all blocks for a sample of items.
"""

from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread._kernels.blocks import widen_rows
from softspread._kernels.neighbors import drop_self, sort_rows, squared_distances
from softspread.blocks.job import Job
from softspread.graph.neighbors import RECALL_SAMPLE, TIE, nearest_items
from softspread.graph.search import search_neighbors

NOBODY = -1  # in place of a neighbour that is not known
EXACT = ("exact", "tree", "brute")  # searches after which all cells are looked into
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
    k = min(job.settings.n_neighbors, len(X) - 1)
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
    k = job.settings.n_neighbors
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
    close = _distinct(own, near)
    lists = rows_of_blocks(job, "merged", "near", close)
    region = _distinct(close, lists)
    X = rows_of_blocks(job, "vectors", "X", region)
    table = np.full((len(region), near.shape[1]), NOBODY)
    table[np.searchsorted(region, close)] = _numbered(lists, region)
    indices = _numbered(near, region)
    mine = np.searchsorted(region, own)

    def work(first: int) -> None:
        widen_rows(X, table, mine, first, min(len(near), first + ROWS_AT_ONCE), indices, squared)

    with job.workers() as workers:
        workers.run(work, range(0, len(near), ROWS_AT_ONCE))
    found = np.where(indices >= 0, region[indices], NOBODY)
    missing = np.flatnonzero((found < 0).any(axis=1))
    if len(missing):  # a cell with too few members: everybody is asked
        found[missing], squared[missing] = _among_all(job, own[missing], X[mine[missing]])
    return _write_neighbors(job, block, found, squared)


def _distinct(*places: IntArray) -> IntArray:
    found = np.unique(np.concatenate([part.ravel() for part in places]))
    return found[found >= 0]


def _numbered(places: IntArray, region: IntArray) -> IntArray:
    """Places as rows of a region that holds them all."""
    return np.where(places >= 0, np.searchsorted(region, places), NOBODY)


def rows_of_blocks(job: Job, stage: str, name: str, places: IntArray) -> AnyArray:
    """Rows of an array that is kept in blocks, at ascending places."""
    blocks = job.layout.block_of(places)
    parts = []
    for block in np.unique(blocks).tolist():
        here = places[blocks == block] - job.layout.starts[block]
        parts.append(job.store.read(stage, block, [name])[name][here])
    return np.concatenate(parts)


# --------------------------------------------------------------------------------------------- exact
def exact_lists(job: Job, block: int) -> dict[str, Any]:
    """Stage "neighbors" of an exact search: each cell that could hold a nearer item is looked into."""
    own = job.store.read("vectors", block, ["X", "centre"])
    X, start, k = own["X"], int(job.layout.starts[block]), job.settings.n_neighbors
    with job.workers() as workers:
        found, _ = nearest_items(X, X, min(k + 1, len(X)), workers)
    near, squared = (
        np.empty((len(X), min(k, len(X) - 1)), dtype=np.int64),
        np.empty((len(X), min(k, len(X) - 1))),
    )
    drop_self(found, 0, near)
    squared_distances(X, X, near, squared)
    squared, near = nearest_of(squared, near + start, k)
    found, squared = _among_others(job, block, X, own["centre"], near, squared)
    return _write_neighbors(job, block, found, squared)


def _among_others(
    job: Job, block: int, X: AnyArray, centre: FloatArray, near: IntArray, squared: FloatArray
) -> tuple[IntArray, FloatArray]:
    """The lists of a block's items after a look into every other block that is near enough."""
    k = near.shape[1]
    others = [other for other in range(job.layout.n_blocks) if other != block]
    centres = {other: job.store.read("vectors", other, ["centre"])["centre"] for other in others}
    for other in sorted(others, key=lambda one: float(((centres[one] - centre) ** 2).sum())):
        radius = job.store.facts("vectors", other)["radius"]
        gap = np.sqrt(((np.asarray(X, dtype=np.float64) - centres[other]) ** 2).sum(axis=1)) - radius
        rows = np.flatnonzero((gap <= 0) | (gap * gap <= squared[:, -1] * (1 + TIE)))
        if not len(rows):
            continue
        there = job.store.read("vectors", other, ["X"])["X"]
        with job.workers() as workers:
            found, distances = nearest_items(there, X[rows], min(k, len(there)), workers)
        more = np.hstack([near[rows], found + int(job.layout.starts[other])])
        squared[rows], near[rows] = nearest_of(np.hstack([squared[rows], distances]), more, k)
    return near, squared


def _among_all(job: Job, places: IntArray, X: AnyArray) -> tuple[IntArray, FloatArray]:
    """The nearest other items of a few, in all blocks: places and squared distances."""
    k = job.settings.n_neighbors
    near, squared = np.empty((len(X), 0), dtype=np.int64), np.empty((len(X), 0))
    for block in range(job.layout.n_blocks):
        there = job.store.read("vectors", block, ["X"])["X"]
        with job.workers() as workers:
            found, distances = nearest_items(there, X, min(k + 1, len(there)), workers)
        found = found + int(job.layout.starts[block])
        distances[found == places[:, None]] = np.inf
        squared, near = nearest_of(np.hstack([squared, distances]), np.hstack([near, found]), k)
    return near, squared


def _write_neighbors(job: Job, block: int, near: IntArray, squared: FloatArray) -> dict[str, Any]:
    facts = {"kth": float(squared[:, -1].sum()), "all": float(squared.sum()), "items": len(near)}
    return job.store.write("neighbors", block, {"near": near, "squared": squared}, facts)


# -------------------------------------------------------------------------------------------- recall
def measure_recall(job: Job, _: int) -> dict[str, Any]:
    """Stage "recall", one block: the share of the true neighbours of a sample that were found."""
    n, rng = job.source.n_items, job.rng("recall")
    places = np.sort(rng.choice(n, min(n, RECALL_SAMPLE), replace=False))
    X = rows_of_blocks(job, "vectors", "X", places)
    limit = _among_all(job, places, X)[1][:, -1:] * (1 + TIE)
    found = rows_of_blocks(job, "neighbors", "squared", places)
    return job.store.write("recall", 0, {}, {"recall": float((found <= limit).mean()), "sample": len(places)})
