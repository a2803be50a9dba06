"""Label Studio's exports as votes, and soft labels as its tasks."""

import json

import pytest

from softspread.errors import InputError
from softspread.io.label_studio import LabelStudioNames, is_export
from softspread.io.soft_labels import write_soft_labels
from softspread.io.vote_file import VoteReading
from softspread.io.votes import read_vote_files
from vote_files import export, text


def refused(path, message, how=None):
    with pytest.raises(InputError, match=message):
        read_vote_files(path, how=how)


def test_an_export_is_known_by_its_annotations():
    """Of its first task; a list of votes or nothing is none."""
    assert is_export(export())
    assert is_export({"id": 1, "completions": []})
    assert not is_export([])
    assert not is_export([{"item": 1, "label": 2}])
    assert not is_export([[1]])


def test_cancelled_and_empty_annotations_are_counted(tmp_path):
    """They are not votes; the file says how many there were."""
    found = read_vote_files(text(tmp_path / "v.json", json.dumps(export())))
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
    split = read_vote_files(path, how=VoteReading(multi_choice="split"))
    assert sorted(split.weights.tolist()) == [0.5, 0.5, 1, 1, 1]
    skipped = read_vote_files(path, how=VoteReading(multi_choice="skip"))
    assert len(skipped) == 3
    assert skipped.notes["annotations with several choices"] == 1


def test_tasks_name_their_item(tmp_path):
    """A named field, else item or id, else the only field, else the task's number; other exports are
    refused."""
    tasks = export()
    for task in tasks:
        task["data"]["text"] = "t" + task["data"]["image"]
    path = text(tmp_path / "v.json", json.dumps(tasks))
    assert read_vote_files(path).items[0] == "11"
    assert read_vote_files(path, how=VoteReading(item_column="text")).items[0] == "ta"
    refused(path, r"task 0 .*no field 'nope'; it has 'image', 'text'", VoteReading(item_column="nope"))
    refused(text(tmp_path / "m.json", '[{"image": "a", "annotations": null}]'), "has no list of annotations")
    tasks[0]["annotations"][0]["result"].append(
        {"type": "choices", "from_name": "colour", "value": {"choices": ["red"]}}
    )
    path = text(tmp_path / "w.json", json.dumps(tasks))
    refused(path, r"several sets of choices \('colour', 'label'\)")
    assert "red" in read_vote_files(path, how=VoteReading(label_column="colour")).labels


def test_label_studio_tasks_carry_predictions(tmp_path, labels):
    """A list of tasks with the most probable class, under the names of the project."""
    write_soft_labels(tmp_path / "s.json", labels, names=LabelStudioNames("image", "choice", "picture"))
    tasks = json.loads((tmp_path / "s.json").read_text())
    assert [task["data"]["image"] for task in tasks] == labels.ids.tolist()
    prediction = tasks[0]["predictions"][0]
    assert prediction["score"] == 0.75
    assert prediction["model_version"] == "softspread 0.1.0"
    result = prediction["result"][0]
    assert (result["from_name"], result["to_name"], result["type"]) == ("choice", "picture", "choices")
    assert result["value"] == {"choices": ["dog"]}
    assert tasks[0]["meta"]["p"] == {"cat": 0.25, "dog": 0.75}
    assert [task["meta"]["verdict"] for task in tasks] == labels.verdict.tolist()
