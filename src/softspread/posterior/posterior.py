"""The posterior of every item: what others say, how far to trust it, and the item's own votes.

    p_i | votes  ~  sum_k w_ik Dirichlet(nu_k m_i + y_i),   w_ik ~ law_k of the item's group times the
                                                             likelihood of its own votes   theory: [posterior]

Soft labels are its means, intervals its quantiles; how sure the mode is, how far the whole dataset may be
off and what a further vote would bring are read off the same object.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from softspread._common.places import places
from softspread._common.threads import Workers
from softspread._common.types import FloatArray, IntArray
from softspread._kernels.beta_mixture import Mixtures
from softspread.posterior.beta import interval_ends, probability_below
from softspread.posterior.experts import Float32Array
from softspread.posterior.trust import Trust, log_likelihood

BLOCK_DRAWS = 4_000_000  # gamma variates at once: 32 MB
PART = 50_000  # items at once: with 16 concentrations 6 MB

Variant = tuple[float, Callable[[IntArray], Float32Array]]  # probability, and m of some items under it


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mixtures of Dirichlet distributions, one per item."""

    m: Float32Array  # (n, n_classes)  what others say
    group: IntArray  # (n,)  the item's group in ``trust``
    trust: Trust
    voted: IntArray  # (v,)  items with own votes
    own: FloatArray  # (v, n_classes)
    variants: Sequence[Variant]  # other ways to sharpen m that the votes leave open
    workers: Workers

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.m)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.m.shape[1])

    @cached_property
    def tails(self) -> dict[float, float]:
        """Tails that were found so far, by level."""
        return {}

    @cached_property
    def own_place(self) -> IntArray:
        """(n,) row of each item in ``own``, -1 without own votes."""
        return places(self.voted, self.n_items)

    @cached_property
    def mixtures(self) -> Mixtures:
        """The mixtures as they are, averaged over all laws of trust."""
        return self._mixtures(self.trust.law, self.m, self.group, self.own_place, self.own)

    def _mixtures(
        self, law: FloatArray, m: Float32Array, group: IntArray, own_place: IntArray, own: FloatArray
    ) -> Mixtures:
        """Weights of nu: the law of the group, times the likelihood of own votes where there are some."""
        nus = self.trust.nus
        voted = np.flatnonzero(own_place >= 0)
        mine = own[own_place[voted]]
        logs = log_likelihood(nus, m[voted], mine)
        weights = law[group[voted]] * np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        place = group.copy()
        place[voted] = len(law) + np.arange(len(voted))
        own_rows = places(voted, len(m))
        return Mixtures(nus, np.vstack([law, weights]), place, np.ascontiguousarray(m), mine, own_rows)

    def under(self, law: int, variant: Variant, rows: IntArray) -> Mixtures:
        """The mixtures of some items under one law and one way to sharpen: a draw of what is uncertain."""
        m = variant[1](rows)
        return self._mixtures(self.trust.laws[law], m, self.group[rows], self.own_place[rows], self.own)

    def draw_worlds(self, number: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        """Draws of law and variant, each evenly from its posterior, paired at random."""
        chances = np.cumsum([chance for chance, _ in self.variants])
        spaced = (np.arange(number) + 0.5) / number * chances[-1]
        picked = rng.permutation(np.searchsorted(chances, spaced).clip(0, len(chances) - 1))
        return list(zip(self.trust.draws(number).tolist(), picked.tolist(), strict=True))

    def part(self, rows: IntArray) -> "Posterior":
        """The posterior of some items alone, numbered as in ``rows``."""

        def of_rows(variant: Variant) -> Variant:
            return variant[0], lambda some: variant[1](rows[some])

        place = self.own_place[rows]
        voted = np.flatnonzero(place >= 0)
        return Posterior(
            self.m[rows],
            self.group[rows],
            self.trust,
            voted,
            self.own[place[voted]],
            [of_rows(variant) for variant in self.variants],
            self.workers,
        )

    def merged(self, into: FloatArray) -> "Posterior":
        """The posterior of classes taken together; ``into`` (n_classes, groups) holds one 1 per row.

        Sums of the entries of a Dirichlet distribution are Dirichlet again, with the sums of its parameters.
        """

        def of_groups(variant: Variant) -> Variant:
            return variant[0], lambda rows: together(variant[1](rows))

        def together(m: Float32Array) -> Float32Array:
            return np.asarray(m @ into, dtype=np.float32)

        variants = [of_groups(variant) for variant in self.variants]
        return replace(self, m=together(self.m), own=np.asarray(self.own @ into), variants=variants)

    # --------------------------------------------------------------------------------------------- moments
    def mean(self) -> FloatArray:
        """(n, n_classes) soft labels; rows sum to 1."""
        p = first_moments(self.mixtures)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def evidence(self) -> FloatArray:
        """(n,) how many votes the posterior is worth, own votes and what others say together."""
        return np.asarray(1 / shares(self.mixtures)[0])

    def variance(self) -> FloatArray:
        """(n, n_classes) posterior variance of every soft label."""
        return np.asarray(np.maximum(second_moments(self.mixtures) - self.mean() ** 2, 0.0))

    # -------------------------------------------------------------------------------------------- quantiles
    def below(self, x: FloatArray | float, rows: IntArray | None = None) -> FloatArray:
        """Probability that each true soft label is at most x, (n, n_classes)."""
        rows = np.arange(self.n_items) if rows is None else rows
        return probability_below(self.mixtures, rows, x, self.workers)

    def interval(self, tail: float, rows: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Ends of intervals that leave out ``tail`` of each posterior."""
        rows = np.arange(self.n_items) if rows is None else rows
        return interval_ends(self.mixtures, rows, tail, self.workers)

    # ------------------------------------------------------------------------------------------------ draws
    def mode_probabilities(self, rng: np.random.Generator, n_draws: int = 200) -> FloatArray:
        """(n, n_classes) how probable it is that each class is the most probable one of its item."""
        found = np.zeros((self.n_items, self.n_classes))
        size = max(1, BLOCK_DRAWS // (self.n_classes * n_draws))
        for first in range(0, self.n_items, size):
            rows = np.arange(first, min(first + size, self.n_items))
            modes = drawn(self.mixtures, rows, n_draws, rng).argmax(axis=2)
            cells = np.arange(len(rows)) * self.n_classes + modes
            found[rows] = np.bincount(cells.ravel(), minlength=len(rows) * self.n_classes).reshape(
                len(rows), -1
            )
        return found / n_draws


def shares(mixtures: Mixtures) -> tuple[FloatArray, FloatArray]:
    """(r,) weights of one own vote and of all others together: E p = a y + b m."""
    own_share, other_share = np.empty((2, len(mixtures.place)))
    for part, total in _parts(mixtures):
        ratio = mixtures.weights[mixtures.place[part]] / (mixtures.nus + total[:, None])
        own_share[part], other_share[part] = ratio.sum(axis=1), ratio @ mixtures.nus
    return own_share, other_share


def _parts(mixtures: Mixtures) -> Iterator[tuple[slice, FloatArray]]:
    """All items in parts of bounded memory, and the sum of their own votes."""
    total = np.append(mixtures.own.sum(axis=1), 0.0)[mixtures.own_place]  # the last for those without
    for first in range(0, len(total), PART):
        part = slice(first, first + PART)
        yield part, total[part]


def first_moments(mixtures: Mixtures) -> FloatArray:
    """(r, n_classes) E p = sum_k w_k (nu m + y) / (nu + t)."""
    own_share, other_share = shares(mixtures)
    rows = np.flatnonzero(mixtures.own_place >= 0)
    found = other_share[:, None] * mixtures.means
    found[rows] += own_share[rows, None] * mixtures.own[mixtures.own_place[rows]]
    return np.asarray(found, dtype=np.float64)


def second_moments(mixtures: Mixtures) -> FloatArray:
    """(r, n_classes) E p^2 = sum_k w_k a (a + 1) / (c (c + 1)), a = nu m + y, c = nu + t."""
    nus, place = mixtures.nus, mixtures.own_place
    found = np.empty(mixtures.means.shape)
    for part, total in _parts(mixtures):
        c = nus + total[:, None]
        ratio = mixtures.weights[mixtures.place[part]] / (c * (c + 1))
        zero, one, two = ratio.sum(axis=1)[:, None], (ratio @ nus)[:, None], (ratio @ nus**2)[:, None]
        m = mixtures.means[part].astype(np.float64)
        y = np.where(place[part, None] >= 0, mixtures.own[place[part]] if len(mixtures.own) else 0.0, 0.0)
        found[part] = two * m * m + 2 * one * m * y + zero * y * y + one * m + zero * y
    return found


def drawn(mixtures: Mixtures, rows: IntArray, number: int, rng: np.random.Generator) -> FloatArray:
    """(number, rows, n_classes) draws of the true soft labels, up to a factor per item, as logarithms.

    ln Gamma(a) = ln Gamma(a + 1) + ln U / a does not underflow where a is tiny.
    """
    chances = np.cumsum(mixtures.weights[mixtures.place[rows]], axis=1)
    picked = (chances[None] < rng.random((number, len(rows), 1)) * chances[None, :, -1:]).sum(axis=2)
    nu = mixtures.nus[picked.clip(max=len(mixtures.nus) - 1)]
    a = nu[:, :, None] * mixtures.means[rows].astype(np.float64)
    place = mixtures.own_place[rows]
    mine = np.flatnonzero(place >= 0)
    a[:, mine] += mixtures.own[place[mine]]
    a = np.maximum(a, 1e-9)
    return np.asarray(np.log(rng.standard_gamma(a + 1)) + np.log(rng.random(a.shape)) / a)
