"""Answers about several classes in files."""

import json

import pytest

from softspread.errors import InputError
from softspread.io.choices import choices_of
from softspread.io.votes import read_votes


def answers(votes):
    """Item, annotator, class and answer, sorted."""
    who = [None] * len(votes) if votes.annotators is None else votes.annotators.tolist()
    return sorted(zip(votes.items.tolist(), who, votes.labels.tolist(), votes.answers.tolist(), strict=True))


@pytest.fixture
def files(tmp_path):
    """The same answers in five forms."""
    export = [
        {
            "data": {"item": item},
            "annotations": [
                {"completed_by": who, "result": [{"type": "choices", "value": {"choices": chosen}}]}
            ],
        }
        for item, who, chosen in (("a", "ann", ["cat", "dog"]), ("b", "bob", []), ("c", "ann", ["dog"]))
    ]
    texts = {
        "lists.csv": "item,annotator,label\na,ann,cat;dog\nb,bob,\nc,ann,dog\n",
        "json.csv": 'item,annotator,label\na,ann,"[""cat"", ""dog""]"\nb,bob,[]\nc,ann,"[""dog""]"\n',
        "table.csv": "item,annotator,cat,dog\na,ann,1,1\nb,bob,0,0\nc,ann,0,1\n",
        "long.csv": "item,annotator,label,answer\na,ann,cat,1\na,ann,dog,yes\nb,bob,cat,0\nb,bob,dog,no\n"
        "c,ann,cat,no\nc,ann,dog,1\n",
        "studio.json": json.dumps(export),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [tmp_path / name for name in texts]


def test_all_forms_say_the_same(files):
    """Yes to what is chosen, no to the rest."""
    expected = [
        *(("a", "ann", name, True) for name in ("cat", "dog")),
        *(("b", "bob", name, False) for name in ("cat", "dog")),
        ("c", "ann", "cat", False),
        ("c", "ann", "dog", True),
    ]
    for path in files:
        assert answers(read_votes(path, kind="multilabel")) == expected, path.name


def test_the_rest_may_be_nothing_and_classes_may_be_given(files):
    """Then only what is chosen is an answer; a class that nobody chose is a no where it is named."""
    assert [row[3] for row in answers(read_votes(files[0], kind="multilabel", rest="nothing"))] == [True] * 3
    named = read_votes(files[0], kind="multilabel", classes=["cat", "dog", "owl"])
    assert sum(row[2] == "owl" for row in answers(named)) == 3


def test_several_files_share_their_classes(tmp_path):
    """A class of the second file is a no in the first."""
    (tmp_path / "a.csv").write_text("item,label\na,cat\n")
    (tmp_path / "b.csv").write_text("item,label\nb,dog\n")
    found = answers(read_votes(tmp_path / "a.csv", tmp_path / "b.csv", kind="multilabel"))
    assert ("a", None, "dog", False) in found


def test_other_values_are_refused(tmp_path):
    """With the column, or the row."""
    (tmp_path / "a.csv").write_text("item,cat\na,5\n")
    with pytest.raises(InputError, match=r"column 'cat'.*got '5'"):
        read_votes(tmp_path / "a.csv", kind="multilabel")
    with pytest.raises(InputError, match="no JSON list"):
        choices_of("[cat", "row 1")
    with pytest.raises(InputError, match="lists in a list"):
        choices_of('[["cat"]]', "row 1")


def test_answers_may_have_weights(tmp_path):
    """As the voting page exports them, and as `Votes.to_frame` writes them."""
    path = tmp_path / "votes.csv"
    path.write_text("item,label,answer,weight\na,cat,1,0.5\na,dog,0,0.5\nb,cat,1,5\n")
    votes = read_votes(path, kind="multilabel")
    assert votes.weights.tolist() == [0.5, 0.5, 5.0]
    votes.to_frame().to_csv(path, index=False)
    assert read_votes(path, kind="multilabel").weights.tolist() == [0.5, 0.5, 5.0]
