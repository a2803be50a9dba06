"""Spreading at several alphas, without each item's own votes."""

import numpy as np
import pytest

from blends import own_of, random_counts
from softspread import affinity_graph, knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import SoftspreadWarning
from softspread.posterior.experts import no_votes, shares_expert
from softspread.posterior.ladder import PLAIN, RULE, LadderRule, climb, descend, ladder_experts, with_contrast
from voting import dense_profiles

N, N_CLASSES = 60, 3
ALPHAS = [0.99, 0.9, 0.5]
FLAT = LadderRule(rungs=tuple((alpha, PLAIN) for alpha in ALPHAS))  # no contrasts
COUNTS = random_counts(N, N_CLASSES, 20, seed=3)


@pytest.fixture(scope="module")
def graph():
    """Sixty items in the plane."""
    return knn_graph(np.random.default_rng(0).normal(size=(N, 2)), 6, n_jobs=1)


@pytest.fixture(scope="module")
def rungs(graph):
    """With a solver that knows every scale exactly."""
    return climb(Diffusion(graph, 0.9, solver="dense"), own_of(COUNTS), ALPHAS)


def test_rungs_go_from_coarse_to_fine_and_hold_the_mass_of_the_votes(graph, rungs):
    """Algorithm 1 at each alpha, to the solver's tolerance."""
    assert [rung.alpha for rung in rungs] == ALPHAS
    for rung in rungs:
        np.testing.assert_allclose(rung.mass, dense_profiles(graph, rung.alpha) @ COUNTS, atol=1e-4)


def test_a_rung_without_own_votes_is_a_refit_without_them(graph, rungs):
    """Every voted item in turn loses its votes; what the others bring to it stays."""
    own = own_of(COUNTS)
    for rung in rungs:
        profiles, held = dense_profiles(graph, rung.alpha), rung.without_own(own)
        for row in own.voted:
            others = COUNTS.copy()
            others[row] = 0
            np.testing.assert_allclose(held[row], (profiles @ others)[row], atol=1e-4)
        unvoted = np.setdiff1d(np.arange(N), own.voted)
        np.testing.assert_array_equal(held[unvoted], rung.mass[unvoted])


def test_experts_of_an_item_do_not_change_with_its_own_votes(graph):
    """Held predictions come from others alone, to within the tolerance of solves and scales."""
    other = COUNTS.copy()
    row = int(np.flatnonzero(COUNTS.sum(axis=1))[4])
    other[row] = np.roll(other[row], 1) * 2
    answers = []
    for counts in (COUNTS, other):
        own = own_of(counts)
        found = climb(Diffusion(graph, 0.9, solver="dense"), own, ALPHAS)
        shares = np.full((N, N_CLASSES), 1 / N_CLASSES, np.float32)
        answers.append([expert.held[4] for expert in ladder_experts(found, shares, own)])
    np.testing.assert_allclose(*answers, atol=1e-3)


@pytest.mark.parametrize("rule", [LadderRule(found_scales=5), LadderRule()], ids=["sampled", "found"])
def test_found_and_sampled_scales_agree(graph, rungs, rule):
    """Mass by conjugate gradients, with scales found or read off a sample, is within 5 % of the exact one."""
    rough = climb(Diffusion(graph, 0.9, solver="cg"), own_of(COUNTS), ALPHAS, rule)
    for exact, found in zip(rungs, rough, strict=True):
        miss = np.abs(found.mass - exact.mass).sum() / exact.mass.sum()
        assert miss < 0.05


def test_predictions_follow_the_formula(rungs):
    """q = (Y + b q_coarser) / (N + b), the coarsest backing off to the shares."""
    own = own_of(COUNTS)
    shares = shares_expert(own, 0.3).final
    experts = ladder_experts(rungs, shares, own, FLAT)
    coarser, back_off = shares.astype(float), RULE.first_back_off
    for rung, expert in zip(rungs, experts, strict=True):
        Y = rung.without_own(own).astype(float)
        coarser = (Y + back_off * coarser) / (Y.sum(axis=1, keepdims=True) + back_off)
        back_off = RULE.back_off
        np.testing.assert_allclose(expert.final, coarser, atol=1e-5)
        np.testing.assert_array_equal(expert.held, expert.final[own.voted])
        np.testing.assert_allclose(expert.final.sum(axis=1), 1, atol=1e-5)
        assert expert.name == f"alpha {rung.alpha:g}"


def test_sizes_count_votes_that_reach_an_item(rungs):
    """Mass over the concentration of profiles: as many votes as would give the same variance."""
    own = own_of(COUNTS)
    others = [rung.without_own(own) for rung in rungs]
    shares = np.full((N, N_CLASSES), 1 / N_CLASSES, np.float32)
    ratings = descend(rungs, iter(others), shares, FLAT)
    for rung, mass, (_, _, log_size, _) in zip(rungs, others, ratings, strict=True):
        assert 0 < rung.concentration <= 1
        expected = np.maximum(mass.sum(axis=1) / rung.concentration, RULE.least_size)
        np.testing.assert_allclose(np.exp(log_size), expected, rtol=1e-4)


def test_without_votes_the_shares_answer(graph):
    """At every rung."""
    own = no_votes(N, 2)
    shares = np.tile(np.array([0.3, 0.7], np.float32), (N, 1))
    for expert in ladder_experts(climb(Diffusion(graph, 0.9), own, ALPHAS), shares, own):
        np.testing.assert_allclose(expert.final, shares, atol=1e-6)
        assert np.isfinite(expert.log_size).all()


def test_an_isolated_item_keeps_to_the_shares():
    """No edge, no votes of others; its own are left out."""
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = A[1, 2] = A[2, 1] = 1.0
    with pytest.warns(SoftspreadWarning):
        graph = affinity_graph(A)
    own = own_of([[2, 0], [0, 0], [0, 0], [0, 3]])
    shares = shares_expert(own, 0.3)
    for expert in ladder_experts(climb(Diffusion(graph, 0.9), own, ALPHAS), shares.final, own):
        np.testing.assert_allclose(expert.final[3], shares.final[3], atol=1e-5)
        np.testing.assert_allclose(expert.final[2], [1, 0], atol=0.02)


def test_an_alpha_of_the_users_own_stands_alone_without_contrast():
    """One rung, one expert; the ladder's own rungs have the contrasts of the rule."""
    assert RULE.contrasts_at(0.123, alone=True) == ((1.0, 1.0),)
    assert RULE.contrasts_at(0.99, alone=False) == dict(RULE.rungs)[0.99]


def test_contrast_brings_out_what_differs_from_the_shares():
    """The shares stay the shares, a class above its share rises, rows sum to 1, and 1 changes nothing."""
    shares = np.array([[0.2, 0.8], [0.2, 0.8]], dtype=np.float32)
    q = np.array([[0.2, 0.8], [0.4, 0.6]], dtype=np.float32)
    assert with_contrast(q, shares, 1.0) is q
    found = with_contrast(q, shares, 2.0)
    exact = np.array([0.2 * 2.0**2, 0.8 * 0.75**2])
    np.testing.assert_allclose(found[0], shares[0], atol=1e-6)
    np.testing.assert_allclose(found[1], exact / exact.sum(), atol=1e-6)


def test_contrasts_are_experts_of_their_own(rungs):
    """Each rung's prediction with its contrast, named so."""
    own = own_of(COUNTS)
    shares = shares_expert(own, 0.3).final
    plain = ladder_experts(rungs, shares, own, FLAT)
    sharp = ladder_experts(rungs, shares, own)
    assert [expert.name for expert in sharp[:2]] == ["alpha 0.99, contrast 2", "alpha 0.99, contrast 4"]
    np.testing.assert_allclose(sharp[0].final, with_contrast(plain[0].final, shares, 2.0), atol=1e-6)
