"""Simulated votes: every method sees the same ones.

    truth, budget, draw  ->  counts (n, n_classes)

A draw is named by (draw, budget, dataset) and nothing else, so that methods can be compared draw by draw.
"""

import numpy as np
from experiments.posterior.datasets import Dataset, seed_of

from softspread import Votes
from softspread._common.types import FloatArray, IntArray
from softspread.simulate import draw_columns

BUDGETS = (0.02, 0.1, 0.3, 1.0, 3.0, 10.0)  # votes per item
SECOND_VOTES = (10, 20, 40, 80)  # items asked again, after one vote on each item
PEOPLE = 20  # who vote, where votes have names
STREAM = 2_000_000  # ... and those of votes that continue apart too
ONCE = 1_000_000  # keeps the seeds of one vote on each item apart from those of budgets


def uniform(dataset: Dataset, budget: float, draw: int) -> FloatArray:
    """Votes on items drawn uniformly with replacement, ``budget`` times as many as items."""
    return counted(dataset.truth, *_uniform_votes(dataset, budget, draw)[:2])


def named(dataset: Dataset, budget: float, draw: int, spammers: int = 0) -> Votes:
    """The same votes by 20 people with names; the first few of them name any class."""
    rows, columns, rng = _uniform_votes(dataset, budget, draw)
    people, n_classes = rng.integers(PEOPLE, size=len(rows)), dataset.truth.shape[1]
    columns = np.where(people < spammers, rng.integers(n_classes, size=len(rows)), columns)
    names = [f"person {number}" for number in people.tolist()]
    return Votes.from_pairs(rows, columns, annotators=names, classes=range(n_classes), repeats="keep")


def _uniform_votes(
    dataset: Dataset, budget: float, draw: int
) -> tuple[IntArray, IntArray, np.random.Generator]:
    rng = _generator(dataset, draw, round(budget * 1_000))
    n = len(dataset.truth)
    rows = rng.integers(n, size=max(1, round(budget * n)))
    return rows, draw_columns(dataset.truth, rows, rng.random(len(rows))), rng


def stream(dataset: Dataset, budget: float, draw: int, number: int) -> tuple[IntArray, IntArray]:
    """Items drawn uniformly with replacement and their votes, one after the other: (number,) each."""
    rng = _generator(dataset, draw, STREAM + round(budget * 1_000))
    rows = rng.integers(len(dataset.truth), size=number)
    return rows, draw_columns(dataset.truth, rows, rng.random(number))


def once(dataset: Dataset, draw: int, second: int = 0) -> FloatArray:
    """One vote on each item, and a second one on ``second`` random items; more of them keep the others."""
    rng = _generator(dataset, draw, ONCE)
    n = len(dataset.truth)
    first = counted(dataset.truth, np.arange(n), draw_columns(dataset.truth, np.arange(n), rng.random(n)))
    again = rng.permutation(n)
    columns = draw_columns(dataset.truth, again, rng.random(n))[:second]
    np.add.at(first, (again[:second], columns), 1.0)
    return first


def counted(truth: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    """(n, n_classes) how often each item got each class."""
    counts = np.zeros_like(truth)
    np.add.at(counts, (rows, columns), 1.0)
    return counts


def _generator(dataset: Dataset, draw: int, scheme: int) -> np.random.Generator:
    return np.random.default_rng([draw, scheme, seed_of(dataset.name)])
