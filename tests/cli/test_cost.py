"""The estimate of time and memory grows with what grows, and follows the choice of search."""

import dataclasses

import pytest

from softspread.cli.cost import estimate_cost, free_memory

BASE = {"n_items": 100_000, "n_dimensions": 20, "n_votes": 10_000, "n_classes": 10}


@pytest.mark.parametrize("blends", [True, False])
@pytest.mark.parametrize("name", list(BASE))
def test_more_costs_more(name, blends):
    """Ten times as many items, dimensions, votes or classes never cost less, by either method."""
    small = estimate_cost(**BASE, blends=blends)
    large = estimate_cost(**{**BASE, name: 10 * BASE[name]}, blends=blends)
    assert large.total_seconds > small.total_seconds
    assert large.peak_bytes >= small.peak_bytes


def test_choices_cost_what_they_do():
    """Choosing alpha and telling annotators apart cost time, threads save it, single precision saves
    memory."""
    base = estimate_cost(**BASE)
    assert estimate_cost(**BASE, tunes=False).seconds["fit"] < base.seconds["fit"]
    assert estimate_cost(**BASE, n_annotators=10).seconds["fit"] > base.seconds["fit"]
    assert estimate_cost(**BASE, n_features=512).seconds["fit"] > base.seconds["fit"]
    assert estimate_cost(**BASE, n_features=512).peak_bytes > base.peak_bytes
    assert estimate_cost(**BASE, blends=False).peak_bytes < base.peak_bytes
    assert estimate_cost(**BASE, n_annotators=2) == dataclasses.replace(base, n_annotators=2)
    assert estimate_cost(**BASE, threads=8).total_seconds < base.total_seconds
    assert estimate_cost(**BASE, itemsize=8).peak_bytes >= base.peak_bytes


def test_the_search_is_that_of_the_graph():
    """Exact search is quadratic in many dimensions, so that large inputs go to the inverted file."""
    exact, auto = (
        estimate_cost(200_000, 64, 100, 2, index=index).seconds["graph"] for index in ("exact", "auto")
    )
    assert exact > auto
    assert estimate_cost(10_000, 20, 100, 2, index="exact") == estimate_cost(10_000, 20, 100, 2)


def test_free_memory_is_a_number_where_known():
    """Linux says how much it could give."""
    free = free_memory()
    assert free is None or free > 0
