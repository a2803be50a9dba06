"""Cells: bounded, near, complete."""

import numpy as np
import pytest

from small_blocks import N_ITEMS, items, rows_by_place, runner_with_graph, small_runner
from softspread._common.threads import Workers
from softspread.blocks.partition import CellRule, choose_centres, gap_to_plane, reach_at_most, two_nearest


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


def test_no_item_stays_at_home_that_has_a_neighbour_in_its_second_cell(tmp_path):
    """Against all distances; and some items do stay at home."""
    k = 8
    runner = runner_with_graph(tmp_path, n_neighbors=k, block_items=60)
    store, at_home = runner.job.store, 0
    centres, layout = store.read("cells", 0)["centres"], runner.job.layout
    for block in range(layout.n_blocks):
        found = store.read("vectors", block)
        X = found["X"]
        inside = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
        kth = np.sort(inside, axis=1)[:, k]
        second = two_nearest(X, found["rows"], centres, Workers(1))[1]
        for row in np.flatnonzero(found["second"] < 0):
            there = store.read("vectors", int(layout.block_of_cell[second[row]]), ["X"])["X"]
            assert np.sqrt(((there - X[row]) ** 2).sum(axis=1)).min() >= kth[row]
            at_home += 1
    assert at_home > 0.1 * N_ITEMS


@pytest.mark.parametrize("n", [5, 20, 47, 400])
def test_the_reach_of_a_window_is_never_too_small(n):
    """At least the distance to the k-th neighbour, also of the last items and beside copies."""
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    X[: n // 4] = X[0]
    squared = ((X[:, None].astype(np.float64) - X) ** 2).sum(axis=2)
    kth = np.sqrt(np.sort(squared, axis=1)[:, 5]) if n > 5 else np.full(n, np.inf)
    found = reach_at_most(X, 5, CellRule(windows_at_once=3))
    assert (found >= kth * (1 - 1e-9)).all()
    assert n <= 5 or np.isfinite(found).all()


def test_gaps_to_the_plane_between_two_centres():
    """On a line the middle is half-way; a copy of the centre is no farther than the item itself."""
    own, others = np.zeros(1), np.array([[4.0], [4.0], [0.0]])
    assert gap_to_plane(np.array([[1.0], [-1.0], [1.0]]), own, others).tolist() == [1.0, 3.0, 0.0]
