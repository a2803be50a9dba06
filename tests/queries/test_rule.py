"""The constants of the query strategies."""

import dataclasses

import pytest

from softspread.queries.rule import DEFAULT_RULE, QueryRule


def test_sharpness_grows_linearly_up_to_its_end():
    """1 without votes, half-way at half the votes, the sharpest from there on."""
    rule = QueryRule(sharpest_from=0.4)
    assert [rule.sharpness(votes, 3.0) for votes in (0.0, 0.2, 0.4, 5.0)] == pytest.approx([1, 2, 3, 3])
    assert rule.sharpness(0.3, 1.0) == 1.0


def test_a_rule_cannot_be_changed():
    """Another rule is a new object."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEFAULT_RULE.sharpest = 3.0
