"""How far soft labels and intervals are from the truth, as columns of a results table."""

import numpy as np

from softspread import metrics
from softspread._common.types import FloatArray

KL_CLIP = 1e-4  # a peer that says 0 for what happens would otherwise be judged by the clip alone
LARGE = 0.05  # entries above: most others are 0 on many datasets, which any interval from 0 covers
FEWEST = 20  # entries; the coverage of fewer says nothing


def of_labels(truth: FloatArray, p: FloatArray) -> dict[str, float]:
    """RMSE, KL divergence of soft labels kept above 1e-4, accuracy to the true mode."""
    clipped = np.maximum(p, KL_CLIP)
    return {
        "rmse": metrics.rmse(truth, p),
        "kl": metrics.kl_divergence(truth, clipped / clipped.sum(axis=1, keepdims=True)),
        "accuracy": metrics.accuracy(truth, p),
    }


def of_intervals(truth: FloatArray, lower: FloatArray, upper: FloatArray) -> dict[str, float]:
    """Coverage of all entries, of large and of small ones, and the mean width."""
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        raise ValueError("an interval has an end that is not a number")
    inside = (lower <= truth) & (truth <= upper)
    large = truth > LARGE
    small = (truth > 0) & ~large
    return {
        "all": float(inside.mean()),
        "large": _share(inside[large]),
        "small": _share(inside[small]),
        "width": float((upper - lower).mean()),
    }


def _share(inside: FloatArray) -> float:
    return float(inside.mean()) if len(inside) >= FEWEST else float("nan")
