"""Answers about items that may have several classes."""

import numpy as np
import pandas as pd
import pytest

from softspread.errors import InputError
from softspread.estimators.multilabel import answers_of
from softspread.votes.multilabel import yes_or_no
from softspread.votes.votes import Votes


def answers(votes):
    """Item, class and answer of each vote."""
    return list(zip(votes.items.tolist(), votes.labels.tolist(), votes.answers.tolist(), strict=True))


def test_lists_and_their_indicator_table_are_the_same_votes():
    """A list that says no to the rest is a row of 1 and 0."""
    table = pd.DataFrame([[1, 1], [0, 0], [0, 1]], columns=["cat", "dog"])
    assert answers(Votes.from_multilabel([["cat", "dog"], [], ["dog"]])) == answers(
        Votes.from_multilabel(table)
    )


def test_what_is_missing_is_no_vote():
    """NaN in a table, and classes left out of a list where the rest is nothing."""
    table = Votes.from_multilabel([[1, np.nan], [np.nan, 0]], items=["a", "b"], classes=["cat", "dog"])
    assert answers(table) == [("a", "cat", True), ("b", "dog", False)]
    lists = Votes.from_multilabel([["cat"], []], classes=["cat", "dog"], rest="nothing")
    assert answers(lists) == [(0, "cat", True)]


def test_a_table_of_answers_reads_back():
    """to_frame and from_frame are inverse."""
    votes = Votes.from_multilabel([["cat"], ["dog"]], ["a", "b"], ["ann", "bob"])
    assert answers(Votes.from_frame(votes.to_frame())) == answers(votes)
    assert answers(votes + votes) == 2 * answers(votes)
    assert votes.about("dog").labels.tolist() == [False, True]


@pytest.mark.parametrize(
    ("choices", "message"),
    [([[1, 5]], r"1 \(yes\), 0 \(no\)"), ([["cat"], "dog"], "lists of labels"), ([[]], "pass classes")],
)
def test_other_values_are_refused(choices, message):
    """Ratings, bare text, and nothing chosen anywhere."""
    with pytest.raises(InputError, match=message):
        Votes.from_multilabel(choices)


def test_kinds_of_votes_are_not_mixed():
    """Votes for exactly one class are no answers to a question."""
    one = Votes.from_pairs([0], ["cat"])
    with pytest.raises(InputError, match="kinds"):
        answers_of(one)
    with pytest.raises(InputError, match="kinds"):
        _ = one + Votes.from_multilabel([["cat"]])
    with pytest.raises(InputError, match="from_multilabel"):
        one.about("cat")
    with pytest.raises(InputError, match="'maybe'"):
        yes_or_no(["yes", "maybe"])
    with pytest.raises(InputError, match="one per row"):
        Votes.from_multilabel([["cat"]], items=[1, 2])
