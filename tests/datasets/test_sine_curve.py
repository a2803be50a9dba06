"""The sine curve."""

import numpy as np
from numpy.testing import assert_allclose

from softspread import datasets
from softspread.datasets.sine_curve import SINE_LIPSCHITZ


def test_sine_curve_has_the_closed_form():
    """The second class has probability (1 + sin x) / 2, which changes by at most its stated slope."""
    curve = datasets.load("sine_curve", n_items=400)
    x, p = curve.X[:, 0], curve.p_true[:, 1]
    assert_allclose(p, (1 + np.sin(x)) / 2)
    slopes = np.abs(np.subtract.outer(p, p)) / np.maximum(np.abs(np.subtract.outer(x, x)), 1e-12)
    assert slopes.max() <= SINE_LIPSCHITZ + 1e-6
