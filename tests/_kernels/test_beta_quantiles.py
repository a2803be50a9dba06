"""Quantiles of Beta distributions from tables: compiled = plain Python, and nothing beyond the table."""

import numpy as np
import pytest

from kernel_twins import same_as_python
from softspread._kernels.beta_quantiles import beta_ends, quantile_between
from softspread.intervals.calibrated.ends import tables

ONE_SIDED, EQUAL = tables(0.1, 0.75)


@pytest.mark.parametrize("place", [(3, 5), (1, 1), (20, 40)])
def test_a_grid_point_is_its_own_quantile(place):
    """Interpolation goes through the table's values."""
    logs = [first + EQUAL.step * at for first, at in zip((EQUAL.first_a, EQUAL.first_b), place, strict=True)]
    _, found = same_as_python(quantile_between, lambda: (EQUAL, logs[0] + 1e-12, logs[1] + 1e-12))
    assert found == pytest.approx(1 / (1 + np.exp(-EQUAL.values[place])), abs=1e-9)


@pytest.mark.parametrize("outside", [(99.0, 1.0), (1.0, -9.0), (1.0, 99.0), (-np.inf, 99.0)])
def test_nothing_is_read_beyond_the_table(outside):
    """NaN on three sides."""
    _, found = same_as_python(quantile_between, lambda: (EQUAL, *outside))
    assert np.isnan(found)


@pytest.mark.parametrize("log_a", [-9.0, -np.inf])
def test_an_a_below_the_table_has_quantile_zero(log_a):
    """As far as one can tell: that is what its smallest a stands for."""
    assert same_as_python(quantile_between, lambda: (ONE_SIDED, log_a, 1.0))[1] == 0


def test_ends_are_those_of_the_shape():
    """One-sided at the end where the density peaks, both ends for humps, mirrored with a and b swapped."""
    a = np.array([0.3, 6.0, 5.0, 1.0, 1e-9])
    b = np.array([6.0, 0.3, 9.0, 1.0, 0.1])
    (*_, lower, upper), _ = same_as_python(beta_ends, lambda: (ONE_SIDED, EQUAL, a, b, *np.empty((2, 5))))
    assert lower[0] == 0
    assert upper[1] == 1
    assert lower[1] == pytest.approx(1 - upper[0])
    assert 0 < lower[2] < 5 / 14 < upper[2] < 1
    np.testing.assert_allclose([lower[3], upper[3]], [0.05, 0.95], atol=1e-6)
    assert np.isnan(upper[4])
    (*_, swapped, _), _ = same_as_python(beta_ends, lambda: (ONE_SIDED, EQUAL, b, a, *np.empty((2, 5))))
    np.testing.assert_allclose(swapped[2], 1 - upper[2])
