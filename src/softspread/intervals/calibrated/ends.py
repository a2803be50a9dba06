"""Ends of the intervals of many Beta distributions.

few entries  ->  scipy's quantiles;   many  ->  tables of quantiles, and scipy's where a table does not reach
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv

from softspread._common.types import FloatArray
from softspread._kernels.beta_quantiles import QuantileTable, beta_ends
from softspread.intervals.calibrated.constants import MODEL, CalibrationModel
from softspread.intervals.wilson import SNAP, snap_ends


@dataclass(frozen=True, slots=True)
class TableRule:
    """Where quantiles are tabulated: ends are then off by less than 1e-5, which a test measures.

    Below the smallest a of a one-sided table the quantile is less than 0.005, which counts as 0: the chance
    of more than that is at most 6.7 a where b is at least 0.5.
    """

    from_entries: int = 1_000_000  # below, the quantiles themselves take no longer than a second
    step: float = 0.1  # of the logarithms of a and b
    smallest_a: float = 0.125  # of what a one-sided interval leaves out
    smallest_b: float = 0.5
    largest: float = 10_000.0  # votes; no neighbours count as more


RULE = TableRule()


@lru_cache(maxsize=8)
def tables(delta: float, tail_share: float, rule: TableRule = RULE) -> tuple[QuantileTable, QuantileTable]:
    """One-sided intervals and those with equal tails; made in a tenth of a second."""
    tail = tail_share * delta
    one_sided = _table(tail, rule.smallest_a * tail, 1.0, rule.smallest_b, rule)
    return one_sided, _table(0.5 * delta, 1.0, rule.largest, 1.0, rule)


def _table(tail: float, first_a: float, last_a: float, first_b: float, rule: TableRule) -> QuantileTable:
    """Logits of the quantiles with ``tail`` above them, with a row and a column more at every end."""
    ends = ((first_a, last_a), (first_b, rule.largest))
    # The first node stands a step and a half before the first value, so that rounding leaves none outside.
    firsts = [float(np.log(low)) - 1.5 * rule.step for low, _ in ends]
    sizes = [int(np.ceil(np.log(high / low) / rule.step)) + 5 for low, high in ends]
    a, b = (np.exp(first + rule.step * np.arange(size)) for first, size in zip(firsts, sizes, strict=True))
    tiny = np.finfo(np.float64).tiny
    above = np.maximum(betaincinv(b, a[:, None], tail), tiny)  # 1 - quantile, with all its digits
    values = np.log(np.maximum(betaincinv(a[:, None], b, 1 - tail), tiny)) - np.log(above)
    return QuantileTable(firsts[0], firsts[1], rule.step, values)


def beta_interval(
    a: FloatArray, b: FloatArray, delta: float, model: CalibrationModel = MODEL, *, tabulated: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Equal tails, one-sided where the density rises without bound at 0 or 1.

    Probabilities within 0.005 of each other count as equal: lower ends below it are 0 and no upper end is,
    the same at 1. Where next to nothing speaks for a class, the quantile itself may be 1e-20, and no true
    probability is that sure. ``tabulated`` reads them off tables, within 1e-5.
    """
    if tabulated:
        lower, upper = np.empty_like(a), np.empty_like(a)
        parts = (np.ascontiguousarray(each).ravel() for each in (a, b))
        beta_ends(*tables(delta, model.tail_share), *parts, lower.ravel(), upper.ravel())
        beyond = np.isnan(lower) | np.isnan(upper)
        lower[beyond], upper[beyond] = _quantiles(a[beyond], b[beyond], delta, model)
    else:
        lower, upper = _quantiles(a, b, delta, model)
    return snap_ends(np.minimum(lower, 1 - SNAP), np.maximum(upper, SNAP))


def _quantiles(
    a: FloatArray, b: FloatArray, delta: float, model: CalibrationModel
) -> tuple[FloatArray, FloatArray]:
    left, right = (a < 1) & (a <= b), (b < 1) & (b < a)
    lower, upper = np.zeros_like(a), np.ones_like(a)
    tails = np.where(right, model.tail_share, 0.5) * delta, np.where(left, model.tail_share, 0.5) * delta
    lower[~left] = betaincinv(a[~left], b[~left], tails[0][~left])
    upper[~right] = betaincinv(a[~right], b[~right], 1 - tails[1][~right])
    return lower, upper
