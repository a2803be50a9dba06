"""Tuning against a known truth admits it."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from softspread import MissingExtraError, Votes
from softspread.tuning.against_truth import tune_against_truth
from softspread.tuning.candidates import SpreadOptions
from softspread.tuning.tune import tune
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable


@pytest.mark.parametrize("method", ["pls", "gkr", "knn"])
def test_tuning_against_a_truth_says_so_and_beats_a_random_setting(rng, method):
    """The best of the trials has the lowest RMSE; the result admits that it saw the truth."""
    pytest.importorskip("optuna", reason="the extra `tune` is not installed")
    X = rng.normal(size=(120, 2))
    yes = 1 / (1 + np.exp(-3 * X[:, 0]))
    truth = np.stack([1 - yes, yes], axis=1)
    rows = rng.integers(120, size=100)
    votes = Votes.from_pairs(rows, (rng.random(100) < yes[rows]).astype(int))
    result = tune(X, votes, truth=truth, method=method, n_trials=12, random_state=0)
    frame = result.to_frame()
    assert result.used_truth
    assert "WAS used" in result.summary()
    assert result.score == "rmse"
    assert result.best.score == frame["score"].min() < frame["score"].median()
    assert len(result.curve()) <= 12
    axes = Figure().subplots()
    result.plot(axes)
    assert axes.lines[0].get_ydata().min() == result.best.score
    again = tune(X, votes, truth=truth, method=method, n_trials=12, random_state=0)
    assert_allclose(again.to_frame()["score"], frame["score"], atol=1e-9)


def test_every_trial_can_have_votes_of_its_own(rng):
    """Drawn once for each trial, by its number; the result says so."""
    pytest.importorskip("optuna", reason="the extra `tune` is not installed")
    X = rng.normal(size=(80, 2))
    yes = 1 / (1 + np.exp(-3 * X[:, 0]))
    truth = np.stack([1 - yes, yes], axis=1)
    asked = []

    def ballots(number):
        asked.append(number)
        drawn = np.random.default_rng(number)
        rows = drawn.integers(80, size=40)
        columns = (drawn.random(40) < yes[rows]).astype(int)
        return Ballots.of(VoteTable(rows, columns, np.ones(40)), 2)

    options = SpreadOptions(n_jobs=1, random_state=0)
    result = tune_against_truth(X, ballots(0), truth, "knn", 7, options, ballots)
    assert asked == [0, *range(7)]
    assert "each on votes of its own" in result.summary()


def test_a_missing_optuna_is_named_with_its_extra(rng, monkeypatch):
    """Tuning against a truth without Optuna says what to install."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    votes = Votes.from_pairs(np.arange(20), np.arange(20) % 2)
    with pytest.raises(MissingExtraError, match=r"softspread\[tune\]"):
        tune(rng.normal(size=(30, 2)), votes, truth=np.full((30, 2), 0.5))
