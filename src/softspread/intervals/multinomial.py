"""Confidence regions of a multinomial: intervals of all classes of an item that hold together.

    Goodman      Wilson's interval with z^2 = chi-squared quantile of 1 - delta/C          theory: [goodman]
    Sison-Glaz   Y/N - c/N, Y/N + (c + 2g)/N, the smallest box that holds enough          theory: [sison-glaz]
    Dirichlet    quantiles delta/(2C), 1 - delta/(2C) of Dirichlet(Y + 1/C)                theory: [dirichlet]

All of them read mass as votes, as the paper suggests: they know the noise of the votes, not the bias of the
spreading.
"""

import numpy as np
from scipy.special import betaincinv, gammaln, pdtr, xlogy

from softspread._common import validation
from softspread._common.types import FloatArray, IntArray
from softspread.intervals.wilson import snap_ends, wilson

WHOLE = 1e-6  # a vote that rounding left at 1 - 1e-9 is one vote, not none
TINY = float(np.finfo(np.float64).tiny)

Ends = tuple[FloatArray, FloatArray]


def goodman(mass: FloatArray, confidence_level: float) -> Ends:
    """Goodman's simultaneous intervals (1965): Wilson's for each class, with a union bound over the classes.

    Parameters
    ----------
    mass : (n, n_classes), also fractions of votes
    confidence_level : of all classes of an item together

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence
    """
    return wilson(mass, confidence_level, n_intervals=mass.shape[1], snapped=False)


def dirichlet(mass: FloatArray, confidence_level: float) -> Ends:
    """Credible intervals under Dirichlet(Y + 1/C), with a union bound over the classes.

    One pseudo-vote is shared by all classes, however many there are. Ends within 0.005 of 0 and 1 are moved
    onto them, as for Wilson's intervals: the quantiles of a Beta distribution are never 0.

    Parameters
    ----------
    mass : (n, n_classes), also fractions of votes
    confidence_level : of all classes of an item together

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence
    """
    delta = 1 - validation.between_0_and_1("confidence_level", confidence_level)
    n_classes = mass.shape[1]
    evidence = mass.sum(axis=1, keepdims=True)
    if n_classes == 1:
        return np.where(evidence > 0, 1.0, 0.0), np.ones_like(mass)
    a = mass + 1 / n_classes
    b = evidence - mass + 1 - 1 / n_classes
    tail = delta / (2 * n_classes)
    lower, upper = snap_ends(betaincinv(a, b, tail), betaincinv(a, b, 1 - tail))
    return np.where(evidence > 0, lower, 0.0), np.where(evidence > 0, upper, 1.0)


def whole_votes(mass: FloatArray) -> FloatArray:
    """Mass rounded down to whole votes, class by class."""
    return np.floor(np.maximum(mass, 0.0) + WHOLE)


# ------------------------------------------------------------------------------------------- Sison and Glaz
def sison_glaz(counts: FloatArray, confidence_level: float) -> Ends:
    """Intervals of Sison and Glaz (1995): one width for all classes, narrower than a union bound.

    c is the largest number for which the counts of a new sample lie within c of these with less than the
    level's probability; g interpolates between c and c + 1. Probabilities by truncated Poisson variables and
    an Edgeworth expansion.

    Parameters
    ----------
    counts : (n, n_classes) whole votes
    confidence_level : of all classes of an item together

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] for items without votes, and where no number
        reaches the level by the approximation: with few votes, or nearly all for one class
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    rows, back = np.unique(counts, axis=0, return_inverse=True)
    trials = rows.sum(axis=1)
    largest = trials.astype(np.int64)
    reaches = np.where(largest > 0, _smallest_reaching(rows, largest, level), 0)
    found = reaches > 0
    c = np.maximum(reaches - 1, 0).astype(np.float64)
    below, above = np.zeros(len(rows)), np.ones(len(rows))
    some = found & (c > 0)
    below[some] = _probability(rows[some], c[some])
    above[found] = _probability(rows[found], c[found] + 1)
    g = (level - below) / np.where(above > below, above - below, 1.0)
    n = np.where(trials > 0, trials, 1.0)[:, None]
    share = rows / n
    lower = np.where(found[:, None], np.maximum(share - c[:, None] / n, 0.0), 0.0)
    upper = np.where(found[:, None], np.minimum(share + (c + 2 * g)[:, None] / n, 1.0), 1.0)
    return lower[back.ravel()], upper[back.ravel()]


def widened_sison_glaz(counts: FloatArray, confidence_level: float) -> Ends:
    """The same with upper ends that never fall as the level rises.

    c + 2g falls from c + 2 back to c + 1 wherever the level passes a whole number; here it stays.
    """
    lower, upper = sison_glaz(counts, confidence_level)
    n = np.where(counts.sum(axis=1) > 0, counts.sum(axis=1), 1.0)[:, None]
    share = counts / n
    # c is the same for all classes; the class with the most votes shows it, being cut off last
    largest = counts.argmax(axis=1)
    at = np.arange(len(counts))
    c = (share - lower)[at, largest][:, None] * n
    open_ended = (upper[at, largest] >= 1) & (lower[at, largest] <= 0)
    wider = np.minimum(np.maximum(upper, share + (c + 1) / n * (c > 0)), 1.0)
    return lower, np.where(open_ended[:, None], upper, wider)


def _smallest_reaching(rows: FloatArray, largest: IntArray, level: float) -> IntArray:
    """For each row the smallest number from 1 to its total whose box has more than the level, else 0.

    One after the other: the approximation need not grow all the way.
    """
    found = np.zeros(len(rows), dtype=np.int64)
    open_rows = np.flatnonzero(largest > 0)
    c = 0
    while len(open_rows):
        c += 1
        enough = _probability(rows[open_rows], np.full(len(open_rows), float(c))) > level
        found[open_rows[enough]] = c
        open_rows = open_rows[~enough & (largest[open_rows] > c)]
    return found


def _probability(counts: FloatArray, c: FloatArray) -> FloatArray:
    """Probability that a new sample's counts all lie within c of these, (n,)."""
    n = counts.sum(axis=1)
    low = np.maximum(counts - c[:, None], 0.0)
    high = np.minimum(counts + c[:, None], n[:, None])
    inside = np.maximum(
        pdtr(high, counts) - np.where(low > 0, pdtr(np.maximum(low - 1, 0.0), counts), 0.0), TINY
    )
    m1, m2, m3, m4 = (_factorial_moment(low, high, inside, counts, order) for order in range(1, 5))
    mean = m1
    second = m2 + mean - mean**2
    third = m3 + m2 * (3 - 3 * mean) + mean - 3 * mean**2 + 2 * mean**3
    fourth = (
        m4
        + m3 * (6 - 4 * mean)
        + m2 * (7 - 12 * mean + 6 * mean**2)
        + mean
        - 4 * mean**2
        + 6 * mean**3
        - 3 * mean**4
    )
    variance = np.maximum(second.sum(axis=1), TINY)
    skew = third.sum(axis=1) / variance**1.5
    kurtosis = (fourth.sum(axis=1) - 3 * (second**2).sum(axis=1)) / variance**2
    x = (n - mean.sum(axis=1)) / np.sqrt(variance)
    h3, h4 = x**3 - 3 * x, x**4 - 6 * x**2 + 3
    h6 = x**6 - 15 * x**4 + 45 * x**2 - 15
    expansion = 1 + skew * h3 / 6 + kurtosis * h4 / 24 + skew**2 * h6 / 72
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi * variance) * np.maximum(expansion, 0.0)
    log_total = xlogy(n, n) - n - gammaln(n + 1)  # of a Poisson variable with mean n to be n
    return np.asarray(np.exp(np.log(inside).sum(axis=1) - log_total) * density)


def _factorial_moment(
    low: FloatArray, high: FloatArray, inside: FloatArray, mean: FloatArray, order: int
) -> FloatArray:
    """E[Z (Z - 1) ... (Z - order + 1)] of a Poisson variable that is known to lie in [low, high]."""
    steps = np.arange(order)[:, None, None]
    top = _poisson(high - steps, mean).sum(axis=0)
    bottom = _poisson(low - 1 - steps, mean).sum(axis=0)
    return np.asarray(mean**order * (1 - (top - bottom) / inside))


def _poisson(k: FloatArray, mean: FloatArray) -> FloatArray:
    """Probability of k, 0 below 0."""
    known = np.maximum(k, 0.0)
    return np.where(k >= 0, np.exp(xlogy(known, mean) - mean - gammaln(known + 1)), 0.0)
