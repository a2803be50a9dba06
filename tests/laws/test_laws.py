"""Laws that hold for any votes on any items, checked on random ones."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softspread import ProbabilisticLabelSpreading, Votes, knn_graph

N = 24
CLASSES = ["a", "b", "c"]
QUIET = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
X = np.random.default_rng(1).normal(size=(N, 2))
GRAPH = knn_graph(X, n_neighbors=4)

vote_lists = st.lists(st.tuples(st.integers(0, N - 1), st.sampled_from(CLASSES)), min_size=1, max_size=12)
alphas = st.sampled_from([0.0, 0.4, 0.9, 0.99])
scalings = st.sampled_from(["peak", "source", "none"])
solvers = st.sampled_from(["dense", "cg"])


def spread(votes, alpha, scaling="peak", solver="dense", graph=GRAPH):
    items, labels = [v[0] for v in votes], [v[1] for v in votes]
    est = ProbabilisticLabelSpreading(alpha=alpha, scaling=scaling, solver=solver, tol=1e-10)
    return est.fit(graph, Votes.from_pairs(items, labels), classes=CLASSES)


@QUIET
@given(vote_lists, vote_lists, alphas, scalings, solvers)
def test_mass_of_a_union_is_the_sum_of_masses(a, b, alpha, scaling, solver):
    """Two vote sets at once spread like each alone, added."""
    together = spread(a + b, alpha, scaling, solver).predict_freq()
    apart = (
        spread(a, alpha, scaling, solver).predict_freq() + spread(b, alpha, scaling, solver).predict_freq()
    )
    np.testing.assert_allclose(together, apart, atol=1e-7)


@QUIET
@given(vote_lists, alphas, scalings, solvers, st.randoms(use_true_random=False))
def test_order_of_votes_does_not_matter(votes, alpha, scaling, solver, random):
    """Any order, in one batch or one by one, gives the same soft labels."""
    shuffled = votes.copy()
    random.shuffle(shuffled)
    batch = spread(votes, alpha, scaling, solver)
    online = spread(shuffled[:1], alpha, scaling, solver)
    for item, label in shuffled[1:]:
        online.update(item, label)
    np.testing.assert_allclose(online.refine().predict_proba(), batch.predict_proba(), atol=1e-6)


@QUIET
@given(vote_lists, vote_lists, alphas, solvers)
def test_update_then_undo_is_nothing(votes, extra, alpha, solver):
    """What comes and goes leaves no trace."""
    est = spread(votes, alpha, solver=solver)
    before = est.predict_freq()
    items, labels = [v[0] for v in extra], [v[1] for v in extra]
    est.update(items, labels).undo(items[::-1], labels[::-1]).refine()
    np.testing.assert_allclose(est.predict_freq(), before, atol=1e-7)


@QUIET
@given(vote_lists, alphas, st.permutations(range(N)))
def test_relabelling_items_permutes_the_answer(votes, alpha, permutation):
    """Items have no order: another numbering gives the same soft labels in that numbering."""
    new_row = np.argsort(permutation)  # item i of X is row new_row[i] of X[permutation]
    moved = [(int(new_row[item]), label) for item, label in votes]
    original = spread(votes, alpha).predict_proba()
    renumbered = spread(moved, alpha, graph=knn_graph(X[list(permutation)], n_neighbors=4)).predict_proba()
    np.testing.assert_allclose(renumbered, original[list(permutation)], atol=1e-8)


@QUIET
@given(vote_lists, alphas, st.permutations(CLASSES))
def test_relabelling_classes_permutes_the_columns(votes, alpha, order):
    """Classes have no order either."""
    original = spread(votes, alpha)
    est = ProbabilisticLabelSpreading(alpha=alpha, solver="dense")
    items, labels = [v[0] for v in votes], [v[1] for v in votes]
    reordered = est.fit(GRAPH, Votes.from_pairs(items, labels), classes=order).predict_proba()
    columns = [CLASSES.index(name) for name in order]
    np.testing.assert_allclose(reordered, original.predict_proba()[:, columns], atol=1e-9)


@QUIET
@given(vote_lists, alphas, scalings)
def test_rows_sum_to_one_and_nothing_is_negative(votes, alpha, scaling):
    """Soft labels are probabilities, evidence is never negative, all is finite."""
    est = spread(votes, alpha, scaling)
    p = est.predict_proba()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p >= 0).all()
    assert (est.evidence_ >= 0).all()
    assert np.isfinite(p).all()


@QUIET
@given(vote_lists)
def test_alpha_zero_is_counting(votes):
    """Without spreading, mass is the number of votes per item and class."""
    counts = np.zeros((N, 3))
    for item, label in votes:
        counts[item, CLASSES.index(label)] += 1
    np.testing.assert_array_equal(spread(votes, 0.0).predict_freq(), counts)


@QUIET
@given(st.integers(0, N - 1), alphas, st.sampled_from(["peak", "source"]), solvers)
def test_a_lone_vote_gives_its_item_evidence_one(item, alpha, scaling, solver):
    """The voted item receives 1 where its own entry is the peak, and nobody receives more under "peak"."""
    evidence = spread([(item, "b")], alpha, scaling, solver).evidence_
    if scaling == "source":
        assert evidence[item] == pytest.approx(1, abs=1e-6)
    else:
        assert evidence.max() == pytest.approx(1, abs=1e-6)


@QUIET
@given(vote_lists, alphas, st.floats(0.1, 5.0))
def test_weights_scale_mass(votes, alpha, weight):
    """Votes of weight w give w times the mass."""
    items, labels = [v[0] for v in votes], [v[1] for v in votes]
    est = ProbabilisticLabelSpreading(alpha=alpha, solver="dense")
    weighted = est.fit(GRAPH, Votes.from_pairs(items, labels, weights=weight), classes=CLASSES).predict_freq()
    np.testing.assert_allclose(weighted, weight * spread(votes, alpha).predict_freq(), rtol=1e-9, atol=1e-12)


@QUIET
@given(vote_lists, alphas, st.integers(0, N - 1))
def test_explanation_rebuilds_the_soft_label(votes, alpha, item):
    """The weights of the votes behind an item sum to 1 and their weighted mean is its mass per class."""
    est = spread(votes, alpha)
    table = est.explain(item, top=None)
    mass, evidence = est.predict_freq()[item], est.evidence_[item]
    if evidence < 1e-9:
        assert len(table) == 0 or evidence > 0
        return
    assert table["weight"].sum() == pytest.approx(1)
    for column, name in enumerate(CLASSES):
        share = table.loc[table["label"] == name, "weight"].sum()
        assert share == pytest.approx(mass[column] / evidence, abs=1e-7)
