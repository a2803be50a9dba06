"""Charts count every value and stay inside their drawing."""

import re

import numpy as np
import pytest

from softspread import report
from softspread.errors import InputError


def test_histogram_bars_count_every_item():
    """The numbers in the bars' titles add up, also for values of 0 and for one value only."""
    text = report.histograms({"a": np.array([0.0, 1e-9, 0.5, 3.0, 1000.0]), "b": np.ones(7)}, "votes")
    charts = text.split("<svg")[1:]
    assert [sum(map(int, re.findall(r": (\d+) items<", chart))) for chart in charts] == [5, 7]
    assert "nan" not in text


def test_share_histograms_count_every_item():
    """Values at both ends and outside are counted too."""
    text = report.share_histograms({"a": np.array([-0.1, 0.0, 0.5, 1.0, 1.2])}, "x")
    assert sum(map(int, re.findall(r": (\d+) items<", text))) == 5


def test_a_curve_has_a_dot_for_each_point_and_marks_the_best():
    """Higher scores stand higher; a missing error is no whisker."""
    points = [report.CurvePoint(0.1, 2.0, np.nan), report.CurvePoint(0.9, 1.0, 0.1, best=True)]
    text = report.curve({"": points}, "alpha", "score")
    heights = [float(y) for y in re.findall(r"<circle[^>]*cy='([\d.]+)'", text)]
    assert heights[0] < heights[1]
    assert text.count("dot best") == 1
    assert "nan" not in text
    with pytest.raises(InputError, match="at least one point"):
        report.curve({}, "alpha", "score")


def test_histograms_need_values():
    """Nothing to show is an error, not an empty picture."""
    with pytest.raises(InputError, match="at least one"):
        report.share_histograms({}, "x")
    with pytest.raises(InputError, match="at least one"):
        report.histograms({}, "votes")
    with pytest.raises(InputError, match="at least one"):
        report.histograms({"a": np.array([])}, "votes")
