"""The paper's loop, one solve per vote."""

import numpy as np
import pytest

from softspread import ProbabilisticLabelSpreading, Votes, knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.literal import literal_mass
from softspread.votes.table import VoteTable
from systems import algorithm_1


@pytest.mark.parametrize("scaling", ["peak", "source", "none"])
def test_literal_mode_of_the_estimator_is_algorithm_1(scaling, rng):
    """solver="literal" runs the loop, repeated and weighted votes included."""
    X = rng.normal(size=(80, 2))
    rows, columns = np.array([3, 3, 9, 70, 3]), np.array([0, 1, 1, 2, 0])
    est = ProbabilisticLabelSpreading(solver="literal", scaling=scaling, n_neighbors=5, alpha=0.95)
    est.fit(X, Votes.from_pairs(rows, columns))
    truth = algorithm_1(est.graph_, rows, columns, 3, 0.95, scaling)
    np.testing.assert_allclose(est.predict_freq(), truth, atol=1e-8)
    assert est.error_bound_.max() < 1e-6


def test_the_tolerance_of_the_loop_can_be_the_papers(rng):
    """1e-6 for each vote: close to the reference, and not equal to it."""
    graph = knn_graph(rng.normal(size=(1500, 3)), n_neighbors=8)
    diffusion = Diffusion(graph, 0.95)
    votes = VoteTable(np.array([7, 90]), np.array([0, 1]), np.ones(2))
    exact, rough = literal_mass(diffusion, votes, 2), literal_mass(diffusion, votes, 2, tol=1e-6)
    assert 1e-10 < np.abs(exact - rough).max() < 1e-5


def test_literal_mass_weighs_votes(rng):
    """A vote of weight 2.5 is two and a half votes."""
    graph = knn_graph(rng.normal(size=(40, 2)), n_neighbors=4)
    diffusion = Diffusion(graph, 0.9)
    once = literal_mass(diffusion, VoteTable(np.array([7]), np.array([0]), np.ones(1)), 1)
    more = literal_mass(diffusion, VoteTable(np.array([7]), np.array([0]), np.array([2.5])), 1)
    np.testing.assert_allclose(more, 2.5 * once)
