"""Cells hold every item once, and a search among them finds what all pairs find."""

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
    """Rows are the items in another order, cells cover them without gap, none is empty."""
    X = clusters(rng)
    cells = cut_into_cells(X, Workers(1), SMALL)
    assert sorted(cells.order.tolist()) == list(range(600))
    np.testing.assert_array_equal(cells.rows, X[cells.order])
    assert cells.starts[0] == 0
    assert cells.starts[-1] == 600
    assert (np.diff(cells.starts) > 0).all()
    assert cells.n_cells > 600 / 16
    np.testing.assert_array_equal(np.bincount(cells.homes()), np.diff(cells.starts))


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
    ids, squared = nearest_in_cells(cells, queries, np.zeros(30, np.int32), 7, cells.n_cells, Workers(1))
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
    """However short they are at first; more visits never find less."""
    X = rng.normal(size=(600, 12)).astype(np.float32)
    cells = cut_into_cells(X, Workers(1), SMALL, n_near=2)
    longer, n_visits = _tuned(cells, np.arange(0, 600, 3), 10, Workers(1))
    assert longer.near.shape[1] > 2
    found = nearest_in_cells(longer, longer.rows, longer.homes(), 10, n_visits, Workers(1))[1]
    limit = true_in_cells(longer, longer.rows, longer.homes(), 10, Workers(1))[1].max(axis=1, keepdims=True)
    assert (found <= limit).mean() > 0.99


def test_copies_are_spread_over_several_cells():
    """No cell is so large that comparing all its items with each other would take long."""
    cells = cut_into_cells(np.zeros((2000, 2), np.float32), Workers(1), CellRule(all_pairs=60))
    assert np.diff(cells.starts).max() <= cells.rule.most_items


def test_too_few_rows_in_sight_are_marked(rng):
    """Where the visited cells hold fewer rows than asked for, the rest is -1."""
    cells = cut_into_cells(clusters(rng), Workers(1), SMALL)
    ids, squared = nearest_in_cells(cells, cells.rows[:5], cells.homes()[:5], 80, 1, Workers(1))
    sizes = np.diff(cells.starts)[cells.homes()[:5]]
    np.testing.assert_array_equal((ids >= 0).sum(axis=1), sizes)
    np.testing.assert_array_equal(np.isinf(squared), ids < 0)


def test_threads_do_not_change_cells(rng):
    """The same cells and neighbours with one thread and three."""
    rule = replace(SMALL, part=50)
    X = clusters(rng)
    one, three = cut_into_cells(X, Workers(1), rule), cut_into_cells(X, Workers(3), rule)
    for name in ("order", "starts", "centres", "radii", "near"):
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
    found = [nearest_in_cells(one, one.rows, one.homes(), 5, 4, Workers(threads)) for threads in (1, 3)]
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
    assert found.details["visits"] < found.details["cells"]
    assert (found.squared <= limit).mean() >= 0.999
