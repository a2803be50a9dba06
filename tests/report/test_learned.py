"""What the votes taught a blend, as bars."""

import re

import numpy as np
import pandas as pd
import pytest

from markup import NASTY
from softspread.report.learned import SHOWN_EXPERTS, Learned, learned_section, trust_in_words, trust_quantiles

TRUST = pd.DataFrame({"votes": [0.5, 4.0, 400.0], "probability": [0.25, 0.75, 0.0]})


def test_bars_are_the_weights_in_order_of_size_and_the_trust_in_order_of_votes():
    """Names and shares stand beside the bars; what has no probability is left out."""
    text = learned_section(Learned({"small": 0.2, "large": 0.8}, TRUST, "worth four votes"))
    found = re.findall(r"<span title='(.*?)'>.*?width:(.*?)%.*?class='number'>(.*?)<", text)
    assert found == [
        ("large", "80.0", "80%"),
        ("small", "20.0", "20%"),
        ("0.5", "25.0", "25%"),
        ("4", "75.0", "75%"),
    ]
    assert "worth four votes" in text


def test_many_experts_are_added_up():
    """The largest by name, the others together; the shares still sum to 1."""
    weights = {f"expert {number}": 0.05 for number in range(20)}
    text = learned_section(Learned(weights, TRUST, ""))
    assert text.count(">expert ") == SHOWN_EXPERTS
    assert ">12 others<" in text
    assert ">60%<" in text


def test_names_stay_text():
    """An expert's name may come from a plug-in one day."""
    assert NASTY not in learned_section(Learned({NASTY: 1.0}, TRUST, NASTY))


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
    text = trust_in_words({0.1: 0.5, 0.5: 2.414, 0.9: 22.6})
    assert text == "the experts' word on an item is worth 2.4 of its own votes (0.5 to 23 with 80 %)"
