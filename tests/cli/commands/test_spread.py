"""``softspread spread``: files in, soft labels out; bad input costs a line and exit code 2."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from command_line import FILES, N, fitted, refused, run
from softspread.estimators.methods import METHODS
from softspread.io.soft_labels import read_soft_labels


@pytest.mark.parametrize("method", METHODS)
def test_spread_agrees_with_the_library(folder, method):
    """Soft labels, evidence, intervals and verdicts are those of the estimator, item by item."""
    result = run("spread", *FILES, "-o", "s.parquet", "--method", method)
    assert result.exit_code == 0, result.output
    est = fitted(folder, method)
    found, expected = read_soft_labels("s.parquet"), est.soft_labels()
    assert found.ids.tolist() == [f"img_{row:03d}" for row in range(N)]
    np.testing.assert_allclose(found.p, est.predict_proba(), atol=1e-6)
    np.testing.assert_allclose(found.evidence, est.evidence_, rtol=1e-6)
    np.testing.assert_allclose(found.lower, expected.lower, atol=1e-6)
    assert found.verdict.tolist() == expected.verdict.tolist()
    assert "300 votes" in result.stdout
    assert sorted(os.listdir()) == ["X.npy", "X.npz", "s.parquet", "votes.csv"]


def test_the_summary_of_spreading_names_the_choice_of_alpha(folder):
    """The value, how it was chosen, and the step that chose it."""
    result = run("spread", *FILES, "-o", "s.parquet", "--method", "pls")
    alpha = fitted(folder, "pls").alpha_
    assert f"alpha     {alpha:g}, chosen: " in result.stdout
    assert f"fit: alpha {alpha:g} (chosen)" in result.stderr


def test_the_summary_of_a_blend_names_experts_and_trust(folder):
    """The largest experts with their shares, what their word is worth, and the verdicts."""
    result = run("spread", *FILES, "-o", "s.parquet")
    weights = fitted(folder).weights_
    shown = " ".join(result.stdout.split())
    assert f"experts {weights.index[0]} {weights.iloc[0]:.0%}".replace("%", " %") in shown
    assert "the experts' word on an item is worth" in shown
    assert "not enough votes (at 90 % confidence)" in shown
    assert "advice" not in shown


def test_too_few_second_votes_bring_the_advice_to_collect_some(folder):
    """The one sentence of the library, on the screen, in the JSON document and in the file."""
    frame = pd.read_csv("votes.csv").drop_duplicates("item").head(60)
    frame.to_csv("votes.csv", index=False)
    advice = fitted(folder).advice_
    assert "No item has a second vote" in advice
    assert json.loads(run("spread", *FILES, "-o", "s.parquet", "--json", "-q").stdout)["advice"] == advice
    assert read_soft_labels("s.parquet").metadata["advice"] == advice
    assert advice[:40] in run("spread", *FILES, "-o", "s.parquet").stdout


def test_the_file_carries_parameters_versions_counts_and_graph_facts(folder):
    """Whoever has the file knows how it was made."""
    assert run("spread", *FILES, "-o", "s.parquet", "--alpha", 0.5, "--seed", 3, "-q").output == ""
    facts = read_soft_labels("s.parquet").metadata
    assert facts["parameters"]["alpha"] == 0.5
    assert facts["parameters"]["random_state"] == 3
    assert facts["votes"]["used"] == 300
    assert facts["votes"]["annotators"] == 2
    assert facts["graph"]["components"] == fitted(folder).graph_.n_components
    assert {"softspread", "numpy", "scipy"} <= set(facts["versions"])
    assert facts["classes"] == ["cat", "dog"]


def test_same_inputs_same_bytes(folder):
    """Nothing in the output depends on the clock."""
    contents = []
    for _ in range(2):
        assert run("spread", *FILES, "-o", "s.parquet", "-q").exit_code == 0
        contents.append((folder / "s.parquet").read_bytes())
    assert contents[0] == contents[1]


def test_json_is_one_document(folder):
    """Standard output is JSON alone, with the choice and its reason."""
    result = run("spread", *FILES, "-o", "s.csv", "--json", "-q")
    document = json.loads(result.stdout)
    assert result.stderr == ""
    assert document["out"] == ["s.csv", "s.csv.meta.json"]
    assert document["method"] == "blend"
    assert sum(document["weights"].values()) == pytest.approx(1)
    assert document["trust"]["0.1"] <= document["trust"]["0.5"] <= document["trust"]["0.9"]
    assert document["advice"] is None
    assert sum(document["verdicts"].values()) == N
    document = json.loads(run("spread", *FILES, "-o", "s.csv", "--json", "-q", "--method", "pls").stdout)
    assert (document["method"], document["alpha"]) == ("pls", document["parameters"]["alpha"])
    assert "held-out votes" in document["chosen_by"]


def test_dry_run_reads_little_and_writes_nothing(folder):
    """Shape, time and memory are told."""
    document = json.loads(run("spread", *FILES, "--dry-run", "--json").stdout)
    assert (document["n_items"], document["n_dimensions"], document["n_votes"]) == (N, 3, 300)
    assert document["expected_seconds"] > 0
    assert document["expected_memory_bytes"] > 0
    assert "factor of two" in run("spread", *FILES, "--dry-run").stdout
    assert sorted(os.listdir()) == ["X.npy", "X.npz", "votes.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-v", "votes.csv", "-o", "s.csv"), "--embeddings is missing"),
        (("-e", "X.npz", "-o", "s.csv"), "--votes is missing"),
        (FILES, "--out is missing"),
        (("-e", "none.npy", "-v", "votes.csv", "-o", "s.csv"), "no file at none.npy"),
        (("-e", "X.npz", "-v", "none.csv", "-o", "s.csv"), "no file at none.csv"),
        (("-e", "votes.csv", "-v", "votes.csv", "-o", "s.csv"), "embeddings may be .npy, .npz, .parquet"),
        (("-e", "X.npy", "-v", "votes.csv", "-o", "s.csv"), "the embeddings have no ids"),
        ((*FILES, "-o", "no/s.csv"), "there is no folder no"),
        ((*FILES, "-o", "s.doc"), "ends in '.doc'"),
        ((*FILES, "-o", "s.csv", "--report", "no/r.html"), "there is no folder no"),
        ((*FILES, "-o", "s.csv", "--alpha", "far"), "--alpha must be 'auto' or a number, got 'far'"),
        ((*FILES, "-o", "s.csv", "--alpha", "1.5"), "alpha must be at least 0 and below 1"),
        ((*FILES, "-o", "s.csv", "--n-neighbors", "2.5"), "--n-neighbors must be 'auto' or a whole number"),
        ((*FILES, "-o", "s.csv", "--bandwidth", "wide"), "--bandwidth must be a number, got 'wide'"),
        (
            (*FILES, "-o", "s.csv", "--classes", "cat"),
            "of 300 votes name classes that are not in the list: 'dog'",
        ),
        ((*FILES, "-o", "s.csv", "--interval", "wide"), "method must be one of"),
        ((*FILES, "-o", "s.csv", "--prior", "votes.csv"), "holds no soft labels"),
        ((*FILES, "-o", "s.csv", "--prior", "none.npy"), "no file at none.npy"),
        ((*FILES, "-o", "s.csv", "--prior", "X.npy"), "a prior needs items by classes, (150, 2)"),
        ((*FILES, "-o", "s.csv", "--n-neighbors", "0"), "--n-neighbors must be at least 1, got 0"),
        ((*FILES, "-o", "s.csv", "--confidence", "90"), "between 0 and 1, got 90; did you mean 0.9?"),
        ((*FILES, "-o", "s.csv", "--images", "."), "--images are pictures for the report; add --report"),
        (
            (*FILES, "-o", "s.csv", "--annotator-model", "dawid"),
            "--annotator-model must be one of auto, none",
        ),
        ((*FILES, "-o", "s.csv", "-w", "X.npy"), "is a file; name a folder"),
    ],
)
def test_bad_input_costs_one_line_and_exit_code_2(folder, options, message):
    """Nothing is written, and the message says what to do."""
    result = run("spread", *options)
    refused(result, message)
    assert sorted(os.listdir()) == ["X.npy", "X.npz", "votes.csv"]


def test_a_full_disk_is_told(folder, monkeypatch):
    """No half-written file, exit code 2."""
    import softspread._common.atomic as atomic

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    result = run("spread", *FILES, "-o", "s.parquet", "-q")
    refused(result, "cannot write s.parquet: No space left on device")
    assert sorted(os.listdir()) == ["X.npy", "X.npz", "votes.csv"]
