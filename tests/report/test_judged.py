"""Sections about models that voted and about neighbours."""

import numpy as np

from softspread import SoftLabeler, Votes

X = np.arange(80.0)[:, None]
ITEMS = np.arange(80)
WHO = np.repeat(["ann", "gpt", "claude"], 80)
RIGHT = ITEMS // 40
WRONG = np.where(ITEMS % 8 == 0, 1 - RIGHT, RIGHT)


def page(models, labels=RIGHT):
    votes = Votes.from_pairs(np.tile(ITEMS, 3), np.concatenate([labels, RIGHT, WRONG]), WHO)
    return SoftLabeler(n_neighbors=5, random_state=0).fit(X, votes, model_annotators=models).report()


def test_models_have_a_section_of_their_own():
    """With their agreement, where they are wrong, and what all are worth."""
    found = page(["gpt", "claude"])
    assert "Models that voted" in found
    assert "gpt agrees with 100 % of people" in found
    assert "claude agrees with 88 % of people" in found
    assert "Where it says" in found
    assert "Models that voted" not in page([])


def test_the_page_says_whether_votes_go_with_their_neighbours():
    """A table always, a warning where they do not."""
    assert "Do votes go with their neighbours?" in page([])
    assert "votes go with their neighbours" in page([])
    assert "neighbours say hardly more than chance" in page(
        ["gpt", "claude"], np.random.default_rng(0).permutation(RIGHT)
    )
