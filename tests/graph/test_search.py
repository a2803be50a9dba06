"""Neighbours by the name of a search."""

import numpy as np
import pytest

from softspread import InputError
from softspread._common.threads import Workers
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
