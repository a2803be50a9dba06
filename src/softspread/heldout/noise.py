"""How much of the held-out loss is noise of single votes?

    L = mean |q - y|^2 of votes y that the prediction q has not seen,   v = E |y - p|^2 <= E L

theory: [score]. L is known well without any second vote. v needs second votes, but one number is enough: the
share of L that is noise. What the second votes leave open stays open, as a distribution over shares.
"""

from dataclasses import dataclass

import numpy as np

from softspread._common.types import FloatArray
from softspread.votes.ballots import Ballots


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """Assumptions about the share of the held-out loss that is noise."""

    n_shares: int = 50  # grid of shares between 0 and 1, both excluded: neither side is perfect
    # Before second votes are seen a share s is likely as s^(belief - 1), see docs/tuning.md
    belief: float = 1.2
    pooled_votes: float = 2.0  # what all items say counts this much, an item's own estimate one per repeat

    @property
    def shares(self) -> FloatArray:
        """(n_shares,) the grid."""
        return (np.arange(self.n_shares) + 0.5) / self.n_shares


@dataclass(frozen=True, slots=True, eq=False)
class VoteNoise:
    """v of each voted item: ``own + share * pooled``, where ``share`` is common and has these chances."""

    own: FloatArray  # (v,)  what the item's own votes say
    pooled: FloatArray  # (v,)
    shares: FloatArray  # (s,)
    chances: FloatArray  # (s,)  sum 1

    @property
    def expected(self) -> FloatArray:
        """(v,) mean over the shares."""
        return np.asarray(self.own + float(self.chances @ self.shares) * self.pooled)


def find_noise(ballots: Ballots, loss: FloatArray, model: NoiseModel | None = None) -> VoteNoise:
    """Noise of each voted item: its own estimate if it has several votes, drawn to a share of its loss.

    Differences among repeated votes are counted as rare events: seen d times where a share of 1 would show e,
    they make a share s likely as s^d exp(-s e).

    Parameters
    ----------
    loss : (v,) mean |q - y|^2 of a good prediction q that has not seen the item's votes
    """
    model = NoiseModel() if model is None else model
    shares, v = model.shares, ballots.own_noise
    repeats = 1 / ballots.concentration - 1  # effective number of votes, less one
    differences, expected = float(repeats @ v), float(repeats @ loss)
    likely = (model.belief - 1 + differences) * np.log(shares) - shares * expected
    chances = np.exp(likely - likely.max())
    pooled = repeats + model.pooled_votes
    return VoteNoise(
        repeats * v / pooled, model.pooled_votes * loss / pooled, shares, chances / chances.sum()
    )
