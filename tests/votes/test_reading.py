"""The one reader of y: every form of the same votes becomes the same table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from softspread import InputError, Votes
from softspread.votes.reading import Names, read_y
from softspread.votes.table import VoteTable

FORMS = {
    "labels": (["b", None, "a", "b"], None),
    "counts": (np.array([[0, 1], [0, 0], [1, 0], [0, 1]]), ["a", "b"]),
    "a frame of counts": (pd.DataFrame({"b": [1, 0, 0, 1], "a": [0, 0, 1, 0]}), ["a", "b"]),
    "votes by position": (Votes.from_pairs([0, 2, 3], ["b", "a", "b"]), None),
}


@pytest.mark.parametrize(("y", "classes"), FORMS.values(), ids=FORMS)
def test_every_form_of_y_is_the_same_table(y, classes):
    """Labels, counts and votes say the same, with the classes in one order."""
    table, names = read_y(y, 4, classes=classes)
    assert names.classes.tolist() == ["a", "b"]
    assert table.counts(4, 2).tolist() == [[0, 1], [0, 0], [1, 0], [0, 1]]


def test_ids_lead_to_rows_and_back():
    """Votes by id land on their rows; the names turn the numbers back into the same votes."""
    votes = Votes.from_pairs(["z", "x"], ["no", "yes"], annotators=["ann", None], weights=[2, 1])
    table, names = read_y(votes, 3, item_ids=["x", "y", "z"], classes=["yes", "no"])
    assert (table.rows.tolist(), table.columns.tolist()) == ([2, 0], [1, 0])
    pd.testing.assert_frame_equal(names.votes(table).to_frame(), votes.to_frame(), check_dtype=False)


def test_ids_are_for_votes_only():
    """One label per item stands at its position, whatever the items are called."""
    table, names = read_y([1, -1, 0], 3, item_ids=[2, 1, 0])
    assert table.rows.tolist() == [0, 2]
    assert names.items(table.rows).tolist() == [2, 0]


def test_new_classes_come_last():
    """A label first seen now is appended; the rows keep their names."""
    names = Names(2, np.array(["x", "y"]), np.array(["b", "a"]))
    new = names.unknown(np.array(["d", "a", "c", "d"]))
    assert new.tolist() == ["c", "d"]
    wider = names.with_classes(new)
    assert wider.classes.tolist() == ["b", "a", "c", "d"]
    assert wider.rows(["y"]).tolist() == [1]
    assert names.with_classes(new[:0]) is names


def test_retractions_are_accounted_by_item_label_and_annotator():
    """A total may reach 0, never fall below it, for each annotator apart."""

    def check(annotators, weights):
        who = None if annotators is None else np.array(annotators, dtype=object)
        table = VoteTable(np.array([0, 0]), np.array([1, 1]), np.array(weights), who)
        Names(1, None, np.array(["a", "b"])).check_retractions(table)

    check(None, [1.0, -1.0])
    check(["ann", "ann"], [1.0, -1.0])
    with pytest.raises(
        InputError, match="never cast: item 0, label 'b' would have -1 votes by that annotator"
    ):
        check(["ann", "bob"], [1.0, -1.0])
    with pytest.raises(InputError, match="never cast"):
        check(["ann", None], [1.0, -1.0])
    with pytest.raises(InputError, match=r"item 0, label 'b' would have -0\.5 votes"):
        check(None, [1.0, -1.5])


def test_votes_taken_back_but_never_cast_are_refused_by_id():
    """The message names the item as the user does."""
    with pytest.raises(InputError, match="item 'x', label 'a' would have -1 votes"):
        read_y(Votes.from_pairs(["x"], ["a"], weights=-1), 1, item_ids=["x"])


def test_a_column_of_labels_is_read_with_a_warning():
    """As scikit-learn does."""
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        table, _ = read_y(np.array([[0], [-1], [1]]), 3)
    assert table.rows.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (3, r"votes must be labels .* got shape \(\)"),
        ([0, 1], "X has 3 items but votes has 2 rows"),
        (np.zeros((3, 2, 2)), r"got shape \(3, 2, 2\)"),
        ([0.0, np.nan, 1.0], "NaN"),
        ([0.5, -1, 1.25], "[Uu]nknown label type"),
        ([[1, -1], [0, 0], [0, 0]], "not negative"),
    ],
)
def test_what_is_no_votes_is_refused(y, message):
    """The message says what came and what is allowed."""
    with pytest.raises(InputError, match=message):
        read_y(y, 3, what="votes")


def test_votes_that_were_read_are_not_read_again():
    """Rows, columns, ids and classes come along; the table is a copy, as tables grow in place."""
    votes = Votes.from_pairs(["b", "a"], ["cat", "dog"], ["ann", None])
    first = read_y(votes, 2, ["a", "b"], ["dog", "cat"])
    again = read_y(first, 2)
    assert again.names is first.names
    assert again.table.rows.tolist() == [1, 0]
    assert again.table.columns.tolist() == [1, 0]
    again.table.append(first.table)
    assert (len(again.table), len(first.table)) == (4, 2)
    with pytest.raises(InputError, match="X has 3 items but y is about 2"):
        read_y(first, 3)
