"""MNIST."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from datasets_on_disk import write_idx
from softspread.datasets.mnist import load_mnist


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_mnist_is_both_parts(tmp_path, rng, ending):
    """Training digits first, then the test digits, packed or not."""
    parts = {"train": rng.integers(256, size=(4, 28, 28)), "t10k": rng.integers(256, size=(2, 28, 28))}
    for part, images in parts.items():
        write_idx(tmp_path / f"{part}-images-idx3-ubyte{ending}", images)
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte{ending}", np.arange(len(images)))
    data = load_mnist(tmp_path)
    assert_array_equal(data.images, np.concatenate(list(parts.values())))
    assert data.labels.tolist() == [0, 1, 2, 3, 0, 1]
