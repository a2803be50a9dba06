"""Queries of the estimators on a graph: before any vote, with probabilities, after later votes."""

import numpy as np
import pytest

from softspread import InputError, ProbabilisticLabelSpreading, SoftLabeler, Votes

ESTIMATORS = [SoftLabeler, ProbabilisticLabelSpreading]
N = 120


@pytest.fixture(scope="module")
def items():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(c, 1, size=(N // 2, 2)) for c in (0, 5)])


def some_votes(n_votes=70):
    rng = np.random.default_rng(1)
    rows = rng.integers(N, size=n_votes)
    counts = np.zeros((N, 2))
    np.add.at(counts, (rows, (rows >= N // 2).astype(int)), 1.0)
    return counts


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("classes", [None, ["no", "yes"]])
def test_queries_need_no_votes(items, estimator, classes):
    """The first batch comes before any vote, with or without classes, and with probabilities."""
    nobody = Votes.from_pairs([], [])
    est = estimator(n_neighbors=10, n_jobs=1).fit(items, nobody, classes=classes)
    picked, chances = est.query(6, return_probabilities=True, random_state=0)
    assert len(set(picked.tolist())) == len(chances) == 6
    assert ((chances > 0) & (chances <= 1)).all()


@pytest.mark.parametrize("strategy", ["uncertainty", "uniform"])
def test_probabilities_come_with_the_same_items(items, strategy):
    """Asking for them changes no pick; the uniform ones are one over the open items."""
    lab = SoftLabeler(n_neighbors=10, n_jobs=1).fit(items, some_votes())
    exclude = np.arange(0, N, 3)
    plain = lab.query(5, strategy, exclude=exclude, random_state=2)
    picked, chances = lab.query(5, strategy, exclude=exclude, return_probabilities=True, random_state=2)
    assert picked.tolist() == plain.tolist()
    assert not set(picked.tolist()) & set(exclude.tolist())
    if strategy == "uniform":
        assert chances == pytest.approx(1 / np.arange(80, 75, -1))


def test_strategies_without_probabilities_say_so(items):
    """The message names those that have them."""
    lab = SoftLabeler(n_neighbors=10, n_jobs=1).fit(items, some_votes())
    with pytest.raises(InputError, match="'entropy' does not say how probable its picks are; 'uniform' does"):
        lab.query(3, "entropy", return_probabilities=True)


def test_queries_follow_later_votes(items):
    """After update the picks are those of what is known by then."""
    counts = some_votes()
    lab = SoftLabeler(n_neighbors=10, n_jobs=1).fit(items, counts)
    before = lab.query(20, random_state=3).tolist()
    lab.update([0] * 6, [0] * 6)
    assert lab.query(20, random_state=3).tolist() != before


def test_items_come_by_their_ids(items):
    """Ids in, ids out, the same for the same seed."""
    ids = np.array([f"item {i}" for i in range(N)], dtype=object)
    rows, columns = np.nonzero(some_votes())
    votes = Votes.from_pairs(ids[rows], columns)
    lab = SoftLabeler(n_neighbors=10, n_jobs=1, random_state=0).fit(items, votes, item_ids=ids)
    picked = lab.query(9, exclude=ids[:50])
    assert set(picked) <= set(ids[50:])
    assert picked.tolist() == lab.query(9, exclude=ids[:50]).tolist()
