"""The suite for interval methods: every built-in one passes, and every broken promise is noticed."""

import numpy as np
import pytest

from softspread.intervals.registry import INTERVALS
from softspread.intervals.wilson import wilson
from softspread.testing import check_interval_method


@pytest.mark.parametrize("name", INTERVALS.names())
def test_built_in_methods_pass(name):
    """Each one keeps the promises of the seam."""
    check_interval_method(name)


def turned(task):
    lower, upper = wilson(task.mass, task.confidence_level)
    return upper, lower


def beyond(task):
    lower, upper = wilson(task.mass, task.confidence_level)
    return lower - 1, upper


def unknown(task):
    lower, upper = wilson(task.mass, task.confidence_level)
    return lower, np.where(task.mass.sum(axis=1, keepdims=True) > 0, upper, np.nan)


def backwards(task):
    return wilson(task.mass, 1 - task.confidence_level)


def one_class(task):
    lower, upper = wilson(task.mass, task.confidence_level)
    return lower[:, :1], upper[:, :1]


def moody(task):
    lower, upper = wilson(task.mass, task.confidence_level)
    return lower * np.random.default_rng().uniform(0.9, 1.0), upper


def widening(task):
    lower, upper = wilson(1000 / (1 + task.mass), task.confidence_level, task.n_intervals)
    return lower, upper


def remembering(task):
    kept = task.spread_fit().kept
    widest = kept.setdefault("half", 0.1 + 0.001 * len(task.spread_fit().state.votes))
    half = widest + 0.1 * task.confidence_level + 0.01 * task.n_intervals
    return np.clip(task.p - half, 0, 1), np.clip(task.p + half, 0, 1)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (turned, "no lower end is above its upper end"),
        (beyond, r"ends lie in \[0, 1\]"),
        (unknown, "every upper end is a number"),
        (backwards, "a higher level does not raise a lower end"),
        (one_class, "lower has the shape of p"),
        (moody, "the same question has the same lower ends"),
        (widening, "four times the votes widen intervals"),
        (remembering, "votes that came and went leave the intervals as they were"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    """The message says which one."""
    with pytest.raises(AssertionError, match=promise):
        check_interval_method(broken)
