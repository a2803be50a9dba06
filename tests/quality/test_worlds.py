"""Worlds: draws of the truth agree with closed forms, and trials know only what they may know."""

import numpy as np
import pytest

from small_posteriors import posterior_of
from softspread import SoftLabeler, Votes
from softspread.heldout.split import hold_out
from softspread.quality.result import Trials
from softspread.quality.worlds import Beliefs, WorldRule, apart_beliefs, draw_worlds, held_out_beliefs
from softspread.votes.ballots import Ballots

NU = 4.0


@pytest.fixture(scope="module")
def m():
    """What others say about 1,000 items."""
    return np.random.default_rng(0).dirichlet([1.0, 1.0, 2.0], size=1_000)


def trials_on(p, rng):
    """One trial per item; which vote judges does not matter to worlds."""
    judged = np.eye(p.shape[1])[rng.integers(p.shape[1], size=len(p))]
    return Trials(p, judged, np.full(len(p), 1 / len(p)), np.arange(len(p)), judged)


def test_worlds_agree_with_closed_forms(m):
    """One known nu: |m - t|^2 = (1 - |m|^2) / (nu + 1) in expectation, noise is what is left of 1 - |m|^2."""
    posterior, rng = posterior_of(m, np.zeros_like(m), NU), np.random.default_rng(1)
    p = np.asarray(posterior.mean())
    worlds = draw_worlds(
        apart_beliefs(posterior, p, np.arange(len(m))), trials_on(p, rng), np.arange(900), rng
    )
    spread = float((1 - (m**2).sum(axis=1)).mean())
    assert worlds.squared.mean() == pytest.approx(spread / (NU + 1), rel=0.02)
    assert worlds.noise.mean() == pytest.approx(spread * NU / (NU + 1), rel=0.02)
    assert worlds.trial_brier.mean() == pytest.approx(spread, rel=1e-5)
    assert worlds.trial_noise.mean() == pytest.approx(spread * NU / (NU + 1), rel=1e-5)
    assert worlds.trial_differ.mean() == pytest.approx((1 - m.max(axis=1)).mean(), rel=1e-5)
    gap = worlds.trial_cross.mean() - worlds.trial_entropy.mean()
    assert gap == pytest.approx(worlds.kl.mean(), rel=0.03)


def test_perfect_labels_are_perfect_in_every_world(m):
    """Where the posterior is certain and its mean is shown, nothing is wrong."""
    sure = np.eye(3)[m.argmax(axis=1)]
    posterior, rng = posterior_of(sure, np.zeros_like(m), 1e6), np.random.default_rng(0)
    p = np.asarray(posterior.mean())
    worlds = draw_worlds(apart_beliefs(posterior, p, np.arange(len(m))), trials_on(p, rng), np.arange(9), rng)
    assert worlds.squared.max() < 1e-6
    assert worlds.wrong.max() == 0


def test_worlds_differ_by_their_law(m):
    """Two laws, equally probable: half of the worlds expect four times the error of the others."""
    posterior, rng = posterior_of(m, np.zeros_like(m), [1.0, 7.0]), np.random.default_rng(0)
    p = np.asarray(posterior.mean())
    beliefs = apart_beliefs(posterior, p, np.arange(len(m)))
    squared = np.sort(draw_worlds(beliefs, trials_on(p, rng), np.arange(9), rng).squared)
    assert squared[50:].mean() == pytest.approx(4 * squared[:50].mean(), rel=0.05)


def test_many_classes_are_looked_at_on_fewer_items():
    """Work per world stays bounded, but never below 200 items."""
    rule = WorldRule()
    assert [rule.n_items(n_classes) for n_classes in (2, 10, 100, 1_000)] == [2_000, 2_000, 400, 200]


def test_no_repeated_item_is_no_noise_to_compare_with(m):
    """Without second votes nothing is said about them, and nothing fails."""
    posterior, rng = posterior_of(m, np.zeros_like(m), NU), np.random.default_rng(0)
    p = np.asarray(posterior.mean())
    none = np.empty(0, np.int64)
    beliefs = apart_beliefs(posterior, p, np.arange(len(m)))
    worlds = draw_worlds(beliefs, trials_on(p, rng), none, rng, WorldRule(worlds=5))
    assert worlds.repeat_noise.tolist() == [0.0] * 5


@pytest.fixture(scope="module")
def fitted():
    """A SoftLabeler on 200 items with one or two votes on most."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    rows = rng.integers(200, size=250)
    return SoftLabeler(n_neighbors=10).fit(X, Votes.from_pairs(rows, (X[rows, 0] > 0).astype(int)))


def test_a_trial_knows_the_other_votes_of_its_item_alone(fitted):
    """An item with one vote is predicted as if it had none; one with two by the other of them."""
    blend, posterior = fitted._fitted_blend()
    ballots = Ballots.of(fitted._votes, 2)
    held = hold_out(ballots, 200)
    beliefs = held_out_beliefs(blend, posterior, posterior.mean(), ballots, held)
    assert isinstance(beliefs, Beliefs)
    kept = ballots.counts[held.position] - held.content.toarray()
    alone = kept.sum(axis=1) == 0
    without, p = beliefs.voted.mean()[held.position], beliefs.trials.mean()
    np.testing.assert_allclose(p[alone], without[alone], atol=1e-6)
    moved = ((p - without) * (2 * kept - kept.sum(axis=1, keepdims=True)))[~alone].sum(axis=1)
    assert (~alone).any()
    assert (moved > 0).all()  # towards the class of the votes that are left
    assert (beliefs.voted.own_place == -1).all()
