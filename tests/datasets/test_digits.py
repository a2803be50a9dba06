"""The digits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from softspread import datasets
from softspread.datasets.dataset import LackingError
from softspread.datasets.digits import largest_dimension, reduced
from softspread.errors import InputError


def test_digits_have_images_features_and_soft_labels():
    """The default features are 20 principal components."""
    digits = datasets.load("digits")
    assert digits.X.shape == (1797, 20)
    assert digits.images.shape == (1797, 8, 8)
    assert (digits.p_true.argmax(axis=1) == digits.labels).mean() > 0.9


@pytest.mark.parametrize("technique", ["pca4", "isomap4"])
def test_reductions_do_not_depend_on_the_number_of_threads(technique):
    """Bit by bit, whatever linear algebra may use, and on every call."""
    X = np.random.default_rng(0).normal(size=(300, 30))
    found = []
    for n_threads in (1, 2, 1):
        with threadpool_limits(n_threads):
            found.append(reduced(X, technique))
    for other in found[1:]:
        assert_array_equal(other, found[0])


def test_the_first_dimensions_of_nested_techniques_are_always_the_same():
    """So one reduction to many dimensions serves fewer."""
    X = np.random.default_rng(0).normal(size=(80, 12))
    for kind in ("pca", "isomap"):
        many, few = reduced(X, f"{kind}8"), reduced(X, f"{kind}3")
        assert_allclose(np.abs(many[:, :3]), np.abs(few), atol=1e-8)
        assert largest_dimension(kind, X, 3) >= 11
    assert largest_dimension("umap", X, 3) == 3


def test_isomap_of_too_many_items_says_what_it_would_take():
    """Before it takes it."""
    with pytest.raises(LackingError, match="Isomap of 20,001 items needs 6 GB"):
        reduced(np.zeros((20_001, 2)), "isomap2")


def test_reduction_by_name():
    """Technique and dimension in one word; anything else is refused."""
    X = np.random.default_rng(0).normal(size=(40, 6))
    assert reduced(X, "pca3").shape == (40, 3)
    assert_array_equal(reduced(X, "pixels"), X)
    with pytest.raises(LackingError, match="pca of 40 items with 6 features has at most 6 dimensions"):
        reduced(X, "pca7")
    with pytest.raises(InputError, match="pca<d>"):
        reduced(X, "magic3")
    with pytest.raises(InputError, match="pca<d>"):
        reduced(X, "pca")
