"""Ours beside theirs."""

import json
import math

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from softspread.reproduce.present.beside import (
    Ours,
    draws_of_points,
    pair_text,
    reference_column,
    runs_column,
    summarise,
)


def rows(values, points=None):
    frame = pd.DataFrame({"rmse": values})
    if points is not None:
        frame["dataset_options"] = [json.dumps({"random_state": number}) for number in points]
    return frame


def test_the_spread_is_over_draws_of_points_where_there_are_several():
    """Means of each draw of the points; with one draw of them the votes remain."""
    many = summarise(rows([1.0, 3.0, 5.0, 7.0], points=[0, 0, 1, 1]))
    assert (many.mean, many.n, many.over_points) == (4.0, 2, True)
    assert_allclose(many.spread, 8**0.5)
    one = summarise(rows([1.0, 3.0]))
    assert (one.mean, one.n, one.over_points) == (2.0, 2, False)
    assert math.isnan(summarise(rows([math.nan])).mean)
    assert draws_of_points(rows([1.0], points=[4])).tolist() == [4]


def test_one_more_draw_lies_within_reach():
    """The prediction interval of a normal sample: t(.975, 9) = 2.262, times sqrt(1.1)."""
    ours = Ours(0.0, 1.0, 10, over_points=True)
    assert_allclose(ours.reach, 2.262157 * 1.1**0.5, rtol=1e-6)
    assert ours.agrees_with([2.3, 0.0]) is True
    assert ours.agrees_with([2.4, 100.0]) is False
    assert math.isnan(Ours(0.0, 1.0, 10, over_points=False).reach)


@pytest.mark.parametrize(
    ("theirs", "agrees"), [([0.1, 0.05], True), ([0.1, 0.01], False), ([0.1], None), (None, None)]
)
def test_with_one_dataset_their_deviation_decides(theirs, agrees):
    """Ours lies within one of their standard deviations, where they have one."""
    assert Ours(0.14, 0.5, 10, over_points=False).agrees_with(theirs) is agrees


def test_columns_of_others():
    """The paper by dataset, the authors by votes; two moons of the files has other points than the tables."""
    assert reference_column("rmse_10", "cifar10h", 1_000)["pls_0.9"] == [0.1098, 0.0009]
    assert reference_column("authors", "two_moons", 100)["pls_0.5"][0] == 0.22034
    assert reference_column("", "two_moons", 100) == {}
    assert runs_column("rmse_10", "two_moons") == {}
    assert runs_column("rmse_10", "cifar10")["model"][0] == 0.127033
    assert pair_text([0.5, math.nan], 2) == "0.50"
    assert pair_text(None, 2) == "-"
