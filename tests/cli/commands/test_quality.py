"""``softspread quality``: estimates of the library, from held-out votes or votes set apart."""

import json

import pytest

from command_line import FILES, fitted, run


@pytest.mark.parametrize("method", ["blend", "pls"])
def test_quality_agrees_with_the_library(folder, method):
    """Estimates with intervals."""
    options = (*FILES, "--alpha", 0.5, "--method", method)
    document = json.loads(run("quality", *options, "--json").stdout)
    found = fitted(folder, method, alpha=0.5).quality(random_state=0)
    for name in ("rmse", "accuracy", "agreement"):
        expected = getattr(found, name)
        assert document["measures"][name]["value"] == pytest.approx(expected.value)
        assert document["measures"][name]["lower"] == pytest.approx(expected.lower)
    assert (document["source"], document["method"]) == ("held out", method)
    assert "further vote" in run("quality", *options).stdout


def test_quality_by_votes_set_apart(folder):
    """Votes that were not used judge the labels."""
    (folder / "test.csv").write_text(
        "item,label\n" + "".join(f"img_{row:03d},cat\n" * 3 for row in range(0, 60, 2))
    )
    document = json.loads(run("quality", *FILES, "--alpha", 0.5, "--test-votes", "test.csv", "--json").stdout)
    assert document["source"] == "set apart"
    assert document["n_votes"] == 90


@pytest.mark.parametrize("method", ["blend", "pls"])
def test_what_further_votes_would_bring_is_that_of_the_library(folder, method):
    """Only when asked for; in the document, and in one sentence."""
    options = (*FILES, "--alpha", 0.5, "--method", method)
    document = json.loads(run("quality", *options, "--more", 300, "--json").stdout)
    expected = fitted(folder, method, alpha=0.5).forecast(300, random_state=0)
    found = document["forecast"]
    assert found["rmse_then"]["value"] == pytest.approx(expected.rmse_then.value)
    assert (found["more"], found["worthwhile"]) == (300, expected.worthwhile())
    assert json.loads(run("quality", *options, "--json").stdout)["forecast"] is None
    assert "300 further votes on random items" in run("quality", *options, "--more", 300).stdout
