"""The likelihood of repeated votes is the Dirichlet-multinomial one."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import betabinom

from softspread.intervals.calibrated.constants import MODEL
from softspread.intervals.calibrated.likelihood import Likelihood
from voting import ballots_of


def test_likelihood_of_two_classes_is_the_beta_binomial():
    """Differences of the objective equal those of scipy's beta-binomial plus the priors."""
    votes = ballots_of([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 0])
    po = np.array([[0.6, 0.4], [0.3, 0.7], [0.5, 0.5]])
    log_sizes = np.log([3.0, 1.0, 8.0])
    problem = Likelihood(votes, log_sizes, po, float("nan"), np.random.default_rng(0))
    single = ballots_of([0, 1, 2], [0, 1, 0], [3, 2, 1])  # heavy, but single
    empty = Likelihood(single, log_sizes, po, np.nan, None)

    def log_likelihood(parameters):
        nu = 1 / problem.share(log_sizes, parameters) - 1
        pairs = ((0, 2, 3), (1, 0, 2))  # item, votes for class 0, votes
        return sum(betabinom.logpmf(k, n, nu[i] * po[i, 0], nu[i] * po[i, 1]) for i, k, n in pairs)

    one, two = (-0.9, 0.9, -3.0), (0.5, 1.1, 0.2)
    difference = (problem(one) - problem(two)) - (
        empty(one) - empty(two)
    )  # without repeats only the priors are left
    assert_allclose(difference, log_likelihood(two) - log_likelihood(one), rtol=1e-9)


def test_a_sample_of_repeated_items_is_scaled_up(rng):
    """Beyond a limit a random part stands for all, with its likelihood counted accordingly."""
    rows = np.repeat(np.arange(300), 2)
    votes = ballots_of(rows, rng.integers(2, size=600))
    po, log_sizes = np.full((300, 2), 0.5), np.zeros(300)
    whole = Likelihood(votes, log_sizes, po, np.nan, rng)
    part = Likelihood(votes, log_sizes, po, np.nan, rng, replace(MODEL, most_repeated=100))
    assert (whole.scale, part.scale, len(part.own)) == (1.0, 3.0, 100)
    assert_allclose(part.best(), whole.best(), atol=0.5)
