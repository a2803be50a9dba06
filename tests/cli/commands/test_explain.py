"""``softspread explain``: the votes behind one soft label."""

import json

import numpy as np
import pytest

from command_line import FILES, fitted, refused, run


def test_explain_agrees_with_the_library(folder):
    """The heaviest votes, their weights, and the soft label."""
    result = run("explain", "img_004", *FILES, "--alpha", 0.8, "--top", 4, "--json")
    document = json.loads(result.stdout)
    est = fitted(folder, "pls", alpha=0.8)
    expected = est.explain("img_004", 4)
    assert [row["item"] for row in document["votes"]] == expected["item"].tolist()
    np.testing.assert_allclose([row["weight"] for row in document["votes"]], expected["weight"])
    assert document["soft_label"]["cat"] == pytest.approx(est.predict_proba()[4, 0])
    assert "heaviest votes" in run("explain", "img_004", *FILES, "--alpha", 0.8).stdout
    refused(run("explain", "img_999", *FILES, "--alpha", 0.8), "'img_999' are not among the 150 item ids")
