"""Ends of intervals of single Beta distributions, read off tables of their quantiles.

logit U(a, b)  on a grid of log a and log b, cubic in between;   1 - U(b, a) is the lower end
"""

from typing import NamedTuple

import numpy as np

from softspread._common.types import FloatArray
from softspread._kernels.system import compiled


class QuantileTable(NamedTuple):
    """Logits of upper quantiles for one share left out above."""

    first_a: float  # logarithm of the smallest a ...
    first_b: float  # ... and b
    step: float  # between neighbouring logarithms
    values: FloatArray  # (a, b)


@compiled
def quantile_between(table, log_a, log_b):
    """The upper quantile, by cubic interpolation; 0 for an a below the grid, NaN beyond its other ends."""
    x, y = (log_a - table.first_a) / table.step, (log_b - table.first_b) / table.step
    if not (x < table.values.shape[0] - 2 and 1.0 <= y < table.values.shape[1] - 2):
        return np.nan
    if x < 1.0:
        return 0.0
    i, j = int(x), int(y)
    u, v = x - i, y - j
    total = 0.0
    for row in range(4):
        line = table.values[i - 1 + row]
        inner = (
            -v * (v - 1) * (v - 2) / 6 * line[j - 1]
            + (v + 1) * (v - 1) * (v - 2) / 2 * line[j]
            - (v + 1) * v * (v - 2) / 2 * line[j + 1]
            + (v + 1) * v * (v - 1) / 6 * line[j + 2]
        )
        if row == 0:
            weight = -u * (u - 1) * (u - 2) / 6
        elif row == 1:
            weight = (u + 1) * (u - 1) * (u - 2) / 2
        elif row == 2:
            weight = -(u + 1) * u * (u - 2) / 2
        else:
            weight = (u + 1) * u * (u - 1) / 6
        total += weight * inner
    return 1.0 / (1.0 + np.exp(-total))


@compiled
def beta_ends(one_sided, equal, a, b, lower, upper):
    """Ends of Beta(a, b), all (m,): one-sided where the density peaks at 0 or at 1, else with equal tails.

    NaN where a table does not reach.
    """
    for entry in range(len(a)):
        log_a, log_b = np.log(a[entry]), np.log(b[entry])
        lower[entry], upper[entry] = 0.0, 1.0
        if log_a < 0.0 and a[entry] <= b[entry]:
            upper[entry] = quantile_between(one_sided, log_a, log_b)
        elif log_b < 0.0 and b[entry] < a[entry]:
            lower[entry] = 1.0 - quantile_between(one_sided, log_b, log_a)
        else:
            lower[entry] = 1.0 - quantile_between(equal, log_b, log_a)
            upper[entry] = quantile_between(equal, log_a, log_b)
