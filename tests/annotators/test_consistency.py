"""r of each annotator."""

import numpy as np
import pytest

from crowds import ALPHA, N_CLASSES, fit_at, make_clusters, make_crowd
from softspread.annotators.consistency import (
    CONSISTENCY,
    ConsistencyModel,
    consistency_posterior,
    log_likelihood,
    tempered,
)
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout.crowd import Crowd
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable


@pytest.fixture
def clusters(rng):
    """A graph and the class of each item."""
    return make_clusters(rng)


def test_likelihood_equals_the_product_over_votes(clusters, rng):
    """The vectorised log likelihood is the plain sum of logs of r p + (1 - r) u."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 20, ["honest", "one", "uniform"])
    crowd = Crowd(Diffusion(graph, ALPHA), Ballots.of(votes, N_CLASSES))
    p, u = rng.random(len(crowd.who)), rng.random(len(crowd.who))
    found = log_likelihood(crowd, p, u, CONSISTENCY)
    for who in range(3):
        for number in (0, 17, 80):
            r = CONSISTENCY.grid[number]
            mine = np.flatnonzero(crowd.who == who)
            expected = sum(crowd.trust[v] * np.log(r * p[v] + (1 - r) * u[v]) for v in mine)
            np.testing.assert_allclose(found[who, number], expected, rtol=1e-12)


def test_priors_are_distributions_with_the_means_they_are_named_for():
    """Each candidate sums to 1 over the grid; the uniform part keeps every r possible."""
    priors, opinions, means = CONSISTENCY.priors()
    np.testing.assert_allclose(priors.sum(axis=1), 1.0)
    assert (priors >= 0.05 / 81 - 1e-15).all()
    np.testing.assert_allclose(priors @ CONSISTENCY.grid, 0.95 * means + 0.05 / 2, atol=0.05)  # on a grid
    assert means[opinions.argmax()] == CONSISTENCY.usual_mean


def test_sharpened_rows_still_sum_to_one(rng):
    """A power makes the likely class likelier; power 1 changes nothing."""
    p = rng.dirichlet(np.ones(4), size=5)
    assert tempered(p, 1.0) is p
    np.testing.assert_allclose(tempered(p, 2.0), p**2 / (p**2).sum(axis=1, keepdims=True))


def test_a_finer_grid_hardly_moves_the_answer(clusters, rng):
    """The grid is fine enough, and an argument."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest", "uniform", "honest"])
    crowd = Crowd(Diffusion(graph, ALPHA), Ballots.of(votes, N_CLASSES))
    others = crowd.others(crowd.cast, crowd.own_as_cast, 0.3)
    coarse, fine = (
        consistency_posterior(crowd, others, ConsistencyModel(grid_size=size)).mean for size in (81, 321)
    )
    np.testing.assert_allclose(coarse, fine, atol=0.01)


@pytest.mark.parametrize("seed", range(12))
def test_spammers_with_80_votes_are_flagged_and_honest_annotators_never(seed):
    """Uniform and one-class spammers stand out, people who err at 15 % of the items do not."""
    rng = np.random.default_rng(seed)
    graph, truth = make_clusters(rng)
    kinds = ["honest"] * 8 + ["uniform", "one"]
    report = fit_at(graph, make_crowd(rng, truth, 80, kinds)).report
    flagged = set(report.annotator[report.flag == "does not follow"])
    assert flagged == {"uniform8", "one9"}


def test_an_annotator_who_copies_the_crowd_is_most_consistent(clusters, rng):
    """Whoever always votes as the item's class is, among people who err, comes out on top, near 1."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest"] * 6, error=0.3)
    rows = rng.integers(0, len(truth), 60)
    both = VoteTable(
        np.append(votes.rows, rows),
        np.append(votes.columns, truth[rows]),
        np.ones(len(votes) + 60),
        np.append(votes.annotators, np.full(60, "copier", dtype=object)),
    )
    report = fit_at(graph, both).report
    assert report.annotator[np.argmax(report.consistency)] == "copier"
    assert report.lower[report.annotator == "copier"][0] > 0.85


def test_a_liar_with_many_votes_does_not_vouch_for_himself(clusters, rng):
    """With 40 % of all votes for the next class, all of them left out together, the honest still
    prevail."""
    graph, truth = clusters
    honest = make_crowd(rng, truth, 50, ["honest"] * 6)
    liar = make_crowd(rng, truth, 200, ["next"])
    votes = VoteTable(
        np.append(honest.rows, liar.rows),
        np.append(honest.columns, liar.columns),
        np.ones(500),
        np.append(honest.annotators, liar.annotators),
    )
    report = fit_at(graph, votes).report
    assert report.annotator[report.flag == "does not follow"].tolist() == ["next0"]
    assert (report.consistency[report.annotator != "next0"] > 0.5).all()


def test_it_works_where_no_item_has_two_votes(rng):
    """Every item voted on once: the graph alone shows the spammers."""
    graph, truth = make_clusters(rng, size=100)
    votes = make_crowd(rng, truth, 60, ["honest"] * 8 + ["uniform"] * 2, error=0.05)
    rows = rng.permutation(len(truth))
    noise = rng.integers(0, N_CLASSES, len(rows))
    names = votes.annotators[rng.permutation(len(votes))]
    spam = np.array([name.startswith("uniform") for name in names])
    report = fit_at(
        graph, VoteTable(rows, np.where(spam, noise, truth[rows]), np.ones(len(rows)), names)
    ).report
    assert set(report.annotator[report.flag == "does not follow"]) == {"uniform8", "uniform9"}
