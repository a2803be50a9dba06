"""How far a suggestion pulls votes, and what a vote that agrees with one is worth.

    P(vote = c) = (1 - pull) p[c] + pull [c = suggested]

A share of the items comes without its suggestion. How often votes agree with the suggestion where it was
seen, and where it was withheld, tells the pull; a vote that agrees was the person's own with the probability

    (1 - pull) p / ((1 - pull) p + pull)        p: the probability of the suggested class

and counts as much of a vote. A vote against a suggestion that was seen is the person's own.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from softspread._common.types import BoolArray, FloatArray

FEWEST = 20  # votes with, and votes without a suggestion: with fewer nobody can tell
LARGEST = 0.95  # even where everybody agreed, some would have anyway


@dataclass(frozen=True, slots=True)
class Pull:
    """Share of the votes that a suggestion decided, with an interval."""

    value: float
    lower: float
    upper: float
    n_seen: int
    n_withheld: int

    @property
    def is_known(self) -> bool:
        """Whether there were enough votes of both kinds."""
        return min(self.n_seen, self.n_withheld) >= FEWEST


def estimate_pull(agrees: BoolArray, seen: BoolArray, level: float = 0.9) -> Pull:
    """The pull of suggestions.

    Parameters
    ----------
    agrees : (n_votes,) whether the vote is for the suggested class
    seen : (n_votes,) whether the suggestion was shown; where not, it was withheld at random

    Examples
    --------
    >>> agrees = np.repeat([True, False, True, False], [80, 20, 60, 40])
    >>> round(estimate_pull(agrees, np.arange(200) < 100).value, 2)
    0.49
    """
    n_seen, n_withheld = int(seen.sum()), int((~seen).sum())
    if min(n_seen, n_withheld) < FEWEST:
        return Pull(0.0, 0.0, LARGEST, n_seen, n_withheld)
    # One agreement and one disagreement more: neither share is ever 0 or 1.
    shown = (agrees[seen].sum() + 1) / (n_seen + 2)
    own = (agrees[~seen].sum() + 1) / (n_withheld + 2)
    value = (shown - own) / (1 - own)
    spread = np.sqrt(
        shown * (1 - shown) / n_seen / (1 - own) ** 2
        + own * (1 - own) / n_withheld * ((1 - shown) / (1 - own) ** 2) ** 2
    )
    reach = NormalDist().inv_cdf((1 + level) / 2) * float(spread)
    value, lower, upper = np.clip([value, value - reach, value + reach], 0.0, LARGEST).tolist()
    return Pull(value, lower, upper, n_seen, n_withheld)


def own_share(p: FloatArray, agrees: BoolArray, seen: BoolArray, pull: float) -> FloatArray:
    """(n_votes,) how much of each vote is the person's own; ``p`` is that of the suggested class."""
    own = (1 - pull) * p
    share = own / np.maximum(own + pull, np.finfo(np.float64).tiny)
    return np.where(agrees & seen, share, 1.0)
