"""The sine curve: items on a line with closed-form soft labels.

x uniform on [0, 10];   P(Y = 1 | x) = (1 + sin x) / 2        theory: [sine curve]
"""

from typing import Any

import numpy as np

from softspread._common import validation
from softspread.datasets.dataset import Dataset, Source

SINE_RANGE = 10.0  # the line goes from 0 to here
N_SINE = 2_000  # items
SINE_LIPSCHITZ = 0.5  # largest slope of (1 + sin x) / 2


def sine_curve(n_items: int = N_SINE, random_state: Any = 0) -> Dataset:
    """Items uniform on [0, 10], two classes, the second with probability (1 + sin x) / 2.

    Examples
    --------
    >>> sine_curve(100).p_true.sum(axis=1).round(12).tolist() == [1.0] * 100
    True
    """
    n = validation.count("n_items", n_items, smallest=2)
    x = validation.generator(random_state).uniform(0, SINE_RANGE, size=n)
    second = (1 + np.sin(x)) / 2
    p_true = np.column_stack([1 - second, second])
    return Dataset("sine_curve", np.arange(2), x[:, None], p_true, features="x", note="closed form")


SOURCE = Source(sine_curve, "items on a line, 2 classes, closed-form soft labels")
