"""Live updates: immediate answers within their bound, refined answers equal to a fresh fit."""

import numpy as np
import pytest

from softspread import ProbabilisticLabelSpreading, Votes, knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.running_solution import RULE, UpdateRule
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable

ITEMS = 1500  # above the dense limit, so that pushes and local scales are at work


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(11)
    return knn_graph(np.concatenate([rng.normal(c, 1, size=(ITEMS // 2, 3)) for c in (0, 3)]), n_neighbors=8)


HURRIED = UpdateRule(edges_per_vote=300)  # so little work that immediate answers are visibly approximate


def random_votes(rng, m, n_classes=3):
    return rng.integers(0, ITEMS, m), rng.integers(0, n_classes, m)


def fit(graph, rows, columns, rule=RULE, **settings):
    est = ProbabilisticLabelSpreading(**{"alpha": 0.9, **settings}).fit(
        graph, Votes.from_pairs(rows, columns, classes=[0, 1, 2])
    )
    est._state.rule = rule
    return est


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])
def test_updates_in_any_order_then_refine_equal_a_fresh_fit(graph, alpha, rng):
    """Online = batch: to the solver's tolerance, with the very same scales."""
    rows, columns = random_votes(rng, 40)
    batch = fit(graph, rows, columns, alpha=alpha, rule=HURRIED)
    online = fit(graph, rows[:10], columns[:10], alpha=alpha, rule=HURRIED)
    for j in rng.permutation(np.arange(10, 40)):
        online.update([rows[j]], [columns[j]])
    assert not np.allclose(online.predict_freq(), batch.predict_freq(), atol=1e-7)
    online.refine()
    gap = np.abs(online.predict_freq() - batch.predict_freq())
    assert (gap <= (online.error_bound_ + batch.error_bound_)[:, None]).all()
    online.refine(tol=1e-11)
    batch.refine(tol=1e-11)
    np.testing.assert_allclose(online.predict_freq(), batch.predict_freq(), atol=1e-9)


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])
def test_immediate_answer_is_within_its_bound(alpha, normalization, rng):
    """At any moment no entry of the mass is further from the exact solution than error_bound_ says."""
    X = rng.normal(size=(1200, 2))
    graph = knn_graph(X, n_neighbors=6, normalization=normalization)
    est = fit(graph, [0], [0], alpha=alpha, rule=HURRIED)
    for row, column in zip(rng.integers(0, 1200, 12), rng.integers(0, 3, 12), strict=True):
        est.update([row], [column])
        bound, now = est.error_bound_, est.predict_freq()
        exact = fit(graph, est.votes_.items, est.votes_.labels, alpha=alpha).refine(tol=1e-12).predict_freq()
        assert (np.abs(now - exact) <= bound[:, None] + 1e-9).all()
    assert est.error_bound_.max() > 0


def test_update_then_undo_restores(graph, rng):
    """After refinement nothing of the undone votes is left, in any order of undoing."""
    rows, columns = random_votes(rng, 30)
    est = fit(graph, rows, columns, rule=HURRIED)
    before = est.predict_freq()
    extra_rows, extra_columns = random_votes(rng, 8)
    est.update(extra_rows, extra_columns)
    assert np.abs(est.predict_freq() - before).max() > 0.5
    for j in rng.permutation(8):
        est.undo([extra_rows[j]], [extra_columns[j]])
    est.refine(tol=1e-10)
    np.testing.assert_allclose(est.predict_freq(), before, atol=5e-6)


def test_stale_marks_what_a_refinement_changes(graph, rng):
    """Items not marked stale move by at most 0.01 when refined; a fresh fit has none stale."""
    rows, columns = random_votes(rng, 30)
    est = fit(graph, rows[:20], columns[:20], rule=HURRIED)
    assert not est.stale_.any()
    for j in range(20, 30):
        est.update([rows[j]], [columns[j]])
    stale, before = est.stale_, est.predict_proba()
    assert stale.any()
    est.refine()
    assert not est.stale_.any()
    moved = np.abs(est.predict_proba() - before).max(axis=1)
    assert moved[~stale].max(initial=0.0) <= 0.01


def test_small_graphs_are_exact_at_once(rng):
    """Where the budget reaches the floor, an update needs no refinement."""
    X = rng.normal(size=(300, 2))
    online = ProbabilisticLabelSpreading(n_neighbors=5, alpha=0.8).fit(X, np.full(300, -1), classes=[0, 1])
    for row, label in ((4, 0), (250, 1), (4, 1)):
        online.update(row, label)
    batch = ProbabilisticLabelSpreading(n_neighbors=5, alpha=0.8).fit(
        X, Votes.from_pairs([4, 250, 4], [0, 1, 1])
    )
    assert not online.stale_.any()
    np.testing.assert_allclose(online.predict_freq(), batch.predict_freq(), atol=1e-6)


def test_many_votes_at_once_are_solved_not_pushed(graph, rng):
    """A large update takes the batch path and is as good as a fit."""
    rows, columns = random_votes(rng, 600)
    online = fit(graph, rows[:5], columns[:5]).update(rows[5:], columns[5:])
    assert not online.stale_.any()
    np.testing.assert_allclose(online.predict_freq(), fit(graph, rows, columns).predict_freq(), atol=1e-5)


def test_first_vote_and_later_classes(graph):
    """From nothing: the first vote, one class, a class that appears later, all without refitting."""
    est = ProbabilisticLabelSpreading().fit(graph, Votes.from_pairs([], []))
    assert len(est.classes_) == 0
    est.update([5], ["cat"])
    assert est.classes_.tolist() == ["cat"]
    assert (est.predict_proba() == 1).all()
    est.update([1400], ["dog"])
    est.update([5], ["ant"])
    assert est.classes_.tolist() == ["cat", "dog", "ant"]
    assert est.predict_proba().shape == (ITEMS, 3)
    np.testing.assert_allclose(est.predict_proba().sum(axis=1), 1)
    batch = ProbabilisticLabelSpreading().fit(
        graph, Votes.from_pairs([5, 1400, 5], ["cat", "dog", "ant"]), classes=["cat", "dog", "ant"]
    )
    np.testing.assert_allclose(est.refine().predict_freq(), batch.predict_freq(), atol=1e-6)


def test_soft_labels_of_a_few_items_equal_the_full_answer(graph, rng):
    """The quick answer reads the same state, by id as well."""
    rows, columns = random_votes(rng, 20)
    ids = np.array([f"item-{i}" for i in range(ITEMS)])
    est = ProbabilisticLabelSpreading().fit(graph, Votes.from_pairs(ids[rows], columns), item_ids=ids)
    est.update(["item-7"], [2])
    np.testing.assert_allclose(est.soft_labels_of(["item-7", "item-0"]), est.predict_proba()[[7, 0]])


def test_interrupted_update_leaves_votes_classes_and_bounds_as_they_were(graph, monkeypatch, rng):
    """A failure half-way loses nothing: same votes, same classes, and a refinement restores the mass."""
    rows, columns = random_votes(rng, 20)
    est = fit(graph, rows, columns)
    before, n_votes = est.predict_freq(), len(est.votes_)

    def fail(*_):
        est._state.Y[5, 0] += 0.25  # half-way
        raise KeyboardInterrupt

    monkeypatch.setattr("softspread.diffusion.running_solution.push_votes", fail)
    with pytest.raises(KeyboardInterrupt):
        est.update([3, 4], ["new", 0])
    assert len(est.votes_) == n_votes
    assert est.classes_.tolist() == [0, 1, 2]
    assert (np.abs(est.predict_freq() - before) <= est.error_bound_[:, None] + 1e-9).all()
    np.testing.assert_allclose(est.refine().predict_freq(), before, atol=1e-5)


def test_a_smaller_share_of_the_work_shows_in_the_bound(graph):
    """Less is pushed, the bound still holds, and a refinement gives the same."""
    vote = VoteTable(np.array([7]), np.array([0]), np.ones(1))
    whole, part = (SpreadState(Diffusion(graph, 0.99), vote, 1, HURRIED) for _ in range(2))
    whole.add(vote)
    part.add(vote, share=0.1)
    assert part.error_bound().max() > whole.error_bound().max()
    hurried, bound = part.mass(), part.error_bound()
    part.refine(tol=1e-11)
    whole.refine(tol=1e-11)
    np.testing.assert_allclose(part.mass(), whole.mass(), atol=1e-9)
    assert (np.abs(hurried - part.mass()) <= bound[:, None] + 1e-9).all()
