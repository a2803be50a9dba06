"""Mass from all but one annotator."""

import numpy as np
import pytest

from crowds import N_CLASSES, make_clusters, make_crowd
from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout.crowd import Crowd, OwnMassRule
from softspread.votes.ballots import Ballots
from voting import dense_profiles, table


def by_dense_formula(crowd, graph, alpha, amounts):
    """Own mass, and all mass, at the items of named entries."""
    ballots, named = crowd.ballots, crowd.named
    phi = dense_profiles(graph, alpha)[np.ix_(ballots.rows[named], ballots.rows)]
    same = ballots.annotator[named][:, None] == ballots.annotator
    return (phi * same) @ amounts, phi @ amounts


@pytest.mark.parametrize("way", ["solved", "pushed", "dense factor"])
@pytest.mark.parametrize("alpha", [0.5, 0.95])
def test_mass_of_own_votes_equals_the_dense_formula(rng, way, alpha):
    """Own mass is the sum over the annotator's own votes of dense profiles, whichever way it is found."""
    graph, truth = make_clusters(rng)
    votes = make_crowd(rng, truth, 30, ["honest", "honest", "uniform", "one"])
    votes.annotators[:20] = None
    rule = OwnMassRule(tol=1e-8, floor=1e-8, push_work=1e-9 if way == "pushed" else 1e9)
    diffusion = Diffusion(graph, alpha, tol=1e-8, solver="dense" if way == "dense factor" else "cg")
    crowd = Crowd(diffusion, Ballots.of(votes, N_CLASSES), rule)
    amounts = rng.random((len(crowd.ballots.weight), N_CLASSES))
    own, total = by_dense_formula(crowd, graph, alpha, amounts)
    np.testing.assert_allclose(crowd.own(amounts), own, atol=2e-5)
    assert len(crowd._local_blocks) == (4 if way == "pushed" else 0)
    left = np.maximum(total - own, 0) + 0.3 * crowd.class_shares
    found = crowd.others(amounts, own, 0.3)
    np.testing.assert_allclose(found, left / left.sum(axis=1, keepdims=True), atol=2e-5)


def test_mass_of_own_votes_holds_in_the_random_walk_form(rng):
    """Votes enter and leave through the degrees there; own mass must follow."""
    graph = knn_graph(rng.normal(size=(90, 3)), n_neighbors=5, normalization="random_walk")
    votes = table(rng.integers(0, 90, 60), rng.integers(0, 3, 60), annotators=rng.integers(0, 4, 60))
    crowd = Crowd(Diffusion(graph, 0.9), Ballots.of(votes, 3))
    amounts = rng.random((60, 3))
    np.testing.assert_allclose(crowd.own(amounts), by_dense_formula(crowd, graph, 0.9, amounts)[0], atol=1e-6)


def test_default_accuracy_of_own_mass_is_far_below_one_vote(rng):
    """With the accuracies in use, pushes and solves both stay close to the dense formula on a graph of 1500
    items."""
    graph = knn_graph(rng.normal(size=(1500, 3)), n_neighbors=10)
    who = np.repeat(np.arange(31), [600, *[10] * 30])  # one annotator with many votes, many with few
    votes = table(rng.integers(0, 1500, 900), rng.integers(0, 3, 900), annotators=who)
    crowd = Crowd(Diffusion(graph, 0.5, solver="cg"), Ballots.of(votes, 3))
    own, exact = crowd.own_as_cast, by_dense_formula(crowd, graph, 0.5, crowd.cast)[0]
    assert 0 < len(crowd._local_blocks) < 31
    np.testing.assert_allclose(own, exact, atol=0.02)
    assert np.abs(own - exact).mean() < 1e-3


def test_saying_it_often_proves_no_more_than_saying_it_once(rng):
    """All votes of one annotator on one item together are at most one observation."""
    votes = table([0, 0, 0, 1, 1, 2, 0], [2, 2, 2, 0, 1, 1, 2], [1, 1, 1, 1, 1, 0.25, 1], ["a"] * 6 + ["b"])
    graph = knn_graph(rng.normal(size=(10, 2)), n_neighbors=3)
    crowd = Crowd(Diffusion(graph, 0.5), Ballots.of(votes, N_CLASSES))
    assert crowd.ballots.weight_of_annotators.tolist() == [5.25, 1.0]
    np.testing.assert_allclose(crowd.trust, [1 / 3, 1 / 3, 1 / 3, 0.5, 0.5, 0.25, 1.0])
    np.testing.assert_allclose(crowd.per_annotator(np.ones((7, 1))).ravel(), [2.25, 1.0])


def test_what_some_annotators_say_equals_the_dense_formula(rng):
    """Votes of those who are heard and votes without a name, nobody else's."""
    graph, truth = make_clusters(rng)
    votes = make_crowd(rng, truth, 30, ["honest", "uniform", "one"])
    votes.annotators[:20] = None
    ballots = Ballots.of(votes, N_CLASSES)
    crowd = Crowd(Diffusion(graph, 0.8, tol=1e-8), ballots, OwnMassRule(tol=1e-8))
    heard = np.array([True, False, True])
    counts = (ballots.annotator < 0) | heard[ballots.annotator]
    phi = dense_profiles(graph, 0.8)[np.ix_(ballots.rows[crowd.named], ballots.rows)]
    mass = phi @ (crowd.cast * counts[:, None]) + 0.3 * crowd.class_shares
    expected = mass / mass.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(crowd.said_by(heard, 0.3), expected, atol=2e-5)
