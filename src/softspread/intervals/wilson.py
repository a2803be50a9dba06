"""Wilson intervals: mass is read as votes; ends near 0 and 1 snap to them, theory [wilson]."""

import numpy as np
from scipy.special import ndtri

from softspread._common import validation
from softspread._common.types import FloatArray

SNAP = 0.005  # ends this close to 0 or 1 may as well be 0 or 1, where many true probabilities are


def wilson(
    mass: FloatArray,
    confidence_level: float,
    n_intervals: int = 1,
    rounded: bool = False,
    snapped: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Wilson score interval of each class against the rest, reading mass as votes.

    Parameters
    ----------
    mass : (n, n_classes)
    confidence_level : of each interval, or of ``n_intervals`` together (union bound)
    rounded : round mass and evidence down to whole votes first, as the paper does; such an interval need
        not contain the soft label itself, and its ends stay where they are
    snapped : move ends near 0 and 1 onto them, see :func:`snap_ends`; False gives the textbook's ends

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    z = -float(ndtri((1 - level) / (2 * n_intervals)))
    successes, trials = mass, mass.sum(axis=1, keepdims=True)
    if rounded:
        # A sum that rounding left at 1 - 1e-9 is one vote, not none.
        successes, trials = np.floor(successes + 1e-6), np.floor(trials + 1e-6)
        successes = np.minimum(successes, trials)
    share = successes / np.where(trials > 0, trials, 1.0)
    # Numerator and denominator times the number of trials: nothing is divided by evidence, which may be
    # 1e-200.
    centre = successes + z * z / 2
    half = z * np.sqrt(successes * (1 - share) + z * z / 4)
    scale = trials + z * z
    lower = np.where(
        successes > 0, (centre - half) / scale, 0.0
    )  # exactly 0 and 1 where rounding would miss them
    upper = np.where(successes < trials, (centre + half) / scale, 1.0)
    lower, upper = np.clip(lower, 0.0, share), np.clip(upper, share, 1.0)
    return snap_ends(lower, upper) if snapped and not rounded else (lower, upper)


def snap_ends(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move ends within 0.005 of 0 or 1 onto them.

    Spread mass is hardly ever 0, while many true probabilities are.
    """
    return np.where(lower < SNAP, 0.0, lower), np.where(upper > 1 - SNAP, 1.0, upper)
