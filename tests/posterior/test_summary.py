"""What the posterior expects of whole items."""

import numpy as np

from small_posteriors import posterior_of
from softspread._common.entropy import entropy
from softspread._common.threads import Workers
from softspread.posterior.posterior import drawn
from softspread.posterior.summary import concentrations, expected_entropy


def test_expected_entropy_is_the_mean_over_draws(rng):
    """With and without own votes, over a mixture of nu."""
    m = rng.dirichlet(np.ones(3), size=4)
    mixtures = posterior_of(m, [[0, 0, 0], [2, 1, 0], [0, 0, 0], [0, 0, 5]], [0.5, 3.0, 40.0]).mixtures
    logs = drawn(mixtures, np.arange(4), 20_000, rng)
    p = np.exp(logs - logs.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    by_draws = entropy(p.reshape(-1, 3)).reshape(-1, 4).mean(axis=0)
    found = expected_entropy(mixtures, Workers(1))
    np.testing.assert_allclose(found, by_draws, atol=0.01)  # 20,000 draws of at most ln 3: 0.003 at worst


def test_components_are_what_others_say_plus_own_votes():
    """a = nu m + y."""
    mixtures = posterior_of([[0.25, 0.75], [0.5, 0.5]], [[3, 1], [0, 0]], [2.0, 8.0]).mixtures
    a, weights = concentrations(mixtures, np.arange(2))
    np.testing.assert_allclose(a[0], [[3.5, 2.5], [5.0, 7.0]])
    np.testing.assert_allclose(a[1], [[1.0, 1.0], [4.0, 4.0]])
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
