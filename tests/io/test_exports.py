"""What all exports have in common: the same choices give the same votes, whatever the tool."""

import json

import numpy as np
import pytest

from softspread.errors import InputError
from softspread.io.exports import Answers, checked_id, item_of
from softspread.io.vote_file import VoteReading
from softspread.io.votes import read_vote_files
from vote_files import export, text

CHOICES = [("a", ["cat"], "ann"), ("a", ["cat", "dog"], "bob"), ("b", ["dog"], "ann"), ("c", [], "bob")]


def label_studio(folder):
    tasks = [*export()[:1], {"id": 2, "data": {"image": "b"}, "annotations": []}]
    tasks.append({"id": 3, "data": {"image": "c"}, "annotations": []})
    given = {"a": tasks[0], "b": tasks[1], "c": tasks[2]}
    tasks[0]["annotations"] = []
    for item, labels, who in CHOICES:
        result = [{"type": "choices", "from_name": "label", "value": {"choices": labels}}] if labels else []
        given[item]["annotations"].append({"completed_by": who, "result": result})
    return text(folder / "ls.json", json.dumps(tasks))


def argilla(folder):
    rows = {}
    for item, labels, who in CHOICES:
        row = rows.setdefault(item, {"id": item, "kind.responses": [], "kind.responses.users": []})
        row["kind.responses"].append(labels)
        row["kind.responses.users"].append(who)
    return text(folder / "a.json", json.dumps(list(rows.values())))


def prodigy(folder):
    rows = [
        {"id": item, "accept": labels, "answer": "accept", "_task_hash": 1, "_annotator_id": who}
        for item, labels, who in CHOICES
    ]
    return text(folder / "p.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


TOOLS = [label_studio, argilla, prodigy]


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_gives_the_same_votes(tmp_path, tool):
    """Several choices are refused, split or skipped, or yes and no to every class."""
    path = tool(tmp_path)
    with pytest.raises(InputError, match=r"an annotation chooses 2 classes \('cat', 'dog'\)"):
        read_vote_files(path)
    split = read_vote_files(path, how=VoteReading(multi_choice="split"))
    rows = zip(split.items, split.labels, split.annotators, split.weights, strict=True)
    assert sorted(rows) == [
        ("a", "cat", "ann", 1),
        ("a", "cat", "bob", 0.5),
        ("a", "dog", "bob", 0.5),
        ("b", "dog", "ann", 1),
    ]
    skipped = read_vote_files(path, how=VoteReading(multi_choice="skip"))
    assert skipped.notes == {"annotations without a choice": 1, "annotations with several choices": 1}
    several = read_vote_files(path, how=VoteReading(kind="multilabel"))
    rows = zip(several.items, several.labels, several.annotators, several.answers, strict=True)
    yes = {(item, label, who) for item, labels, who in CHOICES for label in labels}
    assert {(item, label, who) for item, label, who, answer in rows if answer} == yes
    assert len(several) == 2 * len(CHOICES)


@pytest.mark.parametrize("tool", TOOLS)
def test_all_tools_and_tables_are_taken_together(tmp_path, tool):
    """With a table of votes beside them."""
    table = text(tmp_path / "v.csv", "item,label,annotator\nd,cat,eve\n")
    both = read_vote_files(tool(tmp_path), table, how=VoteReading(multi_choice="skip"))
    assert both.items.tolist() == ["a", "b", "d"]


def test_ids_are_text_and_plain():
    """A number or a text names an item, anything else does not."""
    assert checked_id("x", 7) == "7"
    assert item_of("x", {"task": "007", "id": 1}, None) == "007"
    for value in (None, True, "", ["a"], 0.5):
        with pytest.raises(InputError, match="x: nothing names the item; choose a field"):
            checked_id("x", value)
    with pytest.raises(InputError, match="x has no field 'q'; it has 'a'"):
        item_of("x", {"a": 1}, "q")


def test_an_export_without_answers_is_no_votes(tmp_path):
    """Nothing is made up."""
    assert len(Answers(VoteReading()).file(tmp_path, "argilla")) == 0
    assert np.array_equal(Answers(VoteReading(kind="multilabel")).file(tmp_path, "x").answers, [])
