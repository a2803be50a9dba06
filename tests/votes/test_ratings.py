"""Ratings as they come in."""

import numpy as np
import pandas as pd
import pytest

from softspread.errors import InputError
from softspread.votes.ratings import read_ratings
from softspread.votes.reading import Names
from softspread.votes.votes import Votes

NAMES = Names(3, np.array(["a", "b", "c"], dtype=object), np.empty(0))


def test_a_table_names_items_and_people():
    """One row per rating; an empty one is none."""
    table = pd.DataFrame({"item": ["c", "a", "b"], "rating": [5, 1, None], "worker": ["ann", "bob", "ann"]})
    found = read_ratings(table, NAMES)
    assert found.rows.tolist() == [2, 0]
    assert found.values.tolist() == [5.0, 1.0]
    assert found.annotators.tolist() == ["ann", "bob"]
    assert found.scale == (1.0, 5.0)


@pytest.mark.parametrize(
    ("given", "scale", "message"),
    [
        ([1.0, 7.0, np.nan], (1, 5), "outside the scale 1 to 5, such as 7 for item 'b'"),
        ([1.0, 2.0, np.inf], None, "infinity"),
        ([np.nan] * 3, None, "no item has a rating"),
        ([1.0, 2.0], None, "3 items but there are 2"),
        (["good", "bad", "good"], None, "must be numbers"),
        ([1.0, 2.0, 3.0], (5, 1), "must rise"),
        ([1.0, 2.0, 3.0], 5, "must be \\(lowest, highest\\)"),
        (pd.DataFrame({"item": ["a"], "stars": [3]}), None, "columns item and rating"),
        (pd.DataFrame({"item": ["a"], "rating": ["good"]}), None, "must be a number"),
        (Votes.from_pairs(["a"], ["cat"]), None, "cannot be mixed"),
    ],
)
def test_other_values_are_refused(given, scale, message):
    """With what came and what is allowed."""
    with pytest.raises(InputError, match=message):
        read_ratings(given, NAMES, scale)
