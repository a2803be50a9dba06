"""CIFAR-10."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from datasets_on_disk import write_batch, write_python_batch
from softspread.datasets.cifar10 import BATCHES, load_cifar10
from softspread.errors import StoreError


def test_cifar10_batches_become_images_in_order(tmp_path, rng):
    """Colours, rows and columns end up where they belong, batch after batch."""
    home = tmp_path / "cifar10" / "cifar-10-batches-bin"
    written = [write_batch(home / f"{name}.bin", rng.integers(10, size=3), rng) for name in BATCHES]
    data = load_cifar10(tmp_path / "cifar10")
    assert_array_equal(data.images, np.concatenate(written))
    assert data.labels.shape == (15,)
    assert data.classes[3] == "cat"


def test_cifar10_says_what_to_download_and_refuses_broken_files(tmp_path, rng):
    """A missing folder, a missing batch, a cut batch."""
    with pytest.raises(StoreError, match=r"cifar-10-binary\.tar\.gz"):
        load_cifar10(tmp_path)
    home = tmp_path / "cifar-10-batches-bin"
    write_batch(home / f"{BATCHES[0]}.bin", [1, 2], rng)
    with pytest.raises(StoreError, match="data_batch_2"):
        load_cifar10(tmp_path)
    (home / f"{BATCHES[1]}.bin").write_bytes(b"\0" * 100)
    with pytest.raises(StoreError, match="not a whole number of records"):
        load_cifar10(tmp_path)


def test_the_python_version_is_read_like_the_binary_one(tmp_path, rng):
    """Batch after batch; a missing one is named without the ending of the other version."""
    home = tmp_path / "cifar-10-batches-py"
    written = [write_python_batch(home / name, [1, 2, 3], rng) for name in BATCHES]
    data = load_cifar10(tmp_path)
    assert_array_equal(data.images, np.concatenate(written))
    assert data.labels.tolist() == [1, 2, 3] * 5
    (home / BATCHES[4]).unlink()
    with pytest.raises(StoreError, match=r"data_batch_5\. Download"):
        load_cifar10(tmp_path)


def test_other_classes_and_other_sizes_are_refused(tmp_path, rng):
    """CIFAR-100's labels go up to 99."""
    write_python_batch(tmp_path / BATCHES[0], [1, 44], rng)
    with pytest.raises(StoreError, match="holds class 44"):
        load_cifar10(tmp_path)
