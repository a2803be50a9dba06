"""EMNIST-digits."""

import numpy as np
from numpy.testing import assert_array_equal

from datasets_on_disk import write_idx
from softspread.datasets.emnist_digits import load_emnist_digits


def test_emnist_digits_are_turned_upright(tmp_path, rng):
    """The files hold the images with rows and columns exchanged."""
    images = rng.integers(256, size=(3, 28, 28))
    write_idx(tmp_path / "gzip" / "emnist-digits-train-images-idx3-ubyte.gz", images)
    write_idx(tmp_path / "gzip" / "emnist-digits-train-labels-idx1-ubyte.gz", np.array([7, 8, 9]))
    data = load_emnist_digits(tmp_path)
    assert_array_equal(data.images[1], images[1].T)
    assert data.labels.tolist() == [7, 8, 9]


def test_torchvisions_folder_is_read(tmp_path, rng):
    """EMNIST/raw with unpacked files."""
    images = rng.integers(256, size=(2, 28, 28))
    write_idx(tmp_path / "EMNIST" / "raw" / "emnist-digits-train-images-idx3-ubyte", images)
    write_idx(tmp_path / "EMNIST" / "raw" / "emnist-digits-train-labels-idx1-ubyte", np.array([1, 2]))
    assert_array_equal(load_emnist_digits(tmp_path).images[0], images[0].T)
