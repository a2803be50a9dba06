"""Mixtures of Beta distributions: compiled = plain Python, and close to scipy's exact distribution."""

import numpy as np
import pytest

from beta_mixtures import exact_cdf, random_mixtures
from kernel_twins import same_as_python
from softspread._kernels.beta_mixture import (
    at_point,
    at_value,
    below,
    corner,
    mixture_cdf,
    mixture_ends,
    own_votes,
    place_concentrations,
    place_means,
    quantile,
)
from softspread.posterior.beta import ENDS, beta_table

TABLE = beta_table()
N_COMPONENTS = 5
NUS = np.geomspace(0.08, 400, N_COMPONENTS)
WEIGHTS = np.array([0.1, 0.2, 0.0, 0.3, 0.4])


def placed(mean=0.3, votes=2.0, total=3.0):
    """Components of one mixture, found in the table."""
    spot = corner(N_COMPONENTS)
    place_concentrations(TABLE, NUS, total, spot)
    place_means(TABLE, NUS, mean, votes, total, spot)
    return spot


@pytest.mark.parametrize("x", [-1.0, 0.0, 0.3, 0.5, 0.99, 1.0, 7.0])
def test_below_finds_the_last_place_that_leaves_one_after_it(x):
    """Also beyond both ends."""
    values = np.array([0.0, 0.1, 0.5, 0.6, 1.0])
    _, found = same_as_python(below, lambda: (values, x))
    assert found == np.clip(np.searchsorted(values, x, side="right") - 1, 0, 3)


@pytest.mark.parametrize("total", [0.0, 3.0, 1e6])
def test_concentrations_are_placed_between_neighbouring_rows_of_the_table(total):
    """first + step (place + share) is the logarithm, or the nearer end of the table."""
    (*_, spot), _ = same_as_python(place_concentrations, lambda: (TABLE, NUS, total, corner(N_COMPONENTS)))
    found = TABLE.first + TABLE.step * (spot.concentration + spot.concentration_share)
    last = TABLE.first + TABLE.step * (len(TABLE.values) - 1)
    np.testing.assert_allclose(found, np.clip(np.log(NUS + total), TABLE.first, last), rtol=1e-12)
    assert ((spot.concentration >= 0) & (spot.concentration <= len(TABLE.values) - 2)).all()


@pytest.mark.parametrize(("mean", "votes", "total"), [(0.3, 2.0, 3.0), (0.0, 0.0, 0.0), (1.0, 4.0, 4.0)])
def test_means_are_placed_between_neighbouring_means_of_the_table(mean, votes, total):
    """The share between two means gives (nu m + y) / (nu + t) back."""
    (*_, spot), _ = same_as_python(
        place_means, lambda: (TABLE, NUS, mean, votes, total, corner(N_COMPONENTS))
    )
    low, high = TABLE.means[spot.mean], TABLE.means[spot.mean + 1]
    found = low + spot.mean_share * (high - low)
    np.testing.assert_allclose(found, (NUS * mean + votes) / (NUS + total), atol=1e-12)


@pytest.mark.parametrize("point", [0, 1, 60, len(TABLE.points) - 1])
def test_the_distribution_at_a_point_of_the_table_is_a_weighted_mean(point):
    """Of four entries of the table for each component."""
    spot = placed()
    _, found = same_as_python(at_point, lambda: (TABLE, WEIGHTS, spot, point))
    c, m = spot.concentration, spot.mean
    u, v = spot.concentration_share, spot.mean_share
    at = TABLE.values[:, :, point].astype(float)
    low, high = (1 - v) * at[c, m] + v * at[c, m + 1], (1 - v) * at[c + 1, m] + v * at[c + 1, m + 1]
    np.testing.assert_allclose(found, WEIGHTS @ ((1 - u) * low + u * high), rtol=1e-12)


def test_a_quantile_is_the_inverse_of_the_distribution():
    """F(quantile(q)) = q, and 0 where more than q lies at 0."""
    spot = placed()
    for q in (0.01, 0.05, 0.5, 0.95):
        _, x = same_as_python(quantile, lambda q=q: (TABLE, WEIGHTS, spot, q))
        _, back = same_as_python(at_value, lambda x=x: (TABLE, WEIGHTS, spot, x))
        np.testing.assert_allclose(back, q, atol=1e-9)
    assert quantile(TABLE, WEIGHTS, placed(mean=0.0, votes=0.0, total=0.0), 0.05) == 0.0
    assert at_value(TABLE, WEIGHTS, spot, 1.0) == 1.0


def test_own_votes_are_found_and_counted():
    """-1 and 0 for an item without."""
    mixtures = random_mixtures(20, 3)
    for row in range(20):
        _, (at, total) = same_as_python(own_votes, lambda row=row: (mixtures, row))
        assert at == mixtures.own_place[row]
        assert total == (mixtures.own[at].sum() if at >= 0 else 0.0)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_distribution_functions_are_near_the_exact_ones(n_classes):
    """Within 0.03 everywhere between 0.0005 and 0.9995, see TableGrid; compiled = plain Python."""
    mixtures = random_mixtures(12, n_classes)
    x = np.random.default_rng(1).uniform(0.0005, 0.9995, mixtures.means.shape)
    rows = np.arange(12)[::-1].copy()
    spot = corner(len(mixtures.nus))
    (*_, out), _ = same_as_python(
        mixture_cdf, lambda: (TABLE, mixtures, rows, x[rows], spot, np.empty_like(x))
    )
    np.testing.assert_allclose(out[::-1], exact_cdf(mixtures, x), atol=0.03)


@pytest.mark.parametrize("tail", [0.5, 0.1, 0.02])
def test_intervals_leave_out_the_tail_and_no_more(tail):
    """Equal tails inside (0, 1), all at one side near an end; exact probabilities from scipy.

    Each tail is met to within 0.03, the error of the table.
    """
    mixtures, spot = random_mixtures(12, 3), corner(16)
    rows, shape = np.arange(12), (12, 3)

    def arguments():
        ends = np.empty(shape), np.empty(shape)
        return TABLE, mixtures, rows, tail, ENDS.least, ENDS.snap, spot, *ends

    (*_, lower, upper), _ = same_as_python(mixture_ends, arguments)
    assert ((lower >= 0) & (lower < upper) & (upper <= 1)).all()
    left_out_below = np.where(lower > 0, exact_cdf(mixtures, lower), 0.0)
    left_out_above = np.where(upper < 1, 1 - exact_cdf(mixtures, upper), 0.0)
    assert (left_out_below + left_out_above <= tail + 0.03).all()
    inside = (lower > ENDS.snap) & (upper < 1 - ENDS.snap)
    assert inside.any()
    np.testing.assert_allclose(left_out_below[inside], tail / 2, atol=0.03)
    np.testing.assert_allclose(left_out_above[inside], tail / 2, atol=0.03)


def test_no_interval_claims_more_than_votes_can_show():
    """However sure the mixture, an upper end is at least 0.02 and a lower end at most 0.98."""
    nus = np.array([4000.0])
    means = np.array([[0.0, 1.0], [1e-5, 1 - 1e-5]], dtype=np.float32)
    sure = random_mixtures(2, 2)._replace(
        nus=nus,
        weights=np.ones((1, 1)),
        place=np.zeros(2, np.int64),
        means=means,
        own=np.empty((0, 2)),
        own_place=np.array([-1, -1]),
    )
    lower, upper = np.empty((2, 2)), np.empty((2, 2))
    mixture_ends(TABLE, sure, np.arange(2), 0.1, ENDS.least, ENDS.snap, corner(1), lower, upper)
    np.testing.assert_allclose(lower, [[0, 0.98], [0, 0.98]])
    np.testing.assert_allclose(upper, [[0.02, 1], [0.02, 1]])
