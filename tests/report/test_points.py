"""Maps of very many items: dots stay inside, neighbours stay together."""

import base64
import json
import re

import numpy as np

from small_maps import tiny_points
from softspread import report
from softspread.report.points import PLANE, plane_of, sample_rows


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


def test_the_map_keeps_neighbours_together():
    """Two far groups do not mix: on the plane, nearest dots belong to one group."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 300)
    X = rng.normal(size=(600, 8)) + 20 * group[:, None]
    plane = plane_of(X, rng)
    gaps = np.linalg.norm(plane[:, None] - plane[None], axis=2) + np.diag(np.full(600, np.inf))
    assert (group[gaps.argmin(axis=1)] == group).mean() > 0.99
    assert np.isfinite(plane_of(np.ones((50, 3)), rng)).all()
    assert plane_of(X[:, :1], rng).shape == (600, 2)
    assert plane_of(X[:5], rng).shape == (5, 2)


def test_the_plane_is_a_landscape():
    """As the style sheet lays it out."""
    assert PLANE[0] > PLANE[1]


def test_large_maps_are_sampled():
    """At most so many rows, each once."""
    rows = sample_rows(1000, np.random.default_rng(0), 100)
    assert len(set(rows.tolist())) == 100
    assert sorted(sample_rows(50, np.random.default_rng(0), 100).tolist()) == list(range(50))
