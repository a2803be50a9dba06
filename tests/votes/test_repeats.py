"""One threshold and one sentence for too few second votes."""

from dataclasses import FrozenInstanceError

import pytest

from softspread.votes.repeats import REPEATS, RepeatRule, repeat_advice


def test_there_is_advice_exactly_below_the_threshold():
    """39 items with a second vote are too few, 40 are enough."""
    assert repeat_advice(REPEATS.enough - 1, 1000) is not None
    assert repeat_advice(REPEATS.enough, 1000) is None
    assert repeat_advice(REPEATS.enough - 1, REPEATS.enough) is not None


@pytest.mark.parametrize(
    ("n_repeated", "n_items", "words"),
    [
        (0, 1000, ("No item has a second vote;", "on 40 more items, chosen at random.")),
        (1, 1000, ("Only 1 item has a second vote;", "on 39 more items, chosen at random.")),
        (39, 1000, ("Only 39 items have a second vote;", "on 1 more item, chosen at random.")),
        (3, 20, ("Only 3 items have a second vote;", "Ask for a second vote on every item.")),
        (20, 20, ("Only 20 items have a second vote;", "more items would help.")),
        (0, 0, ("No item has a second vote;", "more items would help.")),
    ],
)
def test_the_advice_asks_for_no_more_items_than_there_are(n_repeated, n_items, words):
    """How many items to ask again, whatever the size of the dataset."""
    advice = repeat_advice(n_repeated, n_items)
    assert advice.startswith(words[0])
    assert advice.endswith(words[1])
    assert f"about {REPEATS.enough} to tell" in advice


def test_another_threshold_is_an_argument():
    """The rule is frozen and passed down."""
    assert repeat_advice(5, 1000, RepeatRule(enough=5)) is None
    assert "on 95 more items" in repeat_advice(5, 1000, RepeatRule(enough=100))
    with pytest.raises(FrozenInstanceError):
        REPEATS.enough = 1
