"""Numbers with intervals."""

import numpy as np

from softspread.quality.result import MANY_ITEMS, Estimate, bootstrap, interval_of


def test_an_interval_holds_its_estimate():
    """The first value is the estimate, the quantiles of the others the ends; NaN samples are left out."""
    values = np.concatenate([[5.0], np.linspace(0, 1, 101), [np.nan]])
    found = interval_of(values, 0.9)
    assert (found.value, found.upper) == (5.0, 5.0)
    assert np.isclose(found.lower, 0.05)
    assert interval_of(np.array([2.0, np.nan]), 0.9) == Estimate(2.0, 2.0, 2.0)
    assert f"{Estimate(0.12345, 0.1, 0.2)}" == "0.1235 (0.1000 to 0.2000)"


def test_a_bootstrap_counts_every_item_once_and_then_as_often_as_drawn(rng):
    """Rows of samples sum to the number of items, and vary as much as draws do, whatever their number."""
    for n in (7, MANY_ITEMS):
        times = bootstrap(n, 20, rng)
        assert times.shape == (21, n)
        assert (times[0] == 1.0).all()
        assert (times.sum(axis=1) == n).all()
    assert np.isclose(times[1:].var(), 1 - 1 / n, rtol=0.02)
