"""Figures that show single fits."""

from dataclasses import replace

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from softspread.errors import InputError
from softspread.reproduce.measures import Bench
from softspread.reproduce.plan import load_plan
from softspread.reproduce.present.drawing import pyplot
from softspread.reproduce.present.illustrations import moons, overview, teaser

pytest.importorskip("matplotlib", reason="needs matplotlib")
MOONS = ({"name": "two_moons", "n_items": 80, "n_steps": 50},)
ONE_ROW = pd.DataFrame({"seed": [0]})


@pytest.fixture(autouse=True)
def closed():
    """No figure stays open."""
    yield
    pyplot().close("all")


def test_two_moons_begin_with_the_soft_truth_and_number_the_votes():
    """Points coloured by the truth; votes by their class, not by the estimate, with their numbers."""
    plan = replace(
        load_plan("moons_votes"), datasets=MOONS, design={}, options={"steps": [[1, 5]]}, votes=(5,)
    )
    figure = moons(plan, ONE_ROW)
    task, _ = Bench().task(plan.trials(0)[0])
    truth, one, five, *_ = figure.axes
    assert_allclose(truth.collections[0].get_array(), task.p_true[:, 1])
    assert [text.get_text() for text in one.texts] == ["1"]
    assert [text.get_text() for text in five.texts] == ["1", "2", "3", "4", "5"]
    votes = five.collections[1]
    assert_allclose(votes.get_array(), task.votes.labels)
    assert_allclose(votes.get_offsets(), task.X[task.votes.items])
    estimate = one.collections[0].get_array()
    assert set(estimate.round(9).tolist()) == {float(task.votes.labels[0])}  # one vote, one class, everywhere


def test_the_teaser_shows_soft_labels_and_widths():
    """Two panels over the same points, each with its colour bar from 0 to 1."""
    left, right, *bars = teaser(replace(load_plan("teaser"), datasets=MOONS), ONE_ROW).axes
    assert len(bars) == 2
    assert left.collections[0].get_clim() == right.collections[0].get_clim() == (0, 1)
    assert right.collections[0].get_array().max() > right.collections[0].get_array().min()


def test_the_overview_has_four_steps():
    """Images, embedding, graph with votes, soft labels of all; a dataset without images is refused."""
    digits = ({"name": "digits", "features": "pca2", "n_items": 60, "n_trees": 5},)
    plan = replace(load_plan("overview"), datasets=digits, votes=(12,))
    axes = overview(plan, ONE_ROW).axes
    assert [one.get_title()[0] for one in axes[:4]] == ["1", "2", "3", "4"]
    assert len(axes[3].texts) == 60
    with pytest.raises(InputError, match="shows images"):
        overview(replace(plan, datasets=MOONS), ONE_ROW)
