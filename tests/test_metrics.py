"""Metrics against values worked out by hand and the laws that define them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from softspread import InputError
from softspread.metrics import accuracy, interval_coverage, kl_divergence, mae, rmse, total_variation

TRUTH = [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
ESTIMATE = [[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]
ALL = [rmse, mae, kl_divergence, total_variation, accuracy]


def tables(n_classes=3):
    """Random tables of soft labels with some exact zeros."""

    def normalise(table):
        table = np.where(table < 0.1, 0.0, table)
        table[table.sum(axis=1) == 0] = 1.0
        return table / table.sum(axis=1, keepdims=True)

    return arrays(float, (4, n_classes), elements=st.floats(0, 1)).map(normalise)


def test_values_by_hand():
    """Each definition on two items, worked out with pencil and paper."""
    squares = 0.25**2 + 0.25**2 + 0.5**2 + 0.75**2 + 0.25**2
    assert rmse(TRUTH, ESTIMATE) == pytest.approx(math.sqrt(squares / 6))
    assert mae(TRUTH, ESTIMATE) == pytest.approx((0.25 + 0.25 + 0.5 + 0.75 + 0.25) / 6)
    assert total_variation(TRUTH, ESTIMATE) == pytest.approx((0.25 + 0.75) / 2)
    assert kl_divergence(TRUTH, ESTIMATE) == pytest.approx((0.5 * math.log(2) + math.log(4)) / 2)
    assert accuracy(TRUTH, ESTIMATE) == 0.5  # item 0: class 1 is one of two true peaks; item 1: wrong


def test_a_missed_class_costs_a_finite_amount():
    """A zero where the truth is 1 counts as 1e-10, not as infinity."""
    assert kl_divergence([[1.0, 0.0]], [[0.0, 1.0]]) == pytest.approx(math.log(1e10))


@settings(deadline=None, max_examples=60)
@given(tables(), tables())
def test_distances_are_distances(p, q):
    """Zero for equal tables, not negative, symmetric where they should be, within their bounds."""
    for distance in (rmse, mae, total_variation):
        assert distance(p, p) == 0.0
        assert distance(p, q) == pytest.approx(distance(q, p))
        assert 0 <= distance(p, q) <= 1 + 1e-12
    assert kl_divergence(p, p) == 0.0
    assert kl_divergence(p, q) >= -1e-8  # the clipped table sums to slightly more than 1
    assert accuracy(p, p) == 1.0
    assert mae(p, q) == pytest.approx(2 * total_variation(p, q) / 3)
    assert mae(p, q) <= rmse(p, q) + 1e-12
    # Pinsker, item by item, and Jensen over the items
    assert total_variation(p, q) <= math.sqrt(max(0.0, kl_divergence(p, q)) / 2) + 1e-4


@settings(deadline=None, max_examples=30)
@given(tables(), tables(), st.permutations(range(4)), st.permutations(range(3)))
def test_order_of_items_and_classes_does_not_matter(p, q, items, classes):
    """Renaming both tables alike changes no metric (for accuracy: where no estimate has ties)."""
    rows, columns = np.ix_(items, classes)
    for metric in (rmse, mae, kl_divergence, total_variation):
        assert metric(p[rows, columns], q[rows, columns]) == pytest.approx(metric(p, q))
    assert accuracy(p[items], q[items]) == accuracy(p, q)


def test_coverage_counts_entries_with_closed_ends():
    """Both ends belong to an interval; entries are counted, not items."""
    truth = [[0.0, 1.0], [0.3, 0.7]]
    assert interval_coverage(truth, [[0.0, 0.9], [0.3, 0.8]], [[0.1, 1.0], [0.3, 0.9]]) == 0.75
    assert interval_coverage(truth, np.zeros((2, 2)), np.ones((2, 2))) == 1.0


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(
    ("p_true", "p", "message"),
    [
        ([[1, 0]], [[1, 0], [0, 1]], r"p_true has shape \(1, 2\) but p has \(2, 2\)"),
        ([1, 0], [1, 0], "p_true must be a table"),
        ([[1, 0]], [[np.nan, 1]], "p holds NaN or infinite"),
        ([[1, 0]], [[0.5, 0.6]], "rows of p must be probabilities"),
        ([[2, -1]], [[1, 0]], "rows of p_true must be probabilities"),
        ([["cat", "dog"]], [[1, 0]], "p_true must be a table of numbers"),
        ([["1", "0"]], [[1, 0]], "p_true must be a table of numbers"),
        ([[1, 0]], [[1, 0], [1]], "p must be a table of numbers"),
        (np.empty((0, 2)), np.empty((0, 2)), "at least one entry"),
    ],
)
def test_bad_tables_are_refused(metric, p_true, p, message):
    """Shapes that differ, rows that are no probabilities and things that are not numbers are named."""
    with pytest.raises(InputError, match=message):
        metric(p_true, p)


def test_bad_intervals_are_refused():
    """Ends of different shape or in the wrong order are an error, not a coverage of 0."""
    with pytest.raises(InputError, match="must have one shape"):
        interval_coverage([[0.5, 0.5]], [[0.1, 0.1]], [[0.9]])
    with pytest.raises(InputError, match="lower must not exceed upper"):
        interval_coverage([[0.5, 0.5]], [[0.6, 0.1]], [[0.4, 0.9]])
