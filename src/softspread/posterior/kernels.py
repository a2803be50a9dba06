"""Votes weighted by distance, at several widths: narrow where votes are dense, wide where they are not.

    q_w = (sum_j K_w(x_i, x_j) y_j + b q_wider) / (sum_j K_w(x_i, x_j) + b),   j over other items' votes

theory: [kernel regression]. A graph of 20 neighbours cannot tell how much nearer the nearest vote is; where
soft labels change smoothly and votes are dense, distance tells more. Left out where items times voted items
are too many: the fine rungs of the ladder come close there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from softspread._common.places import places
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.posterior.experts import Expert, Float32Array, OwnVotes, other_shares


@dataclass(frozen=True, slots=True)
class KernelRule:
    """Widths, and how much work they may take."""

    widest: float = 1 / 64  # the first kernel is exp(-this d^2 / (2 sigma^2)), sigma^2 of the graph ...
    number: int = 5  # ... and each of the following is its fourth power: half as wide
    belief: float = 0.3  # weight of each before any vote
    back_off: float = 0.02  # votes of the next wider kernel
    first_back_off: float = 1e-3  # votes of the class shares, below the widest
    work: int = 50_000_000  # items times voted items at most: a second or two
    block: int = 4_000_000  # of these at once: 16 MB
    least_size: float = 1e-2  # votes' worth that any prediction counts as


RULE = KernelRule()


def kernel_experts(
    X: AnyArray | None, sigma2: float | None, questions: Sequence[OwnVotes], rule: KernelRule = RULE
) -> list[list[Expert]]:
    """Per question one expert per width; none without features, without votes or where they take too long.

    All questions are about the same voted items: one kernel serves them all.
    """
    n_items, voted_rows = questions[0].n_items, questions[0].voted
    n_voted = len(voted_rows)
    if X is None or not sigma2 or not n_voted or n_items * n_voted > rule.work:
        return [[] for _ in questions]
    voted = np.asarray(X[voted_rows], dtype=np.float64)
    centre = voted.mean(axis=0)
    voted = voted - centre
    each = [_Predictions.empty(own, rule) for own in questions]
    place = places(voted_rows, n_items)
    step = max(1, rule.block // n_voted)
    for first in range(0, n_items, step):
        part = slice(first, min(first + step, n_items))
        K = _widest_kernel(np.asarray(X[part], dtype=np.float64) - centre, voted, sigma2, rule)
        mine = np.flatnonzero(place[part] >= 0)
        K[mine, place[part][mine]] = 0.0  # an item's own votes do not speak for it
        _narrow(K, part, each, rule)
    return [
        [
            Expert(f"kernel {number + 1}", final[voted_rows], final, np.log(size), rule.belief)
            for number, (final, size) in enumerate(zip(one.finals, one.sizes, strict=True))
        ]
        for one in each
    ]


def kernel_of_one(
    X: AnyArray, sigma2: float, row: int, voted: IntArray, rule: KernelRule = RULE
) -> Iterator[FloatArray]:
    """(v,) weights of other items' votes for one item, width by width."""
    centre = np.asarray(X[row], dtype=np.float64)
    K = _widest_kernel(
        np.zeros((1, len(centre))), np.asarray(X[voted], dtype=np.float64) - centre, sigma2, rule
    )
    weights = K[0].astype(np.float64)
    for _ in range(rule.number):
        yield weights
        weights = weights**4


def _widest_kernel(X: FloatArray, voted: FloatArray, sigma2: float, rule: KernelRule) -> Float32Array:
    squared = (X**2).sum(axis=1)[:, None] + (voted**2).sum(axis=1) - 2 * X @ voted.T
    return np.asarray(np.exp(-rule.widest * np.maximum(squared, 0.0) / (2 * sigma2)), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _Predictions:
    """Of one question, filled in block by block."""

    counts: Float32Array  # (v, n_classes)
    total: Float32Array  # (v,)
    shares: Float32Array  # (n, n_classes)  of the classes, without an item's own votes
    finals: Float32Array  # (widths, n, n_classes)
    sizes: Float32Array  # (widths, n)

    @classmethod
    def empty(cls, own: OwnVotes, rule: KernelRule) -> "_Predictions":
        counts = own.counts.astype(np.float32)
        shares, _, _ = other_shares(own, own.counts.sum(axis=0))
        finals = np.empty((rule.number, own.n_items, own.n_classes), dtype=np.float32)
        sizes = np.empty((rule.number, own.n_items), dtype=np.float32)
        return cls(counts, counts.sum(axis=1), shares, finals, sizes)


def _narrow(K: Float32Array, part: slice, each: Sequence[_Predictions], rule: KernelRule) -> None:
    """Fill in the predictions of one block, width by width."""
    back_off, wider = np.float32(rule.first_back_off), [one.shares[part] for one in each]
    for number in range(rule.number):
        masses = [K @ one.counts for one in each]
        K *= K
        for place, (one, Y) in enumerate(zip(each, masses, strict=True)):
            N = Y.sum(axis=1)
            wider[place] = (Y + back_off * wider[place]) / (N + back_off)[:, None]
            effective = N * N / np.maximum(K @ one.total, np.float32(1e-20))
            one.finals[number, part] = wider[place]
            one.sizes[number, part] = np.maximum(effective, np.float32(rule.least_size))
        K *= K
        back_off = np.float32(rule.back_off)
