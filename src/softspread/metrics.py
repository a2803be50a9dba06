"""How far soft labels are from the truth: one definition each, used everywhere. Theory: [metrics].

All take (n, n_classes) arrays of probabilities, truth first.
"""

import numpy as np
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.types import FloatArray
from softspread.errors import InputError

KL_FLOOR = 1e-10  # probabilities are clipped here, so that one zero does not make the mean infinite
ROW_SUM = 1e-6  # how far a row may be from summing to 1


def rmse(p_true: ArrayLike, p: ArrayLike) -> float:
    """Root of the mean squared difference over all items and classes.

    Parameters
    ----------
    p_true : (n, n_classes) array-like
        True soft labels, rows summing to 1.
    p : (n, n_classes) array-like
        Estimated soft labels, rows summing to 1.

    Returns
    -------
    float
        0 is a perfect estimate.

    See Also
    --------
    mae : Weighs all errors alike.

    Examples
    --------
    >>> rmse([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    0.0
    """
    truth, estimate = _pair(p_true, p)
    return float(np.sqrt(np.mean((truth - estimate) ** 2)))


def mae(p_true: ArrayLike, p: ArrayLike) -> float:
    """Mean absolute difference over all items and classes.

    Parameters
    ----------
    p_true : (n, n_classes) array-like
        True soft labels, rows summing to 1.
    p : (n, n_classes) array-like
        Estimated soft labels, rows summing to 1.

    Returns
    -------
    float
        0 is a perfect estimate.

    See Also
    --------
    rmse : Weighs large errors more.

    Examples
    --------
    >>> mae([[1, 0]], [[0.5, 0.5]])
    0.5
    """
    truth, estimate = _pair(p_true, p)
    return float(np.mean(np.abs(truth - estimate)))


def kl_divergence(p_true: ArrayLike, p: ArrayLike) -> float:
    """Mean over items of sum p_true ln(p_true / p); both clipped from below at 1e-10.

    Parameters
    ----------
    p_true : (n, n_classes) array-like
        True soft labels, rows summing to 1.
    p : (n, n_classes) array-like
        Estimated soft labels, rows summing to 1.

    Returns
    -------
    float
        0 is a perfect estimate.

    See Also
    --------
    total_variation : A distance that stays finite by itself.

    Examples
    --------
    >>> round(kl_divergence([[1, 0]], [[0.5, 0.5]]), 4)
    0.6931
    """
    truth, estimate = _pair(p_true, p)
    ratio = np.log(np.maximum(truth, KL_FLOOR)) - np.log(np.maximum(estimate, KL_FLOOR))
    return float(np.mean(np.sum(truth * ratio, axis=1)))


def total_variation(p_true: ArrayLike, p: ArrayLike) -> float:
    """Mean over items of half the L1 distance.

    Parameters
    ----------
    p_true : (n, n_classes) array-like
        True soft labels, rows summing to 1.
    p : (n, n_classes) array-like
        Estimated soft labels, rows summing to 1.

    Returns
    -------
    float
        0 is a perfect estimate.

    See Also
    --------
    kl_divergence : Punishes a probability of nearly 0 for a class that occurs.

    Examples
    --------
    >>> total_variation([[1, 0]], [[0.5, 0.5]])
    0.5
    """
    truth, estimate = _pair(p_true, p)
    return float(np.mean(0.5 * np.abs(truth - estimate).sum(axis=1)))


def accuracy(p_true: ArrayLike, p: ArrayLike) -> float:
    """Share of items whose most probable class is right.

    Where the truth has ties, any of the tied classes counts as right.

    Parameters
    ----------
    p_true : (n, n_classes) array-like
        True soft labels, rows summing to 1.
    p : (n, n_classes) array-like
        Estimated soft labels, rows summing to 1.

    Returns
    -------
    float
        A share between 0 and 1.

    See Also
    --------
    rmse : Compares probabilities, not only the largest.

    Examples
    --------
    >>> accuracy([[1, 0], [0, 1]], [[0.6, 0.4], [0.7, 0.3]])
    0.5
    """
    truth, estimate = _pair(p_true, p)
    chosen = truth[np.arange(len(truth)), estimate.argmax(axis=1)]
    return float(np.mean(chosen >= truth.max(axis=1)))


def interval_coverage(p_true: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """Share of entries (item and class) whose true probability lies in its interval.

    Parameters
    ----------
    p_true : (n, n_classes) array-like
        True soft labels, rows summing to 1.
    lower : (n, n_classes) array-like
        Lower ends of the intervals.
    upper : (n, n_classes) array-like
        Upper ends of the intervals.

    Returns
    -------
    float
        A share between 0 and 1.

    See Also
    --------
    rmse : Error of the soft labels inside the intervals.

    Examples
    --------
    >>> interval_coverage([[0.3, 0.7]], [[0.2, 0.8]], [[0.4, 0.9]])
    0.5
    """
    truth = _table(p_true, "p_true")
    low, high = _table(lower, "lower"), _table(upper, "upper")
    if not truth.shape == low.shape == high.shape:
        raise InputError(
            f"p_true, lower and upper must have one shape, got {truth.shape}, {low.shape} and {high.shape}."
        )
    if (low > high).any():
        raise InputError("lower must not exceed upper.")
    return float(np.mean((low <= truth) & (truth <= high)))


def _pair(p_true: ArrayLike, p: ArrayLike) -> tuple[FloatArray, FloatArray]:
    truth, estimate = _table(p_true, "p_true"), _table(p, "p")
    if truth.shape != estimate.shape:
        raise InputError(f"p_true has shape {truth.shape} but p has {estimate.shape}; they must agree.")
    for name, table in (("p_true", truth), ("p", estimate)):
        if (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > ROW_SUM).any():
            raise InputError(f"the rows of {name} must be probabilities: not negative, summing to 1.")
    return truth, estimate


def _table(values: ArrayLike, name: str) -> FloatArray:
    table = validation.table_of_numbers(values, f"{name} must be a table of numbers, items by classes.")
    if table.ndim != 2 or not table.size:
        raise InputError(
            f"{name} must be a table, items by classes, with at least one entry; got shape {table.shape}."
        )
    if not np.isfinite(table).all():
        raise InputError(f"{name} holds NaN or infinite values.")
    return table
