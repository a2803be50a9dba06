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
