"""Votes meet items: ids as text, unknown items and classes counted, shown and refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softspread.errors import InputError
from softspread.io.matching import match_votes, read_classes
from softspread.io.votes import read_vote_files
from vote_files import text


def votes_of(tmp_path, items, labels=None):
    labels = labels or ["x"] * len(items)
    lines = "".join(f"{item},{label}\n" for item, label in zip(items, labels, strict=True))
    return read_vote_files(text(tmp_path / "v.csv", f"item,label\n{lines}"))


@pytest.mark.parametrize(
    ("written", "ids", "meant"),
    [
        (["007", "7"], np.array(["7", "007"]), ["007", "7"]),
        (["10", "2"], np.array([2, 10]), [10, 2]),
        (["1", "0"], None, [1, 0]),
        (["ü", "b c"], np.array(["b c", "ü"], dtype=object), ["ü", "b c"]),
    ],
)
def test_ids_meet_in_the_type_of_the_items(tmp_path, written, ids, meant):
    """Text stays text, numbers become numbers, leading zeros are kept."""
    assert match_votes(votes_of(tmp_path, written), ids, 2).votes.items.tolist() == meant


def test_typed_votes_meet_text_ids(tmp_path):
    """Numbers of a Parquet file name items whose ids are text."""
    pq.write_table(pa.table({"item": [1, 2], "label": ["x", "y"]}), tmp_path / "v.parquet")
    matched = match_votes(read_vote_files(tmp_path / "v.parquet"), np.array(["2", "1"]), 2)
    assert matched.votes.items.tolist() == ["1", "2"]


def test_classes_are_in_the_given_order_or_sorted_as_numbers(tmp_path):
    """10 comes after 2; a list decides otherwise and may name more."""
    file = votes_of(tmp_path, [0, 0, 0], [10, 2, 2])
    assert match_votes(file, None, 1).classes.tolist() == [2, 10]
    assert match_votes(file, None, 1, ["10", "3", "2"]).classes.tolist() == [10, 3, 2]
    named = votes_of(tmp_path, [0], ["dog"])
    assert match_votes(named, None, 1, ["dog", "cat"]).classes.tolist() == ["dog", "cat"]


def test_unknown_items_and_classes_are_counted_shown_and_refused(tmp_path):
    """The first five of each, how many, and how to go on."""
    file = votes_of(tmp_path, ["a", *"uvwxyz"], ["cat"] * 6 + ["emu"])
    ids = np.array(["a", "b"])
    with pytest.raises(InputError) as caught:
        match_votes(file, ids, 2, ["cat", "dog"])
    message = str(caught.value)
    assert "6 of 7 votes name unknown items: 'u', 'v', 'w', 'x', 'y', ..." in message
    assert "1 of 7 votes name classes that are not in the list: 'emu' (allowed: 'cat', 'dog')" in message
    assert "--skip-unknown" in message
    matched = match_votes(file, ids, 2, ["cat", "dog"], skip_unknown=True)
    assert (len(matched.votes), len(matched.file), matched.n_skipped, len(matched.unknown)) == (1, 7, 6, 2)
    with pytest.raises(InputError, match="no vote is left"):
        match_votes(votes_of(tmp_path, ["q"]), ids, 2, skip_unknown=True)


def test_positions_outside_and_names_without_ids_are_refused(tmp_path):
    """Both messages say what the items are called."""
    with pytest.raises(
        InputError, match=r"1 of 2 votes name unknown items: '5' \(the 3 items have positions 0 to 2\)"
    ):
        match_votes(votes_of(tmp_path, [0, 5]), None, 3)
    with pytest.raises(
        InputError, match=r"names items like 'a', 'b', but the embeddings have no ids. Give them by --ids"
    ):
        match_votes(votes_of(tmp_path, ["a", "b"]), None, 3)
    with pytest.raises(InputError, match="1 of 2 votes name unknown items: 'a'"):
        match_votes(votes_of(tmp_path, ["a", 1]), np.arange(3), 3)


def test_class_lists(tmp_path):
    """From the command line, from a file; copies and empty names are refused."""
    assert read_classes("cat, dog") == ["cat", "dog"]
    assert read_classes(str(text(tmp_path / "c.txt", "cat\r\ndog, large\r\n"))) == ["cat", "dog, large"]
    assert read_classes(None) is None
    for wrong in ("cat,cat", "cat,,dog", ""):
        with pytest.raises(InputError, match="classes must be distinct names"):
            read_classes(wrong)
    with pytest.raises(InputError, match="no file at"):
        read_classes(str(tmp_path / "none.txt"))
