"""Votes as a file holds them."""

from pathlib import Path

import numpy as np
import pytest

from softspread.io.formats import MULTI_CHOICE, VOTE_FORMATS
from softspread.io.vote_file import VoteFile, VoteReading


def test_defaults_look_for_the_usual_names_and_refuse_several_choices():
    """What a user gets who says nothing."""
    how = VoteReading()
    assert how.votes_format == VOTE_FORMATS[0] == "auto"
    assert how.multi_choice == MULTI_CHOICE[0] == "refuse"
    assert how.item_column is how.label_column is how.annotator_column is None


def test_the_length_is_the_number_of_votes():
    """Not of items."""
    assert len(VoteFile(Path("v.csv"), "long", np.array(["a", "a"]), np.array(["x", "y"]))) == 2


@pytest.mark.parametrize("which", [np.array([2, 0]), np.array([True, False, True])], ids=["numbers", "mask"])
def test_some_votes_of_a_file_keep_all_that_is_known_of_them(which):
    """Every column is cut alike; what the file lacks stays absent."""
    items, weights = np.array(["a", "b", "c"], dtype=object), np.array([1.0, 2.0, 3.0])
    file = VoteFile(Path("v.csv"), "long", items, items[::-1], weights=weights)
    some = file.take(which)
    assert some.items.tolist() == items[which].tolist()
    assert some.labels.tolist() == items[::-1][which].tolist()
    assert some.weights.tolist() == weights[which].tolist()
    assert some.annotators is some.created_at is some.answers is None
    assert some.path == file.path
