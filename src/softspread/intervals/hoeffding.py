"""Hoeffding intervals, which hold for soft labels that change slowly from item to item.

Y/N +- sqrt(ln(2/delta)/2 * sum_j w_j^2 phi_ij^2) / N  +- B        theory: [hoeffding]
"""

import numpy as np

from softspread._common import validation
from softspread._common.types import FloatArray
from softspread.errors import InputError
from softspread.intervals.vote_sums import SumsOfSquares


def hoeffding(
    p: FloatArray, mass: FloatArray, sums: SumsOfSquares, confidence_level: float, n_intervals: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Hoeffding's interval around mass / evidence, plus the bias bound, theory [hoeffding], [bias bound].

    Holds for any probabilities of the voted items, if they change by at most ``sums.lipschitz`` per unit of
    distance; with ``lipschitz=0`` it covers only the weighted mean of the voted items' probabilities, not the
    item's own.

    Parameters
    ----------
    p : (n, n_classes) soft labels; the interval is widened to contain them where a prior moves them
    mass : (n, n_classes)
    sums : from :func:`sums_of_squares` with a Lipschitz constant
    confidence_level : of each interval, or of ``n_intervals`` together (union bound)

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    if sums.bias is None:
        raise InputError(
            "a Hoeffding interval needs a Lipschitz constant for its bias bound: pass lipschitz, "
            "see estimate_lipschitz; 0 leaves the bias out."
        )
    evidence = mass.sum(axis=1, keepdims=True)
    known = np.where(evidence > 0, evidence, 1.0)
    spread = np.sqrt(0.5 * np.log(2 * n_intervals / (1 - level)) * sums.upper)[:, None]
    half = np.minimum((spread + sums.bias[:, None]) / known, 1.0)
    half = np.where(evidence > 0, half, 1.0)
    share = mass / known
    lower, upper = np.clip(share - half, 0.0, 1.0), np.clip(share + half, 0.0, 1.0)
    return np.minimum(lower, p), np.maximum(np.where(evidence > 0, upper, 1.0), p)
