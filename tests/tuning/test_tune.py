"""The function that people call: what it takes, what it refuses, what it says."""

import numpy as np
import pytest

from softspread import InputError, SoftspreadWarning, Votes
from softspread.tuning.candidates import NEIGHBORS
from softspread.tuning.tune import tune


def test_every_setting_is_in_the_table_and_one_is_chosen(rng):
    """The chosen row is the best of its alpha, the curve has one row per alpha and number of neighbours."""
    X = rng.normal(size=(90, 2))
    labels = np.where(rng.random(90) < 0.5, (X[:, 0] > 0).astype(int), -1)
    with pytest.warns(SoftspreadWarning, match="second vote"):
        result = tune(X, labels, n_neighbors="auto", prior_strengths=[1e-4, 0.1, 1.0])
    frame = result.to_frame()
    chosen = frame[frame["chosen"]]
    rivals = frame[(frame["alpha"] == result.alpha) & (frame["n_neighbors"] == result.n_neighbors)]
    assert chosen["score"].item() == rivals["score"].min() == result.best.score
    lowest = frame.loc[frame["score"].idxmin()]
    assert lowest["n_neighbors"] == result.n_neighbors
    if lowest["alpha"] != result.alpha:
        assert (
            f"level with the lowest ({lowest['score']:.4f} at alpha {lowest['alpha']:g})" in result.summary()
        )
    assert set(frame["n_neighbors"]) == set(NEIGHBORS)
    assert not result.curve().duplicated(["alpha", "n_neighbors"]).any()
    assert "no ground truth" in result.summary()
    assert np.isfinite(frame[["score", "standard_error"]].to_numpy()).all()


def test_too_few_votes_are_refused_with_the_number_that_is_needed():
    """Nine votes are too few, also as counts; ten are enough."""
    for votes in (
        Votes.from_pairs([], []),
        Votes.from_pairs([0] * 9, [1] * 9),
        np.array([[9, 0]] + [[0, 0]] * 3),
    ):
        with pytest.raises(InputError, match=r"at least 10 votes, got [09];"):
            tune(np.eye(4), votes, n_neighbors=2)
    with pytest.raises(InputError, match="at least 1 vote"):
        tune(np.eye(4), Votes.from_pairs([], [], classes=[0, 1]), truth=np.full((4, 2), 0.5))
    with pytest.warns(SoftspreadWarning, match="Only 1 item has a second vote"):
        assert tune(np.eye(4), np.array([[9, 1]] + [[0, 0]] * 3), n_neighbors=2).alpha is not None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"score": "auc"}, "score"),
        ({"alphas": []}, "alphas"),
        ({"alphas": [1.0]}, "alpha must be at least 0 and below 1"),
        ({"alphas": [-0.1]}, "alpha must be at least 0 and below 1"),
        ({"alphas": "auto"}, "alphas"),
        ({"n_neighbors": "many"}, "n_neighbors"),
        ({"prior": np.ones((3, 2))}, r"prior must have shape \(30, 2\)"),
        ({"prior": np.full((30, 3), 1 / 3)}, "pass classes"),
        ({"prior": np.full((30, 2), [2.0, -1.0])}, "not negative"),
        ({"truth": np.ones((30, 3))}, r"truth must have shape \(30, 2\)"),
        ({"truth": np.full((30, 2), 0.5), "n_trials": 0}, "n_trials"),
        ({"prior_strengths": [-1.0]}, "prior_strengths"),
        ({"method": "gkr"}, "truth"),
        ({"method": "svm"}, "method"),
    ],
)
def test_unusable_arguments_are_refused_by_name(rng, arguments, words):
    """The message names the argument."""
    votes = Votes.from_pairs(np.arange(20), np.arange(20) % 2)
    with pytest.raises(InputError, match=words):
        tune(rng.normal(size=(30, 2)), votes, **arguments)
