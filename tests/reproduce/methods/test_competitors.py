"""Competitors give the answers of their own libraries."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from small_tasks import blobs
from softspread import Votes
from softspread.reproduce.methods.competitors import Voted, dawid_skene, laplace_learning, logistic_on_votes

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning"
)  # of other libraries


def test_majority_breaks_ties_among_the_tied_only():
    """An item with votes 2, 2, 0 never gets the third class; without votes it gets -1."""
    votes = Votes.from_pairs([0, 0, 0, 0, 2], [0, 0, 1, 1, 2], classes=[0, 1, 2])
    winners = {Voted(np.zeros((3, 1)), votes, np.arange(3), seed).majority()[0] for seed in range(20)}
    assert winners == {0, 1}
    assert Voted(np.zeros((3, 1)), votes, np.arange(3), 0).majority()[1:].tolist() == [-1, 2]


def test_logistic_regression_trains_on_votes_not_majorities():
    """An item voted 3 to 1 everywhere gives about 3 to 1."""
    votes = Votes.from_pairs(np.tile(np.arange(50), 4), np.repeat([0, 0, 0, 1], 50), classes=[0, 1])
    p = logistic_on_votes(Voted(np.random.default_rng(0).normal(size=(50, 2)), votes, np.arange(2), 0))
    assert_allclose(p[:, 0], 0.75, atol=0.05)


def test_dawid_skene_is_crowd_kits():
    """Voted items as crowd-kit says, others uniform."""
    aggregation = pytest.importorskip("crowdkit.aggregation", reason="needs the extra compare")
    task = blobs(60)
    frame = pd.DataFrame(
        {"task": task.votes.items, "worker": task.votes.annotators, "label": task.votes.labels}
    )
    theirs = aggregation.DawidSkene(n_iter=100).fit_predict_proba(frame)
    ours = dawid_skene(Voted(task.X, task.votes, np.arange(3), 0))
    assert_allclose(ours[theirs.index][:, theirs.columns], theirs.to_numpy(), atol=1e-6)
    silent = np.setdiff1d(np.arange(180), task.votes.items)
    assert_allclose(ours[silent], 1 / 3)


def test_laplace_learning_keeps_the_labels_of_voted_items():
    """Harmonic functions meet their boundary values."""
    pytest.importorskip("graphlearning", reason="needs the extra compare")
    task = blobs(40)
    voted = Voted(task.X, task.votes, np.arange(3), 0)
    labels = voted.majority()
    known = labels >= 0
    assert_array_equal(laplace_learning(voted)[known].argmax(axis=1), labels[known])
