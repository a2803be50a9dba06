"""Miniatures are datasets in the benchmark's format."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softspread.datasets.dataset import Dataset
from softspread.datasets.dcic import read_raw
from softspread.errors import InputError
from softspread.reproduce.dcic.miniatures import MiniatureSize, write_miniature

pytest.importorskip("PIL", reason="needs Pillow")
N = 40


def certain_digits():
    """Digits 0 to 9 in turn, without any doubt; the picture of item n is grey of shade n."""
    labels = np.arange(N) % 10
    images = np.broadcast_to(np.arange(N, dtype=np.uint8)[:, None, None], (N, 8, 8)).copy()
    return Dataset("digits", np.arange(10), np.eye(N), np.eye(10)[labels], labels, images=images)


def test_certain_digits_are_annotated_with_their_class_alone(tmp_path):
    """All annotations of an image name the parity of its digit; five folds share the images evenly."""
    write_miniature(tmp_path, "mini_parity", certain_digits(), size=MiniatureSize(items=20, annotations=3))
    raw = read_raw(tmp_path, "mini_parity")
    assert raw.classes == ("even", "odd")
    assert np.bincount(raw.folds).tolist() == [4] * 5
    odd = np.array([int(path[-8:-4]) % 2 for path in raw.paths])  # .../digit0017.png
    assert_array_equal(raw.counts, 3 * np.eye(2)[odd])


def test_unknown_miniatures_and_digits_without_images_are_refused(tmp_path):
    """Nothing is written."""
    data = certain_digits()
    with pytest.raises(InputError, match="mini_parity"):
        write_miniature(tmp_path, "mini_colour", data)
    bare = Dataset("digits", np.arange(10), data.X, data.p_true)
    with pytest.raises(InputError, match="without images"):
        write_miniature(tmp_path, "mini_parity", bare)
    assert not list(tmp_path.iterdir())
