"""The built-in interval methods hand the task's parts to the right formula."""

import numpy as np
import pytest

from softspread import InputError, ProbabilisticLabelSpreading, SoftspreadWarning
from softspread.intervals.methods import wilson_floor_method, wilson_method
from softspread.intervals.registry import INTERVALS
from softspread.intervals.slope import estimate_lipschitz
from softspread.intervals.task import IntervalTask
from softspread.intervals.wilson import wilson


@pytest.fixture(scope="module")
def est():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) + 3 * (np.arange(120) % 2)[:, None]
    counts = np.zeros((120, 2))
    rows = rng.integers(120, size=150)
    np.add.at(counts, (rows, np.where(rng.random(150) < 0.8, rows % 2, 1 - rows % 2)), 1)
    return ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=8, n_jobs=1).fit(X, counts)


def test_wilson_contains_a_soft_label_that_a_prior_moved(rng):
    """The textbook's ends, but for soft labels outside them."""
    mass = rng.gamma(2.0, size=(50, 3))
    p = rng.dirichlet(np.ones(3), size=50)
    lower, upper = wilson_method(IntervalTask(p, mass, 0.8, 3))
    low, high = wilson(mass, 0.8, 3)
    np.testing.assert_array_equal(lower, np.minimum(low, p))
    np.testing.assert_array_equal(upper, np.maximum(high, p))
    for mine, theirs in zip(
        wilson_floor_method(IntervalTask(p, mass, 0.8)), wilson(mass, 0.8, rounded=True), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_hoeffding_estimates_the_slope_where_none_is_given(est):
    """Given the same constant, the same ends."""
    L = estimate_lipschitz(est._state)
    for mine, theirs in zip(
        est.predict_interval(method="hoeffding"),
        est.predict_interval(method="hoeffding", lipschitz=L),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_intervals_that_leave_nothing_out_say_so(rng):
    """Six votes establish no slope: nearly all of [0, 1], and a warning; a given constant gets none."""
    est = ProbabilisticLabelSpreading(alpha=0.9, n_jobs=1).fit(
        rng.normal(size=(60, 2)), np.eye(2)[[0, 1, 0, 1, 0, 1]].tolist() + [[0, 0]] * 54
    )
    with pytest.warns(SoftspreadWarning, match="leave next to nothing out.*Pass lipschitz"):
        lower, upper = est.predict_interval(method="hoeffding")
    assert np.mean(upper - lower) > 0.9
    est.predict_interval(method="hoeffding", lipschitz=100.0)


@pytest.mark.parametrize("method", INTERVALS.names())
def test_a_higher_level_is_wider_and_joint_intervals_are_too(est, method):
    """Every method grows with the level and with the number of intervals that must hold."""
    lower, upper = est.predict_interval(method=method, confidence_level=0.8)
    for wider in ({"confidence_level": 0.95}, {"confidence_level": 0.8, "simultaneous": True}):
        low, high = est.predict_interval(method=method, **wider)
        assert (low <= lower + 1e-12).all()
        assert (high >= upper - 1e-12).all()


def test_calibrated_knows_the_fitted_items_only(est):
    """New items are refused, with what takes them."""
    with pytest.raises(InputError, match="'wilson' and 'hoeffding' also take new ones"):
        est.predict_interval(np.zeros((1, 2)), method="calibrated")
