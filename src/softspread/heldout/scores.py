"""How good is a setting? Scores of held-out predictions that hold for all items.

    q = prediction for item i without its own votes y,   L = mean |q - y|^2,  v = E |y - p|^2, noise of a vote
    with its own votes:  p_hat = (1 - w) q + w mean(y)
    E |p_hat - p|^2 = (1 - w)^2 (L - v) + w^2 v / (votes)                                     theory: [score]

How much of L is noise is known only in part (`noise.py`), so a setting is judged by the geometric mean of its
error over all shares that are still possible: a small error is not given away for a large one.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.heldout.masses import VotedMass
from softspread.heldout.noise import NoiseModel, VoteNoise, find_noise
from softspread.heldout.split import HeldOut
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots

SCORES = ("brier", "log")
# Log-likelihood per unit of score; Brier read as a Gaussian log-likelihood of spread 1/2
LIKELIHOOD = {"brier": 2.0, "log": 1.0}
LOG_FLOOR = 1e-6  # one impossible vote must not decide the mean log score
BLOCK_ENTRIES = 4_000_000  # held-out masses in memory at once: 32 MB per array
LEAST_ERROR = 1e-3  # of L: smaller errors count as equal, and have a logarithm


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One alpha on one graph, all strengths."""

    table: tuple[FloatArray, FloatArray, FloatArray]  # (strengths,) each: mean, standard error, penalty
    objective: float  # the lowest mean + penalty
    parts: FloatArray  # (v,)  what each voted item adds to the mean of that strength


class Judge(Protocol):
    """Collects what voted items hold at one setting after another; lower scores are better."""

    weights: FloatArray  # (v,)  how much each voted item counts, sum 1

    def add(self, key: Hashable, held: VotedMass) -> None:
        """Add a setting."""
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
    objectives = means + penalties
    best = int(np.argmin(objectives))
    errors = np.array([standard_error(weights, row) for row in parts])
    return Scored((means, errors, penalties), float(objectives[best]), parts[best].copy())


def brier(p: FloatArray, mean_vote: FloatArray, sharpness: FloatArray | float = 1.0) -> FloatArray:
    """(v,) mean |p - y|^2 over votes y with this mean and this mean |y|^2."""
    return np.asarray(_dot(p, p) - 2 * _dot(p, mean_vote) + sharpness)


def leave_one_out_scores(
    held: VotedMass, ballots: Ballots, prior: FloatArray, strengths: Sequence[float]
) -> FloatArray:
    """Weighted mean Brier score of each vote predicted without it, (len(strengths),), theory [leave one out].

    ``prior`` has one row per voted item.
    """
    at, taken = ballots.item_of_vote, ballots.content.toarray()
    weight = taken.sum(axis=1)
    left, vote = held.without(taken, at), taken / weight[:, None]
    predicted = (soft_labels(left, prior[at], kappa) for kappa in strengths)
    losses = [weight @ brier(p, vote, _dot(vote, vote)) for p in predicted]
    return np.asarray(losses / weight.sum())


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", left, right))


# ------------------------------------------------------------------------------------------------------ Brier
@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Sums of the mass from others that Brier scores need, per voted item."""

    evidence: FloatArray
    hit: FloatArray  # mass . mean vote
    squares: FloatArray  # mass . mass
    mixed: FloatArray  # mass . prior
    own: FloatArray  # evidence from the item's own votes


class BrierScore:
    """Expected Brier score of one more vote on a random item, by the formula of this module."""

    def __init__(
        self,
        ballots: Ballots,
        n_items: int,
        prior: FloatArray,
        strengths: Sequence[float],
        penalties: FloatArray,
        noise_model: NoiseModel | None = None,
    ) -> None:
        self._ballots, self._prior, self._strengths, self._penalties = ballots, prior, strengths, penalties
        self._noise_model = NoiseModel() if noise_model is None else noise_model
        counted = np.minimum(ballots.totals, 1.0)  # votes of little weight judge little
        self.weights: FloatArray = counted / counted.sum()
        self._voted_share = len(ballots.voted) / n_items
        self._prior_hit, self._prior_squares = _dot(prior, ballots.mean_vote), _dot(prior, prior)
        self._sums: dict[Hashable, _Sums] = {}
        self._scored: dict[Hashable, Scored] = {}
        self._lowest = np.inf
        self.noise: VoteNoise | None = None  # that of the best prediction so far

    @property
    def vote_noise(self) -> float:
        """Mean v: for whole votes, how often two votes on the same item differ."""
        return 0.0 if self.noise is None else float(self.weights @ self.noise.expected)

    def add(self, key: Hashable, held: VotedMass) -> None:
        """Add a setting; the noise of votes is read off the best prediction so far."""
        left = held.without(self._ballots.counts)
        self._sums[key] = sums = _Sums(
            left.sum(axis=1),
            _dot(left, self._ballots.mean_vote),
            _dot(left, left),
            _dot(left, self._prior),
            held.reach * self._ballots.totals,
        )
        losses = [self._loss(sums, kappa) for kappa in self._strengths]
        means = [float(self.weights @ loss) for loss in losses]
        best = int(np.argmin(means))
        if self.noise is None or means[best] < self._lowest:
            self._lowest = means[best]
            self.noise = find_noise(self._ballots, losses[best], self._noise_model)
            self._scored.clear()

    def scored(self, key: Hashable) -> Scored:
        """Scores of a setting under the present estimate of the noise."""
        if key not in self._scored and self.noise is not None:
            parts = np.stack([self._parts(self._sums[key], kappa, self.noise) for kappa in self._strengths])
            self._scored[key] = _sum_up(self.weights, parts, self._penalties)
        return self._scored[key]

    def _parts(self, sums: _Sums, kappa: float, v: VoteNoise) -> FloatArray:
        """Contribution of each item to the score: as an item without votes, and as one with its own."""
        loss, c = self._loss(sums, kappa), self._voted_share
        w = sums.own / (sums.own + sums.evidence + kappa)
        of_loss = 1 - c + c * (1 - w) ** 2  # error = of_loss (loss - v) + of_noise v
        of_noise = c * w**2 * self._ballots.concentration
        start = self.weights * (of_loss * (loss - v.own) + of_noise * v.own)
        slope = self.weights * (of_noise - of_loss) * v.pooled
        least = max(LEAST_ERROR * self._lowest, float(np.finfo(np.float64).tiny))
        errors = np.maximum(start.sum() + v.shares * slope.sum(), least)
        mean = float(np.exp(v.chances @ np.log(errors)))  # geometric, over the possible shares
        stake = mean * v.chances / errors  # how much each share matters; sums to 1 where the share is known
        parts = stake.sum() * start + (stake @ v.shares) * slope
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
        # rounding may leave -1e-16
        return np.asarray(np.maximum(self._ballots.sharpness - 2 * q_hit + q_squares, 0.0))


# -------------------------------------------------------------------------------------------------- log score
class LogScore:
    """Mean -log p of held-out votes, weighted as :func:`~softspread.heldout.split.hold_out` says."""

    def __init__(
        self, held_out: HeldOut, prior: FloatArray, strengths: Sequence[float], penalties: FloatArray
    ) -> None:
        self._held_out, self._prior, self._strengths, self._penalties = held_out, prior, strengths, penalties
        self.weights = self._per_item(held_out.shares)
        self._scored: dict[Hashable, Scored] = {}

    def add(self, key: Hashable, held: VotedMass) -> None:
        """Add a setting."""
        scores = log_scores(self._held_out, held, self._prior, self._strengths)
        parts = np.stack([self._per_item(self._held_out.shares * row) for row in scores])
        self._scored[key] = _sum_up(self.weights, parts, self._penalties)

    def scored(self, key: Hashable) -> Scored:
        """Scores of a setting."""
        return self._scored[key]

    def _per_item(self, values: FloatArray) -> FloatArray:
        return np.bincount(self._held_out.position, values, len(self._prior)).astype(np.float64)


def log_scores(held_out: HeldOut, held: VotedMass, prior: AnyArray, strengths: Sequence[float]) -> FloatArray:
    """-log p of the votes of each trial, (len(strengths), t); a soft vote averages over its classes."""
    out = np.empty((len(strengths), len(held_out.position)))
    size = max(1, BLOCK_ENTRIES // max(1, held.mass.shape[1]))
    for first in range(0, len(held_out.position), size):
        part = slice(first, first + size)
        at, taken = held_out.position[part], held_out.content[part].toarray()
        left = held.without(taken, at)
        judged = taken / taken.sum(axis=1, keepdims=True)
        for row, kappa in enumerate(strengths):
            p = soft_labels(left, prior[at], kappa)
            out[row, part] = -(judged * np.log(np.maximum(p, LOG_FLOOR))).sum(axis=1)
    return out
