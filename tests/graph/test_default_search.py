"""The default search: exact where that is quick."""

import numpy as np
import pytest

from softspread._common.threads import Workers
from softspread.graph import default_search
from softspread.graph.cells import search_cells
from softspread.graph.neighbors import search_tree
from softspread.graph.search import search_neighbors


def search(X, k, index):
    """One search with a fixed seed."""
    with Workers(1) as workers:
        return search_neighbors(X, k, index, workers, np.random.default_rng(0), False)


def test_the_default_search_is_exact_on_moderate_data(rng):
    """Thousands of items, few or many dimensions: no approximation without need."""
    assert search(rng.normal(size=(500, 3)), 3, "auto").index == "tree"
    assert search(rng.normal(size=(500, 64)), 3, "auto").index == "brute"


@pytest.mark.parametrize(("d", "expected"), [(2, search_tree), (8, search_cells)])
def test_many_items_are_searched_by_what_their_dimension_favours(rng, d, expected):
    """Few intrinsic dimensions, also in a space of many: a tree; else cells."""
    X = rng.normal(size=(3000, d)) @ rng.normal(size=(d, 20))
    assert default_search.choose_search(X, rng, exact_items=1000) is expected


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_intrinsic_dimension_is_that_of_the_plane_that_items_lie_in(rng, d):
    """Uniform in d dimensions, seen in 10."""
    X = rng.random((4000, d)) @ rng.normal(size=(d, 10))
    assert default_search.intrinsic_dimension(X, rng) == pytest.approx(d, rel=0.15)


def test_copies_have_no_dimension(rng):
    """A tree cannot separate copies, so the dimension must not favour it."""
    assert default_search.intrinsic_dimension(np.repeat(rng.random((50, 2)), 4, axis=0), rng) == np.inf
