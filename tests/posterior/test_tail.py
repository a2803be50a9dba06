"""How much an interval may leave out."""

import numpy as np
import pytest

from blends import posterior_of_counts, random_counts, trust_of
from softspread.posterior.tail import TailRule, find_tail, tail_of
from softspread.posterior.trust import RULE

N, N_CLASSES = 200, 3
M = np.random.default_rng(1).dirichlet(np.full(N_CLASSES, 0.5), N).astype(np.float32)
COUNTS = random_counts(N, N_CLASSES, 80, seed=2)
LOGS = np.log(RULE.nus)


def law_around(nu):
    """nu known to a factor of about 1.5."""
    law = np.exp(-0.5 * ((LOGS - np.log(nu)) / 0.4) ** 2)
    return law / law.sum()


def mean_width(posterior, level):
    lower, upper = posterior.interval(tail_of(posterior, level))
    return (upper - lower).mean()


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_tail_is_one_of_the_shares(level):
    """Between 3 % and 130 % of 1 - level."""
    posterior = posterior_of_counts(M, COUNTS, trust_of(law_around(5.0)))
    share = find_tail(posterior, level) / (1 - level)
    assert np.isclose(share, TailRule().shares).any()


def test_the_tail_is_smaller_where_trust_is_uncertain():
    """The same mean law, known or open: intervals that must hold in every world are wider."""
    laws = np.array([law_around(0.5), law_around(50.0)])
    known = posterior_of_counts(M, COUNTS, trust_of(laws.mean(axis=0)))
    unclear = posterior_of_counts(M, COUNTS, trust_of(laws))
    assert tail_of(unclear, 0.9) < tail_of(known, 0.9)
    assert mean_width(unclear, 0.9) > mean_width(known, 0.9)


def test_a_higher_level_leaves_out_less():
    """Widths grow with the level."""
    posterior = posterior_of_counts(M, COUNTS, trust_of(law_around(5.0)))
    widths = [mean_width(posterior, level) for level in (0.5, 0.8, 0.9, 0.95, 0.99)]
    assert widths == sorted(widths)


@pytest.mark.parametrize("nu", [0.5, 5.0, 100.0])
def test_intervals_hold_in_the_world_they_were_made_for(nu):
    """Truth drawn from the posterior itself is covered at the level, on all entries and on those above .05,
    to within what the rule gives way."""
    posterior = posterior_of_counts(M, np.zeros_like(COUNTS), trust_of(law_around(nu)))
    lower, upper = posterior.interval(tail_of(posterior, 0.9))
    rng = np.random.default_rng(0)
    picked = rng.choice(RULE.nus, (300, N, 1), p=law_around(nu))
    gamma = rng.standard_gamma(picked * M.astype(float)) + 1e-300
    truth = gamma / gamma.sum(axis=2, keepdims=True)
    held = (truth >= lower - 0.005) & (truth <= upper + 0.005)
    assert held.mean() >= 0.9 - 0.01
    assert held[truth > 0.05].mean() >= 0.9 - TailRule().give_mean - 0.01


def test_a_tail_is_found_once_per_posterior_and_level():
    """It is kept with the posterior."""
    posterior = posterior_of_counts(M, COUNTS, trust_of(law_around(5.0)))
    found = tail_of(posterior, 0.9)
    assert posterior.tails == {0.9: found}
    posterior.tails[0.9] = 0.123
    assert tail_of(posterior, 0.9) == 0.123


def test_many_classes_and_one_item_work():
    """At least one item judges, however many classes it has."""
    m = np.random.default_rng(0).dirichlet(np.full(300, 0.1), 3).astype(np.float32)
    many = posterior_of_counts(m, np.zeros((3, 300)), trust_of(law_around(5.0)))
    assert 0 < find_tail(many, 0.9, TailRule(entries=100, worlds=3)) <= 0.13
    one = posterior_of_counts(M[:1], COUNTS[:1], trust_of(law_around(5.0)))
    assert 0 < find_tail(one, 0.9) <= 0.13
