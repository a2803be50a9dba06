"""Items that lie far from all others.

distance to the k-th neighbour  ->  its share of the median  ->  beyond the far outer fence of all items
"""

from dataclasses import dataclass

import numpy as np

from softspread._common.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class NoveltyRule:
    """From where on an item counts as far."""

    fence: float = 3.0  # quartile ranges above the upper quartile: the usual fence for far outliers


RULE = NoveltyRule()


def far_from_all(distances: FloatArray, rule: NoveltyRule = RULE) -> tuple[FloatArray, BoolArray]:
    """Share of the median and whether it is far, of each item.

    Parameters
    ----------
    distances : (n,), how far the farthest of each item's nearest neighbours is

    Examples
    --------
    >>> novelty, far = far_from_all(np.array([1.0, 1.1, 0.9, 1.0, 30.0]))
    >>> far.tolist()
    [False, False, False, False, True]
    """
    positive = distances[distances > 0]
    if not len(positive):  # all items coincide with others
        return np.zeros(len(distances)), np.zeros(len(distances), dtype=bool)
    logs = np.log(positive)
    lower, middle, upper = np.quantile(logs, [0.25, 0.5, 0.75])
    fence = np.exp(upper + rule.fence * (upper - lower))
    return distances / np.exp(middle), np.asarray(distances > fence)
