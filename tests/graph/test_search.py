"""Neighbours by the name of a search."""

import numpy as np
import pytest

from softspread import InputError, ProbabilisticLabelSpreading, knn_graph
from softspread._common.threads import Workers
from softspread._common.types import Neighbors
from softspread.graph.search import search_neighbors


def test_a_search_for_no_neighbours_is_empty():
    """Whatever the search, nothing is looked for."""
    found = search_neighbors(np.zeros((3, 2)), 0, "faiss", Workers(1), np.random.default_rng(0), False)
    assert found.indices.shape == found.squared.shape == (3, 0)
    assert found.recall == 1.0


def test_an_unknown_search_is_refused_also_where_there_is_nothing_to_find():
    """The message lists the searches."""
    with pytest.raises(InputError, match=r"index must be one of 'auto', 'exact'.*got 'psychic'"):
        search_neighbors(np.zeros((1, 2)), 0, "psychic", Workers(1), np.random.default_rng(0), False)


def test_a_function_may_search():
    """What a name stands for may be given itself, to the graph and to the estimators."""

    def search_slowly(X, n_neighbors, workers, rng, show):
        squared = ((X[:, None] - X[None]) ** 2).sum(-1)
        np.fill_diagonal(squared, np.inf)
        found = np.argsort(squared, axis=1)[:, :n_neighbors]
        return Neighbors(found, np.take_along_axis(squared, found, axis=1), "slow", 1.0)

    X = np.random.default_rng(0).normal(size=(40, 3))
    graph = knn_graph(X, 5, index=search_slowly)
    assert graph.index == "slow"
    np.testing.assert_allclose(graph.S.toarray(), knn_graph(X, 5, index="tree").S.toarray())
    est = ProbabilisticLabelSpreading(alpha=0.5, n_neighbors=5, index=search_slowly)
    assert est.fit(X, [0, 1] * 20).graph_.index == "slow"
