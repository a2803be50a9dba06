"""What the votes taught a blend, as bars."""

import re

import pandas as pd

from markup import NASTY
from softspread.report.learned import SHOWN_EXPERTS, Learned, learned_section

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
