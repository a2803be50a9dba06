"""Ordered classes: the expected level with its interval, from the posterior.

    E = v_0 + sum_c (v_c - v_c-1) P(y >= c)     v = values of the levels            theory: [expected level]

Each P(y >= c) is the answer to a question with two classes, whose posterior is a mixture of Beta
distributions: classes are taken together. The ends of the level add up those of all questions, as if they
were off together.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.intervals.task import Posteriors
from softspread.posterior.beta import interval_ends
from softspread.posterior.posterior import Posterior
from softspread.posterior.tail import tail_of

EXPECTED = ("expected_level", "expected_lower", "expected_upper")


def level_values(classes: Sequence[Any] | AnyArray) -> FloatArray:
    """(n_classes,) what the levels are worth: their numbers where they are rising ones, else 0, 1, 2 ...

    Examples
    --------
    >>> level_values(["1", "2", "5"]).tolist(), level_values(["bad", "fair", "good"]).tolist()
    ([1.0, 2.0, 5.0], [0.0, 1.0, 2.0])
    """
    try:
        values = np.array([float(name) for name in classes])
    except (TypeError, ValueError):
        values = np.empty(0)
    rising = len(values) and np.isfinite(values).all() and (np.diff(values) > 0).all()
    return values if rising else np.arange(len(classes), dtype=np.float64)


def expected_levels(
    found: Posteriors, p: FloatArray, classes: AnyArray, level: float
) -> dict[str, FloatArray]:
    """Expected level of every item with its interval, by name of the column."""
    values = level_values(classes.tolist())
    tail = tail_of(found.fitted, level)
    lower, upper = np.full(len(p), values[0]), np.full(len(p), values[0])
    for first, gap in enumerate(np.diff(values), start=1):
        low, high = _reaches(found.asked, first, tail)
        lower, upper = lower + gap * low, upper + gap * high
    middle = p @ values
    return dict(zip(EXPECTED, (middle, np.minimum(lower, middle), np.maximum(upper, middle)), strict=True))


def _reaches(posterior: Posterior, first: int, tail: float) -> tuple[FloatArray, FloatArray]:
    """Ends of P(y >= c)."""
    at_least = np.arange(posterior.n_classes) >= first
    question = posterior.merged(np.column_stack([~at_least, at_least]).astype(np.float64))
    lower, upper = interval_ends(question.mixtures, np.arange(posterior.n_items), tail, posterior.workers)
    return lower[:, 1], upper[:, 1]
