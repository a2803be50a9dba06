"""Models that vote beside people, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import FILES, N, refused, run
from softspread import SoftLabeler, Votes

BOTH = ("-e", "X.npz", "-v", "votes.csv", "-v", "models.csv", "--model-annotators", "gpt, claude")


@pytest.fixture
def models(folder):
    """Two models with a vote on every item, in a file of their own."""
    ids = np.load(folder / "X.npz")["ids"]
    rng = np.random.default_rng(0)
    votes = pd.read_csv(folder / "votes.csv").groupby("item")["label"].first()
    said = [votes.get(item, "cat") if rng.random() < 0.8 else "dog" for item in np.tile(ids, 2)]
    who = np.repeat(["gpt", "claude"], N)
    pd.DataFrame({"item": np.tile(ids, 2), "label": said, "annotator": who}).to_csv(
        folder / "models.csv", index=False
    )
    return folder


def test_spread_gives_what_the_library_gives(models):
    """The same soft labels, the judges in the document, a line on the screen and a section of the report."""
    answer = run("spread", *BOTH, "--out", "out.csv", "--report", "page.html", "--json")
    assert answer.exit_code == 0, answer.output
    document = json.loads(answer.stdout)
    frames = [pd.read_csv(models / name) for name in ("votes.csv", "models.csv")]
    whole = pd.concat(frames, ignore_index=True)
    whole["annotator"] = whole["annotator"].astype(object).where(whole["annotator"].notna(), None)
    data = np.load(models / "X.npz")
    lab = SoftLabeler(random_state=0).fit(
        data["embeddings"], Votes.from_frame(whole), item_ids=data["ids"], model_annotators=["gpt", "claude"]
    )
    np.testing.assert_allclose(pd.read_csv(models / "out.csv")["p_cat"], lab.predict_proba()[:, 0], atol=1e-6)
    assert document["models"]["summary"] == lab.judge_report().summary()
    assert [row["annotator"] for row in document["models"]["judges"]] == ["gpt", "claude"]
    assert document["votes"]["used"] == len(lab.votes_)
    assert document["neighbors"]["classes"][-1]["class"] == "overall"
    assert "Models that voted" in (models / "page.html").read_text(encoding="utf-8")
    assert "gpt agrees with" in run("spread", *BOTH, "--out", "out.csv").stdout


def test_explain_names_the_share_of_the_models(models):
    """Beside votes and classifiers; query and quality take models, too."""
    assert "models" in json.loads(run("explain", "img_004", *BOTH, "--json").stdout)["shares"]
    assert run("query", *BOTH, "-n", 2).exit_code == 0
    n_people = len(pd.read_csv(models / "votes.csv"))
    assert json.loads(run("quality", *BOTH, "--json").stdout)["n_votes"] <= n_people


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model-annotators", "gtp"), "by whom there is no vote"),
        (("--model-annotators", "gpt,,claude"), "names like gpt,claude"),
        (("--model-annotators", "gpt", "--method", "pls"), "sources of --method blend"),
        (("--model-annotators", "gpt", "--kind", "rating"), "ratings are people's"),
    ],
)
def test_what_cannot_be_is_refused(models, options, message):
    """Before anything is written."""
    refused(run("spread", "-e", "X.npz", "-v", "models.csv", *options, "--out", "no.csv"), message)
    assert not (models / "no.csv").exists()


def test_without_models_there_is_nothing_about_them(folder):
    """Only the test of the neighbours."""
    document = json.loads(run("spread", *FILES, "--out", "out.csv", "--json").stdout)
    assert document["models"] is None
    assert document["neighbors"]["warning"] is None
