"""The suite for neighbour searches: every built-in one passes, and every broken promise is noticed."""

from dataclasses import replace
from importlib.util import find_spec
from itertools import count

import numpy as np
import pytest

from softspread.graph.neighbors import search_tree
from softspread.graph.registry import SEARCHES
from softspread.testing import check_neighbor_search

HAS_CUVS = find_spec("cuvs") is not None
APPROXIMATE = ("cells", "faiss", "pynndescent", "cuvs")
DESCENT = pytest.param("pynndescent", marks=[pytest.mark.slow, pytest.mark.xdist_group("pynndescent")])


CUDA = pytest.param("cuvs", marks=pytest.mark.skipif(not HAS_CUVS, reason="needs cuVS and a CUDA device"))


@pytest.mark.parametrize(
    "name", [{"pynndescent": DESCENT, "cuvs": CUDA}.get(name, name) for name in SEARCHES.names()]
)
def test_built_in_searches_pass(name):
    """Exact ones find every neighbour."""
    check_neighbor_search(name, smallest_recall=0.95 if name in APPROXIMATE else 1.0)


def tampered(**changes):
    """An exact search whose answer is changed by one function per field."""

    def search(X, n_neighbors, workers, rng, show):
        found = search_tree(X, n_neighbors, workers, rng, show)
        return replace(found, **{name: change(getattr(found, name)) for name, change in changes.items()})

    return search


def with_itself(indices):
    return np.column_stack([np.arange(len(indices)), indices[:, 1:]])


def twice(indices):
    return np.column_stack([indices[:, :1], indices[:, :-1]]) if indices.shape[1] > 1 else indices


def shifted(squared):
    return np.random.default_rng(0).permutation(squared)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (tampered(indices=with_itself), "no item is its own neighbour"),
        (tampered(indices=twice), "no neighbour comes twice"),
        (tampered(indices=lambda found: found[:, :-1]), "indices has shape"),
        (tampered(indices=lambda found: found.astype(float)), "whole numbers"),
        (tampered(indices=lambda found: found + 1000), "every index is a row"),
        (tampered(squared=lambda found: found[:, ::-1]), "nearest come first"),
        (tampered(squared=np.sqrt), "the distances are true"),
        (tampered(squared=lambda found: found[:5]), "squared has shape"),
        (tampered(index=lambda name: ""), "names itself"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    """The message says which one."""
    with pytest.raises(AssertionError, match=promise):
        check_neighbor_search(broken)


def test_far_items_are_noticed():
    """Random neighbours with true distances have a poor recall, and may not claim another."""

    def anyone(X, n_neighbors, workers, rng, show):
        found = search_tree(X, n_neighbors, workers, rng, show)
        steps = 1 + rng.permuted(np.tile(np.arange(len(X) - 1), (len(X), 1)), axis=1)[:, :n_neighbors]
        indices = (np.arange(len(X))[:, None] + steps) % len(X)
        exact = X.astype(np.float64)
        squared = ((exact[indices] - exact[:, None]) ** 2).sum(axis=2)
        order = np.argsort(squared, axis=1)
        return replace(
            found,
            indices=np.take_along_axis(indices, order, axis=1),
            squared=np.take_along_axis(squared, order, axis=1),
        )

    with pytest.raises(AssertionError, match=r"recall is 0\.\d+, below 0.95"):
        check_neighbor_search(anyone)
    with pytest.raises(AssertionError, match=r"recall is 0\.\d+, reported 1\.000"):
        check_neighbor_search(anyone, smallest_recall=0.0)


def test_chance_must_come_from_the_generator():
    """Two calls with the same seed must agree."""
    calls = count()

    def moody(X, n_neighbors, workers, rng, show):
        found = search_tree(X, n_neighbors, workers, rng, show)
        return found if next(calls) % 2 else replace(found, indices=found.indices[:, ::-1])

    with pytest.raises(AssertionError, match="the same seed finds the same"):
        check_neighbor_search(moody)


def test_features_must_stay_as_they_are():
    """A search may not write into its input."""

    def greedy(X, n_neighbors, workers, rng, show):
        found = search_tree(X, n_neighbors, workers, rng, show)
        X += 1
        return found

    with pytest.raises(AssertionError, match="the features stay as they are"):
        check_neighbor_search(greedy)
