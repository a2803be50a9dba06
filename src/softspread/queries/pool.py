"""The input and output of a query strategy, and three ways to draw at random.

    mass (n, n_classes), votes per item  ->  evidence N, ambiguity v = 1 - sum_c ((Y_c + s / C) / (N + s))^2

theory: [query]. A pick's profile joins the evidence at once, so that the next pick goes elsewhere. All rows
are the user's.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.local_reach import LocalReach, Reach
from softspread.errors import InputError
from softspread.posterior.posterior import Posterior
from softspread.queries.rule import DEFAULT_LOTTERY, QueryRule


class CandidatePool:
    """The items that may be picked, with their mass and votes.

    ``evidence`` grows and ``open`` shrinks with every pick; ``mass`` and ``vote_counts`` stay.

    Attributes
    ----------
    open : (n,) bool
        Items that may still be picked.
    mass : (n, n_classes) float
        What each item has received per class.
    evidence : (n,) float
        The sum of mass over the classes, and of the votes that picks would bring.
    vote_counts : (n,) int
        Whole votes on each item so far.
    n_items, n_votes : int, float
        How many items there are, and how many votes in all.
    rng : numpy.random.Generator
        The only source of chance.
    rule, lottery : QueryRule, LotteryRule
        The constants of the built-in strategies.
    diffusion : Diffusion
        The graph at the alpha at which ``mass`` was spread.
    posterior : Posterior or None
        What is known about every soft label, where the estimator has one.
    probabilities : list of float or None
        A strategy that knows the probability with which it drew each pick appends it here, unless it is None.
    """

    def __init__(
        self,
        diffusion: Diffusion,
        mass: FloatArray,
        vote_counts: FloatArray,
        allowed: BoolArray,
        rng: np.random.Generator,
        rule: QueryRule,
    ) -> None:
        counts = np.floor(vote_counts + rule.whole_vote)
        self.mass, self.open, self.rng, self.rule = mass, allowed, rng, rule
        self.n_items, self.n_votes = len(mass), float(counts.sum())
        self.vote_counts = np.clip(counts, 0, np.iinfo(np.int16).max).astype(np.int16)
        self.evidence = np.maximum(mass, 0.0).sum(axis=1)
        self._graph, self._reach = diffusion.graph, LocalReach(diffusion, rule.push_floor)
        self.diffusion, self.lottery = diffusion, DEFAULT_LOTTERY
        self.posterior: Posterior | None = None
        self.probabilities: list[float] | None = None

    @property
    def warming_up(self) -> bool:
        """Whether votes are too few for ambiguity to be more than noise."""
        return self.mass.shape[1] < 2 or self.n_votes < max(1, self.rule.warm_up_votes)

    @property
    def features(self) -> AnyArray:
        """(n, d) places of the items in the graph's metric; an :class:`InputError` where there are none."""
        if self._graph.features is None:
            raise InputError(
                "this strategy needs the features of the items, and the graph holds none. "
                "Try strategy='least_evidence'."
            )
        return np.asarray(self._graph.places)

    def open_rows(self) -> IntArray:
        """The items that may still be picked, close ones near each other; the graph alone fixes the order."""
        rows = self._graph.rows_by_neighborhood
        return np.asarray(rows[self.open[rows]])

    def entropy(self) -> FloatArray:
        """The entropy of each smoothed soft label (Y + s / C) / (N + s), (n,)."""
        smoothed = self.mass + self.rule.smoothing / self.mass.shape[1]
        total = smoothed.sum(axis=1)
        # -sum_c q_c / N ln(q_c / N) = ln N - sum_c q_c ln q_c / N, without a table of shares
        return np.asarray(np.log(total) - np.einsum("ij,ij->i", smoothed, np.log(smoothed)) / total)

    def ambiguity(self) -> FloatArray:
        """v: the chance that two votes drawn from an item's smoothed soft label differ, (n,)."""
        smoothing, evidence = self.rule.smoothing, self.mass.sum(axis=1)
        # sum_c (Y_c + s/C)^2 = |Y|^2 + 2 s/C N + s^2/C, without a second table of mass's size
        squares = np.einsum("ij,ij->i", self.mass, self.mass)
        squares += smoothing / self.mass.shape[1] * (2 * evidence + smoothing)
        v = 1 - squares / (evidence + smoothing) ** 2
        return np.asarray(np.maximum(v, 0.0))  # rounding may leave -1e-16

    def reach(self, rows: IntArray) -> list[Reach]:
        """For each row, the items that a vote there reaches and how much they receive, at most 1."""
        return self._reach(rows)

    def take(self, row: int, reach: Reach | None = None) -> int:
        """Close an item and add to the evidence what a vote on it would bring; returns the row."""
        reached, phi = self.reach(np.array([row]))[0] if reach is None else reach
        self.evidence[reached] += phi
        self.open[row] = False
        return row


class Strategy(Protocol):
    """A query strategy: any function of a pool and a number of items.

    A strategy that reads ``pool.features`` should carry an attribute ``needs_features = True``, so that the
    voting page keeps them.
    """

    def __call__(self, pool: CandidatePool, batch_size: int, /) -> Sequence[int] | IntArray:
        """``batch_size`` distinct rows that were open at the start, best first."""
        ...


class RandomDraws:
    """Draws open items at random; closed ones drop out when met, so a draw's cost does not depend on n."""

    def __init__(self, rows: IntArray, pool: CandidatePool) -> None:
        self._rows, self._size, self._pool = rows, len(rows), pool

    def draw(self, wanted: int) -> IntArray:
        """Up to ``wanted`` distinct open items, each set equally likely."""
        rows, still_open, rng = self._rows, self._pool.open, self._pool.rng
        found = 0
        while found < min(wanted, self._size):
            other = int(rng.integers(found, self._size))
            rows[found], rows[other] = rows[other], rows[found]
            if still_open[rows[found]]:
                found += 1
            else:
                self._size -= 1
                rows[found] = rows[self._size]
        return rows[:found].copy()


class FewestVotes:
    """Draws among the open items with the fewest votes, level by level."""

    def __init__(self, pool: CandidatePool) -> None:
        rows = pool.open_rows()
        self._pool, self._rows = pool, rows[np.argsort(pool.vote_counts[rows], kind="stable")]
        levels = np.flatnonzero(np.diff(pool.vote_counts[self._rows])) + 1
        self._ends = np.append(levels, len(rows)).tolist()
        self._first = 0
        self._next_level()

    def _next_level(self) -> None:
        end = self._ends.pop(0)
        self._level = RandomDraws(self._rows[self._first : end], self._pool)
        self._first = end

    def draw(self, wanted: int) -> IntArray:
        """One to ``wanted`` distinct open items of the lowest level that has any."""
        while not len(found := self._level.draw(wanted)):
            self._next_level()
        return found

    def draw_many(self, wanted: int) -> IntArray:
        """At least ``wanted`` distinct open items (or all), fewest votes first; they stay open."""
        before, draws, found = self._pool.open.copy(), [], 0
        n_open = int(before.sum())
        while found < min(wanted, n_open):
            draws.append(self.draw(wanted - found))
            self._pool.open[draws[-1]] = False
            found += len(draws[-1])
        self._pool.open[:] = before
        return np.concatenate(draws)


class Repeats:
    """Now and then a random voted item, whatever its votes said.

    Often at first, until 30 repeats are expected to differ.
    """

    def __init__(self, pool: CandidatePool, ambiguity: FloatArray | None = None) -> None:
        self._pool, self._share = pool, 0.0
        if pool.warming_up:
            return
        rows, rule = pool.open_rows(), pool.rule
        self._voted = RandomDraws(rows[pool.vote_counts[rows] > 0], pool)
        v = pool.ambiguity() if ambiguity is None else ambiguity
        enough = float(np.maximum(pool.vote_counts - 1, 0) @ v) >= rule.enough_differences
        self._share = min(rule.later_repeats if enough else rule.early_repeats, pool.n_votes / pool.n_items)

    def draw(self) -> IntArray:
        """One open voted item, or none: this pick is not a repeat."""
        if self._share == 0 or self._pool.rng.random() >= self._share:
            return np.empty(0, np.int64)
        return self._voted.draw(1)
