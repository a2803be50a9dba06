"""The posterior of every item: its moments, quantiles and draws against brute force."""

import numpy as np
import pytest

from blends import posterior_of_counts, random_counts, trust_of
from softspread.posterior.posterior import drawn, first_moments, second_moments
from softspread.posterior.trust import RULE, log_likelihood

N, N_CLASSES = 8, 3
COUNTS = random_counts(N, N_CLASSES, 5, seed=2)
M = np.random.default_rng(1).dirichlet(np.ones(N_CLASSES), N).astype(np.float32)
LAW = np.random.default_rng(3).dirichlet(np.ones(len(RULE.nus)))


@pytest.fixture(scope="module")
def posterior():
    """Three items without own votes, five with one to four."""
    return posterior_of_counts(M, COUNTS, trust_of(LAW))


@pytest.fixture(scope="module")
def brute():
    """(draws, n, n_classes): nu from its law given the own votes, then Dirichlet(nu m + y), by numpy."""
    rng, n_draws = np.random.default_rng(0), 40_000
    m = M.astype(float)
    logs = log_likelihood(RULE.nus, M, COUNTS)
    weights = LAW * np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    nu = np.stack([rng.choice(RULE.nus, n_draws, p=w) for w in weights], axis=1)
    gamma = rng.standard_gamma(nu[:, :, None] * m + COUNTS) + 1e-300
    return gamma / gamma.sum(axis=2, keepdims=True)


def test_the_mean_is_that_of_brute_force(posterior, brute):
    """Within five standard errors of 40,000 draws; rows sum to 1."""
    p = posterior.mean()
    np.testing.assert_allclose(p, brute.mean(axis=0), atol=5 * 0.5 / np.sqrt(len(brute)))
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)


def test_the_variance_is_that_of_brute_force(posterior, brute):
    """Also where there are no own votes."""
    np.testing.assert_allclose(posterior.variance(), brute.var(axis=0), atol=0.003)
    second = second_moments(posterior.mixtures)
    np.testing.assert_allclose(second, (brute**2).mean(axis=0), atol=5 * 0.5 / np.sqrt(len(brute)))


def test_probabilities_below_a_point_are_those_of_brute_force(posterior, brute):
    """Within the table's error and five standard errors."""
    for x in (0.01, 0.2, 0.5, 0.9):
        np.testing.assert_allclose(
            posterior.below(x), (brute <= x).mean(axis=0), atol=0.03 + 2.5 / np.sqrt(len(brute))
        )
    some = np.array([5, 1])
    np.testing.assert_array_equal(posterior.below(0.2, some), posterior.below(0.2)[some])


@pytest.mark.parametrize("tail", [0.1, 0.5])
def test_intervals_hold_the_draws(posterior, brute, tail):
    """At least 1 - tail of them, to within the table's error."""
    lower, upper = posterior.interval(tail)
    held = ((brute >= lower) & (brute <= upper)).mean(axis=0)
    assert (held >= 1 - tail - 0.03).all()
    some = np.array([7, 0])
    np.testing.assert_array_equal(posterior.interval(tail, some)[1], upper[some])


def test_mode_probabilities_are_those_of_brute_force(posterior, brute):
    """How often each class is largest; rows sum to 1."""
    found = posterior.mode_probabilities(np.random.default_rng(5), 4000)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    modes = np.stack([(brute.argmax(axis=2) == c).mean(axis=0) for c in range(N_CLASSES)], axis=1)
    np.testing.assert_allclose(found, modes, atol=5 * 0.5 / np.sqrt(4000))


def test_mode_probabilities_are_multiples_and_follow_their_generator(posterior):
    """Ten draws give tenths; the same seed the same answer."""
    ten = [posterior.mode_probabilities(np.random.default_rng(seed), 10) for seed in (1, 1)]
    np.testing.assert_array_equal(*ten)
    np.testing.assert_allclose(ten[0] * 10, np.round(ten[0] * 10))


def test_evidence_is_own_votes_and_what_the_others_are_worth(posterior):
    """nu + t where nu is known; above the own votes in any case."""
    nus = np.array([2.5])
    known = posterior_of_counts(M, COUNTS, trust_of([1.0], nus))
    np.testing.assert_allclose(known.evidence(), 2.5 + COUNTS.sum(axis=1))
    assert (posterior.evidence() > COUNTS.sum(axis=1)).all()


def test_a_blend_that_is_trusted_outweighs_votes_and_one_that_is_not_gives_way():
    """With nu large the mean is m, with nu near 0 the item's own shares."""
    voted = COUNTS.sum(axis=1) > 0
    nus = np.array([1e-6, 1e6])
    own = posterior_of_counts(M, COUNTS, trust_of([1.0, 0.0], nus)).mean()
    others = posterior_of_counts(M, COUNTS, trust_of([0.0, 1.0], nus)).mean()
    shares = COUNTS[voted] / COUNTS[voted].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(own[voted], shares, atol=1e-5)
    np.testing.assert_allclose(others, M, atol=1e-5)


def test_one_world_is_a_posterior_of_its_own():
    """Under one law and one way to sharpen the mixtures are those of a posterior with these alone."""
    laws = np.random.default_rng(0).dirichlet(np.ones(16), 2)
    other = np.random.default_rng(4).dirichlet(np.ones(3), N).astype(np.float32)
    variants = [(0.5, lambda rows: M[rows]), (0.5, lambda rows: other[rows])]
    both = posterior_of_counts(M, COUNTS, trust_of(laws), variants)
    rows = np.array([6, 0, 3, 1])
    world = both.under(1, variants[1], rows)
    alone = posterior_of_counts(other, COUNTS, trust_of(laws[1]))
    np.testing.assert_allclose(second_moments(world), second_moments(alone.mixtures)[rows], atol=1e-12)


def test_laws_are_averaged_by_their_chances():
    """Without own votes second moments are the mean over laws."""
    laws = np.random.default_rng(0).dirichlet(np.ones(16), 2)
    none = np.zeros_like(COUNTS)
    each = [second_moments(posterior_of_counts(M, none, trust_of(law)).mixtures) for law in laws]
    both = second_moments(posterior_of_counts(M, none, trust_of(laws, chances=[0.2, 0.8])).mixtures)
    np.testing.assert_allclose(both, 0.2 * each[0] + 0.8 * each[1], atol=1e-12)


def test_draws_do_not_underflow():
    """Logarithms stay finite where Gamma variates of tiny shape are 0 in double precision."""
    tiny = np.array([[1e-7, 1 - 1e-7], [0.0, 1.0]], dtype=np.float32)
    posterior = posterior_of_counts(tiny, np.zeros((2, 2)), trust_of([1.0], np.array([0.08])))
    logs = drawn(posterior.mixtures, np.arange(2), 500, np.random.default_rng(0))
    assert np.isfinite(logs).all()
    assert (logs.argmax(axis=2) == 1).all()


def test_first_moments_are_the_mean(posterior):
    """Of all items at once, and up to the rounding of single precision."""
    np.testing.assert_allclose(first_moments(posterior.mixtures), posterior.mean(), atol=1e-6)


def test_a_part_is_the_posterior_of_these_items(posterior):
    """Means, variances and every world, in the order asked for."""
    rows = np.array([6, 0, 3])
    part = posterior.part(rows)
    np.testing.assert_allclose(part.mean(), posterior.mean()[rows], atol=1e-7)
    np.testing.assert_allclose(part.variance(), posterior.variance()[rows], atol=1e-7)
    some = np.array([2, 1])
    whole, alone = (
        first_moments(one.under(0, one.variants[0], asked))
        for one, asked in ((posterior, rows[some]), (part, some))
    )
    np.testing.assert_allclose(alone, whole, atol=1e-7)


def test_worlds_are_drawn_by_their_probability():
    """Laws of probability .75 and .25, and two variants of .5: every fourth world has the second law."""
    trust = trust_of(np.stack([LAW, LAW[::-1]]), chances=[0.75, 0.25])
    variants = [(0.5, lambda rows: M[rows]), (0.5, lambda rows: M[rows])]
    found = posterior_of_counts(M, COUNTS, trust, variants).draw_worlds(100, np.random.default_rng(0))
    assert sum(law for law, _ in found) == 25
    assert sum(variant for _, variant in found) == 50
