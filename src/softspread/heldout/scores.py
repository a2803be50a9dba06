"""How good is a setting? Scores of held-out predictions that speak for all items.

    q = prediction for item i without its own votes y,   L = mean |q - y|^2,   v = E |y - p|^2, the noise of
    one vote
    with its own votes:  p_hat = (1 - w) q + w mean(y),   E |p_hat - p|^2 = (1 - w)^2 (L - v) + w^2 v /
    (votes)

theory: [score]. L needs no second vote and is known well. v does, but one number is enough: the share of L
that is noise, learned from items with several votes. What these leave open stays open: a setting is judged by
the geometric mean of its error over all shares that are still possible, so that a small error is not given
away for a large one.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.heldout.masses import Mass
from softspread.heldout.split import HeldOut, OwnVotes
from softspread.spreading.evidence import soft_labels

SCORES = ("brier", "log")
LIKELIHOOD = {
    "brier": 2.0,
    "log": 1.0,
}  # per unit of score; Brier read as a Gaussian log-likelihood of spread 1/2
LOG_FLOOR = 1e-6  # one impossible vote must not decide the mean log score
BLOCK_ENTRIES = 4_000_000  # held-out masses in memory at once: 32 MB an array
SHARES: FloatArray = (
    np.arange(50) + 0.5
) / 50  # of L that may be noise; neither predictions nor votes are perfect
SHARE_BELIEF = (
    1.2  # before repeats are seen a share s is likely as s^(1.2 - 1): nearly alike, see docs/tuning.md
)
LEAST_ERROR = 1e-3  # of L: errors below are not told apart, and have a logarithm
POOLED_VOTES = (
    2.0  # an item's own estimate of its noise counts one per repeat, the estimate from all items this much
)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One alpha on one graph, all strengths."""

    means: FloatArray  # (strengths,)
    errors: FloatArray  # (strengths,)  standard errors
    best: int  # the strength with the lowest mean + penalty
    parts: FloatArray  # (v,)  what each voted item adds to the best mean


class Judge(Protocol):
    """Collects what voted items hold at one setting after another; lower scores are better."""

    weights: FloatArray  # (v,)  how much each voted item counts, sum 1

    def add(self, key: Hashable, spread: Mass) -> None:
        """Take in a setting."""
        ...

    def scored(self, key: Hashable) -> Scored:
        """Its scores, which may still change a little while settings are added."""
        ...


def standard_error(weights: FloatArray, parts: FloatArray) -> float:
    """Of a weighted mean over items, from what each item adds to it."""
    left = parts - weights * parts.sum()
    return float(np.sqrt(left @ left))


def _sum_up(weights: FloatArray, parts: FloatArray, penalties: FloatArray) -> Scored:
    """(strengths, v) -> means, errors and the best."""
    means = parts.sum(axis=1)
    best = int(np.argmin(means + penalties))
    return Scored(means, np.array([standard_error(weights, row) for row in parts]), best, parts[best].copy())


# ------------------------------------------------------------------------------------------------------ Brier
@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """What Brier scores need of the mass from others, per voted item."""

    evidence: FloatArray
    hit: FloatArray  # mass . mean vote
    squares: FloatArray  # mass . mass
    mixed: FloatArray  # mass . prior
    own: FloatArray  # evidence from the item's own votes


class BrierScore:
    """Expected Brier score of one more vote on a random item, by the formula of this module."""

    def __init__(
        self,
        own: OwnVotes,
        n_items: int,
        prior: FloatArray,
        strengths: Sequence[float],
        penalties: FloatArray,
    ) -> None:
        self._votes, self._prior, self._strengths, self._penalties = own, prior, strengths, penalties
        total = own.weight.sum(axis=1)
        counted = np.minimum(total, 1.0)  # votes of little weight judge little
        self.weights: FloatArray = counted / counted.sum()
        self._total = total
        self._mean_vote = own.weight / total[:, None]
        self._voted_share = len(own.voted) / n_items
        self._prior_hit, self._prior_squares = _dot(prior, self._mean_vote), _dot(prior, prior)
        self._sums: dict[Hashable, _Sums] = {}
        self._scored: dict[Hashable, Scored] = {}
        self._lowest = np.inf
        self.noise = VoteNoise(
            np.zeros(len(total)), np.zeros(len(total)), np.full(len(SHARES), 1 / len(SHARES))
        )

    @property
    def vote_noise(self) -> float:
        """Mean v: for whole votes, how often two votes on the same item differ."""
        return float(self.weights @ self.noise.expected)

    def add(self, key: Hashable, spread: Mass) -> None:
        """Take in a setting; the best prediction so far is the one that the noise of votes is read off
        from.
        """
        own = spread.reach[:, None] * self._votes.weight
        left = spread.mass - own
        left[left <= spread.noise * own] = 0.0  # rounding, not evidence
        self._sums[key] = sums = _Sums(
            left.sum(axis=1),
            _dot(left, self._mean_vote),
            _dot(left, left),
            _dot(left, self._prior),
            own.sum(axis=1),
        )
        losses = [self._loss(sums, kappa) for kappa in self._strengths]
        means = [float(self.weights @ loss) for loss in losses]
        best = int(np.argmin(means))
        if means[best] < self._lowest:
            self._lowest = means[best]
            self.noise = find_noise(self._votes, losses[best])
            self._scored.clear()

    def scored(self, key: Hashable) -> Scored:
        """Scores of a setting under the present estimate of the noise."""
        if key not in self._scored:
            parts = np.stack([self._parts(self._sums[key], kappa) for kappa in self._strengths])
            self._scored[key] = _sum_up(self.weights, parts, self._penalties)
        return self._scored[key]

    def _parts(self, sums: _Sums, kappa: float) -> FloatArray:
        """What each item adds to the score: as an item without votes, and as one with its own."""
        loss, v, c = self._loss(sums, kappa), self.noise, self._voted_share
        w = sums.own / (sums.own + sums.evidence + kappa)
        of_loss = (
            1 - c + c * (1 - w) ** 2
        )  # error = of_loss (loss - v) + of_noise v, with v = settled + share open
        of_noise = c * w**2 * self._votes.concentration
        start = self.weights * (of_loss * (loss - v.settled) + of_noise * v.settled)
        slope = self.weights * (of_noise - of_loss) * v.open
        least = max(LEAST_ERROR * self._lowest, float(np.finfo(np.float64).tiny))
        errors = np.maximum(start.sum() + SHARES * slope.sum(), least)
        mean = float(np.exp(v.chances @ np.log(errors)))  # geometric, over the possible shares
        stake = mean * v.chances / errors  # how much each share matters; sums to 1 where the share is known
        parts = stake.sum() * start + (stake @ SHARES) * slope
        parts += self.weights * (mean - parts.sum())  # nothing but where an error was below the least
        return np.asarray(parts + self.weights * v.expected)

    def _loss(self, sums: _Sums, kappa: float) -> FloatArray:
        """Mean |q - y|^2 over an item's own votes y, where q has seen none of them."""
        total = sums.evidence + kappa
        some = total > 0
        total = np.where(some, total, 1.0)
        right = (sums.hit + kappa * self._prior_hit) / total
        length = (sums.squares + 2 * kappa * sums.mixed + kappa * kappa * self._prior_squares) / total**2
        q_hit, q_squares = np.where(some, right, self._prior_hit), np.where(some, length, self._prior_squares)
        return np.asarray(
            np.maximum(self._votes.squares - 2 * q_hit + q_squares, 0.0)
        )  # rounding may leave -1e-16


@dataclass(frozen=True, slots=True, eq=False)
class VoteNoise:
    """v of each voted item: settled + share * open, where the share is one of SHARES with these chances."""

    settled: FloatArray  # (v,)  what an item's own votes say
    open: FloatArray  # (v,)  times the common share
    chances: FloatArray  # (len(SHARES),)  sum 1

    @property
    def expected(self) -> FloatArray:
        """(v,) mean over the shares."""
        return np.asarray(self.settled + float(self.chances @ SHARES) * self.open)


def find_noise(own: OwnVotes, loss: FloatArray) -> VoteNoise:
    """Noise of each voted item: its own estimate where it has several votes, drawn towards a share of its
    loss.

    Differences among repeated votes are counted as rare events: seen d times where a share of 1 would show e,
    they make a share s likely as s^d exp(-s e).

    Parameters
    ----------
    loss : (v,) mean |q - y|^2 of a good prediction q that has not seen the item's votes; its expectation is
    at least v
    """
    repeats = 1 / own.concentration - 1  # effective number of votes, less one
    mean_vote = own.weight / own.weight.sum(axis=1)[:, None]
    spread = np.maximum(own.squares - _dot(mean_vote, mean_vote), 0.0)
    several = repeats > 0
    v = np.where(several, spread / np.where(several, 1 - own.concentration, 1.0), 0.0)  # unbiased
    differences, expected = float(repeats @ v), float(repeats @ loss)
    likely = (SHARE_BELIEF - 1 + differences) * np.log(SHARES) - SHARES * expected
    chances = np.exp(likely - likely.max())
    pooled = repeats + POOLED_VOTES
    return VoteNoise(repeats * v / pooled, POOLED_VOTES * loss / pooled, chances / chances.sum())


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", left, right))


# -------------------------------------------------------------------------------------------------- log score
class LogScore:
    """Mean -log p of held-out votes, weighted as :func:`~softspread.heldout.split.hold_out` says."""

    def __init__(
        self, held: HeldOut, prior: FloatArray, strengths: Sequence[float], penalties: FloatArray
    ) -> None:
        self._held, self._prior, self._strengths, self._penalties = held, prior, strengths, penalties
        self.weights = self._per_item(held.shares)
        self._scored: dict[Hashable, Scored] = {}

    def add(self, key: Hashable, spread: Mass) -> None:
        """Take in a setting."""
        scores = log_scores(self._held, spread, self._prior, self._strengths)
        parts = np.stack([self._per_item(self._held.shares * row) for row in scores])
        self._scored[key] = _sum_up(self.weights, parts, self._penalties)

    def scored(self, key: Hashable) -> Scored:
        """Scores of a setting."""
        return self._scored[key]

    def _per_item(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(self._held.position, values, len(self._held.voted)), dtype=np.float64)


def log_scores(held: HeldOut, spread: Mass, prior: AnyArray, strengths: Sequence[float]) -> FloatArray:
    """-log p of the votes that judge each trial, (len(strengths), t); a soft vote averages over its
    classes.
    """
    out = np.empty((len(strengths), len(held.position)))
    size = max(1, BLOCK_ENTRIES // max(1, spread.mass.shape[1]))
    for first in range(0, len(held.position), size):
        part = slice(first, first + size)
        at = held.position[part]
        removed = held.removed[part].toarray() * spread.reach[at][:, None]
        left = spread.mass[at] - removed
        left[left <= spread.noise * removed] = 0.0
        judged = held.judged[part].toarray()
        judged /= judged.sum(axis=1, keepdims=True)
        for row, kappa in enumerate(strengths):
            p = soft_labels(left, prior[at], kappa)
            out[row, part] = -(judged * np.log(np.maximum(p, LOG_FLOOR))).sum(axis=1)
    return out
