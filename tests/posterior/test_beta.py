"""The table of Beta distributions, and what is read off it."""

import numpy as np
import pytest
from scipy.special import betainc

from beta_mixtures import exact_cdf, random_mixtures
from softspread._common.threads import Workers
from softspread.posterior.beta import ENDS, GRID, beta_table, interval_ends, probability_below


def test_the_table_holds_exact_values_on_its_grid():
    """At single precision; a mean of 0 or 1 has all its mass there; every row rises to 1."""
    table = beta_table()
    concentrations = np.exp(table.first + table.step * np.arange(len(table.values)))
    np.testing.assert_allclose(concentrations[[0, -1]], [GRID.smallest, GRID.largest])
    for c in (0, 30, 63):
        for m in (1, 40, len(table.means) - 2):
            a = concentrations[c] * table.means[m]
            exact = betainc(a, concentrations[c] - a, table.points)
            np.testing.assert_allclose(table.values[c, m], exact, atol=1e-7)
    assert (table.values[:, 0] == 1).all()
    assert (table.values[:, -1, :-1] == 0).all()
    assert (table.values[:, :, -1] == 1).all()
    assert (np.diff(table.values, axis=2) >= -1e-6).all()


@pytest.mark.parametrize("spread", [0.05, 0.3, 1.4])
@pytest.mark.parametrize(("n_classes", "concentration"), [(2, 1.0), (3, 0.1), (10, 0.3), (100, 0.05)])
def test_the_tables_error_is_what_its_docstring_says(n_classes, concentration, spread):
    """At most 0.03, below 0.006 in 99 of 100 entries, 0.0004 on average, against scipy."""
    mixtures = random_mixtures(800, n_classes, 1, spread, concentration)
    rng = np.random.default_rng(2)
    x = rng.random(mixtures.means.shape) * np.where(rng.random(mixtures.means.shape) < 0.5, 0.05, 1.0)
    x = x.clip(0.0005, 0.9995)
    error = np.abs(probability_below(mixtures, np.arange(800), x, Workers(1)) - exact_cdf(mixtures, x))
    assert error.max() <= 0.03
    assert np.quantile(error, 0.99) < 0.006
    assert error.mean() <= 0.0004


@pytest.mark.parametrize("tail", [0.3, 0.1, 0.01])
def test_intervals_keep_their_share_of_the_exact_mixture(tail):
    """At least 1 - tail to within 0.011 for nearly all entries; on average up to 0.005 more: reading between
    grid points blurs a distribution a little."""
    mixtures = random_mixtures(2000, 3, 4)
    lower, upper = interval_ends(mixtures, np.arange(2000), tail, Workers(1))
    kept = exact_cdf(mixtures, upper) - np.where(lower > 0, exact_cdf(mixtures, lower), 0.0)
    assert np.quantile(kept, 0.001) >= 1 - tail - 0.011
    two_sided = (lower > ENDS.snap) & (upper < 1 - ENDS.snap)
    assert 0 <= kept[two_sided].mean() - (1 - tail) <= 0.005


def test_results_do_not_depend_on_threads_or_on_the_rows_asked_for():
    """Some rows answer as they do among all, in any order, also where work is cut into pieces."""
    mixtures, rows = random_mixtures(60, 3, 3), np.arange(60)
    x = np.random.default_rng(0).random((60, 3))
    lower, upper = interval_ends(mixtures, rows, 0.1, Workers(1))
    below = probability_below(mixtures, rows, x, Workers(1))
    some, pieces = np.array([41, 3, 3, 59]), {"chunk_entries": 20}
    for workers in (Workers(1), Workers(3)):
        with workers:
            np.testing.assert_array_equal(probability_below(mixtures, rows, x, workers, **pieces), below)
            found = probability_below(mixtures, some, x[some], workers, **pieces)
            np.testing.assert_array_equal(found, below[some])
            ends = interval_ends(mixtures, some, 0.1, workers, **pieces)
            np.testing.assert_array_equal(ends, (lower[some], upper[some]))


def test_one_x_for_all_and_no_rows_at_all():
    """A number is compared with every entry; no rows give no answers."""
    mixtures = random_mixtures(5, 2)
    same = probability_below(mixtures, np.arange(5), 0.4, Workers(1))
    np.testing.assert_array_equal(
        same, probability_below(mixtures, np.arange(5), np.full((5, 2), 0.4), Workers(1))
    )
    assert probability_below(mixtures, np.empty(0, np.int64), 0.4, Workers(1)).shape == (0, 2)
    assert interval_ends(mixtures, np.empty(0, np.int64), 0.1, Workers(1))[0].shape == (0, 2)
