"""Exports of Prodigy, in the form that its documentation describes."""

import json

import pytest

from softspread import read_votes
from softspread.errors import InputError
from softspread.io.vote_file import VoteReading
from softspread.io.votes import read_vote_files

HASHES = {"_input_hash": -1, "_task_hash": 2}


def written(path, *tasks, **more):
    lines = (json.dumps({**HASHES, "answer": "accept", **task, **more}) + "\n" for task in tasks)
    path.write_text("".join(lines))
    return path


def choice(item, *labels, **more):
    options = [{"id": name, "text": name.title()} for name in ("cat", "dog")]
    return {"id": item, "options": options, "accept": list(labels), "_view_id": "choice", **more}


def test_choices_are_votes(tmp_path):
    """With names and times of people; ignored and rejected tasks are left out and counted."""
    path = written(
        tmp_path / "p.jsonl",
        choice("007", "cat", _annotator_id="animals-ann", _session_id="animals-ann", _timestamp=1707211049),
        choice("007", "dog", answer="ignore"),
        choice("b", "dog", answer="reject"),
        choice("b", "dog", _session_id="animals-bob", _timestamp=1707211050),
        choice("c"),
    )
    found = read_vote_files(path)
    assert list(zip(found.items, found.labels, found.annotators, strict=True)) == [
        ("007", "cat", "animals-ann"),
        ("b", "dog", "animals-bob"),
    ]
    assert found.created_at.tolist() == ["2024-02-06T09:17:29+00:00", "2024-02-06T09:17:30+00:00"]
    assert found.notes == {"ignored tasks": 1, "rejected choices": 1, "annotations without a choice": 1}
    assert found.votes_format == "prodigy"


def test_sessions_without_a_name_name_nobody(tmp_path):
    """Their name is the time at which they began."""
    path = written(tmp_path / "p.jsonl", choice("a", "cat"), _annotator_id="2024-02-06_10-17-19")
    assert read_vote_files(path).annotators is None


def test_accept_and_reject_are_yes_and_no(tmp_path):
    """For one class each; where an item has exactly one class, a rejected one says too little."""
    tasks = [{"id": "a", "label": "CAT"}, {"id": "b", "label": "CAT", "answer": "reject"}]
    path = written(tmp_path / "p.jsonl", *tasks)
    several = read_votes(path, kind="multilabel")
    assert several.answers.tolist() == [True, False]
    with pytest.raises(InputError, match=r"line 2: 'CAT' is rejected, .*--kind multilabel takes accept"):
        read_vote_files(path)
    skipped = read_vote_files(path, how=VoteReading(multi_choice="skip"))
    assert skipped.items.tolist() == ["a"]
    assert skipped.notes == {"rejected labels": 1}


def test_a_rating_is_a_choice_of_a_number(tmp_path):
    """As any number that options are called by."""
    path = written(tmp_path / "p.jsonl", choice("a", "4"))
    assert read_vote_files(path, how=VoteReading(kind="rating")).labels.tolist() == ["4"]


def test_tasks_name_their_item(tmp_path):
    """By an id, in ``meta`` as well, else a path, never by a picture in its place."""
    label = {"label": "CAT"}
    assert read_vote_files(written(tmp_path / "a.jsonl", {"meta": {"id": 7}, **label})).items.tolist() == [
        "7"
    ]
    paths = {"image": "data:image/png;base64,xx", "path": "a.png"}
    assert read_vote_files(written(tmp_path / "b.jsonl", {**paths, **label})).items.tolist() == ["a.png"]
    path = written(tmp_path / "c.jsonl", {"text": "hello", **label})
    with pytest.raises(InputError, match="line 1: nothing names the item; choose a field of its data"):
        read_vote_files(path)
    assert read_vote_files(path, how=VoteReading(item_column="_input_hash")).items.tolist() == ["-1"]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"id": "a", "spans": []}, "line 1 has neither chosen options .* nor a 'label'"),
        ({"id": "a", "label": "x", "answer": "maybe"}, "answer is 'maybe'; Prodigy writes accept, reject"),
    ],
)
def test_other_tasks_are_refused(tmp_path, task, message):
    """Spans hold no classes of items."""
    with pytest.raises(InputError, match=message):
        read_vote_files(written(tmp_path / "p.jsonl", task))
