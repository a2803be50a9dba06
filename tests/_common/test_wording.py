"""Numbers in sentences."""

import pytest

from softspread import Votes, affinity_graph
from softspread._common.wording import counted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "item", "0 items"),
        (1, "item", "1 item"),
        (1_500, "vote", "1,500 votes"),
        (2, "class", "2 classes"),
    ],
)
def test_nouns_follow_their_number(number, noun, text):
    """One item, two items, two classes."""
    assert counted(number, noun) == text


def test_representations_know_the_singular():
    """One vote on one item is not "1 votes on 1 items"."""
    assert repr(Votes.from_pairs([3], ["cat"])) == "Votes(1 vote on 1 item for 1 class)"
    assert repr(Votes.from_pairs([3, 4], ["cat", "dog"], annotators=["ann", "ann"])) == (
        "Votes(2 votes on 2 items for 2 classes by 1 annotator)"
    )
    assert repr(affinity_graph([[0, 1], [1, 0]])) == "Graph(2 items: 1 edge, 1 component)"
