"""What annotators mix up, and soft votes that undo it."""

import numpy as np
import pytest

from crowds import N_CLASSES, counted, fit_at, make_clusters, make_crowd
from softspread.annotators.weighting import LEAST_PART


@pytest.fixture
def clusters(rng):
    """A graph and the class of each item."""
    return make_clusters(rng)


def test_soft_votes_are_distributions_and_keep_the_total_weight(clusters, rng):
    """A confusion vote moves weight between classes, it neither adds nor loses any."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 40, ["honest", "uniform", "honest", "one"])
    fit = fit_at(graph, votes, confusion=True)
    np.testing.assert_allclose(fit.soft_votes.sum(axis=1), 1.0)
    assert (fit.soft_votes >= 0).all()
    total = counted(fit, votes).weights.sum()
    np.testing.assert_allclose(total, fit.weights.sum(), rtol=N_CLASSES * LEAST_PART)
    np.testing.assert_allclose(fit.confusion.sum(axis=2), 1.0)


def test_a_swapped_class_is_learned_and_undone(clusters, rng):
    """Who takes class 0 for class 1 gets that in the confusion matrix, and the votes move back to class 0."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 150, ["honest"] * 6, error=0.05)
    mistaken = (votes.annotators == "honest5") & (truth[votes.rows] == 0)
    votes.columns[mistaken] = 1
    fit = fit_at(graph, votes, confusion=True)
    matrix = fit.confusion[5]
    assert matrix[0, 1] > matrix[0, 0]
    assert fit.soft_votes[mistaken, 0].mean() > 0.8
