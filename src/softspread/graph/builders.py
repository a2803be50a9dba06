"""Three ways to a graph: k nearest neighbours, a radius, or the user's own affinity.

X or A  ->  symmetric affinity in inner numbering  ->  Graph        theory: [weights], [bandwidth]
"""

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse, sparray, spmatrix
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.spatial import cKDTree

from softspread._common import validation
from softspread._common.threads import Workers, count_threads
from softspread._common.types import AnyArray, FloatArray, IndexArray, IntArray, Neighbors, RandomState
from softspread._kernels.symmetric import add_rows, transpose_rows
from softspread.errors import InputError, SoftspreadWarning
from softspread.graph.graph import NORMALIZATIONS, Graph, operator_from_affinity
from softspread.graph.neighbors import leaf_order
from softspread.graph.places import Metric, check_metric, place_items
from softspread.graph.search import search_neighbors

if TYPE_CHECKING:
    from softspread.graph.neighbors import Search

SMALLEST_WEIGHT = np.finfo(np.float64).tiny  # a weight below has lost digits to underflow and counts as none
MOST_EDGES = 1_000_000_000  # 12 GB of graph: beyond, a radius was surely too large
ROWS_OF_A_PIECE = 16_384  # of a matrix, that threads take in turn
SYMMETRY = 1e-8  # largest |A - A^T| accepted as rounding, as a share of the largest entry


def knn_graph(
    X: ArrayLike,
    n_neighbors: int = 20,
    bandwidth: str | float = "kth",
    index: "str | Search" = "auto",
    *,
    metric: Metric = "euclidean",
    normalization: str = "symmetric",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    verbose: bool = False,
) -> Graph:
    """Tie each item to its nearest neighbours with Gaussian weights, theory [weights].

    Parameters
    ----------
    X : (n, d) array-like
        Features of the items.
    n_neighbors : int, default 20
        Neighbours per item, the item itself not counted; more than there are uses all and warns.
    bandwidth : str or float, default "kth"
        The kernel's sigma**2: "kth" = mean squared distance to the k-th neighbour, "mean" = mean over
        all k neighbours, or a positive number.
    index : str or function, default "auto"
        "auto", "exact" ("tree" or "brute"), "cells", "faiss" or "pynndescent" (extra "approx"), "cuvs" (on a
        CUDA device), the name of a plug-in, or a function that searches, see
        :func:`softspread.testing.check_neighbor_search`. "auto" is exact up to 50,000 items and
        where a sample shows few intrinsic dimensions, else "cells".
    metric : str or function, default "euclidean"
        "euclidean"; "cosine": squared distances are then 2 (1 - cos(x, y)), and no item may be all zero;
        "inner_product": the same for items of equal length, others are refused, as no distance has the order
        of their inner products. A function takes features (n, d) row by row to places (n, m), between which
        Euclidean distances are taken: ``numpy.sqrt`` compares shares by their Hellinger distance.
    normalization : str, default "symmetric"
        "symmetric" or "random_walk".
    n_jobs : int, optional
        Threads; None = all cores.
    random_state : int, Generator or None, optional
        Seeds the approximate search and the sample on which its recall is measured.
    verbose : bool, default False
        Show progress.

    Returns
    -------
    Graph
        With the measured recall of the search in ``recall_``.

    See Also
    --------
    epsilon_graph : Ties items closer than a radius.
    affinity_graph : Takes weights of your own.

    Examples
    --------
    >>> import numpy as np
    >>> graph = knn_graph(np.random.default_rng(0).normal(size=(100, 3)), n_neighbors=5)
    >>> graph.S.shape, graph.recall_
    ((100, 100), 1.0)
    """
    features = validation.features(X)
    validation.choice("normalization", normalization, NORMALIZATIONS)
    check_metric(metric)
    k = affordable_neighbors(n_neighbors, len(features))
    with Workers(count_threads(n_jobs)) as workers:
        rng = validation.generator(random_state)
        search = NeighborSearch(features, k, index, workers, rng, verbose, metric)
        graph = search.graph(k, bandwidth, workers, normalization)
    return tell_of_gaps(graph)


class NeighborSearch:
    """The nearest neighbours of all items, searched once; a graph for each number of them up to the most."""

    def __init__(
        self,
        features: AnyArray,
        most: int,
        index: "str | Search",
        workers: Workers,
        rng: np.random.Generator,
        verbose: bool = False,
        metric: Metric = "euclidean",
    ) -> None:
        self._features, self._metric = np.asarray(features), metric
        places = place_items(self._features, metric)
        self._order = leaf_order(places)
        # searching in leaf order also makes the search itself kinder to the cache
        self._found = search_neighbors(places[self._order], most, index, workers, rng, verbose)

    def graph(
        self, n_neighbors: int, bandwidth: str | float, workers: Workers, normalization: str = "symmetric"
    ) -> Graph:
        """The graph of each item's ``n_neighbors`` nearest."""
        found = replace(
            self._found,
            indices=np.ascontiguousarray(self._found.indices[:, :n_neighbors]),
            squared=np.ascontiguousarray(self._found.squared[:, :n_neighbors]),
        )
        sigma2 = kernel_width(found, bandwidth)
        return operator_from_affinity(
            symmetric_affinity(found, sigma2, workers),
            self._order,
            kind="knn",
            normalization=normalization,
            n_neighbors=found.indices.shape[1],
            sigma2=sigma2,
            recall_=found.recall,
            index=found.index,
            features=self._features,
            details=found.details | {"bandwidth": bandwidth},
            metric=self._metric,
        )


def epsilon_graph(
    X: ArrayLike, radius: float, *, normalization: str = "symmetric", n_jobs: int | None = None
) -> Graph:
    """Tie all items closer than a radius with weight 1; the graph of the consistency proof.

    Parameters
    ----------
    X : (n, d) array-like
        Features of the items.
    radius : float
        Largest distance of two tied items.
    normalization : str, default "symmetric"
        "symmetric" or "random_walk" (the proof's).
    n_jobs : int, optional
        Accepted for symmetry with :func:`knn_graph`; the search is quick on one core.

    Returns
    -------
    Graph
        Unit weights between items within the radius.

    See Also
    --------
    knn_graph : Ties each item to its nearest neighbours; the usual choice.
    affinity_graph : Takes weights of your own.

    Examples
    --------
    >>> epsilon_graph([[0.0], [1.0], [5.0], [6.0]], radius=2.0).n_components
    2
    """
    features = validation.features(X)
    validation.choice("normalization", normalization, NORMALIZATIONS)
    radius = validation.positive("radius", radius)
    count_threads(n_jobs)
    order = leaf_order(features)
    tree = cKDTree(features[order])
    n = len(features)
    n_edges = int(tree.count_neighbors(tree, radius)) - n
    if n_edges > MOST_EDGES:
        raise InputError(
            f"radius {radius:g} ties {n_edges:,} pairs, more than {MOST_EDGES:,}; take a smaller radius."
        )
    pairs = tree.query_pairs(radius, output_type="ndarray")
    rows = np.concatenate([pairs[:, 0], pairs[:, 1]])
    columns = np.concatenate([pairs[:, 1], pairs[:, 0]])
    A = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    facts = {"kind": "epsilon", "normalization": normalization, "features": features, "index": "tree"}
    return tell_of_gaps(operator_from_affinity(A, order, details={"radius": radius}, **facts))


def affinity_graph(A: ArrayLike | sparray | spmatrix, *, normalization: str = "symmetric") -> Graph:
    """Use an affinity of the user's own: symmetric, not negative; the diagonal is ignored.

    Parameters
    ----------
    A : array-like
        (n, n) dense or scipy sparse.
    normalization : str, default "symmetric"
        "symmetric" or "random_walk".

    Returns
    -------
    Graph
        Without features, so that it has no place for new items.

    See Also
    --------
    knn_graph : Makes the weights from features.

    Examples
    --------
    >>> affinity_graph([[0, 1, 0], [1, 0, 2], [0, 2, 0]]).degrees.tolist()
    [1.0, 3.0, 2.0]
    """
    validation.choice("normalization", normalization, NORMALIZATIONS)
    affinity = _checked_affinity(A)
    # No features to sort by: an order of small bandwidth keeps neighbours close in memory as well.
    order = np.asarray(reverse_cuthill_mckee(affinity, symmetric_mode=True), dtype=np.int64)
    inner = csr_array(affinity[order][:, order])
    return tell_of_gaps(operator_from_affinity(inner, order, kind="affinity", normalization=normalization))


def kernel_width(found: Neighbors, bandwidth: str | float) -> float:
    """sigma**2 of the Gaussian kernel, theory [bandwidth]."""
    if isinstance(bandwidth, str):
        validation.choice(
            "bandwidth", bandwidth, ("kth", "mean"), "or a positive number, the kernel's sigma**2"
        )
        if found.squared.size == 0:
            return 0.0
        return float(found.squared[:, -1].mean() if bandwidth == "kth" else found.squared.mean())
    return validation.positive("bandwidth", bandwidth)


def gaussian_weights(squared: FloatArray, sigma2: float) -> FloatArray:
    """exp(-d^2 / (2 sigma^2)).

    With sigma = 0 all items coincide with their neighbours and every weight is 1.
    """
    if sigma2 == 0:
        return np.ones_like(squared)
    weights = np.exp(squared / (-2.0 * sigma2))
    weights[weights < SMALLEST_WEIGHT] = 0.0
    return weights


def symmetric_affinity(found: Neighbors, sigma2: float, workers: Workers) -> csr_array:
    """(W + W^T) / 2 of the directed neighbour weights, columns sorted.

    Pairs whose weights are lost to underflow are entries 0.
    """
    n, k = found.indices.shape
    halves = gaussian_weights(found.squared, sigma2).ravel() * 0.5
    rows = np.arange(n + 1) * k, found.indices.ravel().astype(np.uint32), halves
    turned = _room_for_rows(n, n * k)
    transpose_rows(rows, turned)
    transpose_rows(turned, rows)  # which sorts the columns of W
    counts, total = np.zeros(n, dtype=np.int64), _room_for_rows(n, 0)

    def add(first: int) -> None:
        add_rows(rows, turned, first, min(first + ROWS_OF_A_PIECE, n), counts, total)

    workers.run(add, range(0, n, ROWS_OF_A_PIECE))
    total = _room_for_rows(n, int(counts.sum()))
    np.cumsum(counts, out=total[0][1:])
    workers.run(add, range(0, n, ROWS_OF_A_PIECE))
    starts, columns, entries = total
    return csr_array((entries, columns.view(np.int32), starts), shape=(n, n))


def _room_for_rows(n: int, n_entries: int) -> tuple[IntArray, IndexArray, FloatArray]:
    """A sparse matrix by rows, still to be filled: starts, columns and entries."""
    return np.zeros(n + 1, dtype=np.int64), np.empty(n_entries, dtype=np.uint32), np.empty(n_entries)


def affordable_neighbors(n_neighbors: int, n: int) -> int:
    """How many neighbours n items can have, with a warning where that is fewer than were asked for."""
    k = validation.count("n_neighbors", n_neighbors, smallest=1)
    if k >= n:
        warnings.warn(
            f"n_neighbors={k} but there are only {n} items; using {n - 1}.", SoftspreadWarning, stacklevel=3
        )
        return n - 1
    return k


def _checked_affinity(A: Any) -> csr_array:
    matrix = A if issparse(A) else np.asarray(A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InputError(f"an affinity must be a square matrix, got shape {matrix.shape}.")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"an affinity must hold numbers, got dtype {matrix.dtype}.")
    affinity = csr_array(matrix, dtype=np.float64, copy=True)
    affinity.sum_duplicates()
    if not np.isfinite(affinity.data).all():
        raise InputError("the affinity holds NaN or infinite entries; replace them, 0 means no tie.")
    if (affinity.data < 0).any():
        raise InputError(
            f"the affinity holds negative entries (smallest {affinity.data.min():g}); 0 means no tie."
        )
    difference = abs(affinity - affinity.T)
    largest = affinity.data.max(initial=0.0)
    if difference.nnz and difference.data.max() > SYMMETRY * largest:
        raise InputError(
            f"the affinity is not symmetric (largest difference {difference.data.max():g}); pass (A + A.T) / "
            "2."
        )
    if (
        difference.nnz
    ):  # rounding-level asymmetry would break the solvers' theory; halves first, as sums may overflow
        affinity = csr_array(affinity * 0.5 + affinity.T * 0.5)
    with np.errstate(over="ignore"):
        degrees = affinity.sum(axis=1)
    if not np.isfinite(degrees).all():
        raise InputError(f"the affinity holds entries up to {largest:.0e}, whose sums overflow; scale it.")
    affinity.setdiag(0)
    affinity.eliminate_zeros()
    return affinity


def tell_of_gaps(graph: Graph) -> Graph:
    """Warn about items that no vote of others can ever reach."""
    if graph.n_isolated and graph.n_items > 1:
        warnings.warn(
            f"{graph.n_isolated} of {graph.n_items} items have no neighbour and learn only from votes of "
            "their own.",
            SoftspreadWarning,
            stacklevel=3,
        )
    return graph
