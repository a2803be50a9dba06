"""The constants of the query strategies."""

import dataclasses

import pytest

from softspread.queries.rule import DEFAULT_RULE, LotteryRule, QueryRule


def test_sharpness_grows_linearly_up_to_its_end():
    """1 without votes, half-way at half the votes, the sharpest from there on."""
    rule = QueryRule(sharpest_from=0.4)
    assert [rule.sharpness(votes, 3.0) for votes in (0.0, 0.2, 0.4, 5.0)] == pytest.approx([1, 2, 3, 3])
    assert rule.sharpness(0.3, 1.0) == 1.0


def test_a_rule_cannot_be_changed():
    """Another rule is a new object."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEFAULT_RULE.sharpest = 3.0


def test_the_share_of_repeats_follows_the_votes_until_there_are_enough():
    """Half the votes per item within bounds; with enough second votes the later share."""
    rule = LotteryRule(first_repeats=0.1, most_repeats=0.4, later_repeats=0.03)
    assert [rule.repeats(votes, 0) for votes in (0.0, 0.5, 9.0)] == pytest.approx([0.1, 0.25, 0.4])
    assert rule.repeats(9.0, 10_000) == 0.03
