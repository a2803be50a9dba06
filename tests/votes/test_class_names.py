"""Names that are probably one class get a warning; they stay two classes."""

import numpy as np
import pytest

from softspread import SoftspreadWarning, VoteHistogram, Votes
from softspread.io.matching import match_votes
from softspread.io.votes import read_vote_files
from softspread.votes.class_names import near_equal
from vote_files import text


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Cat", "cat "], 1),
        (["hot dog", "hot_dog", "Hot  Dog"], 2),
        ([1, "1"], 1),
        (["r\u00f6d", "ro\u0308d"], 1),
        (["-1", "1", "+1"], 0),
        (["cat", "cats"], 0),
    ],
)
def test_names_that_differ_in_writing_only(names, expected):
    """Case, spaces, underscores, encoding of accents, a number as text."""
    assert len(near_equal(names)) == expected


def test_every_reader_warns_unless_the_classes_are_named(tmp_path):
    """Python and files; whoever lists the classes means them."""
    votes = Votes.from_pairs([0, 0], ["Cat", "cat "])
    with pytest.warns(SoftspreadWarning, match="almost the same: 'Cat' and 'cat '"):
        assert VoteHistogram().fit([[0.0]], votes).classes_.tolist() == ["Cat", "cat "]
    VoteHistogram().fit([[0.0]], votes, classes=["Cat", "cat "])
    file = read_vote_files(text(tmp_path / "v.csv", "item,label\n0,Cat\n0,cat \n"))
    with pytest.warns(SoftspreadWarning, match="almost the same"):
        match_votes(file, None, 1)
    assert len(match_votes(file, None, 1, ["Cat", "cat "]).classes) == 2
    many = [f"{case}{n}" for n in range(5) for case in "aA"]
    with pytest.warns(SoftspreadWarning, match="'a2' and 'A2' and 2 more pairs|and 2 more pairs"):
        VoteHistogram().fit(np.zeros((10, 1)), many)
