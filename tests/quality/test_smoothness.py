"""Whether votes go with those of their neighbours."""

import numpy as np
import pytest

from softspread import NeighborWarning, ProbabilisticLabelSpreading, SoftLabeler, knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.quality.smoothness import (
    CONTRADICT,
    FOLLOW,
    NO_LINK,
    OVERALL,
    UNKNOWN,
    SmoothnessRule,
    judge_smoothness,
    neighbor_weights,
    smoothness_of_all,
)
from softspread.votes.table import VoteTable

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(centre, 0.5, size=(100, 2)) for centre in (0, 2, 4)])
TRUTH = np.repeat(np.arange(3), 100)
DIFFUSION = Diffusion(knn_graph(X, 10, n_jobs=1), 0.5)


def judged(labels, rows=None, seed=0, diffusion=DIFFUSION):
    rows = np.arange(300) if rows is None else rows
    classes = np.arange(labels.max() + 1)
    votes = VoteTable(rows, labels, np.ones(len(rows)))
    return judge_smoothness(diffusion, votes, classes, np.random.default_rng(seed))


def test_votes_that_follow_raise_no_alarm():
    """Three clouds, one class each."""
    found = judged(TRUTH)
    assert found.verdict == [FOLLOW] * 4
    assert found.warning is None
    assert found.link[-1] > 0.8


def test_shuffled_votes_say_that_neighbours_say_nothing():
    """The same votes on a space that has nothing to do with them."""
    found = judged(np.random.default_rng(1).permutation(TRUTH))
    assert found.verdict[-1] == NO_LINK
    assert "hardly more about votes than chance (all classes)" in found.warning
    assert "compare_spaces" in found.warning
    assert found.warning.startswith(f"{found.finding} ")


def test_votes_against_their_neighbours_are_called_a_contradiction():
    """Pairs of items that lie together and always get different votes."""
    pairs = np.repeat(np.random.default_rng(0).normal(size=(150, 2)) * 10, 2, axis=0)
    pairs[::2] += 0.01
    found = judged(np.arange(300) % 2, diffusion=Diffusion(knn_graph(pairs, 1, n_jobs=1), 0.5))
    assert found.verdict == [CONTRADICT] * 3
    assert "contradict their neighbours more than chance allows" in found.warning


def test_a_scattered_class_is_named_alone():
    """One class lies anywhere, two have clouds of their own."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(300) < 0.3, 2, (TRUTH > 0).astype(int))
    found = judged(labels)
    assert found.verdict[2] in (NO_LINK, CONTRADICT)
    assert found.verdict[0] == found.verdict[1] == FOLLOW
    assert "(2)" in found.warning


def test_few_votes_say_nothing():
    """Twelve votes are too few, one class alone has nothing to be compared with."""
    assert set(judged(TRUTH[::25], np.arange(0, 300, 25)).verdict) == {UNKNOWN}
    one = judged(np.zeros(300, dtype=int))
    assert one.verdict == [UNKNOWN, UNKNOWN]
    assert one.link.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("rows", "weights"), [([], []), ([3, 3], [1.0, -1.0]), ([7], [1.0])], ids=["none", "taken back", "one"]
)
def test_next_to_no_votes_say_nothing(rows, weights):
    """No vote, none that stands, one that has no other to be compared with."""
    votes = VoteTable(np.array(rows, dtype=np.int64), np.zeros(len(rows), np.int64), np.array(weights))
    found = judge_smoothness(DIFFUSION, votes, np.arange(3), np.random.default_rng(0))
    assert found.verdict == [UNKNOWN] * 4
    assert found.warning is None


def test_neighbours_are_the_voted_items_that_reach_most():
    """Never the item itself; shares sum to 1; agreement is that of the formula."""
    voted = np.arange(0, 300, 3)
    near = neighbor_weights(DIFFUSION, voted, np.arange(100), SmoothnessRule(nearest=5)).toarray()
    assert (np.diag(near) == 0).all()
    np.testing.assert_allclose(near.sum(axis=1), 1)
    assert ((near > 0).sum(axis=1) <= 5).all()
    found = judged(TRUTH)
    near = neighbor_weights(DIFFUSION, np.arange(300), np.arange(300)).toarray()
    same = [near[c == TRUTH][:, c == TRUTH].sum() / (c == TRUTH).sum() for c in range(3)]
    np.testing.assert_allclose(found.agreement[:3], same)


def test_false_alarms_of_a_contradiction_are_as_rare_as_they_say():
    """Votes at random, 150 times: at most one in ten, for a level of one in twenty."""
    rng = np.random.default_rng(0)
    alarms = sum(
        CONTRADICT in judged(rng.integers(3, size=90), rng.choice(300, 90, replace=False), seed).verdict
        for seed in range(150)
    )
    assert alarms <= 15


@pytest.mark.parametrize("estimator", [SoftLabeler(), ProbabilisticLabelSpreading(alpha=0.9)], ids=repr)
def test_a_fit_warns_where_neighbours_do_not_help(estimator):
    """And says nothing where they do."""
    labels = np.random.default_rng(1).permutation(TRUTH)
    with pytest.warns(NeighborWarning, match="compare_spaces"):
        est = estimator.fit(X, labels)
    assert est.smoothness(random_state=0).to_frame()["class"].tolist() == [0, 1, 2, OVERALL]


def test_questions_are_judged_one_by_one():
    """Two questions, one of them about nothing that the space knows."""
    found = smoothness_of_all(
        {
            "cloud": judged((TRUTH > 0).astype(int)),
            "noise": judged(np.random.default_rng(2).integers(2, size=300)),
        }
    )
    assert found.verdict == [FOLLOW, NO_LINK, UNKNOWN]
    assert "(noise)" in found.warning
    assert found.votes[-1] == 600
