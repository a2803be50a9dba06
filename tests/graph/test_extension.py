"""New items: one more step of the diffusion, and the fitted graph stays as it is."""

import numpy as np
import pytest

import reference
from softspread import (
    InputError,
    ProbabilisticLabelSpreading,
    SoftspreadWarning,
    affinity_graph,
    epsilon_graph,
    knn_graph,
)
from softspread._common.threads import Workers
from softspread.graph.extension import tie_newcomers

NORMALIZATIONS = ["symmetric", "random_walk"]


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("dimensions", [2, 40])
def test_ties_follow_the_formula(rng, dimensions, normalization):
    """a_xj / sqrt(d_x d_j), or a_xj / d_x, over the nearest fitted items."""
    X, queries = rng.normal(size=(30, dimensions)), rng.normal(size=(6, dimensions))
    graph = knn_graph(X, 4, normalization=normalization)
    A, sigma2 = reference.knn_affinity(X, 4)
    expected = reference.newcomer_ties(X, A, sigma2, queries, 4, normalization)
    found = tie_newcomers(graph, queries, Workers(1)).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_ties_within_a_radius_follow_the_formula(rng, normalization):
    """Unit weights to all fitted items within the radius."""
    X, queries = rng.normal(size=(30, 2)), rng.normal(size=(8, 2)) * 2
    graph = epsilon_graph(X, 2.0, normalization=normalization)
    found = tie_newcomers(graph, queries, Workers(1)).toarray()
    for row, query in enumerate(queries):
        near = np.array([reference.squared_distance(query, x) <= 4 for x in X], dtype=float)
        scale = near.sum() if normalization == "random_walk" else np.sqrt(near.sum() * graph.degrees)
        expected = near / scale if near.any() else near
        np.testing.assert_allclose(found[row], expected, rtol=1e-12)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_mass_of_new_items_is_one_more_step(rng, normalization):
    """predict_freq of new items is alpha times their ties times the mass of the fitted ones."""
    X, queries = rng.normal(size=(30, 2)), rng.normal(size=(6, 2))
    graph = knn_graph(X, 4, normalization=normalization)
    est = ProbabilisticLabelSpreading(alpha=0.8).fit(graph, [0, 1] + [-1] * 28)
    A, sigma2 = reference.knn_affinity(X, 4)
    ties = reference.newcomer_ties(X, A, sigma2, queries, 4, normalization)
    np.testing.assert_allclose(est.predict_freq(queries), 0.8 * ties @ est.predict_freq(), rtol=1e-9)


def test_new_items_do_not_depend_on_each_other(rng):
    """Asked one by one or all together, the answers agree, and the fitted items are not touched."""
    X, queries = rng.normal(size=(30, 2)), rng.normal(size=(6, 2))
    est = ProbabilisticLabelSpreading(n_neighbors=4).fit(X, [0, 1] + [-1] * 28)
    before = est.predict_proba()
    together = est.predict_proba(queries)
    np.testing.assert_allclose(
        together, np.concatenate([est.predict_proba(q[None]) for q in queries]), rtol=1e-12
    )
    np.testing.assert_array_equal(est.predict_proba(), before)
    np.testing.assert_allclose(together.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_a_far_item_receives_nothing_and_gets_the_prior(rng, normalization):
    """Weights that underflow are no ties; the prior answers, without NaN."""
    X = rng.normal(size=(30, 2))
    est = ProbabilisticLabelSpreading(prior=[0.3, 0.7], alpha=0.9)
    est.fit(knn_graph(X, 4, normalization=normalization), [0, 1] + [-1] * 28)
    far = [[1e5, 1e5], [1e140, 0.0]]
    np.testing.assert_array_equal(est.predict_freq(far), np.zeros((2, 2)))
    np.testing.assert_allclose(est.predict_proba(far), [[0.3, 0.7]] * 2)


def test_a_radius_without_any_fitted_item_gives_the_prior(rng):
    """The same for a radius graph, for one and for all queries."""
    est = ProbabilisticLabelSpreading().fit(epsilon_graph(rng.normal(size=(30, 2)), 2.0), [0, 1] + [-1] * 28)
    np.testing.assert_allclose(est.predict_proba([[1e3, 0.0]]), [[0.5, 0.5]])


def test_a_new_item_beside_an_isolated_one_hears_its_votes():
    """An isolated item's first tie has full strength."""
    X = [[0.0], [0.1], [0.2], [1000.0]]
    with pytest.warns(SoftspreadWarning, match="1 of 4"):
        graph = knn_graph(X, 2, bandwidth=0.01)
    est = ProbabilisticLabelSpreading(alpha=0.9).fit(graph, [0, -1, -1, 1])
    assert est.predict([[1000.05]]).tolist() == [1]
    ties = tie_newcomers(graph, np.array([[1000.05]]), Workers(1)).toarray()
    np.testing.assert_allclose(ties, [[0, 0, 0, 1]], rtol=1e-12)


def test_a_tie_between_two_tiny_degrees_does_not_vanish():
    """A far new item tied by 1e-300 to a fitted item tied by 1e-300 is tied fully: only ratios count."""
    X = np.array([[0.0], [37.0]])
    graph = knn_graph(X, 1, bandwidth=1.0)
    ties = tie_newcomers(graph, np.array([[74.0]]), Workers(1)).toarray()
    np.testing.assert_allclose(ties, [[0, np.sqrt(0.5)]], rtol=1e-6)


def test_coinciding_items_answer_only_where_they_are():
    """With sigma = 0 only an item at the very same place is near."""
    graph = knn_graph(np.ones((5, 2)), 2)
    est = ProbabilisticLabelSpreading().fit(graph, [0, 0, 0, 1, 1])
    assert est.predict_freq([[1.0, 1.0]]).sum() > 0
    np.testing.assert_allclose(est.predict_proba([[1.0, 1.1]]), [[0.5, 0.5]])


@pytest.mark.parametrize("n", [1, 2])
def test_tiny_graphs_answer_for_new_items(n):
    """One or two fitted items are enough to be asked."""
    X = np.arange(float(n))[:, None]
    with pytest.warns(SoftspreadWarning, match="using"):
        est = ProbabilisticLabelSpreading().fit(X, list(range(n)), classes=[0, 1])
    p = est.predict_proba([[0.0], [0.2], [99.0]])
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert p[0, 0] > 0.5


def test_the_prior_of_a_new_item_is_that_of_its_neighbours():
    """Where votes say nothing, neighbours' priors speak."""
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2]])
    prior = np.array([[0.9, 0.1]] * 3 + [[0.2, 0.8]] * 3)
    est = ProbabilisticLabelSpreading(n_neighbors=2, prior=prior).fit(X, [-1] * 6, classes=["a", "b"])
    np.testing.assert_allclose(est.predict_proba([[0.05], [10.05]]), [[0.9, 0.1], [0.2, 0.8]])


def test_graphs_without_features_have_no_place_for_new_items():
    """An affinity cannot be extended."""
    with pytest.raises(InputError, match="made from an affinity"):
        tie_newcomers(affinity_graph(np.ones((3, 3))), np.zeros((1, 2)), Workers(1))
