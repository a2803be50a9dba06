"""``softspread explain``: what one soft label is made of."""

import json

import numpy as np
import pytest

from command_line import FILES, fitted, refused, run
from softspread.cli.commands.explain import IN_WORDS


@pytest.mark.parametrize("method", ["blend", "pls"])
def test_explain_agrees_with_the_library(folder, method):
    """The heaviest shares, their weights, and the soft label."""
    options = ("img_004", *FILES, "--alpha", 0.8, "--method", method)
    document = json.loads(run("explain", *options, "--top", 4, "--json").stdout)
    est = fitted(folder, method, alpha=0.8)
    expected = est.explain("img_004", 4)
    items = [None if item != item else item for item in expected["item"]]  # NaN is not itself
    assert [row["item"] for row in document["votes"]] == items
    np.testing.assert_allclose([row["weight"] for row in document["votes"]], expected["weight"], rtol=1e-6)
    assert document["soft_label"]["cat"] == pytest.approx(est.predict_proba()[4, 0])
    assert document["method"] == method
    assert "The heaviest" in run("explain", *options).stdout


def test_shares_of_a_blend_sum_to_the_whole_soft_label(folder):
    """By source in the document, and in one line on the screen."""
    document = json.loads(run("explain", "img_004", *FILES, "--json").stdout)
    assert sum(document["shares"].values()) == pytest.approx(1)
    shown = run("explain", "img_004", *FILES).stdout
    largest = max(document["shares"], key=document["shares"].get)
    assert f"Made of {IN_WORDS.get(largest, largest)} {document['shares'][largest]:.0%}" in shown
    assert "of the soft label." in shown


def test_an_unknown_item_is_refused(folder):
    """With ids that there are."""
    refused(run("explain", "img_999", *FILES), "'img_999' are not among the 150 item ids")
