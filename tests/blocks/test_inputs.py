"""Votes, names and a prior as tasks see them."""

import numpy as np

from small_blocks import N_ITEMS, rows_by_place, runner_with_graph, small_runner
from softspread import Votes
from softspread.blocks.inputs import read_classes, read_given, write_votes
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
    job = small_runner(tmp_path).job
    votes = VoteTable(np.array([4, 4, 9]), np.array([0, 0, 1]), np.array([1.0, -1.0, 2.0]))
    write_votes(job, votes, 2)
    found = job.store.read("votes", 0)
    assert found["voted"].tolist() == [9]
    assert found["counts"].tolist() == [[0.0, 2.0]]


def test_digests_name_what_has_changed(tmp_path):
    """Another vote changes that of the votes alone."""
    one = small_runner(tmp_path).inputs.digests()
    other = small_runner(tmp_path, y=Votes.from_pairs([0, 1, 2], [0, 1, 2])).inputs.digests()
    assert {name for name in one if one[name] != other[name]} == {"votes"}
