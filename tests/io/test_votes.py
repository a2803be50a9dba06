"""Votes are read from every allowed shape, ids and classes meet, and what does not is counted, shown and
refused."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softspread.errors import InputError
from softspread.io.matching import match_votes, read_classes
from softspread.io.vote_file import VoteReading
from softspread.io.votes import read_votes

ROWS = [("a", "cat", "ann"), ("b", "dog", "bob"), ("a", "cat", "bob"), ("c", "dog", "ann")]
PAIRS = sorted((item, label, who) for item, label, who in ROWS)


def text(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding))
    return path


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


def export(**changes):
    """A Label Studio export with the four votes, one cancelled and one empty annotation."""

    def annotation(who, *choices, **more):
        result = (
            [{"type": "choices", "from_name": "label", "value": {"choices": list(choices)}}]
            if choices
            else []
        )
        return {"completed_by": {"id": 1, "email": who}, "was_cancelled": False, "result": result, **more}

    tasks = [
        {
            "id": 11,
            "data": {"image": "a"},
            "annotations": [annotation("ann", "cat"), annotation("bob", "cat")],
        },
        {"id": 12, "data": {"image": "b"}, "annotations": [annotation("bob", "dog"), annotation("ann")]},
        {
            "id": 13,
            "data": {"image": "c"},
            "annotations": [annotation("ann", "dog"), annotation("bob", "cat")],
        },
    ]
    tasks[2]["annotations"][1]["was_cancelled"] = True
    if "choices" in changes:
        tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = changes["choices"]
    return tasks


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


# --------------------------------------------------------------------------------------------------- matching
def votes_of(tmp_path, items, labels=None):
    labels = labels or ["x"] * len(items)
    lines = "".join(f"{item},{label}\n" for item, label in zip(items, labels, strict=True))
    return read_votes(text(tmp_path / "v.csv", f"item,label\n{lines}"))


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
    matched = match_votes(read_votes(tmp_path / "v.parquet"), np.array(["2", "1"]), 2)
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
    assert (len(matched.votes), matched.n_read, matched.n_skipped, len(matched.unknown)) == (1, 7, 6, 2)
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


# -------------------------------------------------------------------------------------------------- bad files
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


# ----------------------------------------------------------------------------------------------- label studio
def test_cancelled_and_empty_annotations_are_counted(tmp_path):
    """They are no votes; the file says how many there were."""
    found = read_votes(write(tmp_path, "label studio"))
    assert found.notes == {"annotations without a choice": 1, "cancelled annotations": 1}
    assert found.votes_format == "labelstudio"


def test_only_cancelled_annotations_are_no_votes(tmp_path):
    """The message says why nothing is left."""
    tasks = export()[2:]
    tasks[0]["annotations"] = tasks[0]["annotations"][1:]
    refused(text(tmp_path / "v.json", json.dumps(tasks)), r"holds no votes \(1 cancelled annotations\)")


def test_several_choices_are_refused_split_or_skipped(tmp_path):
    """Refused unless told: split counts parts that add to one vote, skip leaves the annotation out."""
    path = text(tmp_path / "v.json", json.dumps(export(choices=["cat", "dog"])))
    refused(
        path,
        r"task 11: an annotation chooses 2 classes \('cat', 'dog'\).*"
        r"--multi-choice split.*--multi-choice skip",
    )
    split = read_votes(path, VoteReading(multi_choice="split"))
    assert sorted(split.weights.tolist()) == [0.5, 0.5, 1, 1, 1]
    skipped = read_votes(path, VoteReading(multi_choice="skip"))
    assert len(skipped) == 3
    assert skipped.notes["annotations with several choices"] == 1


def test_tasks_name_their_item(tmp_path):
    """A named field, else item or id, else the only field, else the task's number; other exports are
    refused."""
    tasks = export()
    for task in tasks:
        task["data"]["text"] = "t" + task["data"]["image"]
    path = text(tmp_path / "v.json", json.dumps(tasks))
    assert read_votes(path).items[0] == "11"
    assert read_votes(path, VoteReading(item_column="text")).items[0] == "ta"
    refused(path, r"task 0 .*no field 'nope'; it has 'image', 'text'", VoteReading(item_column="nope"))
    refused(text(tmp_path / "m.json", '[{"image": "a", "annotations": null}]'), "has no list of annotations")
    tasks[0]["annotations"][0]["result"].append(
        {"type": "choices", "from_name": "colour", "value": {"choices": ["red"]}}
    )
    path = text(tmp_path / "w.json", json.dumps(tasks))
    refused(path, r"several sets of choices \('colour', 'label'\)")
    assert "red" in read_votes(path, VoteReading(label_column="colour")).labels
