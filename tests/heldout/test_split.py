"""What is held out: trials whose shares make a mean over them hold for all items."""

import numpy as np
from numpy.testing import assert_allclose

from softspread import Votes
from softspread.heldout.split import hold_out, hold_out_in_turn
from voting import ballots_of


def kept(ballots, held):
    """Weight that stays on the item of each trial."""
    return ballots.totals[held.position] - np.asarray(held.content.sum(axis=1)).ravel()


def test_counts_and_single_votes_are_held_out_alike(rng):
    """The same votes as a table of counts get the same total share on every item."""
    rows, columns = rng.integers(30, size=80), rng.integers(2, size=80)
    counts = np.zeros((40, 2))
    np.add.at(counts, (rows, columns), 1)
    votes = Votes.from_counts(counts)
    as_counts = hold_out(ballots_of(votes.items, votes.labels, votes.weights), 40)
    single = hold_out(ballots_of(rows, columns), 40)
    assert len(as_counts.position) == len(single.position)
    assert_allclose(
        *(np.bincount(held.position, held.shares, 30) for held in (as_counts, single)), atol=1e-12
    )


def test_a_heavy_vote_is_left_out_as_a_whole():
    """A weight says how much evidence a vote carries, not how many votes it is."""
    ballots = ballots_of(np.repeat(np.arange(10), 2), [0, 1] * 10, [3.0, 1.0] * 10)
    held = hold_out(ballots, 10)
    assert sorted(set(kept(ballots, held))) == [1.0, 3.0]


def test_the_parts_of_a_soft_vote_are_left_out_together():
    """A vote of 0.7 cat and 0.3 dog is one trial: judging dog must not see cat."""
    ballots = ballots_of(np.repeat(np.arange(12), 2), [0, 1] * 12, [0.7, 0.3] * 12)
    held = hold_out(ballots, 24)
    assert_allclose(held.content.toarray(), np.tile([0.7, 0.3], (12, 1)))


def test_votes_on_items_with_j_plus_one_votes_count_as_the_items_with_j(rng):
    """Every item has one vote and 20 have two: the 40 votes on those 20 speak for nearly all items."""
    ballots = ballots_of(np.r_[np.arange(100), np.arange(20)], rng.integers(2, size=120))
    held = hold_out(ballots, 100)
    assert_allclose(held.shares.sum(), 1.0)
    assert_allclose(held.shares[held.position < 20].sum(), 1.0)
    assert_allclose(kept(ballots, held), 1.0)  # nobody is judged as if it had no votes


def test_uniform_draws_need_hardly_any_reweighting(rng):
    """Drawn uniformly with replacement, every vote counts about the same."""
    held = hold_out(ballots_of(rng.integers(5000, size=5000), np.zeros(5000)), 5000)
    for j in range(3):
        mine = np.bincount(held.position)[held.position] == j + 1
        assert_allclose(held.shares[mine].sum(), mine.mean(), rtol=0.1)


def test_whole_items_are_left_out_where_most_items_have_no_vote(rng):
    """Five votes on each of 20 items: the 80 items without votes are judged by leaving all five out."""
    ballots = ballots_of(np.repeat(np.arange(20), 5), rng.integers(3, size=100), n_classes=3)
    held = hold_out(ballots, 100)
    assert_allclose(held.shares[kept(ballots, held) < 1e-12].sum(), 0.8)
    assert_allclose(held.shares.sum(), 1.0)


def test_some_votes_are_kept_where_items_with_one_vote_have_no_better_judge(rng):
    """Items with one vote are judged by items with five, four of them left out."""
    rows = np.r_[np.arange(80), np.repeat(np.arange(80, 100), 5)]
    ballots = ballots_of(rows, rng.integers(2, size=180))
    held = hold_out(ballots, 100)
    assert_allclose(held.shares[np.isclose(kept(ballots, held), 1)].sum(), 0.8)


def test_votes_taken_back_are_no_trials():
    """A retraction cancels its vote before anything is held out."""
    held = hold_out(ballots_of([0, 1, 0], [0, 1, 0], [1.0, 1.0, -1.0]), 4)
    assert held.content.toarray().tolist() == [[0.0, 1.0]]


def test_in_turn_a_vote_is_judged_with_the_votes_before_it_alone(rng):
    """Kept are an item's earlier votes; what judges is one vote of what is taken away."""
    rows = np.repeat(np.arange(12), 3)[rng.permutation(36)]
    ballots = ballots_of(rows, rng.integers(2, size=36))
    held = hold_out_in_turn(ballots, 40, np.ones(36))
    columns = ballots.content.toarray()
    left = np.round(kept(ballots, held)).astype(int)
    for trial, place in enumerate(held.position):
        mine = columns[ballots.item_of_vote == place]
        assert_allclose(held.content.toarray()[trial], mine[left[trial] :].sum(axis=0))
        assert_allclose(held.judged.toarray()[trial], mine[left[trial]])


def test_in_turn_importance_moves_shares_within_the_items_that_a_vote_judges_for(rng):
    """Votes that speak for more items count more; what each number of own votes counts together stays."""
    ballots = ballots_of(rng.integers(30, size=80), rng.integers(2, size=80))
    importance = rng.uniform(0.2, 5, ballots.n_votes)
    plain = hold_out_in_turn(ballots, 40, np.full(ballots.n_votes, 3.0))
    weighted = hold_out_in_turn(ballots, 40, importance)
    level = np.round(kept(ballots, plain)).astype(int)
    own = np.append(ballots.votes_per_item, np.zeros(40 - len(ballots.voted), int))
    deepest = level.max()
    assert_allclose(np.bincount(level, plain.shares), np.bincount(np.minimum(own, deepest)) / 40)
    assert_allclose(np.bincount(level, weighted.shares), np.bincount(level, plain.shares), rtol=1e-9)
    assert np.abs(weighted.shares - plain.shares).max() > 0.1 * plain.shares.max()


def test_in_turn_votes_that_brought_more_votes_do_not_judge_too_often(rng):
    """Every vote is for class 1 with 0.2; a third vote is cast where two differ. In turn they say 0.2.

    Held out one by one, the votes on items with three are those that differed: 0.4 and more.
    """
    first, second, third = (rng.random((3, 4_000)) < 0.2).astype(int)
    again = np.flatnonzero(first != second)
    rows = np.r_[np.arange(4_000), np.arange(4_000), again]
    ballots = ballots_of(rows, np.r_[first, second, third[again]])
    found = []
    for held in (hold_out_in_turn(ballots, 4_000, np.ones(len(rows))), hold_out(ballots, 4_000)):
        of_three = ballots.votes_per_item[held.position] == 3
        deep = of_three & np.isclose(kept(ballots, held), 2)
        found.append(np.average(held.judged.toarray()[deep, 1], weights=held.shares[deep]))
    error = np.sqrt(0.16 / len(again))
    assert abs(found[0] - 0.2) < 4 * error
    assert found[1] > 0.4 - 4 * error
