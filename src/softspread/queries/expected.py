"""How much a vote is expected to lower the posterior's squared error.

    own(q) = sum_c Var E[p_qc | a vote on q]                                  closed form, theory: [vote gain]
    others(q) = d_q sum_i phi_iq b_i^2 v_i k / ((N_i + k) (N_i + k + 1)),   i != q

The first is exact under the mixture. In the second, v_i / N_i is the noise of what neighbours' votes say
about item i, b_i their share in its soft label, phi_iq how much of a vote on q arrives there, k a small
number of votes that stands for what is believed before any arrives, d_q what a further vote on an item that
has votes tells others, compared with a first one. A pick changes the scores nearby at once.
"""

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.local_reach import weighted_reach
from softspread.posterior.posterior import Posterior
from softspread.queries.lottery import Lottery
from softspread.queries.pool import CandidatePool
from softspread.queries.rule import LotteryRule

BLOCK = 50_000  # items at once


def own_gain(posterior: Posterior) -> FloatArray:
    """(n,) expected fall of each item's total variance by one more vote on it.

    Without own votes it is (1 - |m|^2) E[1 / (nu + 1)]^2, where the expectation depends on the group alone.
    """
    found = disagreement(posterior) * single_vote_share(posterior) ** 2
    for first in range(0, len(posterior.voted), BLOCK):
        rows = posterior.voted[first : first + BLOCK]
        found[rows] = _gain_of_voted(posterior, rows)
    return np.maximum(found, 0.0)


def _gain_of_voted(posterior: Posterior, rows: IntArray) -> FloatArray:
    mixtures, nus = posterior.mixtures, posterior.mixtures.nus
    m, y = mixtures.means[rows].astype(np.float64), posterior.own[posterior.own_place[rows]]
    c = nus + y.sum(axis=1)[:, None]
    ratio = mixtures.weights[mixtures.place[rows]] / (c * (c + 1))
    return _variance_of_next_mean(m, y, ratio.sum(axis=1), ratio @ nus, ratio @ nus**2)


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


def disagreement(posterior: Posterior) -> FloatArray:
    """(n,) v = 1 - |m|^2: the chance that two votes drawn from what others say differ."""
    return np.asarray(1 - np.einsum("ij,ij->i", posterior.m, posterior.m, dtype=np.float64))


def single_vote_share(posterior: Posterior) -> FloatArray:
    """(n,) E[1 / (nu + 1)]: the weight of a first own vote in each item's soft label."""
    trust = posterior.trust
    return np.asarray((trust.law @ (1 / (trust.nus + 1)))[posterior.group])


def others_share(posterior: Posterior) -> FloatArray:
    """(n,) b: what others' votes count in each item's soft label, 1 without own votes."""
    share, voted = np.ones(posterior.n_items), posterior.voted
    mixtures, nus = posterior.mixtures, posterior.mixtures.nus
    total = posterior.own.sum(axis=1)[:, None]
    share[voted] = (mixtures.weights[mixtures.place[voted]] * nus / (nus + total)).sum(axis=1)
    return share


def worth_of_further_vote(posterior: Posterior) -> FloatArray:
    """(n,) d: what one more vote on an item tells others, compared with a first one.

    Votes on one item share its distance from its neighbours, of variance v / (nu + 1). The mean of c votes is
    known to others with precision r c / (v (r + c)), r = nu + 1; from c to c + 1 this grows by
    r^2 / (v (r + c) (r + c + 1)). Where neighbours are alike (large nu) a second vote is worth a first one.
    """
    worth, voted = np.ones(posterior.n_items), posterior.voted
    trust, r = posterior.trust, posterior.trust.nus + 1
    c = posterior.own.sum(axis=1)[:, None]
    further = r * (r + 1) / ((r + c) * (r + c + 1))
    worth[voted] = (trust.law[posterior.group[voted]] * further).sum(axis=1)
    return worth


class Neighbourhood:
    """The effect of a vote on each item on all others, given the evidence of picks so far.

    Parameters
    ----------
    diffusion : how votes travel
    evidence : (n,) N; the pool's own array, which grows with the picks
    worth : (n,) b^2 v
    further : (n,) d
    """

    def __init__(
        self,
        diffusion: Diffusion,
        evidence: FloatArray,
        worth: FloatArray,
        further: FloatArray,
        rule: LotteryRule,
    ) -> None:
        self._diffusion, self._evidence, self._rule = diffusion, evidence, rule
        self._worth, self._further = worth, further

    def gains(self) -> FloatArray:
        """(n,) by one solve for all items."""
        k = self._rule.before
        before = self._evidence + k
        weights = k * self._worth / (before * (before + 1))
        return self._further * weighted_reach(self._diffusion, weights, self._rule.tol)


def pick_by_expected_error(pool: CandidatePool, posterior: Posterior, batch_size: int) -> list[int]:
    """Draw items by what a vote on each is expected to take off the posterior's error."""
    rule = pool.lottery
    own_votes = np.zeros(pool.n_items)
    own_votes[posterior.voted] = posterior.own.sum(axis=1)
    pool.evidence[:] = np.maximum(pool.evidence - own_votes, 0.0)
    worth = others_share(posterior) ** 2 * disagreement(posterior)
    around = Neighbourhood(pool.diffusion, pool.evidence, worth, worth_of_further_vote(posterior), rule)
    repeats = rule.repeats(pool.n_votes / pool.n_items, int((pool.vote_counts > 1).sum()))
    lottery = Lottery(pool, rule.n_candidates, rule.uniform_share, repeats)
    return draw_in_turn(pool, batch_size, lottery, own_gain(posterior), around)


def pick_by_coverage(pool: CandidatePool, batch_size: int) -> list[int]:
    """Draw items whose votes reach much that no vote has reached: for the first votes."""
    rule, ones = pool.lottery, np.ones(pool.n_items)
    around = Neighbourhood(pool.diffusion, pool.evidence, ones, ones, rule)
    lottery = Lottery(pool, rule.coverage_candidates, rule.uniform_share, 0.0)
    return draw_in_turn(pool, batch_size, lottery, np.zeros(pool.n_items), around)


def draw_in_turn(
    pool: CandidatePool, batch_size: int, lottery: Lottery, own: FloatArray, around: Neighbourhood
) -> list[int]:
    """Draw one item after another; what neighbours gain is found again now and then.

    That is after a fixed share of all items was picked, so that the work per pick does not depend on their
    number. In between, the scores of the items that a pick reaches fall at once, as what they still bring
    does.
    """
    rule, picked, scores = pool.lottery, [], own
    every = max(1, int(rule.refresh * pool.n_items))
    for number in range(batch_size):
        if number % every == 0:
            scores = own + around.gains()
        row = lottery.draw(scores)
        picked.append(row)
        reached, phi = pool.reach(np.array([row]))[0]
        before = pool.evidence[reached] + rule.before
        fall = before / (before + phi)
        own[reached] *= fall
        scores[reached] *= fall
        pool.take(row, (reached, phi))
    return picked
