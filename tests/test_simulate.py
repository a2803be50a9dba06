"""Simulated votes follow the law they claim, and simulated soft labels are out-of-fold probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from softspread.errors import InputError
from softspread.simulate import (
    Crowd,
    draw_columns,
    draw_crowd_votes,
    draw_votes,
    make_crowd,
    simulate_soft_labels,
)


def some_soft_labels(n, n_classes, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.5), size=n)


@given(st.integers(1, 9), st.integers(0, 10_000))
def test_columns_are_the_inverse_cdf(n_classes, seed):
    """Bisection finds the same column as looking through each row's cumulative sums one by one."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, 0.3), size=4)
    rows, uniform = rng.integers(4, size=30), rng.random(30)
    slow = [
        next(c for c in range(n_classes) if np.cumsum(p[r])[c] > u * np.cumsum(p[r])[-1])
        for r, u in zip(rows, uniform, strict=True)
    ]
    assert_array_equal(draw_columns(p, rows, uniform), slow)


@pytest.mark.parametrize("zeros", [[0], [2], [4], [0, 1, 3, 4], [0, 4]])
def test_a_class_of_probability_zero_is_never_drawn(zeros):
    """Neither at the edges nor for the largest and smallest uniform numbers, however the row's sum is
    rounded."""
    p = np.ones((1, 5))
    p[0, zeros] = 0
    for scale in (1 / p.sum(), np.nextafter(1 / p.sum(), 0), np.nextafter(1 / p.sum(), 1)):
        uniform = np.concatenate([[0.0, np.nextafter(1.0, 0.0)], np.linspace(0, 0.999, 500)])
        columns = draw_columns(p * scale, np.zeros(len(uniform), dtype=np.int64), uniform)
        assert not set(columns.tolist()) & set(zeros)


def test_items_are_uniform_and_classes_follow_the_soft_label():
    """Counts of items and of classes within items fit the law (chi-square; the seed is fixed, so the test is
    too)."""
    p = some_soft_labels(5, 4)
    votes = draw_votes(p, 40_000, 3)
    counts = np.zeros((5, 4))
    np.add.at(counts, (votes.items, votes.labels), 1)
    assert chisquare(counts.sum(axis=1)).pvalue > 1e-3
    for row in range(5):
        assert chisquare(counts[row], counts[row].sum() * p[row]).pvalue > 1e-3


def test_certain_soft_labels_give_true_votes():
    """One-hot rows leave nothing to chance."""
    truth = np.array([2, 0, 1, 1])
    votes = draw_votes(np.eye(3)[truth], 200, 0)
    assert_array_equal(votes.labels, truth[votes.items])


def test_same_seed_same_votes_and_another_seed_others():
    """The generator alone decides."""
    p = some_soft_labels(50, 3)
    first, again, other = (draw_votes(p, 100, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert_array_equal(first.items, again.items)
    assert_array_equal(first.labels, again.labels)
    assert (first.items != other.items).any()


def test_votes_carry_class_names_and_may_be_none():
    """Names come from ``classes``; no votes still know their classes."""
    votes = draw_votes([[0.0, 1.0]], 3, 0, classes=["cat", "dog"])
    assert votes.labels.tolist() == ["dog"] * 3
    assert draw_votes([[0.0, 1.0]], 0, 0).class_names().tolist() == [0, 1]


@pytest.mark.parametrize(
    "p", [[[0.5, 0.6]], [[-0.1, 1.1]], [[np.nan, 1.0]], [0.5, 0.5], [[]], np.zeros((0, 2)), [["a", "b"]]]
)
def test_what_is_no_soft_label_is_refused(p):
    """Rows must be probabilities."""
    with pytest.raises(InputError, match="p_true"):
        draw_votes(p, 3, 0)


def test_bad_counts_and_names_are_refused():
    """A negative number of votes, or names that do not fit the columns."""
    with pytest.raises(InputError, match="n_votes"):
        draw_votes([[1.0]], -1, 0)
    with pytest.raises(InputError, match="2 classes were named"):
        draw_votes([[1.0]], 1, 0, classes=["a", "b"])


def blobs(n_per_class=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], n_per_class)
    return rng.normal(size=(len(y), 2)) + np.array([[0, 0], [2, 0], [0, 2]])[y], y


def test_soft_labels_come_from_folds_that_did_not_see_the_item():
    """The same as fitting on two thirds and predicting the rest, three times."""
    X, y = blobs()
    p = simulate_soft_labels(X, y, 5, classifier=LogisticRegression())
    seed = int(np.random.default_rng(5).integers(2**31 - 1))
    slow = np.zeros((len(y), 3))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y):
        slow[test] = LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])
    assert_allclose(p, slow, rtol=1e-12)


def test_soft_labels_are_probabilities_that_repeat_with_the_seed():
    """Rows sum to 1; the default classifier obeys the seed."""
    X, y = blobs()
    p = simulate_soft_labels(X, y, 1, n_trees=10)
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(p, simulate_soft_labels(X, y, 1, n_trees=10))
    assert (p != simulate_soft_labels(X, y, 2, n_trees=10)).any()
    assert (p.argmax(axis=1) == y).mean() > 1 / 2


def test_soft_labels_need_enough_items_of_every_class():
    """Too few of a class, one class only, or lengths that differ are refused with what to do."""
    X, y = blobs(3)
    with pytest.raises(InputError, match="merge rare classes"):
        simulate_soft_labels(X[:-1], y[:-1])
    with pytest.raises(InputError, match="at least two classes"):
        simulate_soft_labels(X, np.zeros(9, dtype=int))
    with pytest.raises(InputError, match="one label per item"):
        simulate_soft_labels(X, y[:-1])


# ---------------------------------------------------------------------------------------------------- subsets
def test_votes_stay_among_the_allowed_items():
    """Only the named rows are voted on, each of them about equally often."""
    votes = draw_votes(some_soft_labels(20, 3), 6_000, 0, among=[3, 7, 11])
    items, counts = np.unique(votes.items, return_counts=True)
    assert items.tolist() == [3, 7, 11]
    assert chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("among", [[], [-1], [20], [0.5]])
def test_rows_that_do_not_exist_are_refused(among):
    """None, before the first, behind the last, no whole number."""
    with pytest.raises(InputError, match="among must name rows"):
        draw_votes(some_soft_labels(20, 3), 5, 0, among=among)


# ----------------------------------------------------------------------------------------------------- people
def test_people_say_what_the_product_of_truth_and_confusion_says():
    """P(vote) = p_true @ confusion for each annotator (chi-square; the seed is fixed)."""
    p = some_soft_labels(1, 3)
    confusions = np.random.default_rng(1).dirichlet([1, 1, 1], size=(2, 3))
    crowd = Crowd(np.array(["a", "b"]), confusions, np.array([0.3, 0.7]), np.zeros(2, dtype=bool))
    votes = draw_crowd_votes(p, 30_000, 2, crowd)
    for number, name in enumerate("ab"):
        own = votes.labels[votes.annotators == name]
        expected = p[0] @ confusions[number]
        assert chisquare(np.bincount(own, minlength=3), len(own) * expected).pvalue > 1e-3
    assert_allclose((votes.annotators == "a").mean(), 0.3, atol=0.02)


def test_a_perfect_crowd_votes_like_the_paper():
    """Everybody says what they see: with certain soft labels every vote is right."""
    truth = np.array([2, 0, 1])
    votes = draw_crowd_votes(np.eye(3)[truth], 300, 0, make_crowd(5, 3, 0))
    assert_array_equal(votes.labels, truth[votes.items])


def test_spammers_do_not_look():
    """All rows of their confusion matrices are equal; half of them name one class only."""
    crowd = make_crowd(20, 4, 0, reliability=(0.5, 0.9), spammer_share=0.5)
    assert crowd.spammers.sum() == 10
    assert_allclose(crowd.confusions.sum(axis=2), 1)
    blind = crowd.confusions[crowd.spammers]
    assert_allclose(blind, np.broadcast_to(blind[:, :1], blind.shape))
    assert (blind[:, 0].max(axis=1) == 1).sum() == 5
    honest = crowd.confusions[~crowd.spammers]
    assert (np.diagonal(honest, axis1=1, axis2=2) >= 0.5).all()


def test_uneven_crowds_share_the_work_unevenly():
    """Activities sum to 1 and are equal only without unevenness."""
    assert_allclose(make_crowd(8, 2, 0).activity, 1 / 8)
    uneven = make_crowd(8, 2, 0, uneven=1.0).activity
    assert_allclose(uneven.sum(), 1)
    assert uneven.max() > 2 * uneven.min()


@pytest.mark.parametrize("burst", [1, 4, 7])
def test_bursts_are_one_person_on_items_in_a_row(burst):
    """Within a burst the person stays and the items follow each other, wrapping around at the end."""
    votes = draw_crowd_votes(some_soft_labels(30, 2), 40, 5, make_crowd(9, 2, 0), burst=burst)
    assert len(votes) == 40
    for first in range(0, 40, burst):
        part = slice(first, min(40, first + burst))
        assert len(set(votes.annotators[part])) == 1
        assert_array_equal(np.diff(votes.items[part]) % 30, 1)


def test_bursts_stay_among_the_allowed_items():
    """The next item of a burst is the next allowed one."""
    votes = draw_crowd_votes(some_soft_labels(30, 2), 40, 5, make_crowd(3, 2, 0), among=[2, 9, 20], burst=3)
    assert set(votes.items.tolist()) == {2, 9, 20}


def test_impossible_crowds_are_refused():
    """Reliability and shares are probabilities; crowd and truth know the same classes."""
    with pytest.raises(InputError, match="reliability"):
        make_crowd(3, 2, 0, reliability=(0.9, 0.1))
    with pytest.raises(InputError, match="spammer_share"):
        make_crowd(3, 2, 0, spammer_share=2)
    with pytest.raises(InputError, match="the crowd knows 3 classes"):
        draw_crowd_votes(some_soft_labels(4, 2), 5, 0, make_crowd(3, 3, 0))
