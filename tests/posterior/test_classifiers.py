"""Logistic regressions on the votes: judged by predictions that have not seen an item's votes."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from blends import own_of
from softspread.posterior.classifiers import (
    RULE,
    BumpSpace,
    ClassifierRule,
    MainDirections,
    Space,
    classifier_experts,
    train,
)

N, N_CLASSES = 120, 3


@pytest.fixture(scope="module")
def items():
    """Three clusters in five dimensions, and votes on every other item."""
    rng = np.random.default_rng(0)
    truth = np.arange(N) % N_CLASSES
    X = rng.normal(size=(N, 5)) + 4 * np.eye(5)[truth]
    counts = np.zeros((N, N_CLASSES))
    counts[np.arange(0, N, 2), truth[::2]] = 2
    return X, counts, truth


def experts_of(X, counts, features=None, rule=RULE):
    order = np.arange(len(counts))
    return [expert for expert, _, _ in classifier_experts(X, features, [own_of(counts)], order, rule)[0]]


def test_all_classifiers_are_there_and_know_the_clusters(items):
    """On X, with bumps, and on unreduced features; rows sum to 1, and the largest entry is the cluster."""
    X, counts, truth = items
    rng = np.random.default_rng(1)
    experts = experts_of(X, counts, features=np.hstack([X, rng.normal(size=(N, 30))]))
    names = [expert.name for expert in experts]
    on_X = [f"{space} C {C}" for space in ("features", "landmarks") for C in ("0.1", "1", "10")]
    assert names == on_X + [f"unreduced C {C}" for C in ("0.001", "0.01", "0.1", "1")]
    for expert in experts:
        np.testing.assert_allclose(expert.final.sum(axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(expert.held.sum(axis=1), 1, atol=1e-5)
        assert expert.final.min() > 0
    for expert in experts[:6]:
        assert (expert.final.argmax(axis=1) == truth).mean() > 0.9


def test_without_unreduced_features_x_itself_is_also_seen_in_one_scale(items):
    """Columns that say nothing and vary little stay small there, and C is chosen from .001 on."""
    X, counts, _ = items
    alone, given = experts_of(X, counts), experts_of(X, counts, features=X)
    assert [expert.name.replace("one scale", "unreduced") for expert in alone] == [e.name for e in given]
    for one, other in zip(alone, given, strict=True):
        np.testing.assert_array_equal(one.final, other.final)


def test_an_items_own_votes_do_not_change_its_held_prediction(items):
    """Cross-fitted by item: other votes on it leave its held prediction as it was, others' move."""
    X, counts, _ = items
    place = 7
    row = int(np.flatnonzero(counts.sum(axis=1))[place])
    other = counts.copy()
    other[row] = np.roll(other[row], 1) * 3
    for before, after in zip(experts_of(X, counts), experts_of(X, other), strict=True):
        np.testing.assert_array_equal(before.held[place], after.held[place])
        assert not np.array_equal(before.held, after.held)


def test_few_votes_answer_with_held_predictions_and_many_with_all_votes(items):
    """A single item's votes must hardly move the model that answers for it."""
    X, counts, _ = items
    few = experts_of(X, counts)[0]
    voted = own_of(counts).voted
    share = max(0.0, 1 - RULE.settled * 6 / counts.sum())
    assert 0 < share < 1
    own, many = own_of(counts), ClassifierRule(settled=0.0)
    all_votes = experts_of(X, counts, rule=many)[0]
    np.testing.assert_allclose(
        few.final[voted], share * all_votes.final[voted] + (1 - share) * few.held, atol=1e-5
    )
    none = experts_of(X, counts, rule=ClassifierRule(settled=1e9))[0]
    np.testing.assert_array_equal(none.final[own.voted], none.held)


@pytest.mark.parametrize("counts", [np.zeros((10, 3)), np.eye(10)[:, :3] * [1, 0, 0]], ids=["none", "one"])
def test_there_are_no_classifiers_before_two_classes_were_seen(counts):
    """One class cannot be told from others."""
    assert not experts_of(np.random.default_rng(0).normal(size=(10, 2)), counts)


def test_without_features_there_are_no_classifiers(items):
    """An affinity, or a graph with no columns."""
    assert not experts_of(None, items[1])
    assert not experts_of(np.empty((N, 0)), items[1])


def test_two_votes_are_enough_to_answer(items):
    """A fold whose other votes name one class answers with its shares; nothing is NaN."""
    counts = np.zeros((N, N_CLASSES))
    counts[0, 0] = counts[1, 1] = 1
    for expert in experts_of(items[0], counts):
        assert np.isfinite(expert.held).all()
        assert np.isfinite(expert.final).all()
        assert np.isfinite(expert.log_size).all()


def test_all_votes_on_one_item_answer(items):
    """There is nothing to hold out against: held is uniform."""
    counts = np.zeros((N, N_CLASSES))
    counts[5] = [3, 2, 0]
    for expert in experts_of(items[0], counts):
        np.testing.assert_allclose(expert.held, 1 / N_CLASSES)
        assert np.isfinite(expert.final).all()


def test_constant_features_and_coinciding_items_do_not_break_a_space():
    """No spread is no information, not a division by 0."""
    X = np.ones((20, 3))
    for kind in (Space, BumpSpace, MainDirections):
        assert np.isfinite(kind.made_from(X, np.arange(len(X)), RULE).of(X)).all()
    counts = np.zeros((20, 2))
    counts[:6, 0] = counts[6:12, 1] = 1
    for expert in experts_of(X, counts, features=X):
        np.testing.assert_allclose(expert.final, 0.5, atol=0.2)


def test_spaces_say_their_size(items):
    """How many features they take, and how many they make."""
    X = items[0]
    for kind in (Space, BumpSpace, MainDirections):
        space = kind.made_from(X, np.arange(len(X)), RULE)
        assert space.of(X[:4]).shape == (4, space.n_features)
        assert space.n_inputs == X.shape[1]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_model_predicts_as_scikit_learn_does(items, n_classes):
    """Coefficients as plain arrays say what the fitted object would."""
    Z = Space.made_from(items[0], np.arange(N), RULE).of(items[0])
    labels = np.arange(N) % 2 if n_classes == 2 else items[2]
    counts = np.eye(n_classes)[labels]
    model = train(Z, counts, 1.0, np.random.default_rng(0), RULE)
    theirs = LogisticRegression(C=1.0, max_iter=RULE.steps, tol=RULE.tol).fit(Z, labels)
    expected = np.zeros((N, n_classes))
    expected[:, theirs.classes_] = theirs.predict_proba(Z)
    shares = (counts.sum(axis=0) + 1) / (N + n_classes)
    np.testing.assert_allclose(model.predict(Z), (N * expected + shares) / (N + 1), atol=1e-5)


def test_standardised_features_have_mean_0_and_spread_1(items):
    """Whatever their units."""
    X = items[0] * [1, 10, 100, 1e-3, 1e6] + 7
    Z = Space.made_from(X, np.arange(len(X)), RULE).of(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(Z.std(axis=0), 1, atol=1e-4)


def test_main_directions_keep_the_largest_variance():
    """A rotation into fewer dimensions; directions that hardly vary are left out."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(300, 40)) * np.where(np.arange(40) < 5, 10.0, 0.01)
    space = MainDirections.made_from(wide, np.arange(300), ClassifierRule(components=5))
    Z = space.of(wide)
    assert Z.shape == (300, 5)
    kept = (Z.astype(float) ** 2).sum() * float(space.spread) ** 2
    np.testing.assert_allclose(kept, ((wide - wide.mean(axis=0)) ** 2).sum(), rtol=1e-3)


def test_work_is_limited_and_votes_weigh(items):
    """A cap on training votes still trains; a heavy vote pulls more than a light one."""
    X, counts, truth = items
    Z, rng = Space.made_from(X, np.arange(len(X)), RULE).of(X), np.random.default_rng(0)
    capped = train(Z[::2], counts[::2], 1.0, rng, ClassifierRule(training=30))
    assert capped.n_votes == 60
    assert (capped.predict(Z).argmax(axis=1) == truth).mean() > 0.8
    Z2 = np.array([[0.0], [0.0]], np.float32)
    heavy = train(Z2, np.array([[5.0, 0.0], [0.0, 1.0]]), 1.0, rng, RULE).predict(Z2)
    assert heavy[0, 0] > 0.7
