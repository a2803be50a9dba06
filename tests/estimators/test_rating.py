"""Mean ratings of all items from a few."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import parametrize_with_checks

from softspread.errors import InputError
from softspread.estimators.baselines import GaussianKernelRegression, KNeighborsVotes, VoteHistogram
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.rating import RatingSpreading


@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")
@parametrize_with_checks([RatingSpreading(estimator=SoftLabeler(n_neighbors=5))])
def test_it_keeps_scikit_learns_habits(estimator, check):
    """Cloning, parameters, shapes, types, messages: what scikit-learn expects of a regressor."""
    check(estimator)


@pytest.fixture(scope="module")
def task():
    """The second draw, which other tests read."""
    return drawn(2)


def drawn(seed):
    """200 items; 90 have two ratings of a smooth function."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 2))
    mu = 3 + np.tanh(X[:, 0]) + 0.5 * np.sin(X[:, 1])
    rows = np.tile(np.arange(90), 2)
    values = np.clip(mu[rows] + 0.4 * rng.normal(size=180), 1, 5)
    return X, mu, pd.DataFrame({"item": rows, "rating": values})


@pytest.fixture(scope="module")
def fitted(task):
    """A fit that tests only read."""
    return RatingSpreading(scale=(1, 5), random_state=0).fit(task[0], task[2])


def test_it_is_nearer_to_the_truth_than_own_ratings_and_neighbours(task, fitted):
    """On items with ratings and on those without."""
    X, mu, table = task
    others = [VoteHistogram(), KNeighborsVotes(n_neighbors=10), GaussianKernelRegression(gamma=3.0)]
    error = np.sqrt(np.mean((fitted.predict() - mu) ** 2))
    for est in others:
        theirs = RatingSpreading(estimator=est, scale=(1, 5)).fit(X, table)
        lower, upper = theirs.predict_interval()
        assert ((lower <= theirs.predict()) & (theirs.predict() <= upper)).all()
        assert error < np.sqrt(np.mean((theirs.predict() - mu) ** 2))


def test_intervals_hold_on_average_over_draws():
    """As often as asked, give or take what five small draws show; a single draw may hold less often."""
    inside = []
    for seed in range(2, 7):
        X, mu, table = drawn(seed)
        lower, upper = RatingSpreading(scale=(1, 5), random_state=0).fit(X, table).predict_interval()
        inside.append(np.mean((lower <= mu) & (mu <= upper)))
    assert np.mean(inside) > 0.85


def test_intervals_and_the_spread_between_people(fitted):
    """Intervals lie on the scale, narrow with own ratings, and the spread is that of the simulation."""
    lower, upper = fitted.predict_interval(confidence_level=0.9)
    assert lower.min() >= 1
    assert upper.max() <= 5
    assert (upper - lower)[:90].mean() < (upper - lower)[90:].mean()
    assert np.median(fitted.predict_std()) == pytest.approx(0.4, rel=0.25)


def test_ratings_in_other_units_give_the_same_answer(task, fitted):
    """Nothing depends on zero and unit."""
    X, _, table = task
    moved = RatingSpreading(scale=(10, 50), random_state=0).fit(X, table.assign(rating=10 * table["rating"]))
    assert_allclose(moved.predict(), 10 * fitted.predict(), rtol=1e-5)
    assert_allclose(moved.predict_std(), 10 * fitted.predict_std(), rtol=1e-4)


def test_shuffling_items_shuffles_the_answer(task, fitted):
    """An item's place says nothing."""
    X, _, table = task
    order = np.random.default_rng(0).permutation(200)
    place = np.argsort(order)
    shuffled = RatingSpreading(scale=(1, 5), random_state=0).fit(
        X[order], table.assign(item=place[table["item"]])
    )
    assert_allclose(shuffled.predict(), fitted.predict()[order], atol=1e-4)


def test_ids_new_items_and_a_table_of_answers(task):
    """Ratings name items by id; a new item is answered from its neighbours."""
    X, mu, table = task
    ids = [f"i{k}" for k in range(200)]
    named = table.assign(item=[ids[k] for k in table["item"]])
    est = RatingSpreading(random_state=0).fit(X, named, item_ids=ids)
    assert est.to_frame()["item"].tolist() == ids
    assert (est.to_frame()["evidence"] > 0).all()
    near = X[:20] + 1e-6
    assert np.sqrt(np.mean((est.predict(near) - mu[:20]) ** 2)) < 0.4
    assert est.predict_interval(near)[0].shape == (20,)


def test_offsets_of_named_people_are_removed(task):
    """One who gives a point more counts like the others."""
    X, _, table = task
    who = np.repeat(["ann", "bob"], 90)
    table = table.assign(rating=table["rating"] + np.where(who == "bob", 1.0, -1.0), annotator=who)
    est = RatingSpreading(random_state=0).fit(X, table)
    assert_allclose(est.annotators_.set_index("annotator").loc[["ann", "bob"], "offset"], [-1, 1], atol=0.2)
    assert np.median(est.predict_std()) < 0.7
    assert RatingSpreading(annotator_model="none").fit(X, table).annotators_ is None


def test_one_rating_of_each_person_tells_no_scale(task):
    """Nobody's ratings vary, so everybody keeps scale 1, and the answer is finite."""
    X, _, _ = task
    table = pd.DataFrame({"item": [0, 9], "rating": [1.0, 5.0], "annotator": ["ann", "bob"]})
    est = RatingSpreading(random_state=0).fit(X, table)
    assert np.isfinite(est.predict()).all()
    assert est.annotators_["scale"].tolist() == [1.0, 1.0]


def test_bad_input_is_refused_and_changes_nothing(task):
    """Outside the scale, another kind of estimator; the fit before stands."""
    X, _, table = task
    est = RatingSpreading(random_state=0).fit(X, table)
    before = est.predict()
    with pytest.raises(InputError, match="outside the scale"):
        est.set_params(scale=(1, 2)).fit(X, table)
    with pytest.raises(InputError, match="kind 'single'"):
        est.set_params(scale=None, estimator=SoftLabeler(kind="ordinal")).fit(X, table)
    assert_allclose(est.predict(), before)
