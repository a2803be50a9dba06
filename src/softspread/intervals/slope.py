"""How fast soft labels change with distance, read from votes so that it errs on the steep side.

Take a vote on a voted item i, and one that has travelled to i from another item j, drawn by what it counts
there. With v = P(two votes on one item differ)

    A = P(they differ) = E|p_i - p_j|^2 / 2 + v,     D = E|x_i - x_j|

    L = sqrt((1 - 1/C) 2 (A - v)) / D                                                    theory: [slope]

A counts at its upper confidence end and v at its lower one, which is 0 where no item has a second vote.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from softspread._common.types import BoolArray, FloatArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import profile_sums
from softspread.errors import InputError
from softspread.heldout.masses import mass_of_state
from softspread.intervals.vote_sums import diameter
from softspread.spreading.state import SpreadState
from softspread.votes.ballots import Ballots


@dataclass(frozen=True, slots=True)
class SlopeRule:
    """How the slope is read from votes."""

    level: float = 0.9  # one-sided, of each of the two ends: that both miss is rare
    least_evidence: float = 1e-3  # virtual votes from others; of less, rounding is a large part


RULE = SlopeRule()


def estimate_lipschitz(state: SpreadState, rule: SlopeRule = RULE) -> float:
    """The slope of soft labels over the distances that votes travel, rather too steep than too flat.

    It is the root mean square of the largest difference of any class, per mean distance: single pairs may be
    steeper. Votes are read as cast, since smoothed soft labels are flatter than the truth.

    Parameters
    ----------
    state : votes as cast, and how they were spread; what one annotator says about an item is one vote

    Returns
    -------
    L, not negative; :class:`InputError` where the graph has no features, or no vote has reached another voted
    item
    """
    diffusion = state.diffusion
    if diffusion.alpha == 0:
        return 0.0  # no vote travels
    if diffusion.graph.features is None:
        raise InputError(
            "the Lipschitz constant cannot be estimated: this graph was made from an affinity and has no "
            "features. Pass lipschitz=0 for intervals without bias, or method='wilson'."
        )
    ballots = Ballots.of(state.votes, state.n_classes)
    ballots = ballots.weighted(np.ones(ballots.n_annotators))
    left = mass_of_state(state, ballots.voted).without(ballots.counts)
    evidence = left.sum(axis=1)
    heard = evidence >= rule.least_evidence
    travelled = _travelled(diffusion, ballots, evidence, heard)
    if not travelled > 0:
        raise InputError(
            f"the Lipschitz constant cannot be estimated from votes on {len(ballots.voted)} items: no vote "
            "has reached another voted item. Collect more votes, or pass lipschitz."
        )
    others = left[heard] / evidence[heard, None]
    differ = 1 - (ballots.mean_vote[heard] * others).sum(axis=1)  # soft votes: at least |y_i - y_j|^2 / 2
    noise = ballots.own_noise[ballots.opinions.number > 1]
    excess = _upper_end(differ, rule.level) - _lower_end(noise, rule.level)
    largest_class = 1 - 1 / ballots.n_classes  # a class differs by at most this share of |p_i - p_j|^2
    return float(np.sqrt(largest_class * 2 * max(excess, 0.0)) / travelled)  # [slope]


def _travelled(diffusion: Diffusion, ballots: Ballots, evidence: FloatArray, heard: BoolArray) -> float:
    """Mean distance that others' votes have come to the voted items; too short where profiles are cut."""
    far = diameter(diffusion.graph)
    if not heard.any() or far == 0:
        return 0.0
    weights = np.stack([ballots.totals, ballots.opinions.squares], axis=1)
    sums = profile_sums(diffusion, ballots.voted, weights, 1 / far)  # min(1, dist / far) cuts nothing
    return float((far * sums.bias[ballots.voted][heard] / evidence[heard]).mean())


def _upper_end(shares: FloatArray, level: float) -> float:
    """Exact binomial end of a mean share, one-sided; 1 without observations."""
    n, hits = len(shares), float(np.clip(shares, 0.0, 1.0).sum())
    return float(betaincinv(hits + 1, n - hits, level)) if hits < n else 1.0


def _lower_end(shares: FloatArray, level: float) -> float:
    """The same from below; 0 without observations."""
    return 1 - _upper_end(1 - shares, level)
