"""A table of votes grows, shrinks and counts without losing or inventing any."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from softspread.votes.table import VoteTable, joined


def test_a_vote_table_grows_without_touching_what_it_came_from():
    """Appending keeps all votes in order, widens text, and leaves the arrays handed in alone."""
    rows, columns, weights = np.array([0, 1]), np.array([1, 0]), np.array([1.0, 2.0])
    table = VoteTable(rows, columns, weights, np.array(["a", "b"]))
    for step in range(40):
        table.append(
            VoteTable(np.array([step]), np.array([0]), np.array([0.5]), np.array([f"annotator {step}"]))
        )
    table.append(VoteTable(np.array([7]), np.array([1]), np.array([-1.0])))
    assert len(table) == 43
    assert table.rows.tolist() == [0, 1, *range(40), 7]
    assert table.weights.tolist() == [1, 2, *[0.5] * 40, -1]
    assert table.annotators.tolist() == ["a", "b", *[f"annotator {step}" for step in range(40)], None]
    assert (rows.tolist(), columns.tolist(), weights.tolist()) == ([0, 1], [1, 0], [1, 2])


def test_what_rounding_leaves_of_retracted_fractions_is_no_vote():
    """0.1 + 0.2 - 0.3 is not quite 0 in floating point, and still no evidence."""
    table = VoteTable(np.zeros(3, dtype=int), np.zeros(3, dtype=int), np.array([0.1, 0.2, -0.3]))
    assert table.counts(1, 2).tolist() == [[0, 0]]


def test_a_tiny_vote_counts():
    """Only what a retraction leaves is rounded away, not a vote of small weight."""
    table = VoteTable(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1e-15, 1, -0.0]))
    assert table.counts(2, 2)[0].tolist() == [1e-15, 1]


def test_joined_never_rounds_a_number():
    """Signed and unsigned ids of 64 bits would meet as floats; they meet as objects."""
    signed, unsigned = np.array([-1]), np.array([2**63 + 1], dtype=np.uint64)
    assert joined(signed, unsigned).tolist() == [-1, 2**63 + 1]
    assert joined(np.array([2**53 + 1]), np.array([0.5])).tolist() == [2**53 + 1, 0.5]
    assert joined(np.array([1], dtype=np.uint8), signed).dtype.kind == "i"


@settings(deadline=None, max_examples=30)
@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_taking_some_votes_and_the_others_takes_all(kept):
    """Counts of a part and of the rest add up; annotators stay with their votes."""
    names = np.array(["a", "b", "c", "d"], dtype=object)
    table = VoteTable(np.array([0, 1, 1, 2]), np.array([1, 0, 1, 1]), np.array([1.0, 2.0, 0.5, 3.0]), names)
    mask = np.array(kept)
    part, rest = table.take(mask), table.take(~mask)
    np.testing.assert_allclose(part.counts(3, 2) + rest.counts(3, 2), table.counts(3, 2))
    assert part.annotators.tolist() == names[mask].tolist()
    np.testing.assert_allclose(table.on_items(np.array([1])).counts(3, 2)[1], [2.0, 0.5])


def test_other_weights_leave_the_votes_where_they_are():
    """Only what a vote counts changes; the table it came from does not."""
    table = VoteTable(np.array([0, 1]), np.array([1, 0]), np.ones(2))
    halved = table.with_weights(table.weights / 2)
    assert halved.counts(2, 2).tolist() == [[0, 0.5], [0.5, 0]]
    assert table.counts(2, 2).tolist() == [[0, 1], [1, 0]]


def test_an_empty_table_counts_nothing_and_says_so():
    """Zero votes are a table like any other."""
    assert VoteTable.empty().counts(2, 3).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert repr(VoteTable.empty()) == "VoteTable(0 votes on 0 rows)"


def test_votes_move_with_the_items_that_stay():
    """Those on items that go are left out, also of what was cast."""
    table = VoteTable(np.array([0, 1, 2]), np.array([1, 0, 1]), np.ones(3))
    table.cast = VoteTable(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]), np.ones(4))
    moved = table.moved(np.array([-1, 0, 1]))
    assert moved.counts(2, 2).tolist() == [[1, 0], [0, 1]]
    assert moved.cast.rows.tolist() == [0, 1]
    assert table.rows.tolist() == [0, 1, 2]
