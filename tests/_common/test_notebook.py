"""Results in notebooks and in the shell."""

import numpy as np
import pandas as pd
import pytest

from softspread import (
    AnnotatorReport,
    Estimate,
    Evidence,
    GainForecast,
    Quality,
    Tuning,
    TuningPoint,
    UncertaintySplit,
)
from softspread._common.notebook import as_html

N = 3000
ONES = np.ones(N)
NUMBER = Estimate(0.1, 0.05, 0.2)
POINT = TuningPoint(0.9, 20, None, None, 0.2, 0.1)
NAMES = np.array([f"<b>{k}" for k in range(N)], dtype=object)
LONG = [
    Quality(*[NUMBER] * 6, "held out", 10, 20, 5, 0.9, ("a note",)),
    GainForecast(500, 100, NUMBER, NUMBER, NUMBER, pd.DataFrame({"votes": ONES}), 0.5),
    Tuning(POINT, (POINT,) * N, "brier", "tried.", used_truth=False),
    AnnotatorReport(NAMES, *[ONES] * 6, np.full(N, "ok", dtype=object)),
    UncertaintySplit(ONES, ONES, ONES, np.full(N, "clear", dtype=object)),
]


@pytest.mark.parametrize("result", LONG, ids=lambda result: type(result).__name__)
def test_results_are_one_line_and_a_short_table(result):
    """However many items, settings or annotators they hold; nothing of it is read as HTML."""
    assert len(repr(result)) < 200
    assert repr(result).startswith(type(result).__name__ + "(")
    page = result._repr_html_()
    assert page.count("<tr>") + page.count("<tr ") <= 11
    assert "<b>" not in page
    assert ("more row" in page) == (len(result.to_frame()) > 10)


def test_evidence_prints_its_size():
    """Not its arrays."""
    assert repr(Evidence(np.ones((N, 2)), ONES)) == "Evidence(3,000 items, 2 classes; 6000 votes' worth)"


def test_a_table_says_how_many_rows_are_left_out():
    """Counted from all rows, also where only the first are given."""
    table = pd.DataFrame({"x": range(12)})
    assert as_html("a", table, what="vote").endswith("<p>and 2 more votes</p>")
    assert as_html("a", table.head(), 6).endswith("<p>and 1 more row</p>")
    assert "more" not in as_html("a", table.head())
