"""The digits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softspread import datasets
from softspread.datasets.digits import reduced
from softspread.errors import InputError


def test_digits_have_images_features_and_soft_labels():
    """The default features are 20 principal components."""
    digits = datasets.load("digits")
    assert digits.X.shape == (1797, 20)
    assert digits.images.shape == (1797, 8, 8)
    assert (digits.p_true.argmax(axis=1) == digits.labels).mean() > 0.9


def test_reduction_by_name():
    """Technique and dimension in one word; anything else is refused."""
    X = np.random.default_rng(0).normal(size=(40, 6))
    assert reduced(X, "pca3").shape == (40, 3)
    assert_array_equal(reduced(X, "pixels"), X)
    with pytest.raises(InputError, match="pca<d>"):
        reduced(X, "magic3")
    with pytest.raises(InputError, match="pca<d>"):
        reduced(X, "pca")
