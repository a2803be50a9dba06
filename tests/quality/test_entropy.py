"""Entropy of soft labels that nobody has seen."""

from dataclasses import replace

import numpy as np
import pytest

from judged import draw, entropy_of, missed_truth
from softspread.quality.entropy import (
    MODEL,
    entropy_bounds,
    entropy_from_moments,
    entropy_range,
    vote_moments,
)


@pytest.fixture(scope="module")
def synthetic():
    """True soft labels and predictions that miss them."""
    return missed_truth()


@pytest.mark.parametrize("r", [2, 3, 5])
def test_moments_are_unbiased(synthetic, r):
    """T_v averages to sum_c t_c (1 - t_c)^v for every v below the number of votes."""
    truth, _ = synthetic
    rng = np.random.default_rng(r)
    found = np.array([vote_moments(draw(truth, r, rng))[:, 0] for _ in range(200)])
    real = np.array([(truth * (1 - truth) ** v).sum(axis=1).mean() for v in range(1, r)])
    assert found.shape[1] == r - 1
    assert (np.abs(found.mean(axis=0) - real) < 4 * found.std(axis=0) / np.sqrt(200)).all()


@pytest.mark.parametrize("r", [4, 6])
def test_entropy_of_dirichlet_soft_labels_is_recovered_from_four_votes(r):
    """For symmetric Dirichlet soft labels the continuation is exact, so that true moments give the true
    entropy."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(4, 0.5), size=100_000)
    moments = np.array([[(truth * (1 - truth) ** v).sum(axis=1).mean()] for v in range(1, r)])
    assert entropy_from_moments(moments)[0] == pytest.approx(entropy_of(truth).mean(), rel=5e-3)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 10])
def test_entropy_bounds_hold_for_any_mixture_of_items(n_classes):
    """Whatever the soft labels, their mean entropy lies within what the chance that two votes differ
    allows."""
    rng = np.random.default_rng(n_classes)
    for _ in range(300):
        sharpness = rng.choice([0.01, 0.1, 1.0, 10.0], size=2)
        truth = np.concatenate(
            [rng.dirichlet(np.full(n_classes, a), size=rng.integers(1, 4)) for a in sharpness]
        )
        lower, upper = entropy_bounds(np.array([1 - (truth**2).sum(axis=1).mean()]), n_classes)
        assert lower[0] - 1e-6 <= entropy_of(truth).mean() <= upper[0] + 1e-6


def test_entropy_bounds_are_reached():
    """Certain items with even pairs are the smallest; one class ahead of even others, on every item, the
    largest."""
    pairs = np.array([[1.0, 0, 0], [0.5, 0.5, 0]])
    ahead = np.array([[0.8, 0.1, 0.1]])
    for truth, end in ((pairs, 0), (ahead, 1)):
        found = entropy_bounds(np.array([1 - (truth**2).sum(axis=1).mean()]), 3)[end]
        assert found[0] == pytest.approx(entropy_of(truth).mean())


def test_entropy_of_certain_items_is_zero():
    """No two votes differ: nothing to continue."""
    assert entropy_from_moments(np.zeros((3, 1)))[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_three_moments_pin_the_entropy_down(n_classes):
    """The range of possible entropies holds the true one and narrows with every moment."""
    rng = np.random.default_rng(n_classes)
    truth = rng.dirichlet(np.full(n_classes, 0.3), size=50)
    moments = np.array([(truth * (1 - truth) ** v).sum(axis=1).mean() for v in (1, 2, 3)])
    ranges = [entropy_range(moments[:seen], n_classes) for seen in (1, 2, 3)]
    for least, most in ranges:
        assert least - 2e-3 <= entropy_of(truth).mean() <= most + 2e-3  # probabilities lie on a grid
    widths = [most - least for least, most in ranges]
    assert widths == sorted(widths, reverse=True)


def test_a_moment_needs_enough_items(rng):
    """Moments that only few items can show are left out; how many are enough is an argument."""
    votes = np.vstack([draw(np.full((30, 2), 0.5), 2, rng), draw(np.full((5, 2), 0.5), 4, rng)])
    assert len(vote_moments(votes)) == 1
    assert len(vote_moments(votes, model=replace(MODEL, enough_items=5))) == 3
