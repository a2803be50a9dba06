"""Votes, names and a prior as tasks see them."""

import numpy as np

from small_blocks import N_ITEMS, rows_by_place, runner_with_graph, small_runner, votes
from softspread import Votes
from softspread.blocks.inputs import read_classes, read_given, votes_of_block, write_votes
from softspread.votes.table import VoteTable


def test_a_prior_follows_its_items(tmp_path):
    """Row by row into the blocks; without ids items are named by position."""
    prior = np.random.default_rng(0).dirichlet(np.ones(3), N_ITEMS)
    runner = runner_with_graph(tmp_path, prior=prior)
    runner.take_votes()
    given = [read_given(runner.job, block, 3) for block in range(runner.job.layout.n_blocks)]
    rows = rows_by_place(runner.job)
    assert (np.concatenate([ids for ids, _ in given]) == rows).all()
    found = np.concatenate([part for _, part in given])
    np.testing.assert_allclose(found, prior[rows], rtol=1e-14)  # its rows are divided by their sums
    assert read_classes(runner.job).tolist() == [0, 1, 2]


def test_votes_taken_back_leave_nothing(tmp_path):
    """An item whose votes are all retracted has no scale to find."""
    job = runner_with_graph(tmp_path).job
    taken_back = VoteTable(np.array([4, 4, 9]), np.array([0, 0, 1]), np.array([1.0, -1.0, 2.0]))
    write_votes(job, taken_back, 2)
    found = [votes_of_block(job, block) for block in range(job.layout.n_blocks)]
    places = np.concatenate([here + job.layout.starts[block] for block, (here, _) in enumerate(found)])
    assert rows_by_place(job)[places].tolist() == [9]
    assert np.concatenate([counts for _, counts in found]).tolist() == [[0.0, 2.0]]


def test_each_voted_item_is_in_one_block(tmp_path):
    """With what stands on it, found by its row."""
    runner = runner_with_graph(tmp_path)
    runner.take_votes()
    job, rows, counts = runner.job, [], []
    for block in range(job.layout.n_blocks):
        here, found = votes_of_block(job, block)
        rows.append(job.store.read("vectors", block, ["rows"])["rows"][here])
        counts.append(found)
    rows, counts = np.concatenate(rows), np.concatenate(counts)
    assert sorted(rows) == np.flatnonzero(votes() >= 0).tolist()
    assert (counts == np.eye(3)[votes()[rows]]).all()


def test_digests_name_what_has_changed(tmp_path):
    """Another vote changes that of the votes alone."""
    one = small_runner(tmp_path).inputs.digests()
    other = small_runner(tmp_path, y=Votes.from_pairs([0, 1, 2], [0, 1, 2])).inputs.digests()
    assert {name for name in one if one[name] != other[name]} == {"votes"}
