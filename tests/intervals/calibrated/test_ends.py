"""Ends of Beta distributions: what is left out at either side, and tables beside scipy's quantiles."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta

from softspread.intervals.calibrated.constants import MODEL
from softspread.intervals.calibrated.ends import RULE, beta_interval, tables
from softspread.intervals.wilson import SNAP


def test_beta_interval_has_equal_tails_or_starts_at_the_peak():
    """Two-sided for humps, one-sided where the density is highest at an end, ends near 0 and 1 snapped."""
    a, b, delta = np.array([5.0, 0.5, 8.0, 1e-6]), np.array([7.0, 9.0, 0.4, 3.0]), 0.1
    lower, upper = beta_interval(a, b, delta)
    assert_allclose([lower[0], upper[0]], beta.ppf([0.05, 0.95], 5, 7))
    assert lower[1] == 0
    assert_allclose(upper[1], beta.ppf(1 - MODEL.tail_share * delta, 0.5, 9))
    assert upper[2] == 1
    assert_allclose(lower[2], beta.ppf(MODEL.tail_share * delta, 8, 0.4))
    assert lower[3] == 0
    assert upper[3] == SNAP  # the quantile is 0 here; 0 and 0.005 count as equal


def test_small_true_probabilities_are_not_excluded():
    """Where nearly all votes nearby name other classes, a probability of 0.002 stays possible, at both
    ends."""
    lower, upper = beta_interval(np.array([1e-3, 4.0, 400.0]), np.array([4.0, 1e-3, 1e-3]), 0.1)
    assert upper[0] == SNAP
    assert (lower[1:] == 1 - SNAP).all()


def test_one_sided_tails_may_be_other_ones():
    """The share that they leave out is an argument."""
    upper = beta_interval(np.array([0.5]), np.array([9.0]), 0.1, replace(MODEL, tail_share=0.5))[1]
    assert_allclose(upper, beta.ppf(0.95, 0.5, 9))


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01, 0.0005])
def test_tables_give_the_ends_within_their_error(rng, delta):
    """All over the tables and beyond, at levels from .5 to .9995: within 1e-5, nearly all within 1e-7."""
    a, b = np.exp(rng.uniform(np.log(1e-4), np.log(2e4), size=(2, 400, 50)))
    exact = beta_interval(a, b, delta)
    found = beta_interval(a, b, delta, tabulated=True)
    for end, truth in zip(found, exact, strict=True):
        assert np.abs(end - truth).max() < 1e-5
        assert np.mean(np.abs(end - truth) < 1e-7) > 0.9


def test_the_ends_of_the_tables_themselves_are_read_off():
    """The smallest and largest values that a table is made for, and those just beyond."""
    one, large = RULE.smallest_a * MODEL.tail_share * 0.1, RULE.largest
    a, b = (
        np.array([one, 1.0, 1.0, large, large, 1.0, one / 2]),
        np.array([large, 1, large, 1, large, 0.9, 9]),
    )
    exact, found = beta_interval(a, b, 0.1), beta_interval(a, b, 0.1, tabulated=True)
    assert_allclose(found, exact, rtol=0, atol=1e-5)
    one_sided, equal = tables(0.1, MODEL.tail_share)
    assert np.isfinite(one_sided.values).all()
    assert np.isfinite(equal.values).all()


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.0005])
def test_below_the_tables_smallest_a_the_quantile_counts_as_zero(delta):
    """Under 0.005 for every b that the table has."""
    smallest, b = RULE.smallest_a * MODEL.tail_share * delta, np.geomspace(RULE.smallest_b, RULE.largest, 60)
    assert beta.ppf(1 - MODEL.tail_share * delta, smallest, b).max() < SNAP
