"""Coloured tables."""

import json

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from small_plans import small_plan
from softspread.reproduce.present.drawing import pyplot
from softspread.reproduce.present.heatmaps import HeatMap, draw_maps, heat_budget, heat_neighbors, sweeps

pytest.importorskip("matplotlib", reason="needs matplotlib")


@pytest.fixture(autouse=True)
def closed():
    """No figure stays open."""
    yield
    pyplot().close("all")


def trials(parameters, rmse, budget=0.1, method="pls"):
    """Rows of one dataset."""
    about = {"dataset": "digits", "features": "", "design": "{}", "options": "{}", "method": method}
    texts = [json.dumps(one) for one in parameters]
    return pd.DataFrame({"parameters": texts, "rmse": rmse, "budget": budget}).assign(**about)


def test_all_maps_of_a_figure_have_the_same_colours_and_one_bar():
    """Lowest and highest of all of them."""
    one, two = pd.DataFrame([[0.1, 0.2]]), pd.DataFrame([[0.3, 0.4]])
    figure = draw_maps([[HeatMap("a", one, "x", "y"), HeatMap("b", two, "x", "y")]])
    first, second, bar = figure.axes
    assert first.images[0].get_clim() == second.images[0].get_clim() == (0.1, 0.4)
    assert bar.get_ylabel() == "RMSE"


def test_the_lowest_of_each_budget_is_framed_and_the_authors_stand_beside():
    """In the column of 10 % the second alpha, in that of 100 % the first."""
    settings = [{"alpha": 0.1}, {"alpha": 0.9}] * 2
    figure = heat_budget(small_plan(), trials(settings, [0.3, 0.2, 0.1, 0.2], [0.1, 0.1, 1, 1]))
    ours, theirs, _ = figure.axes
    assert [frame.get_xy() for frame in ours.patches][::2] == [(-0.5, 0.5), (0.5, -0.5)]
    assert [text.get_text() for text in ours.get_xticklabels()] == ["10 %", "100 %"]
    assert {text.get_text() for text in ours.texts} == {".300", ".200", ".100"}
    assert "authors' runs" in theirs.get_title()
    assert_allclose(theirs.images[0].get_array()[1, 0], 0.1095, atol=1e-4)  # alpha 0.9 at 10 %


def test_neighbours_are_counted_as_the_authors_do():
    """Our 4 neighbours are their k = 5."""
    settings = [{"alpha": 0.1, "n_neighbors": 4}, {"alpha": 0.9, "n_neighbors": 4}]
    ours, theirs, _ = heat_neighbors(small_plan(), trials(settings, [0.3, 0.2])).axes
    assert [text.get_text() for text in ours.get_yticklabels()] == ["5"]
    assert theirs.get_title() == "authors' runs, cifar10h, budget 10 %"


def test_sweeps_show_every_reading_of_the_baselines():
    """GKR with 1e-8 and as printed, kNN together and averaged, and the authors' two."""
    kernel = trials([{"gamma": 1.0}, {"gamma": 1.0, "prior_strength": 0.0}], [0.3, 0.2], method="gkr")
    nearest = trials([{"n_neighbors": 5}, {"n_neighbors": 5, "average": "items"}], [0.3, 0.2], method="knn")
    axes = sweeps(small_plan(), pd.concat([kernel, nearest])).axes
    titles = [one.get_title() for one in axes if one.images]
    assert len(titles) == 6
    assert sum("authors" in title for title in titles) == 2
