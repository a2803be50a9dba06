"""Wilson intervals against scipy's, and the laws that hold between whole votes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from softspread import VoteHistogram
from softspread.intervals.wilson import SNAP, snap_ends, wilson


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("trials", [1, 2, 7, 100, 100_000])
def test_whole_votes_give_scipys_interval(level, trials):
    """For whole numbers this is the textbook interval, class against rest."""
    for successes in {0, 1, trials // 3, trials - 1, trials}:
        expected = binomtest(successes, trials).proportion_ci(level, method="wilson")
        mass = np.array([[successes, trials - successes]], dtype=float)
        for lower, upper in (wilson(mass, level, snapped=False), wilson(mass, level, rounded=True)):
            assert lower[0, 0] == pytest.approx(expected.low, rel=1e-9, abs=1e-14)
            assert upper[0, 0] == pytest.approx(expected.high, rel=1e-9, abs=1e-14)


def test_without_evidence_anything_is_possible():
    """No votes: all of [0, 1]; less than one vote, rounded down: the same."""
    lower, upper = wilson(np.zeros((2, 3)), 0.9)
    assert (lower == 0).all()
    assert (upper == 1).all()
    lower, upper = wilson(np.array([[0.4, 0.5]]), 0.9, rounded=True)
    assert (lower == 0).all()
    assert (upper == 1).all()


masses = st.lists(st.one_of(st.just(0.0), st.floats(1e-300, 1e6)), min_size=2, max_size=4)


@settings(deadline=None, max_examples=200)
@given(masses, st.floats(0.01, 0.999))
def test_intervals_lie_in_0_1_and_hold_the_share(mass, level):
    """Never NaN, in order, around mass / evidence, also for evidence as small as floating point allows."""
    table = np.array([mass])
    with np.errstate(all="raise", under="ignore"):
        lower, upper = wilson(table, level)
    share = table / table.sum() if table.sum() > 0 else np.zeros_like(table)
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()
    assert ((lower >= 0) & (lower <= share) & (upper <= 1)).all()
    if table.sum() > 0:
        assert (upper >= share).all()


@pytest.mark.parametrize("n", range(1, 300, 7))
def test_intervals_reach_0_and_1_exactly(n):
    """A class without any vote may have probability 0, one with all votes 1; rounding must not exclude
    either."""
    lower, upper = wilson(np.array([[0.0, float(n)]]), 0.9)
    assert lower[0, 0] == 0.0
    assert upper[0, 1] == 1.0


@settings(deadline=None, max_examples=100)
@given(st.floats(0.01, 50), st.floats(0.01, 50), st.floats(1.1, 10), st.floats(0.5, 0.95))
def test_more_evidence_narrows_and_more_confidence_widens(a, b, factor, level):
    """The same share on more votes has a narrower interval; a higher level or more classes a wider one."""
    table = np.array([[a, b]])

    def width(*args):
        lower, upper = wilson(*args, snapped=False)
        return (upper - lower)[0]

    assert (width(table * factor, level) < width(table, level)).all()
    assert (width(table, level + 0.04) > width(table, level)).all()
    assert (width(table, level, 5) > width(table, level)).all()


@settings(deadline=None, max_examples=100)
@given(st.floats(0, 50), st.floats(0.01, 50), st.floats(0.5, 0.95))
def test_two_classes_mirror_each_other(a, b, level):
    """What one class may gain is what the other may lose."""
    lower, upper = wilson(np.array([[a, b]]), level)
    np.testing.assert_allclose(lower[0, 0], 1 - upper[0, 1], atol=1e-12)
    np.testing.assert_allclose(upper[0, 0], 1 - lower[0, 1], atol=1e-12)


@settings(deadline=None, max_examples=200)
@given(masses, st.floats(0.01, 0.999))
def test_snapping_moves_only_ends_near_0_and_1_and_only_outwards(mass, level):
    """An end is where the textbook puts it, unless that is within 0.005 of 0 or 1: then it is 0 or 1."""
    table = np.array([mass])
    (lower, upper), (low, up) = wilson(table, level), wilson(table, level, snapped=False)
    assert (lower == np.where(low < SNAP, 0.0, low)).all()
    assert (upper == np.where(up > 1 - SNAP, 1.0, up)).all()


def test_traces_of_a_class_do_not_exclude_a_probability_of_zero():
    """Mass that spreading brings from far away leaves 0 in the interval of a class, and 1 in that of the
    other."""
    traces = np.array([[1e-3, 5.0], [0.03, 20.0]])
    lower, upper = wilson(traces, 0.9)
    assert (lower[:, 0] == 0).all()
    assert (upper[:, 1] == 1).all()
    assert (wilson(traces, 0.9, snapped=False)[0][:, 0] > 0).all()


def test_the_papers_rounded_interval_is_not_snapped():
    """Rounded down, a class with one of 500 votes keeps its lower end just above 0."""
    mass = np.array([[1.0, 499.0]])
    assert 0 < wilson(mass, 0.9, rounded=True)[0][0, 0] < SNAP
    np.testing.assert_array_equal(snap_ends(*wilson(mass, 0.9, rounded=True)), wilson(mass, 0.9))


def test_several_intervals_share_the_error():
    """A union bound over m intervals is a single interval at 1 - (1 - level) / m."""
    table = np.array([[3.0, 1.0, 2.0]])
    np.testing.assert_allclose(wilson(table, 0.9, 3), wilson(table, 1 - 0.1 / 3))


def test_rounding_down_forgives_rounding_errors():
    """1 - 1e-9 votes are one vote."""
    np.testing.assert_array_equal(
        wilson(np.array([[1 - 1e-9, 2.0 - 1e-9]]), 0.9, rounded=True), wilson(np.array([[1.0, 2.0]]), 0.9)
    )


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_coverage_of_whole_votes_is_near_the_level(level):
    """Over all outcomes of 40 independent votes the interval holds the true probability about as often as
    promised."""
    successes = np.arange(41)
    lower, upper = wilson(np.column_stack([successes, 40 - successes]).astype(float), level)
    truth = np.linspace(0.05, 0.95, 91)
    covered = [binom.pmf(successes, 40, p)[(lower[:, 0] <= p) & (p <= upper[:, 0])].sum() for p in truth]
    assert np.mean(covered) == pytest.approx(level, abs=0.01)
    assert min(covered) > level - 0.08


def test_estimators_hand_out_these_intervals():
    """predict_interval on plain counts is the interval of the counts."""
    counts = np.array([[3, 1], [0, 0], [0, 5]])
    est = VoteHistogram().fit(np.arange(3.0)[:, None], counts)
    np.testing.assert_array_equal(
        est.predict_interval(confidence_level=0.8), wilson(counts.astype(float), 0.8)
    )
    np.testing.assert_array_equal(
        est.predict_interval(simultaneous=True), wilson(counts.astype(float), 0.9, 2)
    )
    np.testing.assert_array_equal(
        est.predict_interval(method="wilson_floor"), wilson(counts.astype(float), 0.9, rounded=True)
    )
