"""Mixtures of Beta distributions, read off one table: ends of intervals, and probabilities below a point.

    F(x) = sum_k w_k Beta(x; nu_k m + y, nu_k (1 - m) + t - y)                         theory: [posterior]

Every entry of every item is such a mixture. A Beta distribution is fixed by its mean (nu m + y) / (nu + t)
and its concentration nu + t; the table holds its distribution function on a grid of both, and everything in
between is interpolated, linearly in the mean and in the logarithm of the concentration.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softspread._common.types import FloatArray, IntArray
from softspread._kernels.system import compiled


class BetaTable(NamedTuple):
    """Distribution functions of Beta distributions on a grid."""

    first: float  # logarithm of the smallest concentration
    step: float  # between neighbouring logarithms
    means: FloatArray  # (m,)  ascending, 0 and 1 included
    points: FloatArray  # (p,)  ascending, 0 and 1 included
    values: NDArray[np.float32]  # (concentrations, m, p)


class Mixtures(NamedTuple):
    """One mixture per item and class."""

    nus: FloatArray  # (k,)
    weights: FloatArray  # (w, k)  rows sum to 1
    place: IntArray  # (r,)  the item's row of ``weights``
    means: NDArray[np.float32]  # (r, n_classes)  what the other items say
    own: FloatArray  # (o, n_classes)  own votes of the items that have some
    own_place: IntArray  # (r,)  the item's row of ``own``, -1 = no own votes


class Corner(NamedTuple):
    """Where the components of one mixture lie in the table, (k,) each."""

    concentration: IntArray
    concentration_share: FloatArray
    mean: IntArray
    mean_share: FloatArray


def corner(n_components: int) -> Corner:
    """Memory for the components of one mixture."""
    whole, parts = np.zeros((2, n_components), dtype=np.int64), np.zeros((2, n_components))
    return Corner(whole[0], parts[0], whole[1], parts[1])


@compiled
def below(values, x):
    """The last place whose value is at most x, leaving one place after it."""
    low, high = 0, len(values) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if values[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@compiled
def place_concentrations(table, nus, total, spot):
    """Find nu + t of every component in the table; beyond its ends the end itself stands in."""
    last = table.values.shape[0] - 1
    for k in range(len(nus)):
        at = (np.log(nus[k] + total) - table.first) / table.step
        at = min(max(at, 0.0), last)
        spot.concentration[k] = min(int(at), last - 1)
        spot.concentration_share[k] = at - spot.concentration[k]


@compiled
def place_means(table, nus, mean, votes, total, spot):
    """Find (nu m + y) / (nu + t) of every component in the table."""
    for k in range(len(nus)):
        if k > 0 and total == 0.0:  # without own votes all components share one mean
            spot.mean[k], spot.mean_share[k] = spot.mean[0], spot.mean_share[0]
            continue
        value = min(max((nus[k] * mean + votes) / (nus[k] + total), 0.0), 1.0)
        at = below(table.means, value)
        spot.mean[k] = at
        spot.mean_share[k] = (value - table.means[at]) / (table.means[at + 1] - table.means[at])


@compiled
def at_point(table, weights, spot, point):
    """F at one of the table's points."""
    found = 0.0
    for k in range(len(weights)):
        if weights[k] > 0.0:
            c, m = spot.concentration[k], spot.mean[k]
            u, v = spot.concentration_share[k], spot.mean_share[k]
            low = (1.0 - v) * table.values[c, m, point] + v * table.values[c, m + 1, point]
            high = (1.0 - v) * table.values[c + 1, m, point] + v * table.values[c + 1, m + 1, point]
            found += weights[k] * ((1.0 - u) * low + u * high)
    return found


@compiled
def at_value(table, weights, spot, x):
    """F at any x."""
    if x >= 1.0:
        return 1.0
    point = below(table.points, x)
    left, right = at_point(table, weights, spot, point), at_point(table, weights, spot, point + 1)
    share = (x - table.points[point]) / (table.points[point + 1] - table.points[point])
    return left + share * (right - left)


@compiled
def quantile(table, weights, spot, q):
    """The x with F(x) = q."""
    low, high = 0, len(table.points) - 1
    below_low = at_point(table, weights, spot, low)
    if below_low >= q:
        return 0.0
    below_high = 1.0
    while high - low > 1:
        middle = (low + high) // 2
        found = at_point(table, weights, spot, middle)
        if found < q:
            low, below_low = middle, found
        else:
            high, below_high = middle, found
    rise = max(below_high - below_low, 1e-12)
    share = min(max((q - below_low) / rise, 0.0), 1.0)
    return table.points[low] + share * (table.points[high] - table.points[low])


@compiled
def own_votes(mixtures, row):
    """Place of an item's own votes, -1 without, and their total."""
    at = mixtures.own_place[row]
    total = 0.0
    if at >= 0:
        for column in range(mixtures.own.shape[1]):
            total += mixtures.own[at, column]
    return at, total


@compiled
def mixture_ends(table, mixtures, rows, tail, least, snap, spot, lower, upper):
    """Intervals that leave out ``tail`` of each mixture, written to (rows, n_classes).

    Equal tails; all at one side where more than half of the tail lies within ``snap`` of 0 or 1. No interval
    is shorter than ``least`` at the ends of [0, 1], and ends within ``snap`` of 0 or 1 become 0 or 1.
    """
    for number in range(len(rows)):
        row = rows[number]
        weights = mixtures.weights[mixtures.place[row]]
        at, total = own_votes(mixtures, row)
        place_concentrations(table, mixtures.nus, total, spot)
        for column in range(mixtures.means.shape[1]):
            votes = mixtures.own[at, column] if at >= 0 else 0.0
            place_means(table, mixtures.nus, mixtures.means[row, column], votes, total, spot)
            low = at_value(table, weights, spot, snap) > 0.5 * tail
            high = 1.0 - at_value(table, weights, spot, 1.0 - snap) > 0.5 * tail
            bottom, top = 0.0, 1.0
            if not low:
                bottom = quantile(table, weights, spot, tail if high else 0.5 * tail)
            if not high:
                top = quantile(table, weights, spot, 1.0 - (tail if low else 0.5 * tail))
            bottom, top = min(bottom, 1.0 - least), max(top, least)
            lower[number, column] = 0.0 if bottom < snap else bottom
            upper[number, column] = 1.0 if top > 1.0 - snap else top


@compiled
def mixture_cdf(table, mixtures, rows, x, spot, out):
    """F of every entry at its own x, (rows, n_classes)."""
    for number in range(len(rows)):
        row = rows[number]
        weights = mixtures.weights[mixtures.place[row]]
        at, total = own_votes(mixtures, row)
        place_concentrations(table, mixtures.nus, total, spot)
        for column in range(mixtures.means.shape[1]):
            votes = mixtures.own[at, column] if at >= 0 else 0.0
            place_means(table, mixtures.nus, mixtures.means[row, column], votes, total, spot)
            out[number, column] = at_value(table, weights, spot, x[number, column])
