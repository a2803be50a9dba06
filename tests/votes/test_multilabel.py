"""Votes on items that may have several classes."""

import numpy as np
import pandas as pd
import pytest

from softspread.errors import InputError
from softspread.votes.multilabel import multilabel_votes, questions_of
from softspread.votes.votes import Votes


def answers(votes):
    """Item and answer of each vote, by class."""
    return {name: list(zip(v.items.tolist(), v.labels.tolist(), strict=True)) for name, v in votes.items()}


def test_lists_and_their_indicator_table_are_the_same_votes():
    """A list that says no to the rest is a row of 1 and 0."""
    table = pd.DataFrame([[1, 1], [0, 0], [0, 1]], columns=["cat", "dog"])
    assert answers(multilabel_votes([["cat", "dog"], [], ["dog"]])) == answers(multilabel_votes(table))


def test_what_is_missing_is_no_vote():
    """NaN in a table, and classes left out of a list where the rest is nothing."""
    table = multilabel_votes([[1, np.nan], [np.nan, 0]], items=["a", "b"], classes=["cat", "dog"])
    assert answers(table) == {"cat": [("a", True)], "dog": [("b", False)]}
    lists = multilabel_votes([["cat"], []], classes=["cat", "dog"], rest="nothing")
    assert answers(lists) == {"cat": [(0, True)], "dog": []}


@pytest.mark.parametrize(
    ("choices", "message"),
    [([[1, 5]], r"1 \(yes\), 0 \(no\)"), ([["cat"], "dog"], "lists of labels"), ([[]], "pass classes")],
)
def test_other_values_are_refused(choices, message):
    """Ratings, bare text, and nothing chosen anywhere."""
    with pytest.raises(InputError, match=message):
        multilabel_votes(choices)


def test_kinds_of_votes_are_not_mixed():
    """Votes for exactly one class are no answers to a question."""
    one = Votes.from_pairs([0], ["cat"])
    for y in (one, {"cat": one}):
        with pytest.raises(InputError, match="kind"):
            questions_of(y)
