"""Annotators rated and weighted, from a table of votes to a report."""

from dataclasses import replace

import numpy as np
import pytest

from crowds import ALPHA, N_CLASSES, counted, fit_at, make_clusters, make_crowd
from softspread import knn_graph
from softspread.annotators.fit import KAPPAS, MODEL, effective_unit, fit_annotators, why_neutral
from softspread.diffusion.diffusion import Diffusion
from softspread.spreading.evidence import soft_labels
from softspread.tuning.candidates import SearchSpace
from softspread.tuning.search import choose_parameters
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable
from voting import dense_profiles


@pytest.fixture
def clusters(rng):
    """A graph and the class of each item."""
    return make_clusters(rng)


def test_new_names_for_annotators_only_reorder_the_report(clusters, rng):
    """Who is called what does not matter."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 40, ["honest", "uniform", "honest", "one"])
    before = fit_at(graph, votes, confusion=True)
    new_name = {name: f"{9 - i}" for i, name in enumerate(before.report.annotator)}
    renamed = np.array([new_name[name] for name in votes.annotators], dtype=object)
    after = fit_at(graph, VoteTable(votes.rows, votes.columns, votes.weights, renamed), confusion=True)
    assert after.report.annotator.tolist() == ["6", "7", "8", "9"]
    for column in ("votes", "agreement", "consistency", "lower", "upper", "p_not_following"):
        np.testing.assert_allclose(
            getattr(after.report, column)[::-1], getattr(before.report, column), atol=1e-7
        )
    np.testing.assert_allclose(after.weights, before.weights, atol=1e-7)
    np.testing.assert_allclose(after.soft_votes, before.soft_votes, atol=1e-7)


def test_order_of_votes_does_not_matter(clusters, rng):
    """Shuffled votes get the same factors."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 40, ["honest", "uniform", "honest"])
    order = rng.permutation(len(votes))
    shuffled = VoteTable(
        votes.rows[order], votes.columns[order], votes.weights[order], votes.annotators[order]
    )
    np.testing.assert_allclose(
        fit_at(graph, shuffled).weights, fit_at(graph, votes).weights[order], atol=1e-7
    )


def test_votes_taken_back_leave_no_trace(clusters, rng):
    """Votes and their retractions together change neither factors nor the mass of any item."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 40, ["honest", "uniform", "honest", "honest"])
    extra_rows, extra_columns = rng.integers(0, len(truth), 30), rng.integers(0, N_CLASSES, 30)
    names = rng.choice(np.array(["honest0", "uniform1", "gone", None], dtype=object), 30)
    both = VoteTable(
        np.concatenate([votes.rows, extra_rows, extra_rows]),
        np.concatenate([votes.columns, extra_columns, extra_columns]),
        np.concatenate([votes.weights, np.full(30, 0.7), np.full(30, -0.7)]),
        np.concatenate([votes.annotators, names, names]),
    )
    plain, traced = (fit_at(graph, table, confusion=True) for table in (votes, both))
    assert traced.report.annotator.tolist() == plain.report.annotator.tolist()
    np.testing.assert_allclose(traced.weights[: len(votes)], plain.weights, atol=1e-7)
    shape = (len(truth), N_CLASSES)
    np.testing.assert_allclose(
        counted(traced, both).counts(*shape), counted(plain, votes).counts(*shape), atol=1e-6
    )


def test_a_vote_in_two_halves_counts_like_one(clusters, rng):
    """Soft votes add up: two votes of weight 0.5 are one vote."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 40, ["honest", "uniform", "honest"])
    halves = VoteTable(
        *(np.tile(a, 2) for a in (votes.rows, votes.columns, votes.weights / 2, votes.annotators))
    )
    np.testing.assert_allclose(
        fit_at(graph, halves).weights[: len(votes)], fit_at(graph, votes).weights, atol=1e-9
    )


@pytest.mark.parametrize("n_annotators", [1, 2])
def test_one_or_two_annotators_stay_unknown(clusters, rng, n_annotators):
    """All votes count 1, everybody is unknown, and the fit says why."""
    graph, truth = clusters
    fit = fit_at(graph, make_crowd(rng, truth, 200, ["honest", "uniform"][:n_annotators]), confusion=True)
    assert not fit.applied
    assert fit.reason.startswith(f"{n_annotators} named annotator")
    assert "at least 3 are needed" in fit.reason
    assert (fit.weights == 1).all()
    assert fit.soft_votes is None
    assert set(fit.report.flag) == {"unknown"}
    numbers = fit.report.to_frame().drop(columns=["annotator", "flag"])
    assert np.isfinite(numbers.drop(columns="agreement").to_numpy(dtype=float)).all()
    assert np.isfinite(numbers["agreement"]).all() == (n_annotators > 1)  # nobody to agree with: NaN


def test_votes_for_a_single_class_show_no_difference(clusters, rng):
    """Everybody names class 2: all votes count 1, with a reason."""
    graph, truth = clusters
    names = np.array(list("abcd"), dtype=object)[rng.integers(0, 4, 150)]
    fit = fit_at(graph, VoteTable(rng.integers(0, len(truth), 150), np.full(150, 2), np.ones(150), names))
    assert "same class" in fit.reason
    assert (fit.weights == 1).all()
    assert fit.report.agreement.tolist() == [1.0] * 4


def test_few_votes_are_counted_for_the_user(clusters, rng):
    """99 votes that stand are too few, and the message says how many there were and are needed."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 33, ["honest", "uniform", "honest"])
    found = fit_at(graph, votes).reason
    assert found == "99 votes by named annotators; about 100 are needed to compare them."
    assert fit_at(graph, votes, model=replace(MODEL, min_votes=99)).applied


def test_weights_add_up_to_the_effective_number_of_votes():
    """Annotators who are all alike count 1 each; spammers leave the others at 1."""
    votes = np.array([10.0, 30.0, 60.0])
    assert effective_unit(np.full(3, 0.64), votes) * 0.64 == pytest.approx(1)
    weights = np.array([0.64, 0.64, 1e-6])
    assert effective_unit(weights, votes) * 0.64 == pytest.approx(1, abs=1e-4)
    mixed = np.array([0.9, 0.5, 0.2])
    total = effective_unit(mixed, votes) * (votes @ mixed)
    assert total == pytest.approx((votes @ mixed) ** 2 / (votes @ mixed**2))


def test_votes_without_a_name_count_one_each_and_take_no_part(clusters, rng):
    """Votes without a name keep factor 1, appear in no report, and still inform about the others."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest", "honest", "honest", "uniform"])
    votes.annotators[votes.annotators == "honest1"] = None
    votes.annotators[:5] = np.nan
    fit = fit_at(graph, votes, confusion=True)
    nobody = np.array([not isinstance(name, str) for name in votes.annotators])
    assert (fit.weights[nobody] == 1).all()
    assert (fit.soft_votes[nobody] == np.eye(N_CLASSES)[votes.columns[nobody]]).all()
    assert fit.report.annotator.tolist() == ["honest0", "honest2", "uniform3"]
    assert fit.report.votes.tolist() == [55, 60, 60]
    assert np.isfinite(fit.weights).all()


@pytest.mark.parametrize("names", [None, np.full(150, None)])
def test_votes_without_any_name_are_left_as_they_are(clusters, rng, names):
    """No names, no model."""
    graph, truth = clusters
    rows = rng.integers(0, len(truth), 150)
    votes = VoteTable(rows, truth[rows], np.ones(150), names)
    fit = fit_at(graph, votes)
    assert fit.reason.startswith("0 named annotators")
    assert (counted(fit, votes).weights == 1).all()
    assert len(fit.report.to_frame()) == 0


def test_no_votes_at_all_is_neutral(clusters):
    """An empty table gives an empty answer."""
    none = VoteTable(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0, object))
    fit = fit_annotators(Diffusion(clusters[0], 0.5), none, N_CLASSES)
    assert len(fit.weights) == 0
    assert why_neutral(Ballots.of(none, N_CLASSES)).startswith("0 named")


def test_the_strength_has_the_best_held_out_score(clusters, rng):
    """A prior that knows the truth earns a large strength, none a small one."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest"] * 3)
    confident = np.eye(N_CLASSES)[truth] * 0.94 + 0.01
    fits = {
        name: fit_annotators(Diffusion(graph, ALPHA), votes, N_CLASSES, kappas=(0.01, 50.0), prior=prior)
        for name, prior in (("truth", confident), ("uniform", None))
    }
    assert {name: fit.kappa for name, fit in fits.items()} == {"truth": 50.0, "uniform": 0.01}


def test_the_callers_own_choice_is_asked_with_and_without_weights(clusters, rng):
    """A given way to choose sees equal votes first, then weighted ones, and its answer stands."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest", "honest", "uniform"])
    made, seen = {alpha: Diffusion(graph, alpha) for alpha in (0.5, 0.9)}, []

    def choose(ballots, weighted):
        seen.append((ballots.weight, weighted))
        return (made[0.9], 0.3) if weighted else (made[0.5], 0.2)

    fit = fit_annotators(made[0.5], votes, N_CLASSES, choose=choose)
    assert (fit.alpha, fit.kappa) == (0.9, 0.3)
    assert [weighted for _, weighted in seen] == [False, True]
    assert (seen[0][0] == 1).all()
    assert seen[1][0].min() < 0.1


def test_blind_votes_of_two_classes_are_mostly_flagged(clusters):
    """Eighty votes by the class shares, among eight honest people: flagged in two of three crowds or
    more, and of the honest ones nobody ever."""
    graph, truth = clusters
    second = np.where(truth < 2, 0.9, 0.1)  # probability of the second class: a third of the clusters
    names = np.repeat(np.array([f"{number}" for number in range(9)], dtype=object), 80)
    flagged = np.zeros(9, dtype=int)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = np.concatenate([rng.choice(len(truth), 80, replace=False) for _ in range(9)])
        r = np.repeat(np.append(rng.uniform(0.6, 1.0, 8), 0.0), 80)
        columns = (rng.random(len(rows)) < r * second[rows] + (1 - r) * second.mean()).astype(np.int64)
        votes = VoteTable(rows, columns, np.ones(len(rows)), names)
        report = fit_annotators(Diffusion(graph, ALPHA), votes, 2).report
        flagged += report.flag == "does not follow"
    assert flagged[:8].sum() == 0
    assert flagged[8] >= 8


# ------------------------------------------------------------------------------------------------- real votes
@pytest.mark.shared
def test_labelme_reaches_the_published_table(shared_data):
    """Confusion votes reach .160 error and .245 Brier, weights do no harm, a planted spammer is flagged."""
    table = np.load(shared_data / "labelme" / "annotations.npy")
    gold = np.load(shared_data / "labelme" / "labels.npy").astype(np.int64)
    graph = knn_graph(np.load(shared_data / "labelme" / "features_vgg16_umap20.npy"))
    rows, who = np.nonzero(table >= 0)
    votes = VoteTable(rows, table[rows, who].astype(np.int64), np.ones(len(rows)), who.astype(object))
    space = SearchSpace(alphas=(0.25, 0.5, 0.75, 0.9), strengths=KAPPAS)
    made = {alpha: Diffusion(graph, alpha) for alpha in space.alphas}

    def choose(ballots, _):
        found = choose_parameters(graph, ballots, space)
        return made[found.alpha], found.prior_strength

    fits = {
        "plain": fit_annotators(made[0.5], VoteTable(rows, votes.columns, votes.weights), 8, choose=choose),
        "consistency": fit_annotators(made[0.5], votes, 8, choose=choose),
        "confusion": fit_annotators(made[0.5], votes, 8, choose=choose, confusion=True),
    }
    error, brier = {}, {}
    for name, fit in fits.items():
        mass = dense_profiles(graph, fit.alpha) @ counted(fit, votes).counts(1000, 8)
        p = soft_labels(mass, np.full((1, 8), 1 / 8), fit.kappa)
        error[name] = (p.argmax(axis=1) != gold).mean()
        brier[name] = ((p - np.eye(8)[gold]) ** 2).sum(axis=1).mean()
    assert error["confusion"] <= 0.160
    assert brier["confusion"] <= 0.245
    assert brier["consistency"] <= brier["plain"]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        with_spam = VoteTable(
            np.append(rows, rng.choice(1000, 80, replace=False)),
            np.append(votes.columns, rng.integers(0, 8, 80)),
            np.ones(len(rows) + 80),
            np.append(votes.annotators, np.full(80, 59, dtype=object)),
        )
        report = fit_annotators(made[0.5], with_spam, 8, kappas=[0.01]).report
        assert report.flag[59] == "does not follow"
