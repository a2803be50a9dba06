"""What all figures share."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from softspread.reproduce.present.drawing import (
    OTHERS,
    OURS,
    draw_lines,
    finish,
    logarithmic,
    panels,
    pyplot,
    save,
    spaced,
)

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


def test_ours_are_warm_beside_other_methods(axes):
    """And every line has a colour and a marker of its own, of a scale that the colour-blind can read."""
    frame = pd.DataFrame({"x": 1.0, "y": 1.0, "method": ["pls", "pls", "gkr", "knn"], "label": list("abcd")})
    draw_lines(axes, frame, "x", "y", "label")
    lines = [line[0] for line in axes.containers]
    assert [line.get_color() for line in lines] == [*OURS[:2], *OTHERS[:2]]
    assert len({line.get_marker() for line in lines}) == 4


def test_curves_are_named_at_their_ends_and_names_do_not_touch(axes):
    """Two curves that end together have names apart, in the order of their ends and in their colours."""
    rows = [("low", 1, 1.0), ("low", 2, 1.0), ("high", 1, 3.0), ("high", 2, 1.001)]
    frame = pd.DataFrame(rows, columns=["label", "x", "y"]).assign(method="pls")
    draw_lines(axes, frame, "x", "y", "label")
    finish(axes, "", "x", "y")
    names = {text.get_text(): text for text in axes.texts}
    gap = names["high"].xyann[1] - names["low"].xyann[1]
    assert gap * axes.get_window_extent().height * 72 / axes.figure.dpi >= 7.5
    assert axes.get_legend() is None
    assert names["low"].get_color() == axes.containers[0][0].get_color()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_spaced_places_keep_their_order_and_their_distance(places):
    """At least a gap apart, and not moved where there is room."""
    wanted = np.sort(places)
    found = spaced(wanted, 0.1)
    assert (np.diff(found) >= 0.1 - 1e-9).all()
    if (np.diff(wanted) >= 0.1).all():
        assert_allclose(found, wanted)


def test_figures_are_written_for_the_screen_and_for_print(tmp_path):
    """PNG, PDF and SVG; the same figure is the same file."""
    for name in ("one", "two"):
        figure, _ = panels(1)
        save(figure, tmp_path / f"{name}.png")
    for kind in ("pdf", "svg"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (tmp_path / "one.svg").read_text()


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
