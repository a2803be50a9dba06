"""Figures show the numbers of their trials."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from small_plans import small_plan
from softspread.errors import InputError
from softspread.reproduce.present.drawing import pyplot
from softspread.reproduce.present.figures import FIGURES, draw_figure

pytest.importorskip("matplotlib", reason="needs matplotlib")


def trials(parameters, **columns):
    """Rows of spreading, one for each set of parameters."""
    about = {"dataset": "digits", "features": "", "method": "pls", "design": "{}", "options": "{}"}
    return pd.DataFrame({"parameters": [json.dumps(one) for one in parameters], **columns}).assign(**about)


@pytest.fixture
def drawn():
    """Draws a figure and gives its axes."""
    yield lambda name, frame: FIGURES[name](small_plan(), frame).axes
    pyplot().close("all")


@pytest.mark.parametrize(
    ("name", "parameters", "columns", "xs"),
    [
        ("evidence", [{"alpha": 0.5}, {"alpha": 0.9}], {"mean_evidence": [0.3, 0.1]}, [2, 10]),
        ("neighbors", [{"n_neighbors": 5}, {"n_neighbors": 20}], {}, [5, 20]),
        ("trajectories", [{}, {}], {"budget": [0.1, 1.0]}, [0.1, 1.0]),
    ],
)
def test_lines_run_over_the_setting(drawn, name, parameters, columns, xs):
    """Each point lies where its trial says."""
    budget = {} if "budget" in columns else {"budget": 0.1}
    (axes,) = drawn(name, trials(parameters, rmse=[0.3, 0.1], **columns, **budget))
    assert_allclose(axes.containers[0][0].get_xydata(), np.column_stack([xs, [0.3, 0.1]]))


def test_the_lowest_of_each_budget_is_framed(drawn):
    """In the column of 10 % the second alpha, in that of 100 % the first."""
    settings = [{"alpha": 0.1}, {"alpha": 0.9}] * 2
    (axes,) = drawn("heat_budget", trials(settings, budget=[0.1, 0.1, 1, 1], rmse=[0.3, 0.2, 0.1, 0.2]))
    assert [frame.get_xy() for frame in axes.patches] == [(-0.5, 0.5), (0.5, -0.5)]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10 %", "100 %"]
    assert {text.get_text() for text in axes.texts} == {"0.300", "0.200", "0.100"}


def test_plans_without_figure_or_trials_draw_nothing(tmp_path):
    """And an unknown figure is refused."""
    path, frame = tmp_path / "figure.png", trials([{"alpha": 0.9}], budget=0.1, rmse=0.2)
    assert not draw_figure(replace(small_plan(), figure=""), frame, path)
    assert not draw_figure(small_plan(), frame[:0], path)
    assert not path.exists()
    with pytest.raises(InputError, match="trajectories"):
        draw_figure(replace(small_plan(), figure="magic"), frame, path)
    assert draw_figure(small_plan(), frame, path)
    assert path.read_bytes().startswith(b"\x89PNG")
