"""The blocks of a report escape what they are given and draw what they count."""

import base64
import json
import re

import numpy as np
import pytest

from markup import NASTY, Tags
from softspread import report
from softspread.errors import InputError


def tiny_map(n=5, label="a"):
    rng = np.random.default_rng(0)
    view = report.View(label, np.full((n, 2), 0.5), rng.random(n), np.arange(n))
    return report.ItemMap(rng.normal(size=(n, 2)), [label, "b"], [view], marks={label: (0.0, 0.0)})


def tiny_points(n=5, label="a"):
    rng = np.random.default_rng(0)
    places, ones = rng.normal(size=(n, 2)), np.ones(n, dtype=int)
    p = rng.random(n)
    return report.PointMap(
        places, [label, "b"], 0 * ones, p, ones, 1 - p, rng.random(n), p, ones, [label] * n
    )


@pytest.mark.parametrize(
    "block",
    [
        report.heading(NASTY, NASTY),
        report.section(NASTY, note=NASTY),
        report.paragraph(NASTY),
        report.bullets([NASTY]),
        report.code(NASTY),
        report.cards([report.Card(NASTY, NASTY, NASTY)]),
        report.facts({NASTY: NASTY}),
        report.table([NASTY], [[report.Cell(NASTY, NASTY), report.Cell(NASTY, NASTY, best=True)]], NASTY),
        report.histograms({NASTY: np.ones(3)}, NASTY),
        report.item_map(tiny_map(label=NASTY), name="x"),
        report.point_map(tiny_points(label=NASTY), name="x"),
        report.share_histograms({NASTY: np.ones(3)}, NASTY),
        report.curve(
            {NASTY: [report.CurvePoint(0.5, 1.0)], "b": [report.CurvePoint(0.9, 2.0)]}, NASTY, NASTY
        ),
        report.table(["a"], [[report.Cell("a", color=NASTY)]]),
        report.embed_json("x", {NASTY: NASTY}),
        report.page(NASTY, footer=NASTY),
    ],
)
def test_no_text_becomes_markup(block):
    """A text that tries to leave its place stays text in every block."""
    page = Tags(block)
    assert "img" not in page.tags
    assert "onerror" not in page.attributes
    assert NASTY not in block


def test_embedded_json_reads_back():
    """Escaping inside the script element does not change the data."""
    text = report.embed_json("x", {"a": NASTY})
    assert json.loads(re.search(r">(.*)</script>$", text)[1]) == {"a": NASTY}


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


def test_map_places_items_inside_the_square_with_up_as_up():
    """Coordinates fill the square without leaving it; larger y is higher on the page."""
    data = json.loads(re.search(r"id='items'>(.*)</script>$", report.item_map(tiny_map(50)))[1])
    xy = np.frombuffer(base64.b64decode(data["xy"]), dtype="<u2").reshape(-1, 2)
    assert xy.min() > 0
    assert xy.max() < report.MAP_SIZE
    positions = tiny_map(50).positions
    assert xy[:, 1].argmin() == positions[:, 1].argmax()
    assert xy[:, 0].argmax() == positions[:, 0].argmax()


def test_map_of_items_in_one_place_is_drawn():
    """Coinciding items do not divide by zero."""
    view = report.View("v", np.full((2, 2), 0.5), np.zeros(2), np.zeros(2, dtype=int))
    assert "NaN" not in report.item_map(report.ItemMap(np.ones((2, 2)), ["a", "b"], [view]))


@pytest.mark.parametrize("n_classes", [1, 10, 11, 200])
def test_every_class_has_its_own_color(n_classes):
    """No two classes share a colour."""
    assert len(set(report.class_colors(n_classes))) == n_classes


def test_page_loads_nothing():
    """No element of an empty page points anywhere, and its policy forbids it."""
    text = report.page("t", report.item_map(tiny_map()))
    page = Tags(text)
    assert not {"src", "href", "srcset", "action"} & set(page.attributes)
    assert "http:" not in text
    assert "https:" not in text
    assert "default-src 'none'" in text


def test_dots_of_a_large_map_stay_inside_with_up_as_up():
    """Outliers stop at the edge, coinciding items are drawn, larger y is higher on the page."""
    points = tiny_points(50)
    data = json.loads(re.search(r"id='points'>(.*)</script>$", report.point_map(points))[1])
    xy = np.frombuffer(base64.b64decode(data["xy"]), dtype="<u2").reshape(-1, 2)
    assert xy.min() > 0
    assert (xy.max(axis=0) < data["plane"]).all()
    assert xy[points.positions[:, 1].argmax(), 1] == xy[:, 1].min()
    assert data["names"] == ["a"] * 50
    from dataclasses import replace

    assert "NaN" not in report.point_map(replace(points, positions=np.ones((50, 2))))
