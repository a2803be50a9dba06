"""What a run says about itself, in figures and in words."""

import numpy as np

from softspread.cli.summary import evidence_facts, weights_in_words


def test_the_largest_experts_are_named_and_the_rest_is_counted():
    """Shares in percent, whatever the order given."""
    weights = {"shares": 0.1, "alpha 0.9": 0.6, "features C 1": 0.2, "kernel 1": 0.1}
    assert weights_in_words(weights, 2) == "alpha 0.9 60 %, features C 1 20 %; 2 others 20 %"
    assert weights_in_words({"alpha 0.9": 1.0}) == "alpha 0.9 100 %"


def test_evidence_is_summed_up_by_quartiles_and_ends():
    """With the number of items that have next to nothing."""
    found = evidence_facts(np.array([0.001, 1.0, 2.0, 3.0, 4.0]))
    assert found == {
        "quartiles": [1.0, 2.0, 3.0], "least": 0.001, "most": 4.0, "items_with_little": 1
    }  # fmt: skip
