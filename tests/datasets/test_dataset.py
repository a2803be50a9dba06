"""What every dataset is."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from softspread.datasets.dataset import shares
from softspread.datasets.two_moons import two_moons


def test_shares_of_nothing_are_uniform():
    """A row without votes knows nothing."""
    assert_allclose(shares(np.array([[0, 0], [1, 3]])), [[0.5, 0.5], [0.25, 0.75]])


def test_subset_keeps_rows_together():
    """Features, truth and labels of the chosen items, in the order asked for."""
    data = two_moons(30, n_steps=5)
    part = data.subset([4, 1])
    assert_array_equal(part.X, data.X[[4, 1]])
    assert_array_equal(part.p_true, data.p_true[[4, 1]])
    assert part.n_items == 2
