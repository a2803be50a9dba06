"""What a vote is expected to take off the posterior's squared error.

    own(q) = sum_c Var E[p_qc | a vote on q]                                  closed form, theory: [vote gain]
    others(q) = sum_i phi_iq b_i^2 v_i k / ((N_i + k) (N_i + k + 1)),   i != q

The first is exact under the mixture. In the second, v_i / N_i is the noise of what neighbours' votes say
about item i, b_i their share in its soft label, phi_iq how much of a vote on q arrives there, k a small
number of votes that stands for what is believed before any arrives. A pick changes the scores nearby at
once.
"""

import numpy as np

from softspread._common.types import FloatArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.reach import weighted_reach
from softspread.posterior.posterior import Posterior
from softspread.queries.lottery import Lottery
from softspread.queries.pool import CandidatePool
from softspread.queries.rule import LotteryRule
from softspread.votes.repeats import REPEATS

BLOCK = 50_000  # items at once


def own_gain(posterior: Posterior) -> FloatArray:
    """(n,) expected fall of each item's total variance by one more vote on it."""
    mixtures, nus = posterior.mixtures, posterior.mixtures.nus
    found = np.empty(posterior.n_items)
    for first in range(0, posterior.n_items, BLOCK):
        part = slice(first, first + BLOCK)
        m, y = mixtures.means[part].astype(np.float64), _own_votes(posterior, part)
        c = nus + y.sum(axis=1)[:, None]
        ratio = mixtures.weights[mixtures.place[part]] / (c * (c + 1))
        found[part] = _variance_of_next_mean(m, y, ratio.sum(axis=1), ratio @ nus, ratio @ nus**2)
    return np.maximum(found, 0.0)


def _own_votes(posterior: Posterior, part: slice) -> FloatArray:
    place = posterior.own_place[part]
    y = np.zeros((len(place), posterior.n_classes))
    y[place >= 0] = posterior.own[place[place >= 0]]
    return y


def _variance_of_next_mean(
    m: FloatArray, y: FloatArray, zero: FloatArray, one: FloatArray, two: FloatArray
) -> FloatArray:
    """Sum over classes of the variance of E[p | vote], where zero, one, two = sum_k w nu^r / (c (c + 1)).

    A vote for j has probability p_j = sum_k w a_j / c and leads to (u_j m + v_j (y + e_j)) / p_j with
    u_j = two m_j + one y_j and v_j = one m_j + zero y_j.
    """
    u, v = two[:, None] * m + one[:, None] * y, one[:, None] * m + zero[:, None] * y
    mm, my, yy = (np.einsum("ij,ij->i", a, b)[:, None] for a, b in ((m, m), (m, y), (y, y)))
    next_square = u * u * mm + v * v * (yy + 1 + 2 * y) + 2 * u * v * (my + m)
    p = u * m.sum(axis=1)[:, None] + v * (1 + y.sum(axis=1)[:, None])  # the new mean's entries sum to 1
    squares = np.divide(next_square, p, out=np.zeros_like(p), where=p > 0).sum(axis=1)
    return np.asarray(squares - np.einsum("ij,ij->i", p, p))


class Neighbourhood:
    """What a vote on each item does for all others, kept up to date while picks are made."""

    def __init__(
        self, diffusion: Diffusion, evidence: FloatArray, worth: FloatArray, rule: LotteryRule
    ) -> None:
        self._diffusion, self._evidence, self._worth, self._rule = diffusion, evidence, worth, rule

    def gains(self) -> FloatArray:
        """(n,) by one solve for all items."""
        k = self._rule.before
        before = self._evidence + k
        return weighted_reach(self._diffusion, k * self._worth / (before * (before + 1)), self._rule.tol)


def pick_by_expected_error(pool: CandidatePool, posterior: Posterior, batch_size: int) -> list[int]:
    """Draw items by what a vote on each is expected to take off the posterior's error."""
    rule = pool.lottery
    own_votes = np.zeros(pool.n_items)
    own_votes[posterior.voted] = posterior.own.sum(axis=1)
    others_share = 1 - own_votes / posterior.evidence()
    v = 1 - np.einsum("ij,ij->i", posterior.m, posterior.m, dtype=np.float64)
    pool.evidence[:] = np.maximum(pool.evidence - own_votes, 0.0)
    around = Neighbourhood(pool.diffusion, pool.evidence, others_share**2 * v, rule)
    few = not REPEATS.are_enough(int((pool.vote_counts > 1).sum()))
    repeats = rule.early_repeats if few else rule.later_repeats
    lottery = Lottery(pool, rule.n_candidates, rule.uniform_share, repeats)
    return draw_in_turn(pool, batch_size, lottery, own_gain(posterior), around)


def pick_by_coverage(pool: CandidatePool, batch_size: int) -> list[int]:
    """Draw items whose votes reach much that no vote has reached: for the first votes."""
    rule = pool.lottery
    around = Neighbourhood(pool.diffusion, pool.evidence, np.ones(pool.n_items), rule)
    lottery = Lottery(pool, rule.coverage_candidates, rule.uniform_share, 0.0)
    return draw_in_turn(pool, batch_size, lottery, np.zeros(pool.n_items), around)


def draw_in_turn(
    pool: CandidatePool, batch_size: int, lottery: Lottery, own: FloatArray, around: Neighbourhood
) -> list[int]:
    """Draw one item after another; what neighbours gain is found again after 1, 2, 4, 8 ... picks.

    In between, the scores of the items that a pick reaches fall at once, as what they still bring does.
    """
    rule, picked, scores = pool.lottery, [], own
    for number in range(batch_size):
        if number & (number - 1) == 0:
            scores = own + rule.neighbours * around.gains()
        row = lottery.draw(scores)
        picked.append(row)
        reached, phi = pool.reach(np.array([row]))[0]
        before = pool.evidence[reached] + rule.before
        fall = before / (before + phi)
        own[reached] *= fall
        scores[reached] *= fall
        pool.take(row, (reached, phi))
    return picked
