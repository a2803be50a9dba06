"""What several questions say together."""

import numpy as np
import pytest

from softspread.intervals.uncertainty import AMBIGUOUS, CLEAR, TOO_FEW
from softspread.quality.result import Estimate
from softspread.web.project.readings import Reading, gain_together, plain, quality_together, read_together


def numbers(value):
    return {"value": value, "lower": value / 2, "upper": 2 * value}


def quality_of(rmse, notes=(), votes=10, repeated=3):
    known = None if rmse is None else numbers(rmse)
    return {"rmse": known, "accuracy": known, "agreement": known, "votes": votes} | {
        "repeated": repeated,
        "notes": [*notes],
    }


def test_several_questions_are_read_as_the_estimator_does():
    """P(yes) of each, the mean evidence, the mean width, clear only where all are clear."""
    first = Reading(
        np.array([[0.1, 0.9], [0.5, 0.5], [0.2, 0.8]]),
        np.array([1.0, 2.0, 3.0]),
        np.array([0.1, 0.2, 0.3]),
        np.array([CLEAR, AMBIGUOUS, CLEAR]),
        np.array([0.0, 0.9, 0.1]),
    )
    second = Reading(
        np.array([[0.7, 0.3], [0.6, 0.4], [1.0, 0.0]]),
        np.array([3.0, 2.0, 1.0]),
        np.array([0.4, 0.1, 0.1]),
        np.array([CLEAR, CLEAR, TOO_FEW]),
        np.array([0.2, 0.1, 0.3]),
    )
    found = read_together([first, second])
    assert found.p.tolist() == [[0.9, 0.3], [0.5, 0.4], [0.8, 0.0]]
    assert found.evidence.tolist() == [2, 2, 2]
    assert found.width == pytest.approx([0.25, 0.15, 0.2])
    assert found.verdict.tolist() == [CLEAR, AMBIGUOUS, TOO_FEW]
    assert found.ambiguous.tolist() == [0.2, 0.9, 0.3]


def test_quality_is_the_root_of_the_mean_squared_rmse_and_the_mean_of_the_rest():
    """A note that all share is said once; a class without an estimate is left out and named."""
    each = [quality_of(0.3, ["all", "one"]), quality_of(0.4, ["all"], 12, 2), quality_of(None, ["all"])]
    found = quality_together(each, ["ant", "bee", "cat"])
    assert found["rmse"]["value"] == pytest.approx(np.sqrt((0.09 + 0.16) / 2))
    assert found["accuracy"] == pytest.approx(numbers(0.35))
    assert (found["votes"], found["repeated"]) == (12, 2)
    assert found["notes"][0] == "all"
    assert "left out of the numbers above: cat" in found["notes"][1]
    assert [one["name"] for one in found["classes"]] == ["ant", "bee", "cat"]
    assert [one["notes"] for one in found["classes"]] == [["one"], [], []]


def test_further_votes_are_worthwhile_if_they_are_for_one_class():
    """Classes without a forecast do not count; without any there is none."""
    one = {"more": 5, "now": numbers(0.4), "then": numbers(0.3), "gain": numbers(0.1), "worthwhile": False}
    found = gain_together([one, None, one | {"worthwhile": True}])
    assert found["worthwhile"]
    assert (found["more"], found["then"]) == (5, pytest.approx(numbers(0.3)))
    assert gain_together([None]) is None


def test_an_unknown_estimate_is_none():
    """JSON has no nan."""
    assert plain(Estimate(float("nan"), 0.0, 1.0)) is None
    assert plain(Estimate(0.5, 0.25, 1.0)) == numbers(0.5)
