"""Maps of items: every item lies inside, every class has its colour."""

import base64
import json
import re

import numpy as np
import pytest

from small_maps import tiny_map
from softspread import report


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
