"""Who are the nearest other items of each item?

    X (n, d)  ->  Neighbors: indices (n, k), squared distances (n, k), measured recall

Every search drops the item itself by its number, not by its position: where points coincide, position 0 may be anyone.
Distances are always recomputed in double precision from X.
"""

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from softspread import _kernels
from softspread.data import AnyArray, FloatArray, IntArray, Neighbors
from softspread.errors import InputError, MissingExtraError
from softspread.parallel import Workers, progress_bar

TREE_DIMENSIONS = 32  # beyond, a kd-tree visits nearly every leaf and blocked products win
EXACT_ITEMS = 50_000  # up to here the exact search is fast enough to be the default
EXACT_WORK = 1e12  # n * n * d of a blocked exact search, about a minute on two cores
TARGET_RECALL = 0.9995  # what the inverted file is tuned to reach on a sample
TUNING_SAMPLE = 256
RECALL_SAMPLE = 512
TRAINING_POINTS = 200_000  # short training: cells need not be perfect, only even
TRAINING_ROUNDS = 8

Search = Callable[[AnyArray, int, Workers, np.random.Generator, bool], Neighbors]


def search_neighbors(
    X: AnyArray, n_neighbors: int, index: str, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Find the neighbours with the named search; "auto" is exact up to about 50,000 items, then faiss."""
    if index not in SEARCHES and index != "auto":
        raise InputError(f"index must be 'auto' or one of {sorted(SEARCHES)}, got {index!r}.")
    n, d = X.shape
    if n_neighbors == 0:
        return Neighbors(np.empty((n, 0), dtype=np.int64), np.empty((n, 0)), "none", 1.0)
    if index == "auto":
        affordable = d <= TREE_DIMENSIONS or n * n * d <= EXACT_WORK
        index = "exact" if n <= EXACT_ITEMS and affordable else "faiss"
    return SEARCHES[index](X, n_neighbors, workers, rng, show)


def search_exact(X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool) -> Neighbors:
    """A kd-tree in few dimensions, blocked distance products in many."""
    if X.shape[1] <= TREE_DIMENSIONS:
        return search_tree(X, n_neighbors, workers, rng, show)
    return search_brute(X, n_neighbors, workers, rng, show)


def search_tree(X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool) -> Neighbors:
    """Exact, by scipy's kd-tree."""
    tree = cKDTree(X)
    n = len(X)
    found = np.empty((n, n_neighbors + 1), dtype=np.int64)
    with progress_bar("neighbours (kd-tree)", n, show) as advance:
        for rows in _blocks(n, 20_000):
            _, block = tree.query(X[rows], n_neighbors + 1, workers=workers.n_threads)
            found[rows] = block.reshape(len(block), -1)
            advance(rows.stop - rows.start)
    return _finish(X, found, n_neighbors, workers, "tree", 1.0)


def search_brute(X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool) -> Neighbors:
    """Exact, by blocked distances over all pairs."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=n_neighbors + 1, algorithm="brute", n_jobs=workers.n_threads).fit(X)
    n = len(X)
    found = np.empty((n, n_neighbors + 1), dtype=np.int64)
    with progress_bar("neighbours (all pairs)", n, show) as advance:
        for rows in _blocks(n, 5_000):
            found[rows] = search.kneighbors(X[rows], return_distance=False)
            advance(rows.stop - rows.start)
    return _finish(X, found, n_neighbors, workers, "brute", 1.0)


def search_faiss(X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool) -> Neighbors:
    """Approximate, by an inverted file; probed cells are tuned on one sample, recall is measured on another."""
    import faiss

    centred = _centred_singles(X)
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
        tuning_rows, n_probes = _tune_probes(X, centred, inverted, n_cells, n_neighbors, rng)
        inverted.nprobe = n_probes
        found = np.empty((n, n_neighbors + 1), dtype=np.int64)
        with progress_bar("neighbours (faiss)", n, show) as advance:
            for rows in _blocks(n, 20_000):
                found[rows] = inverted.search(centred[rows], n_neighbors + 1)[1]
                advance(rows.stop - rows.start)
        missing = np.flatnonzero((found < 0).any(axis=1))  # cells too small for k + 1: search them all
        inverted.nprobe = n_cells
        for some in np.array_split(missing, max(1, len(missing) // 1000)):
            if len(some):
                found[some] = inverted.search(centred[some], n_neighbors + 1)[1]
        fresh = np.setdiff1d(np.arange(n), tuning_rows)
        judged = rng.choice(fresh, RECALL_SAMPLE, replace=False) if len(fresh) > RECALL_SAMPLE else np.arange(n)
        recall = _recall(X, centred, judged, found[judged], n_neighbors)
    finally:
        faiss.omp_set_num_threads(threads_before)
    details: dict[str, float | int | str] = {"cells": n_cells, "probes": n_probes, "recall_sample": len(judged)}
    return _finish(X, found, n_neighbors, workers, "faiss", recall, details)


def search_pynndescent(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Approximate, by nearest-neighbour descent; recall is measured on a sample."""
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise MissingExtraError('index="pynndescent" needs: pip install "softspread[approx]"') from error
    centred = _centred_singles(X)
    index = NNDescent(
        centred,
        n_neighbors=min(n_neighbors + 6, len(X)),
        random_state=int(rng.integers(2**31 - 1)),
        n_jobs=workers.n_threads,
        verbose=show,
    )
    found = np.asarray(index.neighbor_graph[0][:, : n_neighbors + 1], dtype=np.int64)
    if (found < 0).any():
        rows = np.flatnonzero((found < 0).any(axis=1))
        found[rows] = _exact_rows(centred, rows, n_neighbors)
    judged = rng.choice(len(X), min(len(X), RECALL_SAMPLE), replace=False)
    recall = _recall(X, centred, judged, found[judged], n_neighbors)
    return _finish(X, found, n_neighbors, workers, "pynndescent", recall, {"recall_sample": len(judged)})


SEARCHES: dict[str, Search] = {
    "exact": search_exact,
    "tree": search_tree,
    "brute": search_brute,
    "faiss": search_faiss,
    "pynndescent": search_pynndescent,
}


def leaf_order(X: AnyArray) -> IntArray:
    """Items in the order of kd-tree leaves: neighbours get close numbers, which keeps gathers in cache."""
    return np.asarray(cKDTree(X, balanced_tree=True, compact_nodes=False).indices, dtype=np.int64)


def nearest_items(X: AnyArray, queries: AnyArray, n_neighbors: int, workers: Workers) -> tuple[IntArray, FloatArray]:
    """The nearest rows of X to each query, exactly: numbers and squared distances, (q, k) each."""
    if X.shape[1] <= TREE_DIMENSIONS:
        _, found = cKDTree(X).query(queries, n_neighbors, workers=workers.n_threads)
    else:
        from sklearn.neighbors import NearestNeighbors

        search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute", n_jobs=workers.n_threads).fit(X)
        found = search.kneighbors(queries, return_distance=False)
    indices = np.asarray(found, dtype=np.int64).reshape(len(queries), n_neighbors)
    squared = np.empty(indices.shape)
    _kernels.squared_distances(X, queries, indices, squared)
    return indices, squared


def _blocks(n: int, size: int) -> list[slice]:
    return [slice(first, min(n, first + size)) for first in range(0, n, size)]


def _centred_singles(X: AnyArray) -> AnyArray:
    """Single precision around the mean, so that a large common offset does not eat the digits."""
    return np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)


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
        _kernels.drop_self(found[rows], rows.start, indices[rows])
        _kernels.squared_distances(X, X[rows], indices[rows], squared[rows])
        _kernels.sort_rows(squared[rows], indices[rows])

    workers.run(work, _blocks(n, 16_384))
    return Neighbors(indices, squared, index, recall, details or {})


def _exact_rows(centred: AnyArray, rows: IntArray, n_neighbors: int) -> IntArray:
    """The nearest k + 1 items, the item itself among them, of a few rows by exhaustive search."""
    import faiss

    return np.asarray(faiss.knn(np.ascontiguousarray(centred[rows]), centred, n_neighbors + 1)[1], dtype=np.int64)


def _recall(X: AnyArray, centred: AnyArray, rows: IntArray, found: IntArray, n_neighbors: int) -> float:
    """Share of the found neighbours that are as near as the true k-th one; equal distances count as found."""
    true = _exact_rows(centred, rows, n_neighbors)
    distances = []
    for candidates in (true, found):
        squared = np.empty(candidates.shape)
        _kernels.squared_distances(X, X[rows], candidates, squared)
        squared[candidates == rows[:, None]] = -1.0  # the item itself goes to the front, or is absent ...
        distances.append(np.sort(squared, axis=1)[:, 1:])  # ... and the farthest candidate takes its place in front
    limit = distances[0][:, -1:] * (1 + 1e-6)  # ties within single-precision rounding
    return float((distances[1] <= limit).mean())


def _tune_probes(
    X: AnyArray, centred: AnyArray, inverted: "object", n_cells: int, n_neighbors: int, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """The fewest probed cells that reach the target recall on a sample."""
    rows = np.sort(rng.choice(len(X), min(len(X), TUNING_SAMPLE), replace=False))
    true = _exact_rows(centred, rows, n_neighbors)
    farthest = np.empty(true.shape)
    _kernels.squared_distances(X, X[rows], true, farthest)
    limit = farthest.max(axis=1, keepdims=True) * (1 + 1e-6)
    n_probes = 4
    while n_probes < n_cells:
        inverted.nprobe = n_probes  # type: ignore[attr-defined]
        found = inverted.search(centred[rows], n_neighbors + 1)[1]  # type: ignore[attr-defined]
        squared = np.empty(found.shape)
        _kernels.squared_distances(X, X[rows], np.maximum(found, 0), squared)
        if float(((squared <= limit) & (found >= 0)).mean()) >= TARGET_RECALL:
            break
        n_probes = n_probes + max(2, n_probes // 4)
    return rows, min(n_probes, n_cells)
