"""Neighbour searches of other libraries: faiss and pynndescent by extra "approx", cuVS on a CUDA device.

The first two are kept for comparison with our own search by cells, which is quicker and needs neither.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.extras import needs_extra
from softspread._common.progress import progress_bar
from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray, IntArray, Neighbors
from softspread._kernels.neighbors import squared_distances
from softspread.errors import MissingExtraError
from softspread.graph.neighbors import (
    TARGET_RECALL,
    TIE,
    TUNING_SAMPLE,
    blocks,
    centred_singles,
    fill_gaps,
    measured_neighbors,
    nearest_by_products,
)

TRAINING_POINTS = 200_000  # short training: cells need not be perfect, only even
TRAINING_ROUNDS = 8  # of k-means: at a million items 16 s of training instead of 34 s
CUVS_MISSING = (
    'index="cuvs" needs cuVS, CuPy and a CUDA device ({why}): pip install cuvs-cu13 cupy-cuda13x '
    '--extra-index-url https://pypi.nvidia.com (or cuvs-cu12 and cupy-cuda12x). index="cells" needs none of '
    "them."
)
Probe = Callable[[Any, int], IntArray]  # rows, cells to look into -> (rows, k + 1) what is found there


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


def search_faiss(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Approximate search by an inverted file.

    The number of cells to probe is tuned on one sample, recall measured on another.
    """
    with needs_extra("approx", 'index="faiss" needs faiss-cpu'):
        import faiss

    centred = centred_singles(X)
    n, d = centred.shape
    n_cells = int(min(4 * np.sqrt(n), n / 39)) or 1  # faiss wants 39 training points a cell
    threads_before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(workers.n_threads)
    try:
        inverted = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, n_cells)
        inverted.cp.niter = TRAINING_ROUNDS
        inverted.cp.seed = int(rng.integers(2**31 - 1))
        trained = rng.choice(n, min(n, TRAINING_POINTS), replace=False)
        inverted.train(centred[np.sort(trained)])
        inverted.add(centred)

        def probe(rows: Any, n_probes: int) -> IntArray:
            inverted.nprobe = n_probes
            return np.asarray(inverted.search(centred[rows], n_neighbors + 1)[1])

        return _probed(X, n_neighbors, n_cells, probe, workers, rng, show, "faiss")
    finally:
        faiss.omp_set_num_threads(threads_before)


def search_cuvs(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Approximate search by an inverted file on a CUDA device.

    The number of cells to probe is tuned on one sample, recall measured on another, both against an exact
    search on the processor. Cells are trained by cuVS, which takes no seed.
    """
    cupy, ivf_flat = _cuda_libraries()
    centred = cupy.asarray(centred_singles(X))
    n = len(X)
    n_cells = int(min(4 * np.sqrt(n), n / 39)) or 1
    built = ivf_flat.build(
        ivf_flat.IndexParams(
            n_lists=n_cells,
            kmeans_n_iters=TRAINING_ROUNDS,
            kmeans_trainset_fraction=min(1.0, TRAINING_POINTS / n),
        ),
        centred,
    )

    def probe(rows: Any, n_probes: int) -> IntArray:
        parameters = ivf_flat.SearchParams(n_probes=n_probes)
        _, found = ivf_flat.search(parameters, built, centred[rows], n_neighbors + 1)
        numbers = cupy.asnumpy(cupy.asarray(found)).astype(np.int64)
        numbers[
            (numbers < 0) | (numbers >= n)
        ] = -1  # the probed cells hold too few: the largest number there is
        return np.asarray(numbers)

    return _probed(X, n_neighbors, n_cells, probe, workers, rng, show, "cuvs")


def _cuda_libraries() -> tuple[Any, Any]:
    """CuPy and the inverted file of cuVS, where there is a device for them."""
    try:
        import cupy
        from cuvs.neighbors import ivf_flat
    except ImportError as error:
        raise MissingExtraError(CUVS_MISSING.format(why=error)) from error
    if not cupy.cuda.is_available():
        raise MissingExtraError(CUVS_MISSING.format(why="no device is found"))
    return cupy, ivf_flat


def _probed(
    X: AnyArray,
    n_neighbors: int,
    n_cells: int,
    probe: Probe,
    workers: Workers,
    rng: np.random.Generator,
    show: bool,
    index: str,
) -> Neighbors:
    """All neighbours by an inverted file, with as many cells probed as the target recall takes."""
    sample = _recall_sample(X, n_neighbors, workers, rng)
    n_probes = _tuned_probes(X, probe, n_cells, sample)
    found = np.empty((len(X), n_neighbors + 1), dtype=np.int64)
    with progress_bar(f"neighbours ({index})", len(X), show) as advance:
        for rows in blocks(len(X), 20_000):
            found[rows] = probe(rows, n_probes)
            advance(rows.stop - rows.start)
    fill_gaps(X, found, workers)
    details: dict[str, float | int | str] = {"cells": n_cells, "probes": n_probes}
    return measured_neighbors(X, found, n_neighbors, workers, rng, index, details, spent=sample.rows)


def _recall_sample(X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator) -> RecallSample:
    """A sample of items to tune on, each counted as its own nearest neighbour."""
    rows = np.sort(rng.choice(len(X), min(len(X), TUNING_SAMPLE), replace=False))
    squared = nearest_by_products(X, X[rows], n_neighbors + 1, workers)[1]
    return RecallSample(rows, squared[:, -1:] * (1 + TIE))


def _tuned_probes(X: AnyArray, probe: Probe, n_cells: int, sample: RecallSample) -> int:
    """The fewest probed cells that reach the target recall on a sample."""
    n_probes = 4
    while n_probes < n_cells:
        if sample.recall(X, probe(sample.rows, n_probes)) >= TARGET_RECALL:
            break
        n_probes = n_probes + max(2, n_probes // 4)
    return min(n_probes, n_cells)


def search_pynndescent(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Approximate, by nearest-neighbour descent; recall is measured on a sample."""
    with needs_extra("approx", 'index="pynndescent" needs pynndescent'):
        from pynndescent import NNDescent
    centred = centred_singles(X)
    index = NNDescent(
        centred,
        n_neighbors=min(n_neighbors + 6, len(X)),  # it counts the item itself; longer lists find more
        random_state=int(rng.integers(2**31 - 1)),
        n_jobs=workers.n_threads,
        verbose=show,
    )
    found = np.array(index.neighbor_graph[0][:, : n_neighbors + 1], dtype=np.int64)
    fill_gaps(X, found, workers)
    return measured_neighbors(X, found, n_neighbors, workers, rng, "pynndescent")
