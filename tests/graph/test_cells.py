"""Cells hold every item once, and a search among them finds what all pairs find."""

import json
from dataclasses import replace

import numpy as np
import pytest

from softspread._common.threads import Workers
from softspread.graph.cells import (
    CellRule,
    _tuned,
    cut_into_cells,
    nearest_in_cells,
    search_cells,
    true_in_cells,
)
from softspread.graph.neighbors import nearest_by_products

SMALL = CellRule(all_pairs=60, cell_items=8)  # cells from 60 items on, of at most 8 before items move


def clusters(rng, n=600, d=4):
    """Items around a few centres."""
    return (rng.normal(size=(6, d)) * 4)[rng.integers(6, size=n)].astype(np.float32) + rng.normal(
        size=(n, d)
    ).astype(np.float32)


def test_every_item_is_in_one_cell(rng):
    """Rows are the items in another order, cells cover them without gap, few are empty."""
    X = clusters(rng)
    cells = cut_into_cells(X, Workers(1), SMALL)
    assert sorted(cells.order.tolist()) == list(range(600))
    np.testing.assert_array_equal(cells.rows, X[cells.order])
    assert cells.starts[0] == 0
    assert cells.starts[-1] == 600
    assert (np.diff(cells.starts) > 0).mean() > 0.9
    assert cells.n_cells > 600 / 16
    sizes = np.bincount(cells.homes(), minlength=cells.n_cells)
    np.testing.assert_array_equal(sizes, np.diff(cells.starts))


@pytest.mark.parametrize("d", [2, 12])
def test_items_are_in_the_cell_whose_centre_is_nearest(rng, d):
    """Nearly all, outliers too, however few near cells are listed."""
    X = clusters(rng, d=d)
    X[:8] *= 30
    cells = cut_into_cells(X, Workers(1), SMALL, n_near=20)
    squared = ((cells.rows[:, None] - cells.centres[None]) ** 2).sum(axis=2)
    own = squared[np.arange(600), cells.homes()]
    assert (own <= squared.min(axis=1) * (1 + 1e-5)).mean() > 0.99
    outliers = np.isin(cells.order, range(8))
    np.testing.assert_allclose(own[outliers], squared[outliers].min(axis=1), rtol=1e-5)


def test_a_cell_is_near_itself_first(rng):
    """Lists of near cells start with the cell itself and rise by distance."""
    cells = cut_into_cells(clusters(rng), Workers(1), SMALL, n_near=10)
    np.testing.assert_array_equal(cells.near[:, 0], np.arange(cells.n_cells))
    gaps = ((cells.centres[cells.near] - cells.centres[:, None]) ** 2).sum(axis=2)
    assert (np.diff(gaps, axis=1) >= -1e-6).all()


def test_visiting_every_cell_is_exact(rng):
    """With all cells listed and visited nothing is missed, also for queries that are no items."""
    X = clusters(rng)
    cells = cut_into_cells(X, Workers(1), SMALL, n_near=10_000)
    queries = clusters(rng, n=30)
    ids, squared = nearest_in_cells(cells, queries, np.zeros(30, np.int32), 7, np.inf, Workers(1))
    true = np.sort(((queries[:, None] - X[None]) ** 2).sum(axis=2), axis=1)[:, :7]
    np.testing.assert_allclose(np.sort(squared, axis=1), true, rtol=1e-5)
    own = ((X[cells.order[ids]] - queries[:, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, own, rtol=1e-5)


def test_the_sample_that_tunes_is_searched_exactly(rng):
    """Whatever the lists hold."""
    X = clusters(rng)
    cells = cut_into_cells(X, Workers(1), SMALL, n_near=3)
    _, squared = true_in_cells(cells, cells.rows[::9], cells.homes()[::9], 6, Workers(1))
    true = np.sort(((cells.rows[::9, None] - X[None]) ** 2).sum(axis=2), axis=1)[:, :6]
    np.testing.assert_allclose(np.sort(squared, axis=1), true, rtol=1e-5, atol=1e-7)


def test_lists_grow_until_the_target_is_reached(rng):
    """However short they are at first; the search finds no less than was promised on the sample."""
    X = rng.normal(size=(600, 12)).astype(np.float32)
    cells = cut_into_cells(X, Workers(1), SMALL, n_near=2)
    sample = np.arange(0, 600, 3)
    longer, reach = _tuned(cells, sample, 10, 0.98, Workers(1))
    assert longer.near.shape[1] > 2
    assert reach < np.inf
    found = nearest_in_cells(longer, longer.rows, longer.homes(), 10, reach, Workers(1))[1]
    limit = true_in_cells(longer, longer.rows, longer.homes(), 10, Workers(1))[1].max(axis=1, keepdims=True)
    reached = found <= limit * (1 + 1e-6)
    assert reached[sample].mean() >= 0.98
    assert 0.97 < reached.mean() < 1


def test_copies_are_spread_over_several_cells():
    """No cell is so large that comparing all its items with each other would take long."""
    X = np.zeros((3000, 2), np.float32)
    X[::3] = np.random.default_rng(0).normal(size=(1000, 2))
    cells = cut_into_cells(X, Workers(1), CellRule(all_pairs=60))
    assert np.diff(cells.starts).max() <= cells.rule.most_items


def test_too_few_rows_in_sight_are_marked(rng):
    """Where the listed cells hold fewer rows than asked for, the rest is -1."""
    cells = cut_into_cells(clusters(rng), Workers(1), SMALL, n_near=1)
    ids, squared = nearest_in_cells(cells, cells.rows[:5], cells.homes()[:5], 80, np.inf, Workers(1))
    sizes = np.diff(cells.starts)[cells.homes()[:5]]
    np.testing.assert_array_equal((ids >= 0).sum(axis=1), sizes)
    np.testing.assert_array_equal(np.isinf(squared), ids < 0)


def test_threads_do_not_change_cells(rng):
    """The same cells and neighbours with one thread and three."""
    rule = replace(SMALL, part=50)
    X = clusters(rng)
    one, three = cut_into_cells(X, Workers(1), rule), cut_into_cells(X, Workers(3), rule)
    for name in ("order", "starts", "packed", "centres", "radii", "spreads", "near"):
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
    found = [nearest_in_cells(one, one.rows, one.homes(), 5, 2.0, Workers(threads)) for threads in (1, 3)]
    np.testing.assert_array_equal(found[0], found[1])


def test_coinciding_items_are_cut_as_well():
    """All on one spot: everyone is in a cell of no extent."""
    cells = cut_into_cells(np.ones((200, 3), np.float32), Workers(1), SMALL)
    assert sorted(cells.order.tolist()) == list(range(200))
    assert (cells.radii == 0).all()


def test_relabelled_items_have_the_same_neighbours(rng):
    """The search finds about the same items however they are numbered; where it is exact, just the same."""
    X = clusters(rng)
    order = rng.permutation(600)
    with Workers(1) as workers:
        plain = search_cells(X, 5, workers, np.random.default_rng(0), False, SMALL)
        moved = search_cells(X[order], 5, workers, np.random.default_rng(0), False, SMALL)
    assert plain.recall > 0.99
    same = order[moved.indices] == plain.indices[order]
    assert same.mean() > 0.98


@pytest.mark.parametrize("seed", range(4))
def test_visits_are_tuned_on_enough_items_to_rely_on(seed):
    """The recall over all items, not only over the sample that is reported, is at least .999."""
    X = np.random.default_rng(seed).normal(size=(9_000, 9)).astype(np.float32)
    with Workers(1) as workers:
        found = search_cells(X, 10, workers, np.random.default_rng(seed), False)
        limit = nearest_by_products(X, X, 11, workers)[1][:, -1:] * (1 + 1e-5)
    assert found.details["listed"] < found.details["cells"]
    assert (found.squared <= limit).mean() >= 0.999


def test_what_a_search_tells_of_itself_is_json(rng):
    """Also where one cell holds all items and the reach is infinite."""
    for n in (100, 3_000):
        found = search_cells(rng.normal(size=(n, 3)), 5, Workers(1), rng, False)
        assert json.loads(json.dumps(found.details, allow_nan=False)) == found.details
        assert found.recall > 0.99
