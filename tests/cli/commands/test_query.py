"""``softspread query``: the items to vote on next."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import FILES, N, fitted, refused, run
from softspread.estimators.methods import METHODS


def test_query_names_items_that_exist_and_leaves_out_the_excluded(folder):
    """Ids of the file, each once; the CSV can be handed to annotators."""
    (folder / "done.txt").write_text("".join(f"img_{row:03d}\n" for row in range(N - 5)))
    result = run("query", *FILES, "-n", 5, "--exclude", "done.txt", "--out", "next.csv", "--json")
    picked = [row["item"] for row in json.loads(result.stdout)["items"]]
    assert sorted(picked) == [f"img_{row:03d}" for row in range(N - 5, N)]
    assert pd.read_csv("next.csv")["item"].tolist() == picked
    assert run("query", *FILES, "-n", 2, "-o", "next.json", "-q").exit_code == 0
    assert len(json.loads((folder / "next.json").read_text())) == 2
    assert run("query", *FILES, "-n", 2, "-o", "next.jsonl", "-q").exit_code == 0
    assert len((folder / "next.jsonl").read_text().splitlines()) == 2
    refused(run("query", *FILES, "-o", "next.xlsx"), "items may be .csv")
    for wrong in (("--strategy", "best"), ("--exclude", "nobody.txt")):  # before anything is read or fitted
        result = run("query", *FILES, *wrong)
        refused(result, wrong[1])
        assert "embeddings:" not in result.stderr
    assert "Vote on these next" in run("query", *FILES, "-n", 2).stdout


@pytest.mark.parametrize("method", METHODS)
def test_picks_and_guesses_are_those_of_the_library(folder, method):
    """The same items in the same order, with their most probable class and how probable it is."""
    document = json.loads(run("query", *FILES, "-n", 4, "--method", method, "--json", "-q").stdout)
    est = fitted(folder, method)
    picked = est.query(4, random_state=0)
    assert [row["item"] for row in document["items"]] == picked.tolist()
    p = est.soft_labels_of(picked)
    assert [row["guess"] for row in document["items"]] == est.classes_[p.argmax(axis=1)].tolist()
    np.testing.assert_allclose([row["p"] for row in document["items"]], p.max(axis=1), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_without_votes_the_first_batch_is_named(folder, method):
    """No classes are needed and none are guessed; two groups of items both have some of the first six."""
    result = run("query", "-e", "X.npz", "-n", 6, "--method", method, "--out", "first.csv", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["items"]
    assert {row["guess"] for row in rows} == {None}
    assert {int(row["item"][-3:]) % 2 for row in rows} == {0, 1}
    table = pd.read_csv("first.csv")
    assert table["item"].tolist() == [row["item"] for row in rows]
    assert table["guess"].isna().all()
    shown = run("query", "-e", "X.npz", "-n", 2, "--classes", "cat,dog")
    assert shown.stdout.startswith("Vote on these first:\n  img_")


def test_the_file_has_labels_to_fill_in_and_counts_as_votes_once_they_are(folder):
    """The guess is never taken for a vote: an empty label is not a vote, a filled one is."""
    assert run("query", *FILES, "-n", 3, "-o", "next.csv", "-q").exit_code == 0
    table = pd.read_csv("next.csv", dtype={"label": object})
    assert table.columns.tolist() == ["item", "label", "guess", "p", "evidence"]
    assert table["label"].isna().all()
    assert set(table["guess"]) <= {"cat", "dog"}
    refused(run("spread", "-e", "X.npz", "-v", "next.csv", "-o", "s.csv"), "next.csv")
    table.loc[0, "label"] = "cat"
    table.to_csv("next.csv", index=False)
    result = run("spread", "-e", "X.npz", "-v", "next.csv", "-o", "s.csv", "--classes", "cat,dog", "--json")
    assert json.loads(result.stdout)["votes"]["used"] == 1


@pytest.mark.parametrize("name", ["s.parquet", "s.csv", "s.json", "weighted.csv"])
def test_soft_labels_are_no_votes(folder, name):
    """None of our own outputs is taken for votes."""
    form = ("--format", "weighted") if name.startswith("weighted") else ()
    assert run("spread", *FILES, "-o", name, "-q", *form).exit_code == 0
    result = run("spread", "-e", "X.npz", "-v", name, "-o", "t.parquet")
    refused(result, name)
    assert not (folder / "t.parquet").exists()
