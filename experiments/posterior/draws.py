"""Simulated votes: every method sees the same ones.

    truth, budget, draw  ->  counts (n, n_classes)

A draw is named by (draw, budget, dataset) and nothing else, so that methods can be compared draw by draw.
"""

import numpy as np
from experiments.posterior.datasets import Dataset, seed_of

from softspread._common.types import FloatArray, IntArray
from softspread.simulate import draw_columns

BUDGETS = (0.02, 0.1, 0.3, 1.0, 3.0, 10.0)  # votes per item
SECOND_VOTES = (10, 20, 40, 80)  # items asked again, after one vote on each item
ONCE = 1_000_000  # keeps the seeds of one vote on each item apart from those of budgets


def uniform(dataset: Dataset, budget: float, draw: int) -> FloatArray:
    """Votes on items drawn uniformly with replacement, ``budget`` times as many as items."""
    rng = _generator(dataset, draw, round(budget * 1_000))
    n = len(dataset.truth)
    return cast(dataset.truth, rng.integers(n, size=max(1, round(budget * n))), rng)


def once(dataset: Dataset, draw: int, second: int = 0) -> FloatArray:
    """One vote on each item, and a second one on ``second`` random items; more of them keep the others."""
    rng = _generator(dataset, draw, ONCE)
    n = len(dataset.truth)
    first = cast(dataset.truth, np.arange(n), rng)
    again = rng.permutation(n)
    columns = draw_columns(dataset.truth, again, rng.random(n))[:second]
    np.add.at(first, (again[:second], columns), 1.0)
    return first


def cast(truth: FloatArray, rows: IntArray, rng: np.random.Generator) -> FloatArray:
    """Counts after one vote on each of the rows, drawn from their soft labels."""
    counts = np.zeros_like(truth)
    np.add.at(counts, (rows, draw_columns(truth, rows, rng.random(len(rows)))), 1.0)
    return counts


def _generator(dataset: Dataset, draw: int, scheme: int) -> np.random.Generator:
    return np.random.default_rng([draw, scheme, seed_of(dataset.name)])
