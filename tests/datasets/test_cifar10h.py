"""CIFAR-10-H."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from datasets_on_disk import write_batch
from softspread.datasets.cifar10h import load_cifar10h
from softspread.errors import InputError


def test_cifar10h_counts_become_soft_labels_and_votes(tmp_path, rng):
    """Relative frequencies are the truth, the counts themselves are votes, images come from CIFAR-10's test
    batch."""
    counts = rng.multinomial(50, np.full(10, 0.1), size=6)
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "cifar10h-counts.npy", counts)
    images = write_batch(tmp_path / "cifar-10-batches-bin" / "test_batch.bin", range(6), rng)
    np.save(tmp_path / "features_toy.npy", rng.normal(size=(6, 4)))
    data = load_cifar10h(tmp_path)
    assert_allclose(data.p_true, counts / 50)
    assert_array_equal(data.images, images)
    assert data.votes.weights.sum() == 300
    assert data.features == "toy"
    with pytest.raises(InputError, match="it has toy"):
        load_cifar10h(tmp_path, features="clip")
