"""Datasets of image files."""

import numpy as np
import pytest

from datasets_on_disk import write_image
from softspread.datasets.image_files import dataset_of_files, list_images
from softspread.errors import StoreError


def test_images_come_in_the_order_of_their_paths(tmp_path):
    """The order that `softspread embed` has, so that features of a folder belong to its images."""
    for name in ("b/1.png", "a-b/2.png", "a/3.png", ".hidden/4.png", "a/._5.png"):
        write_image(tmp_path / name)
    (tmp_path / "a" / "notes.txt").touch()
    assert list_images(tmp_path) == [tmp_path / name for name in ("a-b/2.png", "a/3.png", "b/1.png")]


def test_files_become_a_dataset(tmp_path):
    """Paths, classes, and features where there are some; no file at all is an error."""
    np.save(tmp_path / "features_toy.npy", np.eye(2))
    paths = [tmp_path / "a", tmp_path / "b"]
    data = dataset_of_files("x", tmp_path, paths, np.array([1, 0]), ["p", "q"], None)
    assert data.paths.tolist() == list(map(str, paths))
    assert data.classes[data.labels].tolist() == ["q", "p"]
    assert (np.eye(2) == data.X).all()
    with pytest.raises(StoreError, match="holds no images"):
        dataset_of_files("x", tmp_path, [], np.array([]), [], None)
