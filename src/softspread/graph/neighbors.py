"""Who are the nearest other items of each item?

    X (n, d)  ->  Neighbors: indices (n, k), squared distances (n, k), measured recall

Every search drops the item itself by its number, not by its position: where points coincide, position 0 may
be anyone. Distances are always recomputed in double precision from X.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.spatial import cKDTree

from softspread._common.progress import progress_bar
from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray, IntArray, Neighbors
from softspread._kernels.neighbors import drop_self, sort_rows, squared_distances
from softspread.errors import MissingExtraError, SoftspreadWarning

TREE_DIMENSIONS = 32  # beyond, a kd-tree visits nearly every leaf and blocked products win
EXACT_ITEMS = 50_000  # up to here the exact search is fast enough to be the default
EXACT_WORK = 1e12  # n * n * d of a blocked exact search, about a minute on two cores
TARGET_RECALL = 0.9995  # what the inverted file is tuned to reach on a sample
LOW_RECALL = 0.98  # below, the user is warned; single soft labels move by up to 0.86 at 0.9991 already
TUNING_SAMPLE = 256
RECALL_SAMPLE = 512
TRAINING_POINTS = 200_000  # short training: cells need not be perfect, only even
TRAINING_ROUNDS = 8
# squared distances that differ by less, as a share, are as good: approximate searches use single precision
TIE = 1e-6
PRODUCT_ROWS = 100_000  # rows held in double precision at once by the search through products
# rounding of a squared distance, as a share of the mean to the farthest neighbour, that moves no weight
HARMLESS = 1e-9


class Search(Protocol):
    """A neighbour search: any function that returns the nearest other items of each item.

    A search that has only found candidates leaves the rest to :func:`measured_neighbors`.
    """

    def __call__(
        self, X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool, /
    ) -> Neighbors:
        """(n, n_neighbors) neighbours of the rows of X, nearest first, the item itself not among them.

        ``rng`` is the only source of chance, ``workers.n_threads`` the number of threads to use, ``show``
        whether to show progress. ``n_neighbors`` is at least 1 and below n.
        """
        ...


def search_auto(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Exact up to about 50,000 items, then faiss."""
    n, d = X.shape
    affordable = n <= EXACT_ITEMS and (d <= TREE_DIMENSIONS or n * n * d <= EXACT_WORK)
    return (search_exact if affordable else search_faiss)(X, n_neighbors, workers, rng, show)


def search_exact(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """A kd-tree in few dimensions, blocked distance products in many."""
    if X.shape[1] <= TREE_DIMENSIONS:
        return search_tree(X, n_neighbors, workers, rng, show)
    return search_brute(X, n_neighbors, workers, rng, show)


def search_tree(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Exact, by scipy's kd-tree."""
    tree = cKDTree(X)
    n = len(X)
    found = np.empty((n, n_neighbors + 1), dtype=np.int64)
    with progress_bar("neighbours (kd-tree)", n, show) as advance:
        for rows in blocks(n, 20_000):
            _, block = tree.query(X[rows], n_neighbors + 1, workers=workers.n_threads)
            found[rows] = block.reshape(len(block), -1)
            advance(rows.stop - rows.start)
    return _finish(X, found, n_neighbors, workers, "tree", 1.0)


def search_brute(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Exact, by blocked distances over all pairs."""
    n = len(X)
    found = np.empty((n, n_neighbors + 1), dtype=np.int64)
    with progress_bar("neighbours (all pairs)", n, show) as advance:
        for rows in blocks(n, 5_000):
            found[rows] = _nearest_by_products(X, X[rows], n_neighbors + 1, workers)[0]
            advance(rows.stop - rows.start)
    return _finish(X, found, n_neighbors, workers, "brute", 1.0)


def search_faiss(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Approximate search by an inverted file.

    The number of cells to probe is tuned on one sample, recall measured on another.
    """
    import faiss

    centred = centred_singles(X)
    n, d = centred.shape
    n_cells = int(min(4 * np.sqrt(n), n / 39)) or 1  # faiss wants 39 training points a cell
    threads_before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(workers.n_threads)
    try:
        quantizer = faiss.IndexFlatL2(d)
        inverted = faiss.IndexIVFFlat(quantizer, d, n_cells)
        inverted.cp.niter = TRAINING_ROUNDS
        inverted.cp.seed = int(rng.integers(2**31 - 1))
        sample = rng.choice(n, min(n, TRAINING_POINTS), replace=False)
        inverted.train(centred[np.sort(sample)])
        inverted.add(centred)
        sample = recall_sample(X, n_neighbors, TUNING_SAMPLE, workers, rng)
        n_probes = _tuned_probes(X, centred, inverted, n_cells, sample, n_neighbors)
        inverted.nprobe = n_probes
        found = np.empty((n, n_neighbors + 1), dtype=np.int64)
        with progress_bar("neighbours (faiss)", n, show) as advance:
            for rows in blocks(n, 20_000):
                found[rows] = inverted.search(centred[rows], n_neighbors + 1)[1]
                advance(rows.stop - rows.start)
        missing = np.flatnonzero((found < 0).any(axis=1))  # cells too small for k + 1: search them all
        inverted.nprobe = n_cells
        for some in np.array_split(missing, max(1, len(missing) // 1000)):
            if len(some):
                found[some] = inverted.search(centred[some], n_neighbors + 1)[1]
    finally:
        faiss.omp_set_num_threads(threads_before)
    details: dict[str, float | int | str] = {"cells": n_cells, "probes": n_probes}
    return measured_neighbors(X, found, n_neighbors, workers, rng, "faiss", details, spent=sample.rows)


def _tuned_probes(
    X: AnyArray, centred: AnyArray, inverted: Any, n_cells: int, sample: "RecallSample", n_neighbors: int
) -> int:
    """The fewest probed cells that reach the target recall on a sample."""
    n_probes = 4
    while n_probes < n_cells:
        inverted.nprobe = n_probes
        found = inverted.search(centred[sample.rows], n_neighbors + 1)[1]
        if sample.recall(X, found) >= TARGET_RECALL:
            break
        n_probes = n_probes + max(2, n_probes // 4)
    return min(n_probes, n_cells)


def search_pynndescent(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Approximate, by nearest-neighbour descent; recall is measured on a sample."""
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise MissingExtraError('index="pynndescent" needs: pip install "softspread[approx]"') from error
    centred = centred_singles(X)
    index = NNDescent(
        centred,
        n_neighbors=min(n_neighbors + 6, len(X)),
        random_state=int(rng.integers(2**31 - 1)),
        n_jobs=workers.n_threads,
        verbose=show,
    )
    found = np.asarray(index.neighbor_graph[0][:, : n_neighbors + 1], dtype=np.int64)
    fill_gaps(X, found, workers)
    return measured_neighbors(X, found, n_neighbors, workers, rng, "pynndescent")


def measured_neighbors(
    X: AnyArray,
    found: IntArray,
    n_neighbors: int,
    workers: Workers,
    rng: np.random.Generator,
    index: str,
    details: dict[str, float | int | str] | None = None,
    spent: IntArray | None = None,
) -> Neighbors:
    """What an approximate search found, in order, with its recall.

    Drops each item itself, computes distances in double precision, sorts by them, and measures the recall on
    a sample; a low one warns.

    Parameters
    ----------
    X : (n, d) float
        Features.
    found : (n, n_neighbors + 1) int
        Rows near each item, in any order; the item itself may be among them.
    n_neighbors : int
        How many to keep.
    workers : Workers
        Threads to use.
    rng : numpy.random.Generator
        Draws the sample.
    index : str
        What the search is called.
    details : dict, optional
        Further facts about the search.
    spent : (m,) int, optional
        Rows on which the search was tuned; the recall is measured on others.

    Returns
    -------
    Neighbors
        (n, n_neighbors), nearest first.
    """
    fresh = np.arange(len(X)) if spent is None else np.setdiff1d(np.arange(len(X)), spent)
    few = len(fresh) <= RECALL_SAMPLE
    judged = np.arange(len(X)) if few else rng.choice(fresh, RECALL_SAMPLE, replace=False)
    return _judge(X, _finish(X, found, n_neighbors, workers, index, np.nan, details), judged, workers)


@dataclass(frozen=True, slots=True)
class RecallSample:
    """Some items, and how far away their true neighbours are."""

    rows: IntArray  # (m,)
    limit: FloatArray  # (m, 1)  squared distance to the farthest true neighbour

    def recall(self, X: AnyArray, found: IntArray) -> float:
        """Share of the found rows that are as near as the true neighbours; -1 is none."""
        squared = np.empty(found.shape)
        squared_distances(X, X[self.rows], np.maximum(found, 0), squared)
        return float(((squared <= self.limit) & (found >= 0)).mean())


def recall_sample(
    X: AnyArray, n_neighbors: int, size: int, workers: Workers, rng: np.random.Generator
) -> RecallSample:
    """A sample of items to tune a search on, the item itself counted as its nearest neighbour."""
    rows = np.sort(rng.choice(len(X), min(len(X), size), replace=False))
    return RecallSample(
        rows, _nearest_by_products(X, X[rows], n_neighbors + 1, workers)[1][:, -1:] * (1 + TIE)
    )


def fill_gaps(X: AnyArray, found: IntArray, workers: Workers) -> None:
    """Search again, exactly, for the rows of which too few neighbours were found, marked by -1."""
    rows = np.flatnonzero((found < 0).any(axis=1))
    if len(rows):
        found[rows] = _nearest_by_products(X, X[rows], found.shape[1], workers)[0]


def leaf_order(X: AnyArray) -> IntArray:
    """Items in the order of kd-tree leaves: neighbours get close numbers, which keeps gathers in cache."""
    return np.asarray(cKDTree(X, balanced_tree=True, compact_nodes=False).indices, dtype=np.int64)


def nearest_items(
    X: AnyArray, queries: AnyArray, n_neighbors: int, workers: Workers
) -> tuple[IntArray, FloatArray]:
    """The nearest rows of X to each query, exactly: numbers and squared distances, (q, k) each."""
    if X.shape[1] <= TREE_DIMENSIONS:
        return _nearest_by_tree(X, queries, n_neighbors, workers)
    return _nearest_by_products(X, queries, n_neighbors, workers)


def _nearest_by_tree(
    X: AnyArray, queries: AnyArray, n_nearest: int, workers: Workers
) -> tuple[IntArray, FloatArray]:
    _, found = cKDTree(X).query(queries, n_nearest, workers=workers.n_threads)
    indices = np.asarray(found, dtype=np.int64).reshape(len(queries), n_nearest)
    squared = np.empty(indices.shape)
    squared_distances(X, queries, indices, squared)
    return indices, squared


def _nearest_by_products(
    X: AnyArray, queries: AnyArray, n_nearest: int, workers: Workers
) -> tuple[IntArray, FloatArray]:
    """The nearest rows of X by blocks of |x|^2 - 2 x.y + |y|^2, numbers and squared distances.

    Such products lose digits where items lie far from the centre and close to each other; queries for which
    that could matter are answered again by a tree, which subtracts first.
    """
    from sklearn.neighbors import NearestNeighbors

    centre = X.mean(axis=0, dtype=np.float64)
    moved = queries - centre
    parts = []
    for rows in blocks(len(X), PRODUCT_ROWS):
        k = min(n_nearest, rows.stop - rows.start)
        search = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=workers.n_threads).fit(
            X[rows] - centre
        )
        parts.append(search.kneighbors(moved, return_distance=False) + rows.start)
    found = np.concatenate(parts, axis=1).astype(np.int64, copy=False)
    squared = np.empty(found.shape)
    squared_distances(X, queries, found, squared)
    sort_rows(squared, found)
    found, squared = found[:, :n_nearest].copy(), squared[:, :n_nearest].copy()
    farthest = squared[:, -1]
    rounding = (
        4 * np.finfo(np.float64).eps * np.sqrt(X.shape[1]) * (np.einsum("ij,ij->i", moved, moved) + farthest)
    )
    doubtful = np.flatnonzero(rounding > HARMLESS * farthest.mean())
    if len(doubtful):
        found[doubtful], squared[doubtful] = _nearest_by_tree(X, queries[doubtful], n_nearest, workers)
    return found, squared


def blocks(n: int, size: int) -> list[slice]:
    """The rows from 0 to n in slices of a size."""
    return [slice(first, min(n, first + size)) for first in range(0, n, size)]


def centred_singles(X: AnyArray) -> AnyArray:
    """Single precision around the mean and below 1, so that offsets eat no digits and no square overflows."""
    centred = X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    _, exponent = np.frexp(max(float(centred.max()), -float(centred.min())))
    return np.ascontiguousarray(np.ldexp(centred, -exponent), dtype=np.float32)


def _finish(
    X: AnyArray,
    found: IntArray,
    n_neighbors: int,
    workers: Workers,
    index: str,
    recall: float,
    details: dict[str, float | int | str] | None = None,
) -> Neighbors:
    """Drop the item itself, recompute distances in double precision, sort by them."""
    n = len(X)
    indices = np.empty((n, n_neighbors), dtype=np.int64)
    squared = np.empty((n, n_neighbors))

    def work(rows: slice) -> None:
        drop_self(found[rows], rows.start, indices[rows])
        squared_distances(X, X[rows], indices[rows], squared[rows])
        sort_rows(squared[rows], indices[rows])

    workers.run(work, blocks(n, 16_384))
    return Neighbors(indices, squared, index, recall, details or {})


def _judge(X: AnyArray, found: Neighbors, rows: IntArray, workers: Workers) -> Neighbors:
    """The same neighbours with their recall.

    On a sample of rows: the share that are as near as the true k-th one.
    """
    k = found.indices.shape[1]
    true, squared = _nearest_by_products(X, X[rows], k + 1, workers)
    squared[true == rows[:, None]] = np.inf  # the item itself; absent where many coincide
    limit = np.partition(squared, k - 1, axis=1)[:, k - 1 : k] * (1 + TIE)
    recall = float((found.squared[rows] <= limit).mean())
    if recall < LOW_RECALL:
        warnings.warn(
            f"the approximate search ({found.index}) found only {recall:.1%} of the neighbours on a sample "
            f"of {len(rows)} items; missing ones may change soft labels a lot. Use index='exact', or reduce "
            "the dimension first.",
            SoftspreadWarning,
            stacklevel=2,
        )
    return replace(found, recall=recall, details={**found.details, "recall_sample": len(rows)})
