"""How much each vote counts, at the fit and later."""

import numpy as np
import pytest

from crowds import ALPHA, KAPPA, N_CLASSES, counted, fit_at, make_clusters, make_crowd
from softspread.annotators.weighting import TRUSTED_WEIGHT, Weighting
from softspread.spreading.evidence import soft_labels
from voting import dense_profiles, table


@pytest.fixture
def clusters(rng):
    """A graph and the class of each item."""
    return make_clusters(rng)


def test_weights_bring_soft_labels_closer_to_the_truth_in_a_crowd_with_spammers(clusters, rng):
    """What the weights are for."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest"] * 3 + ["uniform"] * 5)
    Phi = dense_profiles(graph, ALPHA, "peak")

    def error(table):
        p = soft_labels(
            Phi @ table.counts(len(truth), N_CLASSES), np.full((1, N_CLASSES), 1 / N_CLASSES), KAPPA
        )
        return ((p - np.eye(N_CLASSES)[truth]) ** 2).sum(axis=1).mean()

    assert error(counted(fit_at(graph, votes), votes)) < 0.5 * error(votes)


def test_later_votes_get_the_factor_of_their_annotator(clusters, rng):
    """As fitted for known names, the crowd's prior for new ones, 1 for nobody."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest", "uniform", "honest"])
    fit = fit_at(graph, votes)
    later = fit.weights_for(np.array(["uniform1", None, "newcomer", "honest0"], dtype=object), 4)
    assert later.tolist() == [fit.weights[60], 1.0, fit.newcomer_weight, fit.weights[0]]
    assert fit.weights_for(None, 2).tolist() == [1.0, 1.0]
    assert 0 < fit.newcomer_weight < 1


def test_votes_of_the_fit_become_soft_and_later_ones_keep_their_class(clusters, rng):
    """A vote seen in the fit counts as there, also when it is taken back; any other names its class."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest", "uniform", "honest", "one"])
    fit = fit_at(graph, votes, confusion=True)
    weighting, shape = Weighting(fit, votes), (len(truth), N_CLASSES)
    back = votes.take(slice(0, 7))
    both = table(
        np.append(votes.rows, back.rows),
        np.append(votes.columns, back.columns),
        np.append(votes.weights, -back.weights),
        np.append(votes.annotators, back.annotators),
    )
    np.testing.assert_allclose(
        weighting.apply(both).counts(*shape),
        weighting.apply(votes.take(slice(7, None))).counts(*shape),
        atol=1e-6,
    )
    new = table([3], [N_CLASSES], annotators=["honest0"])  # a class first seen now
    assert weighting.apply(new).columns.tolist() == [N_CLASSES]
    assert weighting.apply(new).weights.tolist() == [fit.weights[0]]
    assert len(weighting.apply(table([], [], annotators=[]))) == 0


def test_trusted_votes_are_those_of_annotators_above_one_half(clusters, rng):
    """A consistency of one half is a weight of one quarter."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 80, ["honest", "uniform", "honest", "honest"])
    fit = fit_at(graph, votes)
    kept = Weighting(fit, votes).trusted(votes)
    assert set(kept.annotators) == {"honest0", "honest2", "honest3"}
    assert (kept.weights == 1).all()
    assert TRUSTED_WEIGHT == 0.5**2
