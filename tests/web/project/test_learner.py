"""A fit of the log that follows further votes."""

import threading

import numpy as np
import pytest

from softspread import SoftLabeler, Votes
from softspread.votes.table import VoteTable
from softspread.web.project.learner import Learned, rows_once
from web.conftest import CLASSES, three_clusters


@pytest.fixture
def learned():
    """Votes of four people, one of whom does not look."""
    X, truth = three_clusters()
    rng = np.random.default_rng(0)
    rows, who = np.arange(180) % 60, np.repeat([0, 1, 2], 60)
    labels = np.where(who == 2, rng.integers(3, size=180), truth[rows])
    votes = Votes.from_pairs(rows, np.array(CLASSES)[labels], np.array(["ann", "bob", "cid"])[who])
    return Learned(SoftLabeler(n_neighbors=5, n_jobs=1).fit(X, votes, classes=list(CLASSES)), 180)


def one_vote(who, weight=1.0):
    return VoteTable(np.array([7]), np.array([2]), np.array([weight]), np.array([who], dtype=object))


def labels(learned, rows):
    return learned.labels([learned.live.moved(np.array(rows))], np.array(rows), 0.9)


def test_a_vote_counts_as_much_as_its_annotator(learned):
    """Someone who does not look moves less than someone who does, and a newcomer as the estimator says."""
    moved = {}
    for who in ("ann", "cid", "new"):
        before = labels(learned, [7]).p[0, 2]
        learned.add(one_vote(who))
        moved[who] = labels(learned, [7]).p[0, 2] - before
        learned.add(one_vote(who, -1.0))
        assert labels(learned, [7]).p[0, 2] == pytest.approx(before, abs=1e-6)
    assert moved["ann"] > 2 * moved["cid"] > 0
    assert moved["new"] > 0
    assert learned.n_since == 6


def test_the_estimator_itself_stays_as_it_was_fitted(learned):
    """The dashboard reads it while votes come in."""
    before = learned.labeler.predict_proba()
    learned.add(one_vote("ann"))
    np.testing.assert_array_equal(learned.labeler.predict_proba(), before)
    whole = learned.posterior(threading.Lock()).mean()
    assert whole[7, 2] > before[7, 2]


def test_rows_come_back_as_they_were_asked_for():
    """In any order, some of them twice."""
    rows = np.array([5, 2, 5, 9])
    once, back = rows_once(rows)
    assert once.tolist() == [2, 5, 9]
    assert once[back].tolist() == rows.tolist()
