"""Mapillary's public traffic signs."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from datasets_on_disk import write_signs
from softspread.datasets.local_files import read_images
from softspread.datasets.mtsd import load_mtsd
from softspread.errors import StoreError

PHOTOGRAPHS = {
    "b": [("regulatory--yield--g1", (5, 5, 20, 20)), ("warning--curve-left--g2", (30, 5, 45, 25))],
    "a": [("information--parking--g1", (0, 0, 12, 12)), ("regulatory--stop--g1", (20, 20, 24, 24))],
}


def test_every_sign_of_a_photograph_is_an_item(tmp_path):
    """In the order of the keys; its box is what is read of the file; tiny signs are left out."""
    write_signs(tmp_path, PHOTOGRAPHS)
    data = load_mtsd(tmp_path)
    assert data.classes.tolist() == ["information", "regulatory", "warning"]
    assert data.labels.tolist() == [0, 1, 2]
    grey = read_images(data.paths, 2, data.boxes)[:, 0, 0, 0]
    assert_array_equal(grey, [20, 0, 10])
    assert "proprietary" in data.stand_in


def test_a_list_of_shapes_replaces_the_groups(tmp_path):
    """Labels that it does not name are left out."""
    write_signs(tmp_path, PHOTOGRAPHS)
    (tmp_path / "shapes.csv").write_text(
        "label,shape\nregulatory--yield--g1,triangle\ninformation--parking--g1,square\n"
    )
    data = load_mtsd(tmp_path)
    assert data.classes[data.labels].tolist() == ["square", "triangle"]


def test_what_is_not_mapillarys_is_refused(tmp_path):
    """No annotations, broken ones, a missing photograph."""
    with pytest.raises(StoreError, match=r"mapillary\.com"):
        load_mtsd(tmp_path)
    write_signs(tmp_path, PHOTOGRAPHS)
    (tmp_path / "images" / "a.png").unlink()
    with pytest.raises(StoreError, match=r"none of a\.jpg"):
        load_mtsd(tmp_path)
    (tmp_path / "annotations" / "a.json").write_text('{"objects": [{"label": "x"}]}')
    with pytest.raises(StoreError, match="bbox"):
        load_mtsd(tmp_path)


def test_subsets_keep_the_boxes(tmp_path):
    """An item is a part of a file."""
    write_signs(tmp_path, PHOTOGRAPHS)
    data = load_mtsd(tmp_path)
    assert_array_equal(data.subset([2, 0]).boxes, data.boxes[[2, 0]])
    assert data.boxes.dtype == np.int64
