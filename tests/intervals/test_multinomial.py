"""Multinomial regions against statsmodels, and against drawn votes."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from statsmodels.stats.proportion import multinomial_proportions_confint

from softspread.intervals.multinomial import (
    dirichlet,
    goodman,
    sison_glaz,
    whole_votes,
    widened_sison_glaz,
)
from softspread.intervals.wilson import wilson

# (counts of the example in Sison and Glaz, and shapes that strain the formula: zeros, two classes, thousands)
COUNTS = [
    [56, 72, 73, 59, 62, 87, 58],
    [5, 0, 3],
    [20, 20],
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    [400, 0, 0, 12],
    [1500, 900, 700],
]


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_goodman_is_statsmodels(counts, level):
    """An independent program finds the same ends."""
    lower, upper = goodman(np.array([counts], dtype=float), level)
    theirs = multinomial_proportions_confint(counts, alpha=1 - level, method="goodman")
    np.testing.assert_allclose(np.stack([lower[0], upper[0]], axis=1), theirs, atol=1e-12)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_sison_glaz_is_statsmodels(counts, level):
    """An independent program finds the same ends; fourth moments of 400 votes cost both 8 of 16 digits."""
    lower, upper = sison_glaz(np.array([counts], dtype=float), level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # logarithms of 0 inside statsmodels
        theirs = multinomial_proportions_confint(counts, alpha=1 - level, method="sison-glaz")
    np.testing.assert_allclose(np.stack([lower[0], upper[0]], axis=1), theirs, rtol=0, atol=1e-6)


def test_rows_do_not_depend_on_each_other(rng):
    """Many items at once are each item by itself."""
    counts = rng.poisson(4.0, size=(60, 4)).astype(float)
    for find in (sison_glaz, widened_sison_glaz, goodman, dirichlet):
        together = find(counts, 0.9)
        for row in range(0, 60, 7):
            alone = find(counts[row : row + 1], 0.9)
            np.testing.assert_allclose(together[0][row], alone[0][0], atol=1e-12)
            np.testing.assert_allclose(together[1][row], alone[1][0], atol=1e-12)


def test_goodman_is_the_union_bound(rng):
    """Wilson for all classes together, the ends where the textbook has them."""
    mass = rng.gamma(1.5, size=(40, 5))
    for mine, theirs in zip(goodman(mass, 0.9), wilson(mass, 0.9, 5, snapped=False), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_dirichlet_of_two_classes_is_a_beta_interval():
    """The closed form for one success in one trial: Beta(3/2, 1/2), tails delta / 4."""
    from scipy.stats import beta

    lower, upper = dirichlet(np.array([[1.0, 0.0]]), 0.9)
    np.testing.assert_allclose(lower[0, 0], beta.ppf(0.025, 1.5, 0.5), rtol=1e-9)
    assert upper[0, 0] == 1.0  # .9997 is within the snap
    np.testing.assert_allclose(upper[0, 1], beta.ppf(0.975, 0.5, 1.5), rtol=1e-9)


@pytest.mark.parametrize(
    ("find", "least"), [(goodman, 0.88), (dirichlet, 0.86), (sison_glaz, 0.83), (widened_sison_glaz, 0.83)]
)
def test_regions_hold_all_classes_together_about_as_often_as_they_promise(find, least):
    """60 votes drawn 3,000 times; a share of 0.9 has a standard error of .0055.

    One width for all classes is too narrow for the large ones where classes differ (.854).
    """
    p = np.array([0.5, 0.3, 0.15, 0.05])
    counts = np.random.default_rng(5).multinomial(60, p, size=3_000).astype(float)
    lower, upper = find(counts, 0.9)
    held = ((lower <= p) & (p <= upper)).all(axis=1).mean()
    assert held > least


def test_without_votes_everything_is_possible():
    """No evidence, no knowledge; a single vote says little."""
    for find in (goodman, sison_glaz, widened_sison_glaz, dirichlet):
        lower, upper = find(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), 0.95)
        assert (lower[0] == 0).all()
        assert (upper[0] == 1).all()
        assert (lower <= upper).all()


def test_a_higher_level_never_lowers_the_widened_ends(rng):
    """The textbook's upper end does fall, where the level passes a whole number."""
    counts = rng.poisson(6.0, size=(50, 3)).astype(float)
    ends = [widened_sison_glaz(counts, level) for level in np.linspace(0.5, 0.99, 25)]
    plain = [sison_glaz(counts, level)[1] for level in np.linspace(0.5, 0.99, 25)]
    for (low, high), (lower, upper) in pairwise(ends):
        assert (lower <= low + 1e-12).all()
        assert (upper >= high - 1e-12).all()
    assert any((later < earlier - 1e-9).any() for earlier, later in pairwise(plain))
    for (_, wide), narrow in zip(ends, plain, strict=True):
        assert (wide >= narrow - 1e-12).all()


def test_whole_votes_forgive_rounding():
    """1 - 1e-9 is a vote, 0.9 is none."""
    assert whole_votes(np.array([[1 - 1e-9, 0.9, 2.7, -1e-12]])).tolist() == [[1.0, 0.0, 2.0, 0.0]]
