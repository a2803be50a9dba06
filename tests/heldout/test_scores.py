"""Scores of held-out predictions are those of refits, and right on average."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import knn_graph
from softspread.diffusion.diagonal import OwnScales
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout.masses import VotedMass, mass_of_state, voted_mass
from softspread.heldout.noise import NoiseModel, find_noise
from softspread.heldout.scores import LEAST_ERROR, LOG_FLOOR, BrierScore, leave_one_out_scores, log_scores
from softspread.heldout.split import hold_out
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots
from voting import ballots_of, dense_profiles, mass_of, solved, table


@pytest.fixture
def cloud(rng):
    """60 items in the plane."""
    return knn_graph(rng.normal(size=(60, 2)), n_neighbors=6)


def counted(counts):
    """One row per item and class with votes."""
    return table(*np.nonzero(counts), counts[np.nonzero(counts)])


@pytest.mark.parametrize("kappa", [0.0, 1e-4, 2.0])
def test_the_log_score_is_that_of_refits(rng, cloud, kappa):
    """Fast scores equal the obvious loop: take votes away, spread again, add the prior, compare."""
    votes = table(rng.integers(15, size=25), rng.integers(3, size=25))
    prior, ballots = rng.dirichlet(np.ones(3), size=60), Ballots.of(votes, 3)
    held = hold_out(ballots, 60)
    mass = mass_of_state(solved(cloud, votes, 3), ballots.voted)
    fast = log_scores(held, mass, prior[ballots.voted], [kappa])[0]
    counts = votes.counts(60, 3)
    for trial, position in enumerate(held.position):
        row = ballots.voted[position]
        left, taken = counts.copy(), held.content[[trial]].toarray()[0]
        left[row] -= taken
        p = soft_labels(mass_of(cloud, counted(left), 3), prior, kappa)[row]
        assert_allclose(fast[trial], taken @ -np.log(np.maximum(p, LOG_FLOOR)) / taken.sum(), atol=1e-7)


@pytest.mark.parametrize("kappa", [0.0, 1e-4, 2.0])
def test_the_brier_score_is_that_of_refits_without_the_items_votes(rng, cloud, kappa):
    """Loss, weight of own votes and noise, put together item by item from refits."""
    votes = table(rng.integers(15, size=25), rng.integers(3, size=25))
    prior, ballots, counts = rng.dirichlet(np.ones(3), size=60), Ballots.of(votes, 3), votes.counts(60, 3)
    judge = BrierScore(ballots, 60, prior[ballots.voted], [kappa], np.zeros(1))
    judge.add("only", mass_of_state(solved(cloud, votes, 3), ballots.voted))
    loss, own_weight = np.empty(len(ballots.voted)), np.empty(len(ballots.voted))
    for place, row in enumerate(ballots.voted):
        left = counts.copy()
        left[row] = 0
        mass = mass_of(cloud, counted(left), 3)
        q = soft_labels(mass, prior, kappa)[row]
        cast_here = np.repeat(np.eye(3), counts[row].astype(int), axis=0)
        loss[place] = ((q - cast_here) ** 2).sum(axis=1).mean()
        own_weight[place] = counts[row].sum() / (counts[row].sum() + mass[row].sum() + kappa)
    noise, n_own, share = find_noise(ballots, loss), ballots.totals, len(ballots.voted) / 60
    errors = []
    for part in NoiseModel().shares:
        v = noise.own + part * noise.pooled
        with_own = (1 - own_weight) ** 2 * (loss - v) + own_weight**2 * v / n_own
        errors.append(np.mean((1 - share) * (loss - v) + share * with_own))
    positive = np.maximum(errors, LEAST_ERROR * np.mean(loss))
    expected = np.prod(positive**noise.chances) + np.mean(noise.expected)
    scored = judge.scored("only")
    assert_allclose(scored.table[0][0], expected, atol=1e-7)
    assert_allclose(scored.objective, expected, atol=1e-7)
    assert_allclose(scored.parts.sum(), expected, atol=1e-7)


def test_the_brier_score_of_further_votes_is_right_on_average(rng, cloud):
    """Over many draws the score, which sees no further votes, is their Brier score; half the items have no
    vote."""
    p = rng.dirichlet(np.ones(2), size=60)
    p = p[np.argsort(p[:, 0])]
    estimated, real = [], []
    rows = np.repeat(rng.permutation(60)[:30], 3)
    for _ in range(300):
        votes = table(rows, rng.random(len(rows)) < p[rows, 1])
        ballots, state = Ballots.of(votes, 2), solved(cloud, votes, 2)
        voted = ballots.voted
        judge = BrierScore(ballots, 30, np.full((30, 2), 0.5), [1e-4], np.zeros(1))  # of voted items alone
        judge.add("only", mass_of_state(state, voted))
        estimated.append(judge.scored("only").objective)
        soft = soft_labels(state.mass(), np.full((60, 2), 0.5), 1e-4)[voted]
        real.append(np.mean(((soft - p[voted]) ** 2).sum(axis=1) + 1 - (p[voted] ** 2).sum(axis=1)))
    standard_error = np.std(estimated) / np.sqrt(300)
    assert abs(np.mean(estimated) - np.mean(real)) < 3 * standard_error + 0.02 * np.mean(real)


@pytest.mark.parametrize("scaling", ["peak", "none"])
def test_leave_one_out_scores_equal_fitting_without_each_vote(rng, scaling):
    """Each vote, with its factor, is predicted from all others and judges as far as it counts."""
    graph = knn_graph(rng.normal(size=(60, 2)), n_neighbors=6)
    m, alpha, kappas = 40, 0.5, (0.05, 0.5)
    weights = rng.choice([0.5, 1.0, 2.0], m) * rng.random(m)
    votes = table(rng.integers(0, 60, m), rng.integers(0, 3, m), weights)
    ballots, prior = Ballots.of(votes, 3), np.full((60, 3), 1 / 3)
    held = voted_mass(Diffusion(graph, alpha, scaling=scaling, tol=1e-8), ballots.voted, ballots.counts)
    found = leave_one_out_scores(held, ballots, prior[ballots.voted], kappas)
    Phi = dense_profiles(graph, alpha, scaling)
    for kappa, score in zip(kappas, found, strict=True):
        losses = np.zeros(m)
        for v in range(m):
            rest = votes.take(np.arange(m) != v)
            p = soft_labels(Phi @ rest.counts(60, 3), prior, kappa)[votes.rows[v]]
            losses[v] = ((p - np.eye(3)[votes.columns[v]]) ** 2).sum()
        assert_allclose(score, np.average(losses, weights=weights), rtol=1e-5)


def test_scores_are_finite_where_a_class_has_no_probability():
    """A vote for a class that nobody near voted for and that the prior rules out costs a finite score."""
    ballots = ballots_of([0, 1], [0, 1], n_classes=3)
    held = VotedMass(np.eye(3)[:2], OwnScales(np.ones(2), np.ones(2), 0.0))
    certain = np.tile([1.0, 0.0, 0.0], (2, 1))
    for strength in (0.0, 1.0):
        judge = BrierScore(ballots, 5, certain, [strength], np.zeros(1))
        judge.add("only", held)
        assert np.isfinite(judge.scored("only").objective)
        assert np.isfinite(log_scores(hold_out(ballots, 5), held, certain, [strength])).all()
