"""Graphs that follow their items have the edges of a new build."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from softspread import InputError, affinity_graph, epsilon_graph, knn_graph
from softspread._common.threads import Workers
from softspread.graph.growing import (
    RULE,
    _reach,
    distances_to_neighbors,
    neighbor_lists,
    with_items,
    without_items,
)

WORKERS = Workers(2)


def items(n=120, d=3, seed=0):
    """Two clouds of different density."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.where(np.arange(n) % 3 == 0, 4.0, 1.0)[:, None]


def assert_same(grown, built):
    """The same operator, width and facts, in the user's order."""
    assert_allclose(grown.S.toarray(), built.S.toarray(), rtol=1e-12, atol=1e-15)
    assert_array_equal(grown.features, built.features)
    assert (grown.n_components, grown.n_neighbors) == (built.n_components, built.n_neighbors)
    if built.sigma2 is not None:
        assert grown.sigma2 == pytest.approx(built.sigma2, rel=1e-12)
    assert_allclose(grown.degrees, built.degrees, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", ["kth", "mean", 0.7])
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("d", [2, 40])
def test_items_added_at_once_in_batches_or_one_by_one_give_the_graph_of_a_new_build(
    bandwidth, normalization, d
):
    """In few and in many dimensions, whatever the kernel's width follows."""
    X, how = items(d=d), {"bandwidth": bandwidth, "normalization": normalization}
    built, start = knn_graph(X, 7, **how), knn_graph(X[:90], 7, **how)
    for size in (30, 11, 1):
        graph = start
        for first in range(90, 120, size):
            graph = with_items(graph, X[first : min(first + size, 120)], 7, WORKERS)
        assert_same(graph, built)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_items_that_leave_give_the_graph_of_those_that_stay(dtype):
    """Each neighbour of an item that left has its next nearest one."""
    X = items().astype(dtype)
    keep = np.random.default_rng(1).random(len(X)) < 0.6
    assert_same(without_items(knn_graph(X, 7), keep, WORKERS), knn_graph(X[keep], 7))


def test_adding_then_removing_gives_the_old_graph():
    """Edge by edge."""
    X = items()
    old = knn_graph(X[:90], 7)
    assert_same(without_items(with_items(old, X[90:], 7, WORKERS), np.arange(120) < 90, WORKERS), old)


def test_blocks_of_the_pass_do_not_matter(monkeypatch):
    """Small blocks skip most new items by their balls, and find the same."""
    X = items(400, 2)
    rule = replace(RULE, block_pairs=200, sample=50, listed_rows=33)
    assert_same(with_items(knn_graph(X[:300], 7), X[300:], 7, WORKERS, rule), knn_graph(X, 7))


@pytest.mark.parametrize("copies", [0, 40])
@pytest.mark.parametrize("steps", [1, 4])
def test_a_new_item_has_enough_others_within_its_reach(steps, copies):
    """At least k, each counted once, wherever the walk begins; and hardly more where it takes its steps."""
    X = items(400, 3)
    X[:copies] = X[0]
    found, _ = neighbor_lists(knn_graph(X[:300], 7), WORKERS)
    points = X[:300][knn_graph(X[:300], 7).order]
    reach = _reach(points, X[300:], found, replace(RULE, sample=20, steps=steps))
    squared = np.sort(((X[300:, None] - points[None]) ** 2).sum(axis=2), axis=1)
    assert (squared[:, 6] <= reach).all()
    assert steps == 1 or np.median(reach / squared[:, 6]) < 1.2


def test_many_new_items_are_a_new_build():
    """With the same edges."""
    X = items()
    rule = replace(RULE, most_pairs=100)
    assert_same(with_items(knn_graph(X[:20], 7), X[20:], 7, WORKERS, rule), knn_graph(X, 7))


@pytest.mark.filterwarnings("ignore:n_neighbors")
def test_few_items_gain_the_neighbors_that_were_asked_for():
    """Of 4 items each has 3 neighbours; of 30 it has the 7 that were asked for, and of 3 it has 2."""
    X = items(30)
    small = knn_graph(X[:4], 7)
    grown = with_items(small, X[4:], 7, WORKERS)
    assert_same(grown, knn_graph(X, 7))
    assert_same(without_items(grown, np.arange(30) < 3, WORKERS), knn_graph(X[:3], 2))
    assert without_items(grown, np.arange(30) < 1, WORKERS).n_isolated == 1


def test_edges_lost_to_underflow_are_found_again():
    """An outlier keeps no edge, yet counts in the kernel's width; it gains edges when company comes."""
    X = np.concatenate([items(60, 2), [[1e4, 1e4]]])
    with pytest.warns(UserWarning, match="no neighbour"):
        alone = knn_graph(X, 3, bandwidth=0.01)
    found, squared = neighbor_lists(alone, WORKERS)
    assert (found >= 0).all()
    assert np.isfinite(squared).all()
    company = np.full((5, 2), 1e4) + np.arange(5)[:, None] * 1e-3
    grown = with_items(alone, company, 3, WORKERS)
    assert (grown.degrees[60:] > 0).all()


def test_items_that_coincide_keep_the_neighbors_that_came_first():
    """Twelve items on one spot: distances, widths and degrees stay finite."""
    X = np.concatenate([np.zeros((12, 2)), items(20, 2)])
    grown = with_items(knn_graph(X[:25], 4), X[25:], 4, WORKERS)
    assert np.isfinite(grown.S.data).all()
    found, _ = neighbor_lists(grown, WORKERS)
    assert (found != np.arange(32)[:, None]).all()
    everything = with_items(knn_graph(np.zeros((6, 2)), 2), np.zeros((3, 2)), 2, WORKERS)
    assert everything.sigma2 == 0


def test_items_far_from_the_origin_lose_no_neighbor_to_rounding():
    """Products of large numbers lose digits, differences do not."""
    X = items(150, 2) * 1e-3 + 1e6
    X[::2] += 5e5
    assert_same(with_items(knn_graph(X[:100], 5), X[100:], 5, WORKERS), knn_graph(X, 5))


def test_a_graph_within_a_radius_grows_and_shrinks():
    """As a new one."""
    X = np.random.default_rng(0).random((60, 2))
    grown = with_items(epsilon_graph(X[:40], 0.4), X[40:], None, WORKERS)
    assert_same(grown, epsilon_graph(X, 0.4))
    assert_same(without_items(grown, np.arange(60) < 40, WORKERS), epsilon_graph(X[:40], 0.4))


def test_an_affinity_cannot_grow():
    """It does not say where items are."""
    with pytest.raises(InputError, match="affinity of all items"):
        with_items(affinity_graph([[0, 1], [1, 0]]), np.zeros((1, 2)), None, WORKERS)


def test_the_distance_to_the_farthest_neighbor_is_in_the_users_order():
    """Of points on a line."""
    graph = knn_graph(np.array([[0.0], [1.0], [3.0], [50.0]]), 2)
    assert_allclose(distances_to_neighbors(graph, WORKERS), [3.0, 2.0, 3.0, 49.0])
