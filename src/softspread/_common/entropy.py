"""The entropy of soft labels: the one definition."""

import numpy as np

from softspread._common.types import FloatArray


def entropy(p: FloatArray) -> FloatArray:
    """(n,) -sum_c p_c ln p_c of each row, at least 0.

    Examples
    --------
    >>> entropy(np.array([[1.0, 0.0]])).tolist()
    [0.0]
    """
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(np.maximum(0.0, -(p * logs).sum(axis=1)) + 0.0)  # no -0.0


def largest_entropy(n_classes: int) -> float:
    """Entropy of the uniform soft label, to divide by; 1 for a single class, whose entropy is 0."""
    return float(np.log(n_classes)) if n_classes > 1 else 1.0
