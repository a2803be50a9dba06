"""Who are the nearest other items of each item?

    X (n, d)  ->  Neighbors: indices (n, k), squared distances (n, k), measured recall

Every search drops the item itself by its number, not by its position: where points coincide, position 0 may
be anyone. Distances are always recomputed in double precision from X.
"""

import warnings
from dataclasses import replace
from typing import Protocol

import numpy as np
from scipy.spatial import cKDTree

from softspread._common.progress import progress_bar
from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray, IntArray, Neighbors
from softspread._kernels.neighbors import drop_self, sort_rows, squared_distances
from softspread.errors import SoftspreadWarning

TREE_DIMENSIONS = 32  # beyond, a kd-tree visits nearly every leaf and blocked products win
TARGET_RECALL = 0.9995  # what searches are tuned to reach on a sample
LOW_RECALL = 0.98  # below, the user is warned; single soft labels move by up to 0.86 at 0.9991 already
TUNING_SAMPLE = 256  # items on which a search is tuned
RECALL_SAMPLE = 512  # items on which recall is reported
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
            found[rows] = nearest_by_products(X, X[rows], n_neighbors + 1, workers)[0]
            advance(rows.stop - rows.start)
    return _finish(X, found, n_neighbors, workers, "brute", 1.0)


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
    fresh = np.delete(np.arange(len(X)), [] if spent is None else spent)
    few = len(fresh) <= RECALL_SAMPLE
    judged = np.arange(len(X)) if few else rng.choice(fresh, RECALL_SAMPLE, replace=False)
    return _judge(X, _finish(X, found, n_neighbors, workers, index, np.nan, details), judged, workers)


def fill_gaps(X: AnyArray, found: IntArray, workers: Workers) -> None:
    """Search again, exactly, for the rows of which too few neighbours were found, marked by -1."""
    rows = np.flatnonzero((found < 0).any(axis=1))
    if len(rows):
        found[rows] = nearest_by_products(X, X[rows], found.shape[1], workers)[0]


def leaf_order(X: AnyArray) -> IntArray:
    """Items in the order of kd-tree leaves: neighbours get close numbers, which keeps gathers in cache."""
    return np.asarray(cKDTree(X, balanced_tree=True, compact_nodes=False).indices, dtype=np.int64)


def nearest_items(
    X: AnyArray, queries: AnyArray, n_neighbors: int, workers: Workers
) -> tuple[IntArray, FloatArray]:
    """The nearest rows of X to each query, exactly: numbers and squared distances, (q, k) each."""
    if X.shape[1] <= TREE_DIMENSIONS:
        return _nearest_by_tree(X, queries, n_neighbors, workers)
    return nearest_by_products(X, queries, n_neighbors, workers)


def _nearest_by_tree(
    X: AnyArray, queries: AnyArray, n_nearest: int, workers: Workers
) -> tuple[IntArray, FloatArray]:
    _, found = cKDTree(X).query(queries, n_nearest, workers=workers.n_threads)
    indices = np.asarray(found, dtype=np.int64).reshape(len(queries), n_nearest)
    squared = np.empty(indices.shape)
    squared_distances(X, queries, indices, squared)
    return indices, squared


def nearest_by_products(
    X: AnyArray, queries: AnyArray, n_nearest: int, workers: Workers, block_rows: int = PRODUCT_ROWS
) -> tuple[IntArray, FloatArray]:
    """The nearest rows of X by blocks of |x|^2 - 2 x.y + |y|^2, numbers and squared distances.

    Such products lose digits where items lie far from the centre and close to each other; queries for which
    that could matter are answered again by a tree, which subtracts first.
    """
    from sklearn.neighbors import NearestNeighbors

    centre = X.mean(axis=0, dtype=np.float64)
    moved = queries - centre
    parts = []
    for rows in blocks(len(X), block_rows):
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
    true, squared = nearest_by_products(X, X[rows], k + 1, workers)
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
