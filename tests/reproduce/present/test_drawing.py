"""What all figures share."""

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from softspread.reproduce.present.drawing import draw_lines, finish, logarithmic, panels, pyplot

pytest.importorskip("matplotlib", reason="needs matplotlib")


@pytest.fixture
def axes():
    figure, (first, _) = panels(2)
    yield first
    pyplot().close(figure)


def test_a_line_is_the_mean_of_its_draws_with_their_deviation(axes):
    """One line for each label, bars of one standard deviation."""
    rows = [("a", 1, 2.0), ("a", 1, 4.0), ("a", 10, 5.0), ("b", 1, 1.0)]
    frame = pd.DataFrame(rows, columns=["label", "x", "y"]).assign(method="pls")
    draw_lines(axes, frame, "x", "y", "label")
    first, second = axes.containers
    assert first.get_label() == "a"
    assert_allclose(first[0].get_xydata(), [[1, 3], [10, 5]])
    assert_allclose(first[2][0].get_segments()[0], [[1, 3 - 2**0.5], [1, 3 + 2**0.5]])
    assert_allclose(second[0].get_xydata(), [[1, 1]])


def test_ours_are_red_beside_other_methods(axes):
    """And every line has a colour of its own."""
    frame = pd.DataFrame({"x": 1.0, "y": 1.0, "method": ["pls", "pls", "gkr", "knn"], "label": list("abcd")})
    draw_lines(axes, frame, "x", "y", "label")
    colours = [tuple(line[0].get_color()) for line in axes.containers]
    assert len(set(colours)) == 4
    assert all(red > 0.9 and blue == 0 for red, _, blue, _ in colours[:2])
    assert all(red < 0.9 or blue > 0 for red, _, blue, _ in colours[2:])


@pytest.mark.parametrize(
    ("ends", "labels"), [((1, 20), {"1", "2", "5", "10", "20"}), ((1, 1e4), {"1", "10"})]
)
def test_logarithmic_axes_have_plain_numbers(axes, ends, labels):
    """1, 2, 5 within a few decades; beyond, powers of ten alone."""
    axes.plot(ends, ends)
    logarithmic(axes, "x")
    finish(axes, "title", "across", "up", legend=False)
    axes.figure.canvas.draw()
    shown = {text.get_text() for text in axes.get_xticklabels()}
    assert labels <= shown
    assert ("2" in shown) == ("2" in labels)
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("title", "across", "up")
