"""The requirements on a neighbour search."""

import warnings

import numpy as np

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, Neighbors
from softspread.errors import SoftspreadWarning
from softspread.graph.neighbors import Search
from softspread.graph.registry import SEARCHES
from softspread.testing.claims import answer_of, require, require_close

TIE = 1e-6  # squared distances closer than this, as a share, are equally near


def check_neighbor_search(search: str | Search, *, smallest_recall: float = 0.95) -> None:
    """Check that a neighbour search keeps the promises of :class:`~softspread.graph.neighbors.Search`.

    On a few hundred items, in single and double precision, in few and in many dimensions, with coinciding
    items: every item gets the number of distinct other items asked for, nearest first, with their true
    squared distances; the reported recall is not better than the true one; the same seed finds the same.

    Parameters
    ----------
    search : str or callable
        A registered name, or what would be registered: ``search(X, n_neighbors, workers, rng, show)``
        returns :class:`~softspread._common.types.Neighbors`.
    smallest_recall : float, default 0.95
        Share of the true neighbours that must be found; 1.0 for an exact search.

    Raises
    ------
    AssertionError
        Naming the first promise that is broken.

    Examples
    --------
    >>> from softspread.testing import check_neighbor_search
    >>> check_neighbor_search("tree", smallest_recall=1.0)
    """
    find = SEARCHES.find(search)
    rng = np.random.default_rng(0)
    for n_dimensions, dtype, n_neighbors in ((2, np.float64, 1), (3, np.float32, 10), (50, np.float64, 5)):
        X = rng.normal(size=(300, n_dimensions)).astype(dtype)
        X[:4] = X[5]  # five items on the same spot
        _check_on(find, X, n_neighbors, smallest_recall)


def _check_on(find: Search, X: AnyArray, k: int, smallest_recall: float) -> None:
    where = f"for {k} neighbours of {len(X)} items in {X.shape[1]} dimensions ({X.dtype}),"
    kept = X.copy()
    found, again = (answer_of(lambda: _search(find, X, k), f"{where} the search answers") for _ in range(2))
    require(np.array_equal(X, kept), f"{where} the features stay as they are")
    n = len(X)
    for name, array in (("indices", found.indices), ("squared", found.squared)):
        require(array.shape == (n, k), f"{where} {name} has shape {(n, k)}, not {array.shape}")
    require(found.indices.dtype.kind in "iu", f"{where} indices are whole numbers")
    require(((found.indices >= 0) & (found.indices < n)).all(), f"{where} every index is a row")
    require((found.indices != np.arange(n)[:, None]).all(), f"{where} no item is its own neighbour")
    require((np.diff(np.sort(found.indices, axis=1), axis=1) > 0).all(), f"{where} no neighbour comes twice")
    require((np.diff(found.squared, axis=1) >= 0).all(), f"{where} the nearest come first")
    require(isinstance(found.index, str) and found.index, f"{where} the search names itself")
    require(np.array_equal(found.indices, again.indices), f"{where} the same seed finds the same")
    _check_distances(found, X, where, smallest_recall)


def _search(find: Search, X: AnyArray, k: int) -> Neighbors:
    with Workers(1) as workers, warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)  # of a low recall, which is measured below
        return find(X, k, workers, np.random.default_rng(7), False)


def _check_distances(found: Neighbors, X: AnyArray, where: str, smallest_recall: float) -> None:
    """Against the distances between all pairs."""
    exact = X.astype(np.float64)
    squared = ((exact[:, None, :] - exact[None, :, :]) ** 2).sum(axis=2)
    true = np.take_along_axis(squared, found.indices, axis=1)
    require_close(found.squared, true, 1e-12 * float(squared.max()), f"{where} the distances are true")
    np.fill_diagonal(squared, np.inf)
    k = found.indices.shape[1]
    limit = np.partition(squared, k - 1, axis=1)[:, k - 1 : k] * (1 + TIE)
    recall = float((true <= limit).mean())
    require(recall >= smallest_recall, f"{where} recall is {recall:.3f}, below {smallest_recall:g}")
    require(found.recall <= recall + 0.01, f"{where} recall is {recall:.3f}, reported {found.recall:.3f}")
