"""Votes are read from every allowed shape, ids and classes meet, and what does not is counted, shown and
refused."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softspread.errors import InputError
from softspread.io.matching import match_votes
from softspread.io.vote_file import VoteReading
from softspread.io.votes import read_votes
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
    found = read_votes(write(tmp_path, shape))
    assert sorted(zip(found.items, found.labels, found.annotators, strict=True)) == PAIRS
    votes = match_votes(found, np.array(["a", "b", "c"]), 3).votes
    assert votes.classes.tolist() == ["cat", "dog"]
    assert len(votes) == 4


def test_counts_and_weights_are_read(tmp_path):
    """A table of counts when asked for, fractions included; weights of a long table."""
    path = text(tmp_path / "c.csv", "item,count_cat,count_dog\na,2,0\nb,0,0.5\n")
    found = read_votes(path, VoteReading("counts"))
    assert (found.items.tolist(), found.labels.tolist(), found.weights.tolist()) == (
        ["a", "a", "b"],
        ["cat", "cat", "dog"],
        [1, 1, 0.5],
    )
    assert found.classes.tolist() == ["cat", "dog"]
    path = text(tmp_path / "w.csv", "item,label,weight,created_at\na,cat,0.5,2024-01-01\n")
    found = read_votes(path)
    assert found.weights.tolist() == [0.5]
    assert found.created_at.tolist() == ["2024-01-01"]


def test_columns_can_be_named(tmp_path):
    """Any names work when they are given."""
    path = text(tmp_path / "v.csv", "file,answer,who\na,cat,ann\n")
    found = read_votes(path, VoteReading(item_column="file", label_column="answer", annotator_column="who"))
    assert (found.items[0], found.labels[0], found.annotators[0]) == ("a", "cat", "ann")


def test_wide_tables_of_numbers_read_as_pandas_writes_them(tmp_path):
    """1.0 beside a gap is class 1, -1 is no vote."""
    path = text(tmp_path / "v.csv", "item,x,y\n0,1.0,\n1,,-1\n2,0.0,10.0\n")
    matched = match_votes(read_votes(path), None, 3)
    assert matched.votes.labels.tolist() == [1, 0, 10]
    assert matched.classes.tolist() == [0, 1, 10]


def refused(path, message, how=None):
    with pytest.raises(InputError, match=message):
        read_votes(path, how)


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
        ("v.txt", "x", r"ends in '\.txt'; votes may be \.csv, \.tsv, \.parquet, \.jsonl, \.json"),
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
