"""Annotators: consistency with the crowd, weights, confusion votes."""

import numpy as np
import pytest

from softspread import knn_graph
from softspread.annotators import crowd as crowd_module
from softspread.annotators.cells import net_votes
from softspread.annotators.choosing import choose_alpha_kappa, held_out_scores
from softspread.annotators.consistency import CONSISTENCIES, _log_likelihood
from softspread.annotators.crowd import Crowd
from softspread.annotators.fit import fit_annotators, why_neutral
from softspread.annotators.report import LEAST_PART
from softspread.diffusion.diffusion import Diffusion
from softspread.spreading.evidence import soft_labels
from softspread.votes.table import VoteTable

N_CLASSES = 6
ALPHA, KAPPA = 0.8, 0.1


def make_clusters(rng, size=40):
    """One cluster of items per class, and the class of each item."""
    truth = np.repeat(np.arange(N_CLASSES), size)
    centres = 5 * rng.normal(size=(N_CLASSES, 5))
    return knn_graph(centres[truth] + rng.normal(size=(len(truth), 5)), n_neighbors=8), truth


def make_crowd(rng, truth, n_votes, kinds, error=0.15):
    """Random items: "honest" errs at times, "uniform" names anything, "one" always class 1, "next" the class
    after."""
    rows = np.concatenate([rng.integers(0, len(truth), n_votes) for _ in kinds])
    names = np.repeat(np.array([f"{kind}{i}" for i, kind in enumerate(kinds)], dtype=object), n_votes)
    columns = truth[rows].copy()
    anything = rng.integers(0, N_CLASSES, len(rows))
    columns = np.where(rng.random(len(rows)) < error, anything, columns)
    kind = np.repeat(np.array(kinds), n_votes)
    columns = np.where(kind == "uniform", anything, columns)
    columns = np.where(kind == "one", 1, columns)
    columns = np.where(kind == "next", (truth[rows] + 1) % N_CLASSES, columns)
    return VoteTable(rows, columns, np.ones(len(rows)), names)


def fit_at(graph, votes, **options):
    """At one alpha and kappa, so that nothing is chosen."""
    made = Diffusion(graph, options.pop("alpha", ALPHA), solver=options.pop("solver", "auto"))
    return fit_annotators(lambda alpha: made, votes, N_CLASSES, alphas=[ALPHA], kappas=[KAPPA], **options)


def dense_profiles(graph, alpha, scaling):
    """Column q: what a vote on q brings to every item, in the user's numbering."""
    M = np.linalg.inv(np.eye(graph.n_items) - alpha * graph.S.toarray())
    return M / M.max(axis=0) if scaling == "peak" else M


@pytest.fixture
def clusters(rng):
    """A graph and the class of each item."""
    return make_clusters(rng)


# --------------------------------------------------------------------------------------- own and others' mass
@pytest.mark.parametrize("way", ["solved", "pushed", "dense factor"])
@pytest.mark.parametrize("alpha", [0.5, 0.95])
def test_mass_of_own_votes_equals_the_dense_formula(clusters, rng, monkeypatch, way, alpha):
    """Own mass is the sum over the annotator's own votes of dense profiles, whichever way it is found."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 30, ["honest", "honest", "uniform", "one"])
    votes.annotators[:20] = None
    cells = net_votes(votes, N_CLASSES)
    monkeypatch.setattr(crowd_module, "OWN_FLOOR", 1e-8)
    monkeypatch.setattr(crowd_module, "OWN_TOL", 1e-8)
    bound = 1e9 if way == "pushed" else 0.0
    monkeypatch.setattr(Crowd, "_break_even", lambda self: np.full(len(self.parts), bound))
    crowd = Crowd(Diffusion(graph, alpha, tol=1e-8, solver="dense" if way == "dense factor" else "cg"), cells)
    amounts = rng.random((len(cells.rows), N_CLASSES))
    phi = dense_profiles(graph, alpha, "peak")[np.ix_(cells.rows, cells.rows)]
    same = (cells.who[:, None] == cells.who) & (cells.who >= 0)
    np.testing.assert_allclose(crowd.own(amounts), (phi * same) @ amounts, atol=2e-5)
    np.testing.assert_allclose(crowd.spread(amounts), phi @ amounts, atol=2e-5)


def test_mass_of_own_votes_holds_in_the_random_walk_form(rng):
    """Votes enter and leave through the degrees there; own mass must follow."""
    graph = knn_graph(rng.normal(size=(90, 3)), n_neighbors=5, normalization="random_walk")
    votes = VoteTable(
        rng.integers(0, 90, 60), rng.integers(0, 3, 60), np.ones(60), rng.integers(0, 4, 60).astype(object)
    )
    cells = net_votes(votes, 3)
    amounts = rng.random((len(cells.rows), 3))
    phi = dense_profiles(graph, 0.9, "peak")[np.ix_(cells.rows, cells.rows)]
    same = cells.who[:, None] == cells.who
    np.testing.assert_allclose(
        Crowd(Diffusion(graph, 0.9), cells).own(amounts), (phi * same) @ amounts, atol=1e-6
    )


def test_default_accuracy_of_own_mass_is_far_below_one_vote(rng):
    """With the accuracies in use, pushes and solves both stay close to the dense formula on a graph of 1500
    items."""
    graph = knn_graph(rng.normal(size=(1500, 3)), n_neighbors=10)
    who = np.repeat(np.arange(31), [600, *[10] * 30]).astype(
        object
    )  # one annotator with many votes, many with few
    votes = VoteTable(rng.integers(0, 1500, 900), rng.integers(0, 3, 900), np.ones(900), who)
    cells = net_votes(votes, 3)
    crowd = Crowd(Diffusion(graph, 0.5, solver="cg"), cells)
    own = crowd.own(cells.choices())
    phi = dense_profiles(graph, 0.5, "peak")[np.ix_(cells.rows, cells.rows)]
    exact = (phi * (cells.who[:, None] == cells.who)) @ cells.choices()
    assert 0 < len(crowd._local_blocks()) < 31
    np.testing.assert_allclose(own, exact, atol=0.02)
    assert np.abs(own - exact).mean() < 1e-3


def test_likelihood_equals_the_product_over_votes(clusters, rng):
    """The vectorised log likelihood is the plain sum of logs of r p + (1 - r) u."""
    graph, truth = clusters
    cells = net_votes(make_crowd(rng, truth, 20, ["honest", "one", "uniform"]), N_CLASSES)
    crowd = Crowd(Diffusion(graph, ALPHA), cells)
    p, u = rng.random(len(cells.rows)), rng.random(len(cells.rows))
    found = _log_likelihood(crowd, p, u)
    for who in range(3):
        for number in (0, 17, 80):
            r = CONSISTENCIES[number]
            mine = np.flatnonzero(cells.who == who)
            expected = sum(crowd.trust[v] * np.log(r * p[v] + (1 - r) * u[v]) for v in mine)
            np.testing.assert_allclose(found[who, number], expected, rtol=1e-12)


# ------------------------------------------------------------------------------------------------------- laws
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
        traced.reweighted(both).counts(*shape), plain.reweighted(votes).counts(*shape), atol=1e-6
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


def test_saying_it_often_proves_no_more_than_saying_it_once(rng):
    """All votes of one annotator on one item together are at most one observation, shared among the classes
    named."""
    votes = VoteTable(
        np.array([0, 0, 0, 1, 1, 2, 0]),
        np.array([2, 2, 2, 0, 1, 1, 2]),
        np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.25, 1.0]),
        np.array(["a", "a", "a", "a", "a", "a", "b"], dtype=object),
    )
    cells = net_votes(votes, N_CLASSES)
    assert cells.votes_of_each().tolist() == [5.25, 1.0]
    assert cells.trust().tolist() == [1.0, 0.5, 0.5, 0.25, 1.0]


def test_soft_votes_are_distributions_and_keep_the_total_weight(clusters, rng):
    """A confusion vote moves weight between classes, it neither adds nor loses any."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 40, ["honest", "uniform", "honest", "one"])
    fit = fit_at(graph, votes, confusion=True)
    np.testing.assert_allclose(fit.soft_votes.sum(axis=1), 1.0)
    assert (fit.soft_votes >= 0).all()
    total = fit.reweighted(votes).weights.sum()
    np.testing.assert_allclose(total, fit.weights.sum(), rtol=N_CLASSES * LEAST_PART)
    np.testing.assert_allclose(fit.confusion.sum(axis=2), 1.0)


# ------------------------------------------------------------------------------------------------- who is who
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
    """Somebody who always votes as the item's class is, among people who err, comes out on top, near 1."""
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
    """With 40 % of all votes for the next class, all of them left out together, the honest still carry the
    day."""
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
    """Every item voted on once: the graph alone tells the spammers."""
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

    assert error(fit_at(graph, votes).reweighted(votes)) < 0.5 * error(votes)


# -------------------------------------------------------------------------------------------- neutral answers
@pytest.mark.parametrize("n_annotators", [1, 2])
def test_one_or_two_annotators_cannot_be_told_apart(clusters, rng, n_annotators):
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


def test_votes_for_a_single_class_tell_nobody_apart(clusters, rng):
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
    assert (
        fit_at(graph, votes).reason
        == "99 votes by named annotators; about 100 are needed to tell them apart."
    )
    assert fit_at(graph, votes, min_votes=99).applied


def test_nobodys_votes_count_one_each_and_take_no_part(clusters, rng):
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
    assert (fit.reweighted(votes).weights == 1).all()
    assert len(fit.report.to_frame()) == 0


def test_no_votes_at_all_is_neutral(clusters):
    """An empty table gives an empty answer."""
    none = VoteTable(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0, object))
    fit = fit_annotators(lambda alpha: Diffusion(clusters[0], alpha), none, N_CLASSES, alphas=[0.5, 0.9])
    assert len(fit.weights) == 0
    assert why_neutral(none).startswith("0 named")


def test_later_votes_get_the_factor_of_their_annotator(clusters, rng):
    """As fitted for known names, the crowd's prior for new ones, 1 for nobody."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest", "uniform", "honest"])
    fit = fit_at(graph, votes)
    later = fit.weights_for(np.array(["uniform1", None, "newcomer", "honest0"], dtype=object), 4)
    assert later.tolist() == [fit.weights[60], 1.0, fit.newcomer_weight, fit.weights[0]]
    assert fit.weights_for(None, 2).tolist() == [1.0, 1.0]
    assert 0 < fit.newcomer_weight < 1


# ----------------------------------------------------------------------------------------- alpha and strength
@pytest.mark.parametrize("scaling", ["peak", "none"])
def test_held_out_scores_equal_fitting_without_each_vote(rng, scaling):
    """Subtracting a vote's own entry is the same as never having had the vote."""
    graph = knn_graph(rng.normal(size=(60, 2)), n_neighbors=6)
    m, alpha, kappas = 40, 0.5, (0.05, 0.5)
    votes = VoteTable(rng.integers(0, 60, m), rng.integers(0, 3, m), rng.choice([0.5, 1.0], m))
    factors = rng.random(m)
    Phi = dense_profiles(graph, alpha, scaling)
    found = held_out_scores(Diffusion(graph, alpha, scaling=scaling, tol=1e-8), votes, factors, 3, kappas)
    for kappa, score in zip(kappas, found, strict=True):
        losses = np.zeros(m)
        for v in range(m):
            kept = np.arange(m) != v
            rest = VoteTable(votes.rows[kept], votes.columns[kept], (votes.weights * factors)[kept])
            p = soft_labels(Phi @ rest.counts(60, 3), np.full((1, 3), 1 / 3), kappa)[votes.rows[v]]
            losses[v] = ((p - np.eye(3)[votes.columns[v]]) ** 2).sum()
        np.testing.assert_allclose(score, np.average(losses, weights=votes.weights * factors), rtol=1e-5)


def test_the_choice_has_the_best_held_out_score(clusters, rng):
    """No other pair of the grid scores better."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest"] * 3)
    alphas, kappas, ones = (0.1, 0.5, 0.9), (0.01, 0.3), np.ones(180)
    alpha, kappa = choose_alpha_kappa(lambda a: Diffusion(graph, a), votes, ones, N_CLASSES, alphas, kappas)
    table = {a: held_out_scores(Diffusion(graph, a), votes, ones, N_CLASSES, kappas) for a in alphas}
    assert table[alpha][kappas.index(kappa)] == min(scores.min() for scores in table.values())


def test_the_callers_own_choice_is_asked_with_and_without_weights(clusters, rng):
    """A given way to choose alpha and kappa sees equal factors first, then the fitted ones, and its answer
    stands."""
    graph, truth = clusters
    votes = make_crowd(rng, truth, 60, ["honest", "honest", "uniform"])
    seen = []

    def choose(table, factors):
        seen.append(factors)
        return (0.5, 0.2) if len(seen) == 1 else (0.9, 0.3)

    fit = fit_annotators(
        lambda alpha: Diffusion(graph, alpha),
        votes,
        N_CLASSES,
        alphas=[0.5, 0.9],
        kappas=[0.2, 0.3],
        choose=choose,
    )
    assert (fit.alpha, fit.kappa, len(seen)) == (0.9, 0.3, 2)
    assert (seen[0] == 1).all()
    assert seen[1].min() < 0.1


# ------------------------------------------------------------------------------------------------- real votes
@pytest.mark.shared
def test_labelme_reaches_the_published_table(shared_data):
    """Confusion votes reach .160 error and .245 Brier, weights do no harm, a planted spammer is flagged."""
    table = np.load(shared_data / "labelme" / "annotations.npy")
    gold = np.load(shared_data / "labelme" / "labels.npy").astype(np.int64)
    graph = knn_graph(np.load(shared_data / "labelme" / "features_vgg16_umap20.npy"))
    rows, who = np.nonzero(table >= 0)
    votes = VoteTable(rows, table[rows, who].astype(np.int64), np.ones(len(rows)), who.astype(object))
    made = {alpha: Diffusion(graph, alpha) for alpha in (0.25, 0.5, 0.75, 0.9)}
    fits = {
        "plain": fit_annotators(
            made.__getitem__, VoteTable(rows, votes.columns, votes.weights), 8, alphas=[*made]
        ),
        "consistency": fit_annotators(made.__getitem__, votes, 8, alphas=[*made]),
        "confusion": fit_annotators(made.__getitem__, votes, 8, alphas=[*made], confusion=True),
    }
    error, brier = {}, {}
    for name, fit in fits.items():
        mass = dense_profiles(graph, fit.alpha, "peak") @ fit.reweighted(votes).counts(1000, 8)
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
        report = fit_annotators(made.__getitem__, with_spam, 8, alphas=[0.5], kappas=[0.01]).report
        assert report.flag[59] == "does not follow"
