"""Which votes stand, and what one vote is: the same answer for everybody."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from softspread import InputError, Votes
from softspread.votes.ballots import Ballots, taken_back_too_often
from softspread.votes.table import VoteTable
from voting import ballots_of, table


def counted(counts):
    """Ballots of a table of counts."""
    votes = Votes.from_counts(counts)
    return ballots_of(votes.items, votes.labels, votes.weights, n_classes=np.shape(counts)[1])


# ------------------------------------------------------------------------------------------ what one vote is
@pytest.mark.parametrize("weight", [1.0, 3.0, 7.5])
def test_a_vote_is_one_observation_whatever_its_weight(weight):
    """The weight is how much evidence the vote carries: it scales counts, and squares enter as weight^2."""
    heavy = ballots_of([0, 4], [1, 0], [weight, 1.0])
    assert heavy.n_votes == 2
    assert heavy.votes_per_item.tolist() == [1, 1]
    assert (heavy.n_repeats, heavy.n_repeated) == (0, 0)
    assert_allclose(heavy.counts, [[0, weight], [1, 0]])
    assert_allclose(heavy.opinions.squares, [weight**2, 1])
    assert_allclose(heavy.concentration, 1.0)


def test_whole_counts_are_that_many_votes(rng):
    """A table of counts gives the ballots of the same votes one by one."""
    rows, columns = rng.integers(30, size=80), rng.integers(2, size=80)
    by_item = np.lexsort((columns, rows))
    single = ballots_of(rows[by_item], columns[by_item])
    from_counts = counted(table(rows, columns).counts(40, 2))
    assert from_counts.n_votes == single.n_votes == 80
    for name in ("voted", "counts", "sharpness", "concentration", "votes_per_item", "vote", "weight"):
        assert_allclose(getattr(from_counts, name), getattr(single, name))
    assert_allclose(single.concentration, 1 / single.votes_per_item)


def test_votes_on_an_item_take_turns_in_the_order_of_the_table():
    """A vote that was taken back took no turn."""
    ballots = ballots_of([5, 2, 5, 2, 5, 5], [0, 1, 1, 0, 1, 0], [1.0, 1.0, 1.0, 1.0, -1.0, 1.0])
    assert ballots.item_of_vote.tolist() == [1, 0, 0, 1]
    assert ballots.turn_of_vote.tolist() == [0, 0, 1, 1]


def test_a_soft_vote_is_one_vote_that_is_shorter_than_a_whole_one():
    """Half cat, half dog: one vote, |y|^2 = 1/2, no repeat, one opinion."""
    soft = counted([[0.5, 0.5]])
    assert (soft.n_votes, soft.sharpness[0], soft.concentration[0]) == (1, 0.5, 1.0)
    assert (soft.opinions.number[0], soft.opinions.squares[0]) == (1, 1.0)


def test_a_count_that_is_no_whole_number_is_one_vote_of_that_weight():
    """2.5 votes are one heavy vote, not two and a half."""
    assert counted([[2.5, 0.0]]).n_votes == 1
    assert_allclose(counted([[2.5, 0.0]]).opinions.squares, [6.25])


def test_votes_of_unequal_weight_are_worth_fewer_than_their_number():
    """Two annotators, one of them trusted a quarter."""
    unequal = ballots_of([0, 0], [0, 1], [1.0, 0.25], ["ann", "bob"])
    assert_allclose(unequal.concentration, (1 + 0.25**2) / 1.25**2)
    assert_allclose(unequal.sharpness, 1.0)


def test_fractions_of_one_annotator_are_one_vote_and_of_two_are_two():
    """Names say which fractions belong together, whatever they sum to; given groups override names."""
    assert ballots_of([0, 0], [0, 1], [0.3, 0.2], ["ann", "ann"]).n_votes == 1
    assert ballots_of([0, 0], [0, 1], [0.3, 0.2], ["ann", "bob"]).n_votes == 2
    assert ballots_of([0, 0], [0, 1], [0.3, 0.2]).n_votes == 2  # without a name only if they sum to 1
    assert ballots_of([0, 0], [0, 1], [0.3, 0.2], ["ann", "bob"], groups=np.array([7, 7])).n_votes == 1


def test_groups_must_fit_the_votes():
    """One group number per vote."""
    with pytest.raises(InputError, match="groups"):
        ballots_of([0, 1], [0, 1], groups=np.array([0]))


def test_all_that_one_annotator_says_about_an_item_is_one_opinion():
    """Parts add up to the square of their total; votes without a name stay separate."""
    names = ["ann", "ann", "bob", None, None, "ann"]
    ballots = ballots_of([3, 3, 3, 3, 3, 5], [0, 1, 0, 0, 1, 1], [0.7, 0.3, 0.5, 1, 1, 0.4], names)
    assert_allclose(ballots.opinions.squares, [1 + 0.25 + 2, 0.16])
    assert_allclose(ballots.opinions.largest, [1.0, 0.4])
    assert ballots.opinions.number.tolist() == [4, 1]
    assert_allclose(ballots.counts, [[2.2, 1.3], [0.0, 0.4]])
    twice = ballots_of([0, 0], [1, 1], annotators=["ann", "ann"])
    assert (twice.n_votes, twice.opinions.number[0], twice.opinions.squares[0]) == (2, 1, 4.0)


def test_where_annotators_differ_all_that_one_says_about_an_item_is_one_vote():
    """Weights are multiplied by annotator; votes without a name stay as they are."""
    cast = ballots_of([0, 0, 1, 1], [0, 1, 1, 1], annotators=["ann", "ann", None, None])
    weighted = cast.weighted(np.array([0.25]))
    assert (cast.n_votes, weighted.n_votes) == (4, 3)
    assert_allclose(weighted.counts, [[0.25, 0.25], [0.0, 2.0]])
    assert weighted.vote.tolist() == [0, 0, 1, 2]
    assert_allclose(cast.counts, [[1.0, 1.0], [0.0, 2.0]])


# ------------------------------------------------------------------------------------------------ retractions
def test_taken_back_votes_leave_no_trace():
    """A vote and its retraction equal no vote, per class and annotator."""
    left = ballots_of([4, 4, 4, 7], [0, 0, 0, 1], [1, 1, -1, 1], ["ann", "bob", "ann", "ann"])
    plain = ballots_of([4, 7], [0, 1], annotators=["bob", "ann"])
    for name in ("voted", "counts", "votes_per_item", "item", "column", "weight", "annotator", "vote"):
        assert_allclose(getattr(left, name), getattr(plain, name))
    assert left.names.tolist() == ["ann", "bob"]
    assert left.entry_of_row.tolist() == [-1, 0, -1, 1]
    assert ballots_of([0, 1, 0], [0, 1, 0], [1.0, 1.0, -1.0]).voted.tolist() == [1]


def test_unclear_retractions_keep_the_largest_sum_of_squares():
    """Half a vote taken back from weights 2 and 1 may leave 2 and 0.5 or 1.5 and 1: the first counts."""
    left = ballots_of([0, 0, 0], [0, 0, 0], [1, 2, -0.5], n_classes=1)
    assert left.opinions.squares.tolist() == [4.25]
    assert left.totals.tolist() == [2.5]
    assert left.n_votes == 2


def test_a_retraction_of_one_of_several_votes_leaves_the_others_single():
    """Three votes, one taken back: two votes of weight 1."""
    left = ballots_of([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, -1])
    assert left.n_votes == 2
    assert left.weight.tolist() == [1.0, 1.0]
    assert (left.entry_of_row >= 0).all()  # every row finds an entry of its item, class and annotator


@pytest.mark.parametrize("unit", [1.0, 1e-8, 1e6])
def test_rounding_is_no_vote_at_any_scale(unit):
    """0.1 + 0.2 - 0.3 is 6e-17 of a vote: nothing stands, nothing is overdrawn, in counts too."""
    votes = table([0, 0, 0], [0, 0, 0], unit * np.array([0.1, 0.2, -0.3]))
    assert Ballots.of(votes, 1).n_votes == 0
    assert votes.counts(1, 1).tolist() == [[0.0]]
    assert taken_back_too_often(votes) is None


def test_light_votes_stand_beside_retractions_of_others():
    """A tiny weight is a vote where nothing was taken back from it."""
    ballots = ballots_of([0, 0, 1], [0, 0, 0], [1.0, -1.0, 1e-12])
    assert ballots.voted.tolist() == [1]


def test_more_taken_back_than_cast_is_found():
    """The worst total is named, per annotator."""
    assert taken_back_too_often(table([0, 1, 1], [0, 0, 0], [1.0, 1.0, -2.0])) == (1, 0, -1.0)
    swapped = table([0, 0], [1, 1], [1.0, -1.0], ["ann", "bob"])
    assert taken_back_too_often(swapped) == (0, 1, -1.0)
    assert taken_back_too_often(table([0, 0], [1, 1], [1.0, -1.0])) is None
    assert taken_back_too_often(table([], [])) is None


votes = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 2),
        st.sampled_from([1.0, 0.5, 2.0]),
        st.sampled_from(["a", "b", None]),
    ),
    max_size=12,
)


@given(kept=votes, gone=votes, seed=st.integers(0, 99))
def test_retractions_commute_with_everything_else(kept, gone, seed):
    """Votes cast and taken back, in any order among the others, leave the totals of the others."""
    listed = kept + gone + [(row, column, -weight, name) for row, column, weight, name in gone]
    order = np.random.default_rng(seed).permutation(len(listed))
    both = Ballots.of(as_table([listed[place] for place in order]), 3)
    alone = Ballots.of(as_table(kept), 3)
    assert both.voted.tolist() == alone.voted.tolist()
    assert both.names.tolist() == alone.names.tolist()
    assert_allclose(both.counts, alone.counts, atol=1e-12)
    assert_allclose(both.weight_of_annotators, alone.weight_of_annotators, atol=1e-12)


def as_table(listed):
    rows, columns, weights, names = zip(*listed, strict=True) if listed else ((),) * 4
    return table(rows, columns, weights, names)


# ----------------------------------------------------------------------------------------------------- shapes
def test_no_votes_are_no_ballots():
    """Empty everywhere, nothing NaN."""
    none = Ballots.of(VoteTable.empty(), 3)
    assert (none.n_votes, none.n_annotators, none.n_repeats) == (0, 0, 0)
    assert none.counts.shape == (0, 3)
    assert none.content.shape == (0, 3)
    assert none.opinions.number.tolist() == []


def test_annotators_are_in_order_of_names_and_only_those_who_still_stand():
    """Totals per annotator, 1 for entries without a name."""
    ballots = ballots_of(
        [0, 1, 2, 2, 3], [0, 1, 0, 0, 1], [1, 1, 1, -1, 2], ["zoe", "ann", "gone", "gone", None]
    )
    assert ballots.names.tolist() == ["ann", "zoe"]
    assert ballots.weight_of_annotators.tolist() == [1.0, 1.0]
    assert ballots.per_entry(np.array([5.0, 7.0])).tolist() == [7.0, 5.0, 1.0]


def test_values_of_rows_follow_their_votes():
    """A soft vote takes the mean over its entries; what was taken back has no say."""
    votes = VoteTable(
        np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 0, 1]), np.array([0.5, 0.5, 1.0, -1.0, 1.0])
    )
    found = Ballots.of(votes, 2)
    assert found.row_of_entry.tolist() == [0, 1, 4]
    assert found.of_votes(np.array([1.0, 3.0, 10.0, 20.0, 7.0])).tolist() == [2.0, 7.0]
