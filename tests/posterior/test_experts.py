"""Own votes by item, the simplest experts, and all of them together."""

import numpy as np

from blends import expert_of, own_of, random_counts
from softspread.posterior.experts import (
    Expert,
    alike,
    blended,
    blended_size,
    class_shares,
    no_votes,
    order_by_content,
    own_votes,
    prior_expert,
    shares_expert,
)
from voting import table


def test_own_votes_are_read_by_item():
    """Counted votes as they weigh, cast ones for the class named, and how many observations there are."""
    counted = table([3, 3, 0, 5], [0, 1, 1, 0], [0.5, 0.5, 2.0, 1.0])
    cast = table([3, 0, 5], [0, 1, 0], [1.0, 2.0, 1.0])
    own = own_votes(counted, cast, 7, 2)
    assert own.voted.tolist() == [0, 3, 5]
    np.testing.assert_array_equal(own.counts, [[0, 2], [0.5, 0.5], [1, 0]])
    np.testing.assert_array_equal(own.cast, [[0, 2], [1, 0], [1, 0]])
    assert own.n_votes.tolist() == [1, 1, 1]
    assert (own.n_items, own.n_classes, own.total) == (7, 2, 4.0)
    np.testing.assert_array_equal(own.mean_vote, [[0, 1], [1, 0], [1, 0]])


def test_votes_taken_back_are_no_votes():
    """An item whose only vote was taken back is not voted on."""
    votes = table([1, 2, 1], [0, 1, 0], [1.0, 1.0, -1.0])
    own = own_votes(votes, votes, 4, 2)
    assert own.voted.tolist() == [2]
    np.testing.assert_array_equal(own.counts, [[0, 1]])


def test_one_class_alone_gets_a_second_column():
    """For whatever else there may be."""
    votes = table([1], [0])
    assert own_votes(votes, votes, 3, 1).counts.tolist() == [[1, 0]]
    assert own_votes(table([], []), table([], []), 3, 0).counts.shape == (0, 2)


def test_the_shares_of_an_item_leave_its_own_votes_out():
    """Leave-one-item-out, by refitting to the other items."""
    counts = random_counts(12, 3, 7)
    own = own_of(counts)
    expert = shares_expert(own, 0.3)
    for place, row in enumerate(own.voted):
        others = counts.copy()
        others[row] = 0
        np.testing.assert_allclose(expert.held[place], class_shares(own_of(others)), atol=1e-7)
    np.testing.assert_array_equal(expert.final[own.voted], expert.held)
    unvoted = np.setdiff1d(np.arange(12), own.voted)
    np.testing.assert_allclose(expert.final[unvoted], np.tile(class_shares(own), (5, 1)), atol=1e-7)


def test_shares_without_votes_are_uniform():
    """One vote for each class is added."""
    np.testing.assert_allclose(class_shares(no_votes(5, 4)), 0.25)
    expert = shares_expert(no_votes(5, 4), 1.0)
    np.testing.assert_allclose(expert.final, 0.25)
    assert expert.held.shape == (0, 4)


def test_a_prior_answers_as_it_was_given():
    """Held and final are the same, since no vote went into it."""
    prior = np.random.default_rng(0).dirichlet([1, 1], 4)
    own = own_of([[0, 0], [1, 0], [0, 0], [0, 2]])
    expert = prior_expert(prior, own, belief=2.0, size=20.0)
    np.testing.assert_allclose(expert.final, prior, atol=1e-7)
    np.testing.assert_allclose(expert.held, prior[[1, 3]], atol=1e-7)
    np.testing.assert_allclose(np.exp(expert.log_size), 20, rtol=1e-6)


def test_adding_to_a_table_touches_the_voted_rows_alone():
    """Times one factor, or one factor per item."""
    own, into = own_of([[0, 0], [1, 2], [3, 0]]), np.zeros((3, 2))
    own.add_to(into)
    own.add_to(into, np.array([[10.0], [100.0]]))
    np.testing.assert_array_equal(into, [[0, 0], [11, 22], [303, 0]])


def test_a_blend_is_the_weighted_sum_and_does_not_read_experts_of_weight_zero():
    """Of predictions, and of logarithms of sizes."""
    first, second = np.array([[0.2, 0.8]], np.float32), np.array([[0.6, 0.4]], np.float32)
    bad = np.full((1, 2), np.nan, np.float32)
    np.testing.assert_allclose(
        blended([first, bad, second], np.array([0.25, 0.0, 0.75])), [[0.5, 0.5]], atol=1e-7
    )
    experts = [
        Expert("one", first, first, np.log([2.0]).astype(np.float32), 1.0),
        expert_of(second),
        Expert("many", first, first, np.log([[8.0, 2.0]][0]).astype(np.float32), 1.0),
    ]
    size = np.exp(blended_size(experts, np.array([0.5, 0.0, 0.5]), 2))
    np.testing.assert_allclose(size, [4, 2], rtol=1e-6)


def test_the_order_by_content_moves_with_the_items():
    """Shuffled items have the same order of degrees and votes; rounding of a degree does not change it."""
    rng = np.random.default_rng(0)
    degrees, counts = rng.uniform(1, 2, 40).round(1), np.zeros((40, 2))
    counts[::3, 0] = np.arange(14) + 1.0
    order = order_by_content(degrees, own_of(counts))
    shuffle = rng.permutation(40)
    nudged = degrees[shuffle] * (1 + 1e-14 * rng.normal(size=40))
    again = shuffle[order_by_content(nudged, own_of(counts[shuffle]))]
    np.testing.assert_array_equal(degrees[order], degrees[again])
    np.testing.assert_array_equal(counts[order], counts[again])


def test_places_are_the_voted_items_in_an_order():
    """Each once."""
    counts = np.zeros((5, 2))
    counts[[1, 3, 4], 0] = 1
    assert own_of(counts).places(np.array([4, 0, 3, 2, 1])).tolist() == [2, 1, 0]


def test_equal_arrays_are_one_group():
    """Whatever stands between them; the first of each group stands for it."""
    first, other, longer = np.array([1, 2]), np.array([1, 3]), np.array([1, 2, 3])
    groups = alike([first, other, first.copy(), longer])
    assert [numbers for _, numbers in groups] == [[0, 2], [1], [3]]
    assert groups[0][0] is first
    assert alike([]) == []
