"""Items come and go after a fit: the same answers as a fit to the items by then."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from softspread import (
    GaussianKernelRegression,
    Graph,
    InputError,
    KNeighborsVotes,
    ProbabilisticLabelSpreading,
    SoftLabeler,
    VoteHistogram,
    Votes,
    affinity_graph,
    knn_graph,
    load,
    save,
)

ALL = {
    "spreading": lambda **more: ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=8, tol=1e-8, **more),
    "blend": lambda **more: SoftLabeler(alpha=0.9, n_neighbors=8, classifier="none", **more),
    "histogram": VoteHistogram,
    "nearest": lambda: KNeighborsVotes(n_neighbors=3),
    "kernel": GaussianKernelRegression,
}
GRAPHS = ["spreading", "blend"]
FEW = 100  # of 120 items are there at first


@pytest.fixture(scope="module")
def task():
    """120 items with names, 60 votes by name on the first 90."""
    rng = np.random.default_rng(0)
    X, ids = rng.normal(size=(120, 2)), np.array([f"i{number}" for number in range(120)], dtype=object)
    rows = rng.integers(0, 90, 60)
    labels = np.where(X[rows, 0] + 0.3 * rng.normal(size=60) > 0, "right", "left")
    return X, ids, Votes.from_pairs(ids[rows], labels)


def refined(est):
    """All that live answers leave open, done."""
    if isinstance(est, SoftLabeler):
        return est.refit()
    return est.refine() if isinstance(est, ProbabilisticLabelSpreading) else est


def fitted(name, task, n=FEW, **more):
    X, ids, votes = task
    return ALL[name](**more).fit(X[:n], votes, item_ids=ids[:n])


@pytest.mark.parametrize("name", ALL)
def test_items_added_are_answered_as_after_a_fit_to_all(name, task):
    """At once, in batches or one by one."""
    X, ids, _ = task
    whole = fitted(name, task, 120).predict_proba()
    for size in (20, 7):
        est = fitted(name, task)
        for first in range(FEW, 120, size):
            est.add_items(X[first : first + size], ids[first : first + size])
        assert_allclose(refined(est).predict_proba(), whole, atol=1e-6)
    assert_array_equal(est.item_ids_, ids)


@pytest.mark.parametrize("name", ALL)
def test_adding_then_removing_leaves_the_old_answers(name, task):
    """And the old names."""
    X, ids, _ = task
    est, old = fitted(name, task), fitted(name, task)
    est.add_items(X[FEW:], ids[FEW:]).remove_items(ids[FEW:])
    assert_allclose(refined(est).predict_proba(), refined(old).predict_proba(), atol=1e-6)
    assert est.n_items_ == FEW


@pytest.mark.parametrize("name", GRAPHS)
def test_live_answers_are_near_those_of_a_fit(name, task):
    """Before anything is refined; new votes then count as ever."""
    X, ids, _ = task
    est, whole = fitted(name, task), fitted(name, task, 105)
    est.add_items(X[FEW:105], ids[FEW:105])
    gap = np.abs(est.predict_proba() - whole.predict_proba())
    assert gap.mean() < 0.01
    assert gap.max() < 0.1
    est.update(ids[104], "left")
    refined(est)
    whole.update(ids[104], "left")
    assert_allclose(est.predict_proba(), refined(whole).predict_proba(), atol=1e-6)


def test_the_bound_holds_for_votes_with_the_scales_they_had(task):
    """Mass moves as the bound says when the same sources are solved for exactly on the new graph."""
    X, ids, _ = task
    est = fitted("spreading", task)
    est._moved_share = 1.0  # even so many items are followed, not solved for again
    old = est._state
    sources = old.diffusion.graph.to_user_order(old.R + old.diffusion.inner_apply(old.Y))
    est.add_items(X[FEW:], ids[FEW:])
    S = est.graph_.S.toarray()
    true = np.linalg.solve(np.eye(120) - 0.9 * S, np.concatenate([sources, np.zeros((20, 2))]))
    error = np.abs(est.predict_freq() - true).max(axis=1)
    assert (error <= est.error_bound_ + 1e-12).all()
    assert est.error_bound_.max() < 0.05


def test_many_items_at_once_are_solved_for(task):
    """Then the answer is that of a new fit, without a refine."""
    X, ids, _ = task
    est = fitted("spreading", task).add_items(X[FEW:], ids[FEW:])
    before = est.predict_proba()
    assert_allclose(before, est.refine().predict_proba(), atol=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_items_with_votes_stay_unless_their_votes_may_go(name, task):
    """Dropped votes leave no trace."""
    X, ids, votes = task
    est = fitted(name, task)
    voted = votes.items[0]
    with pytest.raises(InputError, match="drop_votes=True"):
        est.remove_items([voted, ids[FEW - 1]])
    assert est.n_items_ == FEW
    est.remove_items(voted, drop_votes=True)
    left, mine = ids[:FEW] != voted, votes.items != voted
    again = ALL[name]().fit(
        X[:FEW][left], Votes.from_pairs(votes.items[mine], votes.labels[mine]), item_ids=ids[:FEW][left]
    )
    assert_allclose(refined(est).predict_proba(), again.predict_proba(), atol=1e-6)
    assert len(est.votes_) == mine.sum()


@pytest.mark.parametrize("name", ALL)
def test_refused_items_change_nothing(name, task):
    """Known ids, ids that come twice or are missing, other dimensions, unknown items, all items."""
    X, ids, _ = task
    est = fitted(name, task)
    before = est.predict_proba()
    refused = {
        "known already, such as 'i5'": lambda: est.add_items(X[:1], ["i5"]),
        "distinct": lambda: est.add_items(X[:2], ["new", "new"]),
        "need item_ids": lambda: est.add_items(X[:1]),
        "1 features": lambda: est.add_items(X[:1, :1], ["new"]),
        "no prior": lambda: est.add_items(X[:1], ["new"], prior=[[0.5, 0.5]]),
        "'no' is not among": lambda: est.remove_items("no"),
        "cannot remove all": lambda: est.remove_items(ids[:FEW]),
    }
    for message, act in refused.items():
        with pytest.raises(InputError, match=message):
            act()
    assert_array_equal(est.predict_proba(), before)
    assert est.n_items_ == FEW


@pytest.mark.parametrize("name", GRAPHS)
def test_items_by_position_and_on_a_graph_of_ones_own(name, task):
    """Positions follow; later ones move up when items go."""
    X = task[0]
    y = np.where(np.arange(FEW) % 5 == 0, (X[:FEW, 0] > 0).astype(int), -1)
    est = ALL[name]().fit(knn_graph(X[:FEW], 8), y)
    refined(est.add_items(X[FEW:]).remove_items([1, 3]))
    keep = np.delete(np.arange(120), [1, 3])
    whole = ALL[name]().fit(knn_graph(X[keep], 8), np.append(np.delete(y, [1, 3]), np.full(20, -1)))
    assert_allclose(est.predict_proba(), whole.predict_proba(), atol=1e-6)
    assert isinstance(est._items, Graph)
    with pytest.raises(InputError, match="leave item_ids out"):
        est.add_items(X[:1], ["a"])


def test_an_affinity_has_no_place_for_items():
    """Its items are nowhere."""
    est = ProbabilisticLabelSpreading().fit(affinity_graph([[0, 1], [1, 0]]), [0, 1])
    with pytest.raises(InputError, match="affinity"):
        est.add_items([[0.0]])


@pytest.mark.parametrize("name", GRAPHS)
def test_a_prior_per_item_grows_with_the_items(name, task, tmp_path):
    """It must be given for new items, and is saved with them."""
    X, ids, _ = task
    prior = np.random.default_rng(1).dirichlet([1, 1], 120)
    est = fitted(name, task, prior=prior[:FEW])
    with pytest.raises(InputError, match="pass prior="):
        est.add_items(X[FEW:], ids[FEW:])
    est.add_items(X[FEW:], ids[FEW:], prior=prior[FEW:])
    save(est, tmp_path / "grown")
    whole = fitted(name, task, 120, prior=prior)
    for some in (est, load(tmp_path / "grown")):
        assert_allclose(refined(some).predict_proba(), whole.predict_proba(), atol=1e-6)


def test_features_grow_with_the_items(task):
    """Where the fit had unreduced features, new items bring theirs."""
    X, ids, votes = task
    features = np.hstack([X, X**2])
    lab = SoftLabeler(alpha=0.9).fit(X[:FEW], votes, features=features[:FEW], item_ids=ids[:FEW])
    with pytest.raises(InputError, match="need features"):
        lab.add_items(X[FEW:], ids[FEW:])
    lab.add_items(X[FEW:], ids[FEW:], features=features[FEW:])
    whole = SoftLabeler(alpha=0.9).fit(X, votes, features=features, item_ids=ids)
    assert_allclose(lab.refit().predict_proba(), whole.predict_proba(), atol=1e-5)
    with pytest.raises(InputError, match="no features"):
        fitted("blend", task).add_items(X[FEW:], ids[FEW:], features=features[FEW:])


def test_many_new_items_are_learned_from_at_once(task):
    """A quarter more items ask for another fit."""
    X, ids, _ = task
    lab = fitted("blend", task, 90)
    lab.add_items(X[90:95], ids[90:95])
    assert lab._n_moved == 5
    lab.add_items(X[95:], ids[95:])
    assert lab._n_moved == 0
    assert_allclose(lab.predict_proba(), fitted("blend", task, 120).predict_proba(), atol=1e-6)


@pytest.mark.parametrize("name", GRAPHS)
def test_votes_that_annotators_cast_stay_weighted(name, task):
    """Also where they became soft: rows move, weights stay."""
    X, ids, votes = task
    once = np.unique(votes.items.astype(str), return_index=True)[1]
    cast = np.repeat(votes.items[once], 3), np.repeat(votes.labels[once], 3)
    named = Votes.from_pairs(*cast, np.tile(["ann", "bob", "eve"], len(once)))
    unvoted = np.setdiff1d(ids[:FEW], votes.items)[:5]
    est = ALL[name](annotator_model="confusion").fit(X[:FEW], named, item_ids=ids[:FEW])
    est.add_items(X[FEW:], ids[FEW:]).remove_items(unvoted)
    assert len(est._counted_votes) >= len(named)
    new = (ids[-1], votes.labels[0], "ann")
    before = refined(est).predict_proba()
    assert_allclose(refined(est.update(*new).undo(*new)).predict_proba(), before, atol=1e-6)


def test_novelty_flags_items_far_from_all_others(task):
    """By name, with their distance."""
    est = fitted("spreading", task).add_items([[40.0, 40.0]], ["far"])
    assert est.novelty_.query("far")["item"].tolist() == ["far"]
    assert est.novelty_["novelty"].idxmax() == FEW
    assert pd.api.types.is_bool_dtype(est.novelty_["far"])
