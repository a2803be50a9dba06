"""The simulated theorem: errors fall although votes per item vanish."""

import numpy as np
import pytest

from softspread.errors import InputError
from softspread.guarantees.simulation import SINE_LIPSCHITZ, simulate_consistency, sine_soft_labels


@pytest.mark.parametrize("graph", ["epsilon", "knn"])
def test_errors_fall_while_votes_per_item_vanish(graph):
    """The theorem's claim, seen at n = 500 and 6,000 instead of at astronomic n."""
    few, many = simulate_consistency(1, (500, 6_000), graph=graph, n_draws=3)
    assert many.votes_per_item < few.votes_per_item < 1
    assert many.largest_error < few.largest_error
    assert many.rmse < few.rmse / 1.5
    assert len(many.largest_errors) == 3
    assert many.largest_error_spread > 0


def test_the_simulation_runs_the_theorems_estimator():
    """One draw equals the ratio of sums of (I - alpha D^-1 W)^-1, written out with dense matrices."""
    n = 80
    (point,) = simulate_consistency(1, (n,), n_draws=1, radius_factor=1.0, random_state=5)
    rng = np.random.default_rng(5)
    X = rng.random((n, 1))
    p = sine_soft_labels(X)
    items = rng.integers(n, size=point.n_votes)
    votes = (rng.random(point.n_votes) >= p[items, 0]).astype(int)
    W = (np.abs(X - X.T) < point.radius) & ~np.eye(n, dtype=bool)
    weights = np.linalg.inv(np.eye(n) - point.alpha * W / W.sum(axis=1, keepdims=True))[:, items]
    estimate = weights @ np.eye(2)[votes] / weights.sum(axis=1, keepdims=True)
    assert point.largest_errors[0] == pytest.approx(np.linalg.norm(estimate - p, axis=1).max(), abs=1e-6)
    assert point.mean_degree == pytest.approx(W.sum() / n)


def test_the_same_seed_gives_the_same_simulation():
    """Randomness enters only by random_state."""
    first, second, other = (
        simulate_consistency(1, (300,), n_draws=2, random_state=seed)[0] for seed in (1, 1, 2)
    )
    assert first == second
    assert first.rmses != other.rmses


def test_the_sine_is_as_steep_as_it_says():
    """No difference quotient exceeds the Lipschitz constant, and some come close."""
    X = np.linspace(0, 1, 2001)[:, None]
    slopes = np.linalg.norm(np.diff(sine_soft_labels(X), axis=0), axis=1) / np.diff(X[:, 0])
    assert 0.999 * SINE_LIPSCHITZ < slopes.max() <= SINE_LIPSCHITZ * (1 + 1e-9)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"dimension": 3}, "radius_factor"),
        ({"graph": "tree"}, "knn"),
        ({"n_draws": 0}, "n_draws"),
        ({"n_items": (5,)}, "9"),
    ],
)
def test_a_simulation_that_cannot_run_is_refused(wrong, word):
    """The message names the parameter or the way out."""
    with pytest.raises(InputError, match=word):
        simulate_consistency(**wrong)
