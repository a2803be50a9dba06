"""How far the blend can be trusted: only repeated votes tell."""

import numpy as np
import pytest
from scipy.stats import dirichlet_multinomial

from softspread.posterior.trust import RULE, TrustRule, fit_trust, log_likelihood, observations

N = 300


def simulated(nu, n_votes, seed=0, n_items=N, n_classes=3):
    """A blend m, and votes of items whose truth is Dirichlet(nu m)."""
    rng = np.random.default_rng(seed)
    m = rng.dirichlet(np.ones(n_classes), n_items) * 0.98 + 0.02 / n_classes
    gamma = rng.standard_gamma(nu * m) + 1e-12
    counts = rng.multinomial(n_votes, gamma / gamma.sum(axis=1, keepdims=True)).astype(float)
    return m.astype(np.float32), counts


def learned(m, counts, n_votes=None, size=1e4, rule=RULE):
    """Trust in a blend that many votes stand behind; every item has votes."""
    n_votes = counts.sum(axis=1).astype(int) if n_votes is None else n_votes
    log_size = np.full(len(m), np.log(size), dtype=np.float32)
    return fit_trust(log_size, m, np.arange(len(m)), m, counts, n_votes, rule)


def mean_log_nu(trust, m):
    """Over all items."""
    group = trust.groups(np.full(len(m), np.log(1e4), dtype=np.float32), m)
    return float((trust.law[group] @ np.log(trust.nus)).mean())


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_likelihood_is_the_dirichlet_multinomial(n_classes, rng):
    """Up to the multinomial coefficient, which does not depend on nu."""
    m, counts = simulated(3.0, 5, n_items=6, n_classes=n_classes)
    found = log_likelihood(RULE.nus, m, counts)
    p = m.astype(float)
    for item in range(6):
        whole = counts[item].astype(int)
        exact = [dirichlet_multinomial.logpmf(whole, nu * p[item], whole.sum()) for nu in RULE.nus]
        np.testing.assert_allclose(np.diff(found[item]), np.diff(exact), atol=1e-5)
    assert not log_likelihood(RULE.nus, m, np.zeros_like(counts)).any()


@pytest.mark.parametrize("nu", [0.3, 3.0, 50.0])
def test_many_repeats_find_how_far_the_blend_can_be_trusted(nu):
    """Mean of ln nu within a factor of 1.6 on average over six crowds, ten votes on each of 300 items."""
    crowds = [simulated(nu, 10, seed) for seed in range(6)]
    found = np.mean([mean_log_nu(learned(m, counts), m) for m, counts in crowds])
    assert found == pytest.approx(np.log(nu), abs=np.log(1.6))


def test_few_repeats_leave_more_open_than_many():
    """The posterior over laws has a larger entropy, and its prior the largest."""
    m, counts = simulated(3.0, 4)

    def entropy(trust):
        return float(-(trust.chances * np.log(trust.chances + 1e-300)).sum())

    single = np.ones(N, dtype=int)
    some = [learned(m[:n], counts[:n]) for n in (5, 40, N)]
    entropies = [entropy(learned(m, counts, single)), *(entropy(trust) for trust in some)]
    assert entropies == sorted(entropies, reverse=True)
    assert [trust.n_repeated for trust in some] == [5, 40, N]


def test_single_votes_say_nothing_about_trust():
    """A single vote has law m whatever nu is: the prior stays exactly, however many there are."""
    m, counts = simulated(0.1, 1)
    nobody = fit_trust(
        np.full(N, 5, np.float32), m, np.empty(0, np.int64), m[:0], counts[:0], np.empty(0, np.int64)
    )
    np.testing.assert_array_equal(learned(m, counts).chances, nobody.chances)
    np.testing.assert_allclose(nobody.chances.sum(), 1)


def test_without_repeats_the_share_of_the_loss_is_what_the_rule_says():
    """E R = 1 / (2 + noise) of the whole loss, and where others agree one vote against them moves less."""
    m, counts = simulated(0.1, 1, n_items=2_000)
    trust = learned(m, counts)
    group = trust.groups(np.full(len(m), np.log(1e4), np.float32), m)
    share = (trust.law / (1 + trust.nus)).sum(axis=1)[group]
    loss = 1 - (m.astype(float) ** 2).sum(axis=1)
    assert np.average(share, weights=loss) == pytest.approx(1 / (2 + RULE.noise), abs=0.03)
    by_doubt = share[np.argsort(m.max(axis=1))]
    assert by_doubt[-400:].mean() + 0.05 < by_doubt[:400].mean()


def test_one_heavy_vote_is_not_two_that_agree():
    """A vote of weight 5 teaches nothing, and two votes of weight 5 teach what two of weight 1 do."""
    m, counts = simulated(0.1, 2)
    prior = learned(m, counts, np.ones(N, dtype=int)).chances
    np.testing.assert_array_equal(learned(m, 5 * counts, np.ones(N, dtype=int)).chances, prior)
    twice = np.full(N, 2)
    np.testing.assert_allclose(
        learned(m, 5 * counts, twice).chances, learned(m, counts, twice).chances, atol=1e-12
    )
    np.testing.assert_allclose(observations(np.array([[6.0, 2.0]]), np.array([2])), [[1.5, 0.5]])
    np.testing.assert_allclose(observations(np.array([[0.3, 0.2]]), np.array([2])), [[0.3, 0.2]])


def test_a_blend_of_few_votes_is_worth_few_votes():
    """No law reaches past the next place of the grid, however well repeated votes agree with m."""
    m, counts = simulated(200.0, 6)
    few, many = learned(m, counts, size=8.0), learned(m, counts)
    following = few.nus[few.nus >= 8.0][0]
    assert not few.laws[:, :, few.nus > following].any()
    assert few.nus @ few.law[0] <= following < many.nus @ many.law[0]


def test_laws_are_distributions_and_groups_cover_all_items(rng):
    """Rows sum to 1; every item has a group, also with values unseen at the fit."""
    m, counts = simulated(2.0, 3)
    log_size = rng.normal(2, 1, N).astype(np.float32)
    trust = fit_trust(log_size, m, np.arange(0, N, 3), m[::3], counts[::3], np.full(N // 3, 3))
    np.testing.assert_allclose(trust.laws.sum(axis=2), 1, atol=1e-12)
    np.testing.assert_allclose(trust.law.sum(axis=1), 1, atol=1e-12)
    assert trust.laws.shape[1] == RULE.size_bins * RULE.doubt_bins
    for sizes in (log_size, np.full(N, -50, np.float32), np.full(N, 50, np.float32)):
        group = trust.groups(sizes, m)
        assert ((group >= 0) & (group < trust.laws.shape[1])).all()


def test_draws_follow_the_chances():
    """Evenly spaced draws meet each law as often as it is probable, to within one."""
    m, counts = simulated(2.0, 3)
    trust = learned(m, counts)
    picked = np.bincount(trust.draws(1000), minlength=len(trust.chances))
    assert (np.abs(picked - 1000 * trust.chances) <= 1 + 1e-9).all()


def test_items_in_blocks_give_the_same_answer():
    """Sums over repeated items do not depend on how they are cut."""
    m, counts = simulated(2.0, 3)
    cut = learned(m, counts, rule=TrustRule(block=7))
    np.testing.assert_allclose(cut.chances, learned(m, counts).chances, atol=1e-12)
