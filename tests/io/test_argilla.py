"""Exports of Argilla, written by the tool itself where it is installed."""

import json
import uuid

import pandas as pd
import pytest

from softspread import read_votes
from softspread.errors import InputError, SoftspreadWarning
from softspread.io.argilla import is_export
from softspread.io.vote_file import VoteReading
from softspread.io.votes import read_vote_files
from vote_files import text

ANN, BOB = (str(uuid.UUID(int=number)) for number in (1, 2))
LABEL = VoteReading(label_column="label")
NOT_SAID = "does not say which responses are drafts or discarded"


def records():
    """Two answered records and one without responses; a draft and a discarded response among them."""
    rg = pytest.importorskip("argilla")
    ann, bob = (uuid.UUID(name) for name in (ANN, BOB))

    def response(question, value, user, status="submitted"):
        return rg.Response(question, value, user_id=user, status=status)

    return [
        rg.Record(
            id="007",
            fields={"text": "hello"},
            metadata={"source": "mail"},
            suggestions=[rg.Suggestion("label", "spam", agent="model", score=0.5)],
            responses=[
                response("label", "spam", ann),
                response("label", "ham", bob, "draft"),
                response("topics", ["x", "y"], ann),
                response("stars", 4, ann),
            ],
        ),
        rg.Record(
            id="b",
            fields={"text": "bye"},
            responses=[response("label", "ham", ann), response("label", "spam", bob, "discarded")],
        ),
        rg.Record(id="c", fields={"text": "nobody"}),
    ]


def flat(folder, ending=".parquet"):
    from argilla.records._io import GenericIO

    frame = pd.DataFrame(GenericIO.to_list(records(), flatten=True))
    if ending == ".parquet":
        frame.to_parquet(folder / "a.parquet")
    else:
        frame.to_json(folder / "a.jsonl", orient="records", lines=True)
    return folder / f"a{ending}"


def nested(folder):
    from argilla.records._io import JsonIO

    return JsonIO.to_json(records(), folder / "a.json")


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_submitted_responses_are_votes(tmp_path, ending):
    """Drafts and discarded ones are left out and counted; suggestions of models are not votes."""
    pytest.importorskip("argilla")
    found = read_vote_files(flat(tmp_path, ending), how=LABEL)
    assert list(zip(found.items, found.labels, found.annotators, strict=True)) == [
        ("007", "spam", ANN),
        ("b", "ham", ANN),
    ]
    assert found.notes == {"draft responses": 1, "discarded responses": 1}
    assert found.votes_format == "argilla"


def test_the_json_export_counts_drafts_and_says_so(tmp_path):
    """It does not hold the status of a response."""
    pytest.importorskip("argilla")
    with pytest.warns(SoftspreadWarning, match=NOT_SAID):
        found = read_vote_files(nested(tmp_path), how=LABEL)
    assert list(zip(found.items, found.labels, found.annotators, strict=True)) == [
        ("007", "spam", ANN),
        ("007", "ham", BOB),
        ("b", "ham", ANN),
        ("b", "spam", BOB),
    ]


@pytest.mark.filterwarnings(f"ignore:.*{NOT_SAID}")
def test_both_exports_hold_ratings_and_several_labels(tmp_path):
    """A rating is a number, a list of labels is yes and no."""
    pytest.importorskip("argilla")
    for path in (flat(tmp_path), nested(tmp_path)):
        stars = read_vote_files(path, how=VoteReading(label_column="stars", kind="rating"))
        assert (stars.items.tolist(), stars.labels.tolist()) == (["007"], ["4"])
        topics = read_votes(path, label_column="topics", kind="multilabel", classes=["x", "y", "z"])
        assert topics.answers.tolist() == [True, True, False]


@pytest.mark.filterwarnings(f"ignore:.*{NOT_SAID}")
def test_items_and_questions_are_named(tmp_path):
    """A field or metadata may name the item; several questions need a choice."""
    pytest.importorskip("argilla")
    for path in (flat(tmp_path), nested(tmp_path)):
        how = VoteReading(label_column="label", item_column="text")
        assert read_vote_files(path, how=how).items[0] == "hello"
        with pytest.raises(InputError, match=r"responses to 3 questions \('label', 'topics', 'stars'\)"):
            read_vote_files(path)
        with pytest.raises(InputError, match="no responses to a question 'q'; it has 'label'"):
            read_vote_files(path, how=VoteReading(label_column="q"))
        with pytest.raises(InputError, match=r"has no (field|column) 'q'"):
            read_vote_files(path, how=VoteReading(label_column="label", item_column="q"))


def test_other_questions_are_refused(tmp_path):
    """Spans and rankings hold no votes; a table without responses is no export."""
    spans = [{"id": 1, "span.responses": [[{"start": 0, "label": "x"}]], "span.responses.users": ["u"]}]
    with pytest.raises(InputError, match=r"row 0 .*: the responses to 'span' are .*rating questions hold"):
        read_vote_files(text(tmp_path / "s.json", json.dumps(spans)))
    with pytest.raises(InputError, match=r"responses to 0 questions \(none\)"):
        read_vote_files(text(tmp_path / "v.csv", "item,label\na,b\n"), how=VoteReading("argilla"))
    with pytest.raises(InputError, match="has no column 'id'; name the items by --item-column"):
        read_vote_files(text(tmp_path / "n.json", json.dumps([{"q.responses": ["x"]}])))
    assert not is_export({"item": [], "label": []})
