"""How far suggestions pull votes."""

import numpy as np
import pytest

from softspread.annotators.pull import FEWEST, LARGEST, estimate_pull, own_share


def draw(rng, n, pull, own):
    """Votes that agree with their own probability, or because they were pulled; a quarter saw nothing."""
    seen = rng.random(n) >= 0.25
    return (rng.random(n) < own) | (seen & (rng.random(n) < pull)), seen


@pytest.mark.parametrize("pull", [0.0, 0.2, 0.5])
def test_the_interval_holds_the_pull(pull):
    """At 90 % in at least 80 % of 200 draws; the median is the pull."""
    rng = np.random.default_rng(0)
    found = [estimate_pull(*draw(rng, 800, pull, 0.6)) for _ in range(200)]
    assert np.mean([one.lower <= pull <= one.upper for one in found]) >= 0.8
    assert np.median([one.value for one in found]) == pytest.approx(pull, abs=0.03)


def test_too_few_votes_of_either_kind_say_nothing():
    """The interval is all there is."""
    found = estimate_pull(np.ones(100, dtype=bool), np.arange(100) >= FEWEST - 1)
    assert (found.value, found.lower, found.upper, found.is_known) == (0.0, 0.0, LARGEST, False)


def test_counting_own_shares_gives_the_shares_without_suggestions():
    """In expectation: closed form for one item."""
    p, pull = 0.4, 0.3
    agree = (1 - pull) * p + pull
    weight = own_share(np.array([p]), np.array([True]), np.array([True]), pull)[0]
    assert agree * weight / (agree * weight + (1 - agree)) == pytest.approx(p)


def test_votes_against_a_suggestion_or_without_one_count_in_full():
    """Whatever the pull."""
    agrees, seen = np.array([False, False, True]), np.array([True, False, False])
    assert own_share(np.full(3, 0.1), agrees, seen, 0.9).tolist() == [1.0, 1.0, 1.0]
