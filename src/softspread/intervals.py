"""Intervals for soft labels: mass and a level -> lower, upper.

Wilson on virtual votes: Y successes in N trials                                     theory: [wilson]
"""

import numpy as np
from scipy.stats import norm

from softspread.data import FloatArray


def wilson(
    mass: FloatArray, confidence_level: float, n_intervals: int = 1, rounded: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Wilson score interval of each class against the rest, reading mass as votes.

    Parameters
    ----------
    mass : (n, n_classes)
    confidence_level : of each interval, or of ``n_intervals`` together (union bound)
    rounded : round mass and evidence down to whole votes first, as the paper does; such an interval need not contain
        the soft label itself

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence
    """
    z = float(norm.isf((1 - confidence_level) / (2 * n_intervals)))
    successes, trials = mass, mass.sum(axis=1, keepdims=True)
    if rounded:
        # A sum that rounding left at 1 - 1e-9 is one vote, not none.
        successes, trials = np.floor(successes + 1e-6), np.floor(trials + 1e-6)
        successes = np.minimum(successes, trials)
    known = np.where(trials > 0, trials, 1.0)
    share = successes / known
    centre = share + z * z / (2 * known)
    half = z * np.sqrt(share * (1 - share) / known + z * z / (4 * known * known))
    scale = 1 + z * z / known
    lower = np.where(trials > 0, (centre - half) / scale, 0.0)
    upper = np.where(trials > 0, (centre + half) / scale, 1.0)
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
