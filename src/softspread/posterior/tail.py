"""How much an interval may leave out, so that it holds also where it matters.

The posterior averages over what is uncertain about trust and sharpness. Each of its draws is a world that the
votes allow; an interval has to hold in nearly all of them, and not only on average over entries, most of
which are 0. So the tail is the largest that keeps, over draws of such worlds,

    coverage of all entries           on average at least the level
    coverage of entries with p > .05  on average at least the level - .02, in the worst 5 % the level - .06
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softspread._common.types import FloatArray
from softspread._kernels.beta_mixture import Mixtures
from softspread.posterior.beta import interval_ends, probability_below
from softspread.posterior.posterior import Posterior


@dataclass(frozen=True, slots=True)
class TailRule:
    """Coverage that intervals must keep; design runs: docs/measurements-posterior.md."""

    shares: tuple[float, ...] = (1.3, 1, 0.8, 0.65, 0.5, 0.38, 0.28, 0.2, 0.13, 0.08, 0.04)  # of 1 - level
    big: float = 0.05  # entries above this are those that people look at
    give_mean: float = 0.02  # coverage of big entries may fall this short on average ...
    give_worst: float = 0.06  # ... and this short in the worst worlds; less at levels above .9
    worst: float = 0.05  # share of the worlds that are worse than that
    entries: int = 3_000  # items times classes that judge
    worlds: int = 16


RULE = TailRule()


def tail_of(posterior: Posterior, level: float) -> float:
    """The tail at a level, found once per posterior."""
    if level not in posterior.tails:
        posterior.tails[level] = find_tail(posterior, level)
    return posterior.tails[level]


def find_tail(posterior: Posterior, level: float, rule: TailRule = RULE) -> float:
    """The largest tail, out of a few shares of 1 - level, that keeps what it must; bisected."""
    rng = np.random.default_rng(0)
    n_rows = max(1, min(posterior.n_items, rule.entries // posterior.n_classes))
    rows = np.sort(rng.permutation(posterior.n_items)[:n_rows])
    worlds = [
        World(posterior.under(law, posterior.variants[variant], rows), posterior, rule.big)
        for law, variant in posterior.draw_worlds(rule.worlds, rng)
    ]
    first, last = 0, len(rule.shares) - 1
    while first < last:
        middle = (first + last) // 2
        ends = interval_ends(posterior.mixtures, rows, rule.shares[middle] * (1 - level), posterior.workers)
        if _holds([world.coverage(*ends) for world in worlds], level, rule):
            last = middle
        else:
            first = middle + 1
    return rule.shares[first] * (1 - level)


def _holds(coverage: Sequence[tuple[float, float]], level: float, rule: TailRule) -> bool:
    """Whether coverage (all entries, big entries) in every world is what it must be."""
    scale = min(1.0, (1 - level) / 0.1)
    of_all, of_big = (np.array(values) for values in zip(*coverage, strict=True))
    worst = min(np.quantile(of_all, rule.worst), np.quantile(of_big, rule.worst))
    return bool(
        of_all.mean() >= level
        and of_big.mean() >= level - rule.give_mean * scale
        and worst >= level - rule.give_worst * scale
    )


class World:
    """One draw of what is uncertain, in which the coverage of given intervals can be computed."""

    def __init__(self, mixtures: Mixtures, posterior: Posterior, big: float) -> None:
        self._mixtures, self._workers = mixtures, posterior.workers
        self._rows = np.arange(len(mixtures.means))
        self._below_big = self._below(big)

    def _below(self, x: FloatArray | float) -> FloatArray:
        return probability_below(self._mixtures, self._rows, x, self._workers)

    def coverage(self, lower: FloatArray, upper: FloatArray) -> tuple[float, float]:
        """Expected share of all entries that are covered, and of those above ``big``."""
        top, bottom = self._below(upper), np.where(lower > 0, self._below(lower), 0.0)
        covered = top - bottom
        big = np.maximum(top, self._below_big) - np.maximum(bottom, self._below_big)
        all_big = (1 - self._below_big).sum()
        return float(covered.mean()), float(big.sum() / max(all_big, np.finfo(np.float64).tiny))
