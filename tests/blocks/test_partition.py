"""Cells: bounded, near, complete."""

import numpy as np
import pytest

from small_blocks import N_ITEMS, items, rows_by_place, small_runner
from softspread._common.threads import Workers
from softspread.blocks.partition import CellRule, choose_centres, two_nearest


@pytest.mark.parametrize("coincide", [False, True])
def test_cells_are_bounded_also_where_items_coincide(coincide):
    """No cell has more than about twice its share, and every item has a second cell of its own."""
    rng = np.random.default_rng(0)
    X = (
        np.zeros((400, 2))
        if coincide
        else np.concatenate([rng.normal(size=(380, 2)), 50 + rng.random((20, 2))])
    )
    centres = choose_centres(X, 8, rng, Workers(1))
    first, second = two_nearest(X, np.arange(400), centres, Workers(1))
    assert np.bincount(first).max() <= 100
    assert (first != second).all()


def test_the_two_nearest_centres_are_found():
    """As all distances say."""
    rng = np.random.default_rng(1)
    X, centres = 1e3 + rng.normal(size=(50, 3)), 1e3 + rng.normal(size=(6, 3))
    order = np.argsort(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)
    first, second = two_nearest(X, np.arange(50), centres, Workers(1))
    assert (first == order[:, 0]).all()
    assert (second == order[:, 1]).all()


def test_one_cell_has_no_second():
    """Its items visit nobody."""
    first, second = two_nearest(np.zeros((3, 1)), np.arange(3), np.zeros((1, 1)), Workers(1))
    assert first.tolist() == [0, 0, 0]
    assert second.tolist() == [-1, -1, -1]


def test_many_cells_are_found_as_the_cells_of_cells():
    """No cell is too large, every centre is the nearest of some item, and none comes twice."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4_000, 2))
    rule = CellRule(at_once=8)
    centres = choose_centres(X, 100, rng, Workers(1), rule)
    sizes = np.bincount(two_nearest(X, np.arange(len(X)), centres, Workers(1))[0])
    assert 100 <= len(centres) <= 200
    assert len(np.unique(centres, axis=0)) == len(centres)
    assert sizes.min() > 0
    assert sizes.max() <= rule.largest * 40


@pytest.mark.parametrize("group_cells", [1, 2, 32])
def test_every_item_is_in_one_block(tmp_path, group_cells):
    """With its own vector, whatever the chunks of the input and the groups of cells."""
    runner = small_runner(tmp_path, chunk_items=100, group_cells=group_cells)
    runner.complete("cells", 1)
    parts = runner.complete("assign", 3)
    runner.know(sizes=np.sum([part["sizes"] for part in parts], axis=0).tolist())
    n = runner.job.layout.n_blocks
    runner.complete("gathered", runner.job.n_groups)
    runner.complete("vectors", n)
    rows = rows_by_place(runner.job)
    assert n > 2
    assert sorted(rows.tolist()) == list(range(N_ITEMS))
    X = np.concatenate([runner.job.store.read("vectors", block, ["X"])["X"] for block in range(n)])
    assert (items()[0][rows] == X).all()
