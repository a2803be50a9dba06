"""Entropy of soft labels."""

import numpy as np

from softspread._common.entropy import entropy, largest_entropy


def test_entropy_is_that_of_scipy_and_zero_when_certain(rng):
    """-sum p ln p, without NaN for zeros."""
    from scipy.stats import entropy as by_scipy

    p = rng.dirichlet(np.ones(5), size=7)
    np.testing.assert_allclose(entropy(p), by_scipy(p, axis=1))
    assert entropy(np.eye(3)).tolist() == [0.0, 0.0, 0.0]


def test_the_largest_entropy_is_that_of_the_uniform_label():
    """And never 0, since it divides."""
    np.testing.assert_allclose(largest_entropy(6), entropy(np.full((1, 6), 1 / 6))[0])
    assert largest_entropy(1) == 1.0
