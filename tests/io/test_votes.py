"""Votes are read from every allowed shape, ids and classes meet, and what does not is counted, shown and
refused."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softspread import SoftLabels, VoteHistogram, Votes
from softspread.errors import InputError, SoftspreadWarning
from softspread.io.matching import match_votes
from softspread.io.soft_labels import write_soft_labels
from softspread.io.vote_file import VoteReading
from softspread.io.votes import read_vote_files, read_votes
from vote_files import export, text

ROWS = [("a", "cat", "ann"), ("b", "dog", "bob"), ("a", "cat", "bob"), ("c", "dog", "ann")]
PAIRS = sorted((item, label, who) for item, label, who in ROWS)


def write(folder, shape):
    """The same four votes in one of the allowed files."""
    frame = pd.DataFrame(ROWS, columns=["item", "label", "annotator"])
    if shape == "csv":
        return text(folder / "v.csv", frame.to_csv(index=False))
    if shape == "bom and crlf":
        return text(folder / "v.csv", "\ufeff" + frame.to_csv(index=False).replace("\n", "\r\n"))
    if shape == "semicolons":
        return text(folder / "v.csv", frame.to_csv(index=False, sep=";"))
    if shape == "tsv":
        return text(folder / "v.tsv", frame.to_csv(index=False, sep="\t"))
    if shape == "crowd-kit":
        frame.columns = ["task", "label", "worker"]
        return text(folder / "v.csv", frame[["task", "worker", "label"]].to_csv(index=False))
    if shape == "parquet":
        pq.write_table(pa.Table.from_pandas(frame), folder / "v.parquet")
        return folder / "v.parquet"
    if shape == "jsonl":
        return text(folder / "v.jsonl", frame.to_json(orient="records", lines=True))
    if shape == "json":
        return text(folder / "v.json", frame.to_json(orient="records"))
    if shape == "wide":
        return text(folder / "v.csv", ",ann,bob\na,cat,cat\nb,,dog\nc,dog,\n")
    return text(folder / "v.json", json.dumps(export()))


SHAPES = [
    "csv",
    "bom and crlf",
    "semicolons",
    "tsv",
    "crowd-kit",
    "parquet",
    "jsonl",
    "json",
    "wide",
    "label studio",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_format_gives_the_same_votes(tmp_path, shape):
    """Items, labels and annotators come out the same, whatever the file."""
    found = read_vote_files(write(tmp_path, shape))
    assert sorted(zip(found.items, found.labels, found.annotators, strict=True)) == PAIRS
    votes = match_votes(found, np.array(["a", "b", "c"]), 3).votes
    assert votes.classes.tolist() == ["cat", "dog"]
    assert len(votes) == 4


LONG = pd.DataFrame(
    {"task": list("aaabbbccc"), "worker": list("xyzxyzxyz"), "label": [1, 1, 0, 0, 1, 0, 1, 0, 1]}
)


def test_what_crowd_kit_takes_and_what_we_write_are_one_table(tmp_path):
    """Its own majority of its table is ours of the same file; our votes go back under its names."""
    aggregation = pytest.importorskip("crowdkit.aggregation", reason="needs the extra compare")
    votes = read_votes(text(tmp_path / "v.csv", LONG.to_csv(index=False)))
    ours = VoteHistogram().fit(np.zeros((3, 1)), votes, item_ids=list("abc")).predict()
    assert aggregation.MajorityVote().fit_predict(LONG).loc[list("abc")].tolist() == ours.tolist()
    back = votes.to_frame().rename(columns={"item": "task", "annotator": "worker"})
    again = aggregation.MajorityVote().fit_predict(back)
    assert again.loc[list("abc")].tolist() == ours.tolist()


def test_the_wide_table_of_cleanlab_is_read_and_judged_alike(tmp_path):
    """Its conversion of a long table gives our votes, and its majority is ours."""
    multiannotator = pytest.importorskip("cleanlab.multiannotator", reason="needs the extra compare")
    wide = multiannotator.convert_long_to_wide_dataset(LONG.rename(columns={"worker": "annotator"}))
    wide.to_csv(tmp_path / "wide.csv")
    for votes in (Votes.from_wide(wide), read_votes(tmp_path / "wide.csv")):
        assert set(
            votes.to_frame()[["item", "annotator", "label"]].itertuples(index=False, name=None)
        ) == set(LONG[["task", "worker", "label"]].itertuples(index=False, name=None))
        ours = VoteHistogram().fit(np.zeros((3, 1)), votes, item_ids=list("abc")).predict()
        assert multiannotator.get_majority_vote_label(wide.to_numpy()).tolist() == ours.tolist()


def test_counts_and_weights_are_read(tmp_path):
    """A table of counts when asked for, fractions included; weights of a long table."""
    path = text(tmp_path / "c.csv", "item,count_cat,count_dog\na,2,0\nb,0,0.5\n")
    found = read_vote_files(path, how=VoteReading("counts"))
    assert (found.items.tolist(), found.labels.tolist(), found.weights.tolist()) == (
        ["a", "a", "b"],
        ["cat", "cat", "dog"],
        [1, 1, 0.5],
    )
    assert found.classes.tolist() == ["cat", "dog"]
    path = text(tmp_path / "w.csv", "item,label,weight,created_at\na,cat,0.5,2024-01-01\n")
    found = read_vote_files(path)
    assert found.weights.tolist() == [0.5]
    assert found.created_at.tolist() == ["2024-01-01"]


def test_columns_can_be_named(tmp_path):
    """Any names work when they are given."""
    path = text(tmp_path / "v.csv", "file,answer,who\na,cat,ann\n")
    found = read_vote_files(
        path, how=VoteReading(item_column="file", label_column="answer", annotator_column="who")
    )
    assert (found.items[0], found.labels[0], found.annotators[0]) == ("a", "cat", "ann")


def test_wide_tables_of_numbers_read_as_pandas_writes_them(tmp_path):
    """1.0 beside a gap is class 1, -1 is not a vote."""
    path = text(tmp_path / "v.csv", "item,x,y\n0,1.0,\n1,,-1\n2,0.0,10.0\n")
    matched = match_votes(read_vote_files(path), None, 3)
    assert matched.votes.labels.tolist() == [1, 0, 10]
    assert matched.classes.tolist() == [0, 1, 10]


def refused(path, message, how=None):
    with pytest.raises(InputError, match=message):
        read_vote_files(path, how=how)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.csv", "", r"v\.csv is empty; it should hold votes"),
        ("v.csv", "item,label\n", "holds no votes"),
        ("v.csv", "\n\n", "has no header"),
        (
            "v.csv",
            "item,label\na,cat\nb\n",
            r"line 3: 1 values, but the header names 2 columns \(item, label\)",
        ),
        ("v.csv", "item,label\na,cat,x\n", "line 2: 3 values"),
        ("v.csv", 'item,label\n"a,cat\n', "line 2"),
        ("v.csv", "item,label,label\na,b,c\n", "names columns twice: 'label'"),
        ("v.csv", "item,label\na,cat\nb,\n", r"line 3: no value in 'label'; 1 rows lack one"),
        ("v.csv", "thing,label\na,cat\n", "no column 'item' or 'task'; it has 'thing', 'label'"),
        ("v.csv", "item,annotator,class\na,ann,cat\n", "no column 'label'"),
        ("v.csv", "item,label,weight\na,cat,much\n", "line 2: weight 'much' is not a finite number"),
        ("v.csv", "item\na\n", "has only the column 'item'"),
        ("v.jsonl", '{"item": 1, "label": 2}\nnonsense\n', "line 2: not JSON"),
        ("v.jsonl", '{"item": 1, "label": 2}\n[1]\n', "line 2: expected an object"),
        (
            "v.jsonl",
            '{"item": 1, "label": ["x"]}\n',
            r"line 1: 'label' holds \['x'\]; one plain value per row",
        ),
        ("v.json", "{", "not JSON"),
        ("v.json", "[1, 2]", "must hold a list of objects"),
        ("v.parquet", "x", "not a readable Parquet"),
        ("v.txt", "x", r"ends in '\.txt'; votes may be \.csv, \.tsv, \.parquet, \.jsonl, \.xlsx, .*\.json"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path, name, content, message):
    """Every message names the file, the place and what is wrong."""
    refused(text(tmp_path / name, content), message)


def test_other_encodings_are_refused(tmp_path):
    """A file in another encoding is not read as nonsense."""
    refused(text(tmp_path / "v.csv", "item,label\nä,ö\n", "latin-1"), "is not UTF-8 text")
    refused(tmp_path / "none.csv", "no file at .*none.csv; check the path of the votes")


def test_words_that_are_no_options_are_refused(tmp_path):
    """Formats, columns and counts that do not exist."""
    path = write(tmp_path, "csv")
    refused(path, "votes-format must be one of 'auto', 'long'", VoteReading("tall"))
    refused(path, "multi-choice must be one of 'refuse', 'split', 'skip'", VoteReading(multi_choice="x"))
    refused(path, "has no column 'q'", VoteReading(item_column="q"))
    refused(path, "a Label Studio export is read from .json", VoteReading("labelstudio"))
    refused(
        text(tmp_path / "n.csv", "item,a\nx,-1\n"),
        "line 2: a is -1; counts cannot be negative",
        VoteReading("counts"),
    )


def test_several_files_are_taken_together(tmp_path):
    """Every file counts, whatever its shape; what one lacks is empty."""
    long = text(tmp_path / "a.csv", "item,label,annotator,created_at\na,cat,ann,2024-01-01\n")
    wide = text(tmp_path / "b.csv", "item,bob\na,cat\nb,dog\n")
    bare = text(tmp_path / "c.csv", "item,label,weight\nc,dog,0.5\n")
    votes = read_votes(long, wide, bare)
    assert votes.items.tolist() == ["a", "a", "b", "c"]
    assert votes.labels.tolist() == ["cat", "cat", "dog", "dog"]
    assert votes.annotators.tolist() == ["ann", "bob", "bob", None]
    assert votes.weights.tolist() == [1, 1, 1, 0.5]
    found = read_vote_files(long, wide, bare)
    assert (found.votes_format, found.paths) == ("long, wide", (long, wide, bare))
    assert match_votes(found, np.array(["a", "b", "c"]), 3).votes.classes.tolist() == ["cat", "dog"]


def test_one_file_of_several_is_named_in_messages(tmp_path):
    """A file named twice would count twice; unknown items name the files."""
    one = text(tmp_path / "a.csv", "item,label\na,cat\n")
    two = text(tmp_path / "b.csv", "item,label\nz,cat\n")
    with pytest.raises(InputError, match=r"a\.csv is named twice; its votes would count twice"):
        read_votes(one, one.parent / "." / "a.csv")
    with pytest.raises(InputError, match="name at least one file with the votes"):
        read_votes()
    with pytest.raises(InputError, match=r"a\.csv, .*b\.csv: 1 of 2 votes name unknown items: 'z'"):
        match_votes(read_vote_files(one, two), np.array(["a"]), 1)


def test_numbers_of_a_csv_file_meet_those_of_a_parquet_file(tmp_path):
    """Class 1 is one class, in both files; where Parquet holds text, so does the CSV file."""
    path = text(tmp_path / "a.csv", "item,label\n0,1\n1,0\n")
    for label, expected in ((1, [0, 1]), ("1", ["0", "1"])):
        pq.write_table(pa.table({"item": [2], "label": [label]}), tmp_path / "b.parquet")
        matched = match_votes(read_vote_files(path, tmp_path / "b.parquet"), None, 3)
        assert matched.classes.tolist() == expected
        assert read_votes(path, tmp_path / "b.parquet").class_names().tolist() == expected


def test_votes_are_read_as_numbers_where_all_are(tmp_path):
    """7 is a position and a class, 007 is a name."""
    votes = read_votes(text(tmp_path / "a.csv", "item,label\n7,1\n8,0\n"), classes=[0, 1, 2])
    assert (votes.items.tolist(), votes.labels.tolist(), votes.classes.tolist()) == (
        [7, 8],
        [1, 0],
        [0, 1, 2],
    )
    assert read_votes(text(tmp_path / "b.csv", "item,label\n007,1\n")).items.tolist() == ["007"]
    counts = text(tmp_path / "c.csv", "item,count_0,count_1\n7,1,1\n")
    assert read_votes(counts, votes_format="counts").classes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ("item,p_cat,p_dog,evidence\na,0.4,0.6,2\n", r"holds soft labels \(item"),
        ("item,label,weight,evidence\na,cat,0.4,2\n", "soft labels as weighted rows"),
        (
            "item,label,p,evidence\na,cat,0.4,2\n",
            "items to vote on next, where 'label' is the machine's guess",
        ),
    ],
)
def test_our_own_results_are_refused_as_votes(tmp_path, header, what):
    """A soft label would come back as a vote, with more weight in every round."""
    refused(text(tmp_path / "v.csv", header), rf"v\.csv .*{what}.* holds no votes")


def test_every_file_that_we_write_is_refused_as_votes(tmp_path):
    """In each format, as the writer writes it now."""
    p = np.array([[0.25, 0.75], [0.5, 0.5]])
    labels = SoftLabels(np.array(["a", "b"]), np.array(["no", "yes"]), p, np.array([2.0, 1.0]))
    for name, kind in [
        *((f"{kind}.{kind}", "auto") for kind in ("csv", "tsv", "parquet", "jsonl")),
        *((f"weighted.{kind}", "weighted") for kind in ("csv", "tsv", "parquet", "jsonl")),
    ]:
        write_soft_labels(tmp_path / name, labels, kind)
        refused(tmp_path / name, "a result of softspread and holds no votes")
    write_soft_labels(tmp_path / "tasks.json", labels)
    refused(tmp_path / "tasks.json", "tasks with predictions")


def test_items_to_vote_on_are_votes_once_they_are_filled_in(tmp_path):
    """Where people fill the empty column, these rows count; the others and the guesses do not."""
    table = "item,label,guess,p,evidence\na,,cat,0.6,2\nb,dog,cat,0.6,2\n"
    found = read_vote_files(text(tmp_path / "next.csv", table))
    assert (found.items.tolist(), found.labels.tolist()) == (["b"], ["dog"])
    assert found.notes == {"rows without a label": 1}
    refused(
        text(tmp_path / "next.csv", table.replace("dog", "")), r"holds no votes \(2 rows without a label\)"
    )


def test_counts_that_are_read_as_annotators_are_told(tmp_path):
    """The default reads a wide table; a warning says how to read counts."""
    path = text(tmp_path / "c.csv", "item,cat,dog\na,5,0\nb,4,1\nc,0,5\nd,2,3\n")
    with pytest.warns(SoftspreadWarning, match=r"c\.csv: the columns 'cat', 'dog' are read as 2 annotators"):
        read_votes(path)
    assert len(read_votes(path, votes_format="counts")) == 20
