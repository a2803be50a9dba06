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
from softspread.reproduce.present.figures import FIGURES, curve_names, draw_figure
from softspread.reproduce.present.tables import labelled

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
        ("neighbors", [{"n_neighbors": 5}, {"n_neighbors": 20}], {}, [6, 21]),
        ("trajectories", [{}, {}], {"budget": [0.1, 1.0]}, [0.1, 1.0]),
    ],
)
def test_lines_run_over_the_setting(drawn, name, parameters, columns, xs):
    """Each point lies where its trial says."""
    budget = {} if "budget" in columns else {"budget": 0.1}
    axes = drawn(name, trials(parameters, rmse=[0.3, 0.1], **columns, **budget))[0]
    assert_allclose(axes.containers[0][0].get_xydata(), np.column_stack([xs, [0.3, 0.1]]))


def test_the_authors_runs_have_a_panel_of_their_own(drawn):
    """Their mean on CIFAR-10 at their k = 21 and alpha 0.9, with the same vertical axis as ours."""
    frame = trials(
        [{"alpha": 0.9, "n_neighbors": 5}, {"alpha": 0.9, "n_neighbors": 20}], rmse=[0.3, 0.1], budget=0.1
    )
    ours, theirs = drawn("neighbors", frame)
    assert "authors" in theirs.get_title()
    curve = {container.get_label(): container[0].get_xydata() for container in theirs.containers}["alpha 0.9"]
    assert_allclose(dict(curve.tolist())[21], 0.1297, atol=1e-4)
    assert ours.get_ylim() == theirs.get_ylim()


def test_curves_are_called_by_their_parameter():
    """alpha alone where all is spreading; beside others with the method."""
    frame = labelled(trials([{"alpha": 0.9}], rmse=[0.1], budget=0.1))
    assert curve_names(frame) == ["alpha 0.9"]
    rival = labelled(trials([{"gamma": 1.0}], rmse=[0.1], budget=0.1).assign(method="gkr"))
    assert curve_names(pd.concat([frame, rival])) == ["PLS, alpha 0.9", "GKR, gamma 1"]


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
    assert path.with_suffix(".pdf").exists()
    assert path.with_suffix(".svg").exists()
