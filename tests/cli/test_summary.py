"""What a run says about itself, in figures and in words."""

import numpy as np
import pandas as pd
import pytest

from softspread.cli.summary import (
    count_verdicts,
    evidence_facts,
    trust_in_words,
    trust_quantiles,
    weights_in_words,
)
from softspread.spreading.evidence import SoftLabels


@pytest.mark.parametrize("n", [1, 2, 7])
def test_quantiles_of_trust_hold_at_least_their_share_of_probability(n):
    """The smallest number of votes at or below which that much lies."""
    rng = np.random.default_rng(n)
    trust = pd.DataFrame({"votes": np.sort(rng.exponential(size=n)), "probability": rng.dirichlet([1] * n)})
    for level, votes in trust_quantiles(trust).items():
        at_most = trust.loc[trust["votes"] <= votes, "probability"].sum()
        below = trust.loc[trust["votes"] < votes, "probability"].sum()
        assert below < level <= at_most + 1e-12


def test_trust_is_one_sentence():
    """The middle, and where it lies with a probability of 0.8."""
    text = trust_in_words({"0.1": 0.5, "0.5": 2.414, "0.9": 22.6})
    assert text == "the experts' word on an item is worth 2.4 of its own votes (0.5 to 23 with 80 %)"


def test_the_largest_experts_are_named_and_the_rest_is_counted():
    """Shares in percent, whatever the order given."""
    weights = {"shares": 0.1, "alpha 0.9": 0.6, "features C 1": 0.2, "kernel 1": 0.1}
    assert weights_in_words(weights, 2) == "alpha 0.9 60 %, features C 1 20 %; 2 others 20 %"
    assert weights_in_words({"alpha 0.9": 1.0}) == "alpha 0.9 100 %"


def test_every_verdict_is_counted_also_where_nobody_has_it():
    """All three words in their order."""
    p = np.full((3, 2), 0.5)
    verdict = np.array(["clear", "clear", "ambiguous"], dtype=object)
    labels = SoftLabels(np.arange(3), np.arange(2), p, np.ones(3), p, p, verdict=verdict)
    assert count_verdicts(labels) == {"clear": 2, "ambiguous": 1, "not enough votes": 0}


def test_evidence_is_summed_up_by_quartiles_and_ends():
    """With the number of items that have next to nothing."""
    found = evidence_facts(np.array([0.001, 1.0, 2.0, 3.0, 4.0]))
    assert found == {
        "quartiles": [1.0, 2.0, 3.0], "least": 0.001, "most": 4.0, "items_with_little": 1
    }  # fmt: skip
