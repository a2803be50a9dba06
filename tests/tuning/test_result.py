"""The result of tuning: tables and curves."""

import numpy as np
from matplotlib.figure import Figure

from softspread import Votes
from softspread.tuning.result import Tuning, TuningPoint
from softspread.tuning.tune import tune


def test_the_curve_is_drawn_into_given_axes(rng):
    """One line per number of neighbours, with the tried alphas on it."""
    X = rng.normal(size=(50, 2))
    votes = Votes.from_pairs(rng.integers(50, size=250), rng.integers(2, size=250))
    axes = Figure().subplots()
    tune(X, votes, n_neighbors=[4, 8], alphas=[0.5, 0.9]).plot(axes)
    assert axes.get_legend_handles_labels()[1] == ["4 neighbours", "8 neighbours"]
    assert axes.get_xlabel() == "alpha"
    for container in axes.containers:
        assert container.lines[0].get_xdata().tolist() == [0.5, 0.9]


def test_the_curve_takes_the_best_strength_of_each_alpha_penalty_included():
    """Score + penalty decides; the chosen row is marked by identity."""
    points = tuple(
        TuningPoint(alpha, 10, kappa, None, score, 0.1, penalty)
        for alpha, kappa, score, penalty in [(0.9, 1.0, 0.5, 0.3), (0.9, 2.0, 0.6, 0.0), (0.5, 1.0, 0.7, 0.0)]
    )
    tuning = Tuning(points[1], points, "brier", "a test", used_truth=False)
    assert tuning.curve()["alpha"].tolist() == [0.5, 0.9]
    assert tuning.curve()["prior_strength"].tolist() == [1.0, 2.0]
    assert tuning.to_frame()["chosen"].tolist() == [False, True, False]
    assert tuning.summary() == "alpha=0.9, n_neighbors=10, prior_strength=2: a test"
    assert np.isclose(points[0].objective, 0.8)
