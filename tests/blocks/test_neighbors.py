"""Neighbours by cells: exact where asked, nearly all of them else, and never the item itself."""

import warnings

import numpy as np
import pytest

from small_blocks import N_NEIGHBORS, items, rows_by_place, runner_with_graph
from softspread._common.threads import Workers
from softspread.blocks.neighbors import NOBODY, CellGaps, nearest_of
from softspread.errors import SoftspreadWarning
from softspread.graph.neighbors import nearest_items


def lists(job):
    """The user's rows of every item's neighbours, by the user's rows."""
    rows = rows_by_place(job)
    near = np.concatenate([job.store.read("neighbors", b)["near"] for b in range(job.layout.n_blocks)])
    out = np.empty_like(near)
    out[rows] = rows[near]
    return out


def test_the_nearest_distinct_are_kept():
    """Copies and gaps are dropped; what is missing is nobody."""
    squared, places = (
        np.array([[1.0, 4.0, 1.0, 9.0], [0.0, 5.0, 9.0, 9.0]]),
        np.array([[7, 3, 7, -1], [2, -1, -1, -1]]),
    )
    found, near = nearest_of(squared, places, 3)
    assert near.tolist() == [[7, 3, NOBODY], [2, NOBODY, NOBODY]]
    assert found.tolist() == [[1.0, 4.0, np.inf], [0.0, np.inf, np.inf]]


@pytest.mark.parametrize("index", ["exact", "auto"])
def test_lists_are_the_true_neighbours(tmp_path, index):
    """Exactly with an exact search, at a measured recall of at least .99 from two cells and a pass."""
    runner = runner_with_graph(tmp_path, index=index)
    X = items()[0]
    true = nearest_items(X, X, N_NEIGHBORS + 1, Workers(1))[0][:, 1:]
    found = lists(runner.job)
    same = np.mean([len(set(a) & set(b)) / N_NEIGHBORS for a, b in zip(found, true, strict=True)])
    assert same == 1 if index == "exact" else same > 0.99
    assert runner.job.store.facts("recall", 0)["recall"] == pytest.approx(same, abs=1e-3)
    assert not (found == np.arange(len(X))[:, None]).any()


def test_cells_smaller_than_a_list_are_filled_from_all_others(tmp_path):
    """Ten neighbours in blocks of about eight items."""
    with pytest.warns(SoftspreadWarning, match="of the neighbours were found"):
        runner = runner_with_graph(tmp_path, index="auto", n_neighbors=10, block_items=8)
    found = lists(runner.job)
    assert (found >= 0).all()
    assert all(len(set(row)) == 10 for row in found.tolist())


def test_gaps_are_never_larger_than_the_distances(tmp_path):
    """Of every item to every other block; and most blocks far away need no look."""
    job = runner_with_graph(tmp_path, block_items=20).job
    n_blocks, starts = job.layout.n_blocks, job.layout.starts
    X = np.concatenate([job.store.read("vectors", block, ["X"])["X"] for block in range(n_blocks)])
    gaps = CellGaps.of(job, np.arange(len(X)), X)
    skipped = 0
    for block in range(n_blocks):
        there = X[starts[block] : starts[block + 1]]
        nearest = nearest_items(there, X, 1, Workers(1))[1][:, 0]
        lower = gaps.to(block, job.facts["radii"][block])
        assert (lower <= np.sqrt(nearest) * (1 + 1e-12)).all()
        skipped += (lower > 0.5).sum()
    assert skipped > 0.3 * n_blocks * len(X)


@pytest.mark.parametrize("index", ["exact", "auto"])
def test_items_that_coincide_find_each_other(tmp_path, index):
    """Cells that share a centre hold copies of one item, and each is at distance 0 from the others."""
    X = np.repeat(np.arange(6.0).reshape(3, 2), 40, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = runner_with_graph(tmp_path, X=X, y=np.repeat([0, 1, 2], 40), index=index, block_items=15)
    job = runner.job
    assert job.layout.n_blocks > 3
    squared = [job.store.read("neighbors", block)["squared"] for block in range(job.layout.n_blocks)]
    assert (np.concatenate(squared) == 0).all()
    assert job.store.facts("recall", 0)["recall"] == 1
