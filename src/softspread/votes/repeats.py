"""When second votes are too few, and the one sentence that says so.

Only items with two or more votes show how noisy a vote is, and with it how far an item's own vote and its
neighbours can be trusted. Tuning, intervals, quality, the command line, the page and the report all take
the threshold and the sentence from here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RepeatRule:
    """How many items need a second vote.

    Examples
    --------
    >>> RepeatRule().are_enough(39), RepeatRule().are_enough(40)
    (False, True)
    """

    # Forty pairs of votes show how often two votes differ to within 0.08 (standard error at worst). One vote
    # on every item and 40 second ones lead to an alpha near the best on human votes.
    enough: int = 40

    def are_enough(self, n_repeated: int) -> bool:
        """Whether this many items with two or more votes show how noisy a vote is."""
        return n_repeated >= self.enough


REPEATS = RepeatRule()


def repeat_advice(n_repeated: int, n_items: int, rule: RepeatRule = REPEATS) -> str | None:
    """The advice to give while too few items have a second vote.

    Parameters
    ----------
    n_repeated : int
        Items with two or more votes, :attr:`softspread.votes.ballots.Ballots.n_repeated`.
    n_items : int
        All items, with and without votes.
    rule : RepeatRule
        How many are enough.

    Returns
    -------
    str or None
        Whole sentences, the same at every door; None where there are enough.

    Examples
    --------
    >>> print(*repeat_advice(3, 1000).split(". "), sep=chr(10))
    Only 3 items have a second vote; it takes about 40 to tell how far votes and neighbours can be trusted
    Until then the distance that votes travel, the intervals and the quality rest on assumptions
    Ask for a second vote on 37 more items, chosen at random.
    >>> repeat_advice(40, 1000) is None
    True
    """
    if rule.are_enough(n_repeated):
        return None
    return (
        f"{_found(n_repeated)}; it takes about {rule.enough} to tell how far votes and neighbours can be "
        "trusted. Until then the distance that votes travel, the intervals and the quality rest on "
        "assumptions. "
        f"{_remedy(n_repeated, n_items, rule)}"
    )


def _found(n_repeated: int) -> str:
    if not n_repeated:
        return "No item has a second vote"
    return f"Only {n_repeated} item{' has' if n_repeated == 1 else 's have'} a second vote"


def _remedy(n_repeated: int, n_items: int, rule: RepeatRule) -> str:
    missing, left = rule.enough - n_repeated, n_items - n_repeated
    if left <= 0:
        return "All items have one: more items would help."
    if left <= missing:
        return "Ask for a second vote on every item."
    return f"Ask for a second vote on {missing} more item{'s' * (missing > 1)}, chosen at random."
