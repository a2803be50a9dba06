"""Votes on chosen items speak for all items, weighted by how improbable their choice was.

    importance of a vote = 1 / (n_items * probability of its item at its step)         theory: [quality]

A uniform draw has importance 1. Items that a query preferred count less, items that it rarely picks count
more; where every item can be picked, a mean with these weights is a mean over all items.
"""

from typing import Any, NamedTuple

import numpy as np

from softspread._common.types import FloatArray
from softspread.errors import InputError
from softspread.votes.ballots import Ballots
from softspread.votes.table import ROUNDING, VoteTable


class Importance(NamedTuple):
    """How much each vote speaks for all items."""

    of_votes: FloatArray  # (n_votes,)  as in ``Ballots``

    @classmethod
    def read(cls, probabilities: Any, votes: VoteTable, ballots: Ballots, n_items: int) -> "Importance":
        """Read one probability per row of the votes; rows that take votes back need none."""
        hint = (
            "query(..., return_probabilities=True) gives that of a chosen item, 1 / n_items is that of a "
            "uniform draw."
        )
        try:
            given = np.asarray(probabilities, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"probabilities must be numbers, one per vote; {hint}") from error
        if given.shape != (len(votes),):
            raise InputError(
                f"probabilities must hold one number per vote ({len(votes)}), got shape {given.shape}; {hint}"
            )
        cast = given[votes.weights > 0]
        wrong = cast[~((cast > 0) & (cast <= 1))]
        if len(wrong):
            raise InputError(
                f"probabilities must be above 0 and at most 1 for every vote, got {wrong[0]:g}; {hint}"
            )
        inverse = np.zeros(len(given))
        inverse[votes.weights > 0] = 1 / (n_items * cast)
        return cls(ballots.of_votes(inverse))

    @property
    def is_uniform(self) -> bool:
        """Whether all votes speak alike, up to rounding."""
        return bool(np.ptp(self.of_votes) <= ROUNDING * self.of_votes.max())

    @property
    def n_effective(self) -> float:
        """How many uniform votes would be as good: (sum w)^2 / sum w^2.

        Examples
        --------
        >>> Importance(np.ones(10)).n_effective
        10.0
        """
        return float(self.of_votes.sum() ** 2 / (self.of_votes**2).sum())

    @property
    def note(self) -> str:
        """The basis of the estimate, in words."""
        return (
            f"{len(self.of_votes):,} votes, weighted by how probable the choice of their items was, judge "
            f"like {self.n_effective:,.0f} votes on random items."
        )
