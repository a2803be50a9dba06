"""Neighbour searches against loops over all pairs, and what they report about themselves."""

from importlib.util import find_spec

import numpy as np
import pytest

import reference
from softspread import InputError, SoftspreadWarning
from softspread._common.threads import Workers
from softspread.graph.neighbors import leaf_order, nearest_by_products, nearest_items
from softspread.graph.registry import SEARCHES
from softspread.graph.search import search_neighbors

HAS_CUVS = find_spec("cuvs") is not None
# Loading pynndescent compiles for about a minute in every process, so all of it runs in one.
DESCENT = pytest.param("pynndescent", marks=[pytest.mark.slow, pytest.mark.xdist_group("pynndescent")])
APPROXIMATE = ["cells", "faiss", DESCENT]
CUDA = pytest.param("cuvs", marks=pytest.mark.skipif(not HAS_CUVS, reason="needs cuVS and a CUDA device"))
SEARCHED = [{"pynndescent": DESCENT, "cuvs": CUDA}.get(name, name) for name in SEARCHES.names()]


def search(X, k, index, seed=0, threads=1):
    """One search with a fixed seed."""
    with Workers(threads) as workers:
        return search_neighbors(X, k, index, workers, np.random.default_rng(seed), False)


def true_recall(X, found):
    """Share of neighbours that are as near as the true k-th one, over all items."""
    X = X.astype(np.float64)
    k = found.indices.shape[1]
    hits = 0
    for row, mine in enumerate(found.indices):
        squared = ((X - X[row]) ** 2).sum(axis=1)
        others = np.delete(squared, row)
        hits += np.count_nonzero(squared[mine] <= np.partition(others, k - 1)[k - 1] * (1 + 1e-6))
    return hits / found.indices.size


def assert_proper(found, n, k):
    """k distinct others each, nearest first."""
    assert found.indices.shape == found.squared.shape == (n, k)
    assert ((found.indices >= 0) & (found.indices < n)).all()
    assert (found.indices != np.arange(n)[:, None]).all()
    assert all(len(set(row)) == k for row in found.indices.tolist())
    assert (np.diff(found.squared, axis=1) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dimensions", [1, 3, 50])
@pytest.mark.parametrize("index", ["exact", "tree", "brute", "auto"])
def test_exact_searches_equal_loops(rng, index, dimensions, dtype):
    """Same neighbours, same squared distances, recall 1."""
    X = rng.normal(size=(60, dimensions)).astype(dtype)
    found = search(X, 7, index)
    indices, squared = reference.nearest_neighbors(X, 7)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.squared, squared, rtol=1e-12)
    assert found.recall == 1.0


@pytest.mark.parametrize("index", SEARCHED)
@pytest.mark.parametrize("copies", [3, 30])
def test_an_item_is_never_its_own_neighbour_also_among_copies(rng, index, copies):
    """With every point present several times, the other copies are neighbours, the item itself is not."""
    X = np.repeat(rng.normal(size=(300 // copies, 2)), copies, axis=0)[rng.permutation(300)]
    found = search(X, 5, index)
    assert_proper(found, 300, 5)
    if index not in ("cells", "faiss", "pynndescent", "cuvs"):
        assert (found.squared[:, : min(5, copies - 1)] == 0).all()
        np.testing.assert_allclose(found.squared, reference.nearest_neighbors(X, 5)[1], rtol=1e-12)


@pytest.mark.parametrize("index", SEARCHED)
def test_items_that_all_coincide_have_neighbours(index):
    """All distances are 0 and still nobody is his own neighbour."""
    found = search(np.ones((50, 40 if index == "brute" else 2)), 4, index)
    assert_proper(found, 50, 4)
    assert (found.squared == 0).all()
    assert found.recall == 1.0


@pytest.mark.parametrize("offset", [1e4, 1e8])
@pytest.mark.parametrize("index", ["tree", "brute"])
def test_exact_searches_are_exact_far_from_the_origin(rng, index, offset):
    """A large common offset must not blur distances."""
    X = rng.normal(size=(200, 40)) + offset
    found = search(X, 5, index)
    np.testing.assert_array_equal(found.indices, search(X, 5, "tree").indices)
    assert true_recall(X, found) == 1.0


def test_all_pairs_are_exact_for_tight_groups_far_apart(rng):
    """Products of large numbers cannot tell close items apart; the answer must not depend on them."""
    groups = np.repeat(rng.normal(size=(2, 40)) * 1e5, 100, axis=0)
    X = groups + rng.normal(size=(200, 40)) * 1e-4
    found = search(X, 5, "brute")
    assert found.recall == true_recall(X, found) == 1.0


@pytest.mark.parametrize("blocks", [7, 50, 1000])
def test_searching_in_blocks_changes_nothing(rng, blocks):
    """Neighbours found block by block are the neighbours."""
    X, queries = rng.normal(size=(120, 40)), rng.normal(size=(11, 40))
    whole = nearest_items(X, queries, 9, Workers(1))
    for mine, theirs in zip(nearest_by_products(X, queries, 9, Workers(1), blocks), whole, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("dimensions", [2, 40])
def test_nearest_items_of_queries_equal_loops(rng, dimensions):
    """For new items a fitted one at distance 0 counts."""
    X = rng.normal(size=(50, dimensions))
    queries = np.concatenate([X[:3], rng.normal(size=(5, dimensions))])
    indices, squared = nearest_items(X, queries, 6, Workers(1))
    for row, query in enumerate(queries):
        expected = sorted((reference.squared_distance(query, x), j) for j, x in enumerate(X))[:6]
        assert indices[row].tolist() == [j for _, j in expected]
        np.testing.assert_allclose(
            squared[row], [distance for distance, _ in expected], rtol=1e-12, atol=1e-30
        )


@pytest.mark.parametrize("index", APPROXIMATE)
def test_approximate_searches_report_their_true_recall(rng, index):
    """The recall measured on a sample is that of all items, up to the size of the sample."""
    X = rng.normal(size=(3000, 12)).astype(np.float32)
    found = search(X, 10, index)
    assert_proper(found, 3000, 10)
    assert found.recall == pytest.approx(true_recall(X, found), abs=0.01)
    assert found.recall > 0.95
    assert found.details["recall_sample"] == 512


@pytest.mark.parametrize("index", APPROXIMATE)
def test_recall_is_honest_where_single_precision_cannot_tell_items_apart(rng, index):
    """Tight groups far apart defeat searches in single precision; the report must say so."""
    X = np.repeat([[1e4] * 3, [-1e4] * 3], 600, axis=0) + rng.normal(size=(1200, 3)) * 1e-3
    with pytest.warns(SoftspreadWarning, match="of the neighbours"):
        found = search(X, 10, index)
    assert found.recall == pytest.approx(true_recall(X, found), abs=0.05)
    assert found.recall < 0.9


@pytest.mark.parametrize("index", APPROXIMATE)
@pytest.mark.parametrize("n", [12, 100, 300])
def test_approximate_searches_work_on_few_items(rng, index, n):
    """Small sets have a measured recall too, never NaN."""
    X = rng.normal(size=(n, 2))
    found = search(X, 5, index)
    assert_proper(found, n, 5)
    assert found.recall == pytest.approx(true_recall(X, found), abs=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e25, 1e60])
@pytest.mark.parametrize("index", SEARCHED)
def test_the_scale_of_the_features_does_not_matter(rng, index, scale):
    """Features whose squares would overflow or vanish in single precision are searched like any other."""
    X = rng.normal(size=(300, 3))
    found = search(X * scale, 4, index)
    assert_proper(found, 300, 4)
    assert found.recall > 0.99
    assert true_recall(X, found) > 0.99


@pytest.mark.parametrize("index", APPROXIMATE)
def test_the_same_seed_gives_the_same_neighbours(rng, index):
    """Approximate does not mean random."""
    X = rng.normal(size=(2000, 6))
    first, second = search(X, 5, index, seed=3), search(X, 5, index, seed=3)
    np.testing.assert_array_equal(first.indices, second.indices)
    assert first.recall == second.recall


@pytest.mark.parametrize("index", ["tree", "brute", "cells", "faiss"])
def test_threads_do_not_change_neighbours(rng, index):
    """One thread and two find the same."""
    X = rng.normal(size=(2000, 6))
    np.testing.assert_array_equal(search(X, 5, index).indices, search(X, 5, index, threads=2).indices)


@pytest.mark.parametrize("index", SEARCHED)
def test_all_others_can_be_neighbours(rng, index):
    """k = n - 1 is the complete graph."""
    found = search(rng.normal(size=(20, 2)), 19, index)
    assert_proper(found, 20, 19)


def test_no_neighbours_asked_none_found():
    """k = 0 gives empty rows."""
    found = search(np.zeros((3, 2)), 0, "auto")
    assert found.indices.shape == (3, 0)
    assert found.recall == 1.0


def test_leaf_order_is_a_permutation(rng):
    """Every item appears once, also with copies."""
    X = np.repeat(rng.normal(size=(40, 2)), 3, axis=0)
    assert sorted(leaf_order(X).tolist()) == list(range(120))


def test_an_unknown_search_is_refused():
    """The message lists the searches."""
    with pytest.raises(InputError, match=r"'auto', 'exact', 'tree', .*, 'pynndescent', 'cuvs', got 'annoy'"):
        search(np.zeros((3, 2)), 1, "annoy")
