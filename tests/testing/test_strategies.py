"""The suite for query strategies: every built-in one passes, and every broken promise is noticed."""

import numpy as np
import pytest

from softspread.queries.registry import STRATEGIES
from softspread.testing import check_strategy


@pytest.mark.parametrize("name", STRATEGIES.names())
def test_built_in_strategies_pass(name):
    """Each one keeps the promises of the seam."""
    check_strategy(name)


def first(pool, batch_size):
    return pool.open_rows()[:batch_size]


def too_few(pool, batch_size):
    return pool.open_rows()[: batch_size - 1]


def excluded_too(pool, batch_size):
    return np.arange(batch_size)


def moody(pool, batch_size):
    return np.random.default_rng().permutation(pool.open_rows())[:batch_size]


def greedy(pool, batch_size):
    pool.mass[:] = 0
    return first(pool, batch_size)


def lost_without_places(pool, batch_size):
    return np.argsort(pool.features[:, 0] + 1e9 * ~pool.open)[:batch_size]


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (too_few, "a batch of 1 is picked.*must return 1 rows"),
        (excluded_too, "may be picked"),
        (moody, "the same seed picks the same"),
        (greedy, "mass stays as it is"),
        (lost_without_places, "without features and with 0 votes for 3 classes a batch of 1 is picked"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    """The message says which one."""
    with pytest.raises(AssertionError, match=promise):
        check_strategy(broken)


def test_a_strategy_may_say_that_it_needs_features():
    """Then it is checked on graphs that have them."""
    lost_without_places.needs_features = True
    try:
        check_strategy(lost_without_places)
    finally:
        del lost_without_places.needs_features
