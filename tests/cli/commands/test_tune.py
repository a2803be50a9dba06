"""``softspread tune``: the curve of held-out scores."""

import json

import pytest

from command_line import FILES, run
from softspread import read_embeddings, read_votes, tune


def test_tune_agrees_with_the_library(folder):
    """The curve with its best point."""
    tuned = json.loads(run("tune", *FILES, "--json").stdout)
    items = read_embeddings("X.npz")
    found = tune(items.X, read_votes("votes.csv"), item_ids=items.item_ids, random_state=0)
    assert tuned["best"]["score"] == pytest.approx(found.best.score)
    assert [point["score"] for point in tuned["points"]] == pytest.approx([p.score for p in found.points])
    assert "Brier" in (shown := run("tune", *FILES).stdout) or "brier" in shown
