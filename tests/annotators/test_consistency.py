"""r of each annotator."""

import numpy as np
import pytest

from crowds import ALPHA, N_CLASSES, fit_at, make_clusters, make_crowd
from softspread import knn_graph
from softspread.annotators.consistency import (
    CONSISTENCY,
    ConsistencyModel,
    consistency_posterior,
    habits,
    log_likelihood,
    sharpened,
)
from softspread.annotators.fit import fit_annotators
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
    """Each candidate sums to 1 over the grid; spammers and the uniform part keep every r possible."""
    model = ConsistencyModel(spammer_shares=(0.03,))
    priors = model.priors()
    np.testing.assert_allclose(priors.shapes.sum(axis=1), 1.0)
    assert (priors.shapes >= 0.02 / 81 - 1e-15).all()
    blind = model.grid <= model.spammer_limit
    assert (priors.shapes[:, blind].sum(axis=1) >= 0.98 * 0.03 + 0.02 * blind.mean()).all()
    expected = 0.98 * (0.97 * priors.means + 0.03 * 0.05) + 0.02 / 2
    np.testing.assert_allclose(priors.shapes @ model.grid, expected, atol=0.05)  # on a grid
    assert np.exp(priors.opinions).sum() == pytest.approx(1)
    assert priors.means[priors.opinions.argmax()] == model.usual_mean


def test_sharpened_rows_still_sum_to_one(rng):
    """Powers and distance from the class shares make the likely class likelier; 1 and 1 change nothing."""
    p, shares = rng.dirichlet(np.ones(4), size=5), np.full(4, 0.25)
    np.testing.assert_allclose(sharpened(p, shares, 1.0, 1.0), p)
    np.testing.assert_allclose(sharpened(p, shares, 1.0, 2.0), p**2 / (p**2).sum(axis=1, keepdims=True))
    away = np.maximum(0.25 + 1.3 * (p - 0.25), 0)
    np.testing.assert_allclose(sharpened(p, shares, 1.3, 1.0), away / away.sum(axis=1, keepdims=True))


def test_no_evidence_leaves_the_prior(clusters, rng):
    """Where everybody else says what the annotator names anyway, r stays open: intervals are wide."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["uniform"] * 3)
    crowd = Crowd(Diffusion(graph, ALPHA), Ballots.of(votes, N_CLASSES))
    posterior = consistency_posterior(crowd, habits(crowd)[crowd.who])
    assert (posterior.quantile(0.95) - posterior.quantile(0.05) > 0.6).all()


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


# ---------------------------------------------------------------------------------------------- two classes
def two_classes(seed):
    """Two overlapping clouds; 12 people who look at 60 to 100 % of their items, and two who never do."""
    rng = np.random.default_rng(seed)
    truth = rng.random(500) < 0.35
    X = rng.normal(size=(500, 3)) + 2.5 * truth[:, None]
    p = 0.05 + 0.9 * truth
    honest = [(f"honest{i}", rng.uniform(0.6, 1.0), p.mean(), int(rng.integers(20, 150))) for i in range(12)]
    people = [*honest, ("uniform", 0.0, 0.5, 80), ("one", 0.0, float(rng.random() < p.mean()), 80)]
    rows = [rng.choice(500, size, replace=False) for *_, size in people]
    columns = [
        rng.random(len(at)) < r * p[at] + (1 - r) * habit
        for at, (_, r, habit, _) in zip(rows, people, strict=True)
    ]
    names = np.repeat(np.array([name for name, *_ in people], dtype=object), [len(at) for at in rows])
    rows, columns = np.concatenate(rows), np.concatenate(columns).astype(np.int64)
    votes = VoteTable(rows, columns, np.ones(len(rows)), names)
    return knn_graph(X, n_neighbors=10), votes, {name: r for name, r, *_ in people}


def test_two_class_spammers_are_flagged_honest_people_are_not_and_intervals_hold():
    """80 votes: at least 3 of 4 spammers flagged, the others to be checked; 86 % of the intervals hold r."""
    flags, covered = {"uniform": [], "one": []}, []
    for seed in range(20):
        graph, votes, true_r = two_classes(seed)
        report = fit_annotators(Diffusion(graph, 0.9), votes, 2, kappas=[0.1]).report
        for row in report.to_frame().to_dict("records"):
            name = row["annotator"]
            if name in flags:
                flags[name].append(row["flag"])
            else:
                assert row["flag"] != "does not follow", (seed, row)
                covered.append(row["lower"] <= true_r[name] <= row["upper"])
    for found in flags.values():
        assert found.count("does not follow") >= 15
        assert "ok" not in found
    assert np.mean(covered) >= 0.86
