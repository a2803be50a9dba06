"""Votes as a file holds them."""

from pathlib import Path

import numpy as np

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
