"""``softspread quality``: estimates of the library, from held-out votes or votes set apart."""

import json

import pytest

from command_line import FILES, fitted, run


def test_quality_agrees_with_the_library(folder):
    """Estimates with intervals."""
    document = json.loads(run("quality", *FILES, "--alpha", 0.5, "--json").stdout)
    found = fitted(folder, "pls", alpha=0.5).quality(random_state=0)
    assert document["measures"]["agreement"]["value"] == pytest.approx(found.agreement.value)
    assert document["source"] == "held out"
    assert "further vote" in run("quality", *FILES, "--alpha", 0.5).stdout


def test_quality_by_votes_set_apart(folder):
    """Votes that were not used judge the labels."""
    (folder / "test.csv").write_text(
        "item,label\n" + "".join(f"img_{row:03d},cat\n" * 3 for row in range(0, 60, 2))
    )
    document = json.loads(run("quality", *FILES, "--alpha", 0.5, "--test-votes", "test.csv", "--json").stdout)
    assert document["source"] == "set apart"
    assert document["n_votes"] == 90
