"""What is drawn: dots, colours and names, read back from the axes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from softspread import SoftLabels
from softspread.plots import pictures
from softspread.report.maps import class_colors


@pytest.fixture
def axes():
    return Figure().subplots()


@pytest.mark.parametrize("n_classes", [1, 2, 10, 25])
def test_dots_of_a_class_have_its_colour_and_fade_with_doubt(axes, n_classes):
    """The colours of the report, also beyond the ten that were chosen by eye; a sure item is opaque."""
    p = np.eye(n_classes)
    labels = SoftLabels(np.arange(n_classes), np.arange(n_classes), p, np.ones(n_classes))
    places = np.random.default_rng(0).normal(size=(n_classes, 2))
    pictures.draw_map(axes, places, labels, np.zeros(n_classes, bool), "class")
    drawn = axes.collections[0].get_facecolors()
    expected = np.array([to_rgba(color) for color in class_colors(n_classes)])
    assert_allclose(drawn[:, :3], expected[:, :3])
    if n_classes > 1:
        assert_allclose(drawn[:, 3], 1)


def test_an_even_soft_label_is_palest(axes):
    """All classes alike."""
    labels = SoftLabels(np.arange(1), np.arange(4), np.full((1, 4), 0.25), np.ones(1))
    pictures.draw_map(axes, np.zeros((1, 2)), labels, np.zeros(1, bool), "class")
    assert_allclose(axes.collections[0].get_facecolors()[0, 3], pictures.PALEST)


def test_every_item_is_in_the_histogram_of_evidence(axes):
    """Also those without any."""
    pictures.draw_evidence(axes, np.array([0.0, 1e-9, 1.0, 50.0]))
    assert sum(bar.get_height() for bar in axes.patches) == 4


def test_small_experts_are_added_up(axes):
    """All bars together are the whole blend."""
    weights = pd.Series(np.full(20, 0.05), [f"alpha {k}" for k in range(20)])
    pictures.draw_experts(axes, weights)
    assert len(axes.patches) == pictures.MOST_EXPERTS + 1
    assert_allclose(sum(bar.get_width() for bar in axes.patches), 1)


def test_annotators_stand_in_order_with_their_votes(axes):
    """The first row at the top; intervals reach as far as the table says."""
    frame = pd.DataFrame(
        {
            "annotator": ["ann", "bob"],
            "votes": [10.0, 20.0],
            "consistency": [0.1, 0.9],
            "lower": [0.0, 0.8],
            "upper": [0.3, 1.0],
            "flag": ["does not follow", "ok"],
        }
    )
    pictures.draw_annotators(axes, frame, 5)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["bob (20)", "ann (10)"]
    assert "2 of 5" in axes.get_title()
    legend = {text.get_text() for text in axes.get_legend().get_texts()}
    assert legend == {"does not follow", "follows the crowd"}


def test_coverage_is_drawn_beside_what_was_promised(axes):
    """The measured points are the table's."""
    frame = pd.DataFrame(
        {"level": [0.5, 0.9], "covered": [0.4, 0.8], "lower": [0.3, 0.7], "upper": [0.5, 0.9]}
    )
    pictures.draw_coverage(axes, frame, of_truth=False)
    assert axes.lines[1].get_ydata().tolist() == [0.4, 0.8]
