"""Do predictions hold what they promise? Measured by votes that they have not seen, or by a known truth.

    level  ->  the most probable classes that hold this much together  ->  share of held-out votes inside

The last class of such a set counts in part, so that the sets of a right prediction hold exactly their level.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from softspread._common.types import FloatArray
from softspread.quality.result import N_BOOTSTRAP, Trials, bootstrap, interval_of

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # even, and the usual 95 %


def set_shares(p: FloatArray, level: float) -> FloatArray:
    """How far each class belongs to the smallest set of classes with this probability, (n, n_classes).

    Examples
    --------
    >>> set_shares(np.array([[0.5, 0.3, 0.2]]), 0.65).tolist()
    [[1.0, 0.5, 0.0]]
    """
    order = np.argsort(-p, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)
    before = np.cumsum(ordered, axis=1) - ordered
    inside = np.zeros_like(p)
    part = np.divide(level - before, ordered, out=np.zeros_like(p), where=ordered > 0)
    np.put_along_axis(inside, order, np.clip(np.round(part, 12), 0.0, 1.0), axis=1)
    return inside


def vote_coverage(
    trials: Trials, levels: Sequence[float], confidence_level: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Share of held-out votes inside the sets of each level, with an interval by resampling items.

    Parameters
    ----------
    trials : predictions and the votes that judge them
    levels : between 0 and 1
    """
    n_items = int(trials.item.max()) + 1
    heavy = trials.weights * trials.judged.sum(axis=1)
    amount = np.bincount(trials.item, heavy, n_items)
    draws = bootstrap(n_items, N_BOOTSTRAP, rng)
    rows = []
    for level in levels:
        hit = trials.weights * (trials.judged * set_shares(trials.p, level)).sum(axis=1)
        inside = np.bincount(trials.item, hit, n_items)
        found = interval_of((draws @ inside) / np.maximum(draws @ amount, 1e-300), confidence_level)
        rows.append((level, found.value, found.lower, found.upper))
    return pd.DataFrame(rows, columns=["level", "covered", "lower", "upper"])


def truth_coverage(
    inside: Sequence[FloatArray], levels: Sequence[float], confidence_level: float, rng: np.random.Generator
) -> pd.DataFrame:
    """The same for intervals and a known truth.

    Parameters
    ----------
    inside : for each level (n,) the share of an item's classes whose interval holds the truth
    """
    draws = bootstrap(len(inside[0]), N_BOOTSTRAP, rng) / len(inside[0])
    found = [interval_of(draws @ values, confidence_level) for values in inside]
    rows = [(level, one.value, one.lower, one.upper) for level, one in zip(levels, found, strict=True)]
    return pd.DataFrame(rows, columns=["level", "covered", "lower", "upper"])
