"""Choosing parameters from the votes: held-out predictions are refits, and their shares speak for all items."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import InputError, MissingExtraError, SoftspreadWarning, Votes, affinity_graph, knn_graph, tuning
from softspread.live import SpreadState
from softspread.metrics import rmse
from softspread.spreading import Diffusion, soft_labels
from softspread.tuning import choose_parameters, hold_out, leave_one_out_masses, own_reach, score_trials, tune
from softspread.votes import VoteTable

ALPHA = 0.9


def table(rows, columns, weights=None, annotators=None):
    rows = np.asarray(rows, dtype=np.int64)
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    return VoteTable(rows, np.asarray(columns, dtype=np.int64), weights, annotators)


def spread(graph, votes, n_classes, alpha=ALPHA, scaling="peak"):
    state = SpreadState(Diffusion(graph, alpha, scaling=scaling), votes, n_classes)
    state.solve()
    return state


def mass_of(graph, votes, n_classes, alpha=ALPHA, scaling="peak"):
    return graph.to_user_order(spread(graph, votes, n_classes, alpha, scaling).mass())


def without(votes, vote, weight=None):
    weights = votes.weights.copy()
    weights[vote] -= weights[vote] if weight is None else weight
    return VoteTable(votes.rows, votes.columns, weights)


@pytest.fixture
def star():
    """A hub with five leaves: at alpha close to 1 the hub holds more of a leaf's profile than the leaf itself."""
    A = np.zeros((6, 6))
    A[0, 1:] = A[1:, 0] = 1.0
    return affinity_graph(A)


@pytest.fixture
def cloud(rng):
    return knn_graph(rng.normal(size=(60, 2)), n_neighbors=6)


@pytest.fixture
def some_votes(rng):
    """Several votes on some of 60 items, three classes, weights up to 1."""
    rows = rng.integers(25, size=40)
    return table(rows, rng.integers(3, size=40), rng.choice([1.0, 1.0, 0.4], size=40), np.arange(40).astype(object))


# ------------------------------------------------------------------------------------------------------ held-out masses
@pytest.mark.parametrize("scaling", ["peak", "source", "none"])
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_leaving_a_vote_out_equals_refitting_without_it(rng, some_votes, scaling, normalization):
    """Subtracting a vote's own entry gives the mass of a fit that never saw the vote."""
    graph = knn_graph(rng.normal(size=(60, 2)), n_neighbors=6, normalization=normalization)
    held = leave_one_out_masses(spread(graph, some_votes, 3, scaling=scaling))
    for vote, row in enumerate(some_votes.rows):
        refit = mass_of(graph, without(some_votes, vote), 3, scaling=scaling)
        assert_allclose(held[vote], refit[row], atol=1e-9)


def test_leaving_a_vote_out_is_exact_where_another_item_is_the_peak(star):
    """A leaf's vote weighs less than 1 at the leaf when the hub is the peak of its profile."""
    votes = table([1, 1, 2, 0], [0, 1, 1, 0])
    state = spread(star, votes, 2, alpha=0.98)
    assert own_reach(state.diffusion, state.diffusion.rank[np.array([1])])[0] < 0.9
    held = leave_one_out_masses(state)
    for vote, row in enumerate(votes.rows):
        assert_allclose(held[vote], mass_of(star, without(votes, vote), 2, alpha=0.98)[row], atol=1e-9)


@pytest.mark.parametrize("alpha", [0.3, 0.7, 0.95])
def test_no_other_entry_of_a_profile_exceeds_the_peak_bound(star, cloud, alpha):
    """The cheap bound that spares most items a closer look holds on every column of the dense inverse."""
    for graph in (star, cloud):
        diffusion = Diffusion(graph, alpha)
        rows = np.arange(graph.n_items)
        M = np.linalg.inv(np.eye(graph.n_items) - alpha * graph.inner_operator().toarray())
        relative = M / np.diag(M)
        np.fill_diagonal(relative, 0.0)
        assert (relative.max(axis=0) <= tuning._peak_bound(diffusion, rows) + 1e-12).all()


def test_a_vote_of_weight_three_is_three_votes_of_which_one_is_left_out(cloud):
    """Counts and single votes give the same held-out predictions."""
    counted, single = table([0, 4], [1, 0], [3.0, 1.0]), table([0, 0, 0, 4], [1, 1, 1, 0])
    held = leave_one_out_masses(spread(cloud, counted, 2))
    assert_allclose(held[0], leave_one_out_masses(spread(cloud, single, 2))[0], atol=1e-12)
    assert_allclose(held[0], mass_of(cloud, without(counted, 0, 1.0), 2)[0], atol=1e-9)


def test_the_parts_of_a_soft_vote_are_left_out_together(cloud):
    """A vote of 0.7 cat and 0.3 dog is one vote: judging dog must not see cat."""
    votes = table([0, 0, 5], [0, 1, 1], [0.7, 0.3, 1.0])
    held = leave_one_out_masses(spread(cloud, votes, 2))
    assert_allclose(held[0], held[1])
    assert_allclose(held[0], mass_of(cloud, table([5], [1]), 2)[0], atol=1e-9)


def test_fractions_of_one_annotator_are_one_vote_and_of_two_are_two():
    """Names tell which fractions belong together, whatever they sum to; given groups override names."""
    same = table([0, 0], [0, 1], [0.3, 0.2], np.array(["ann", "ann"], dtype=object))
    different = table([0, 0], [0, 1], [0.3, 0.2], np.array(["ann", "bob"], dtype=object))
    assert hold_out(same, 5, 2).n_votes == 1
    assert hold_out(different, 5, 2).n_votes == 2
    assert hold_out(different, 5, 2, groups=np.array([7, 7])).n_votes == 1


# --------------------------------------------------------------------------------------------------------------- shares
def test_counts_and_single_votes_are_held_out_alike(rng):
    """The same votes as a table of counts get the same total share on every item."""
    rows, columns = rng.integers(30, size=80), rng.integers(2, size=80)
    counts = table(rows, columns).counts(40, 2)
    as_counts = hold_out(table(*np.nonzero(counts), counts[np.nonzero(counts)]), 40, 2)
    single = hold_out(table(rows, columns), 40, 2)
    assert as_counts.n_votes == single.n_votes == 80
    totals = [np.bincount(held.position, held.shares, len(held.voted)) for held in (as_counts, single)]
    assert_allclose(*totals, atol=1e-12)


def test_votes_on_items_with_j_plus_one_votes_count_as_the_items_with_j(rng):
    """Every item has one vote and 20 have two: the 40 votes on those 20 speak for nearly all items."""
    votes = table(np.r_[np.arange(100), np.arange(20)], rng.integers(2, size=120))
    held = hold_out(votes, 100, 2)
    assert_allclose(held.shares.sum(), 1.0)
    assert_allclose(held.shares[held.position < 20].sum(), 1.0)
    assert held.blind_share == 0


def test_uniform_draws_need_hardly_any_reweighting(rng):
    """Drawn uniformly with replacement, every vote counts about the same."""
    held = hold_out(table(rng.integers(5000, size=5000), np.zeros(5000)), 5000, 2)
    for j in range(3):
        mine = np.bincount(held.position)[held.position] == j + 1
        assert_allclose(held.shares[mine].sum(), mine.mean(), rtol=0.1)


def test_whole_items_are_left_out_where_most_items_have_no_vote(rng):
    """Five votes on each of 20 items: the 80 items without votes are judged by leaving all five out."""
    votes = table(np.repeat(np.arange(20), 5), rng.integers(3, size=100))
    held = hold_out(votes, 100, 3)
    left = held.own[held.position] - held.removed.toarray()
    assert_allclose(held.shares[left.sum(axis=1) < 1e-12].sum(), 0.8)
    assert_allclose(held.shares.sum(), 1.0)


def test_some_votes_are_kept_where_items_with_one_vote_have_no_better_judge(rng):
    """Items with one vote are judged by items with five, four of them left out."""
    votes = table(np.r_[np.arange(80), np.repeat(np.arange(80, 100), 5)], rng.integers(2, size=180))
    held = hold_out(votes, 100, 2)
    kept = (held.own[held.position] - held.removed.toarray()).sum(axis=1)
    assert_allclose(held.shares[np.isclose(kept, 1)].sum(), 0.8)


def test_votes_taken_back_are_no_votes():
    """A retraction cancels its vote before anything is held out."""
    held = hold_out(table([0, 1, 0], [0, 1, 0], [1.0, 1.0, -1.0]), 4, 2)
    assert held.n_votes == 1
    assert held.voted.tolist() == [1]


# --------------------------------------------------------------------------------------------------------------- scores
@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("kappa", [0.0, 1e-4, 2.0])
def test_the_score_is_that_of_refits(rng, cloud, score, kappa):
    """Fast scores equal the obvious loop: take away, spread again, add the prior, compare with what was taken away."""
    votes = table(rng.integers(15, size=25), rng.integers(3, size=25))
    prior = rng.dirichlet(np.ones(3), size=60)
    held = hold_out(votes, 60, 3)
    state = spread(cloud, votes, 3)
    rows = state.diffusion.rank[held.voted]
    fast = score_trials(
        held, state.mass(rows), own_reach(state.diffusion, rows), prior[held.voted], [kappa], score, 1e-9
    )[0]
    counts = votes.counts(60, 3)
    for trial, position in enumerate(held.position):
        row = held.voted[position]
        left = counts.copy()
        left[row] -= held.removed[[trial]].toarray()[0]
        refit = table(*np.nonzero(left), left[np.nonzero(left)])
        p = soft_labels(mass_of(cloud, refit, 3), prior, kappa)[row]
        judged = held.judged[[trial]].toarray()[0]
        each = ((p - np.eye(3)) ** 2).sum(axis=1) if score == "brier" else -np.log(np.maximum(p, tuning.LOG_FLOOR))
        assert_allclose(fast[trial], judged @ each / judged.sum(), atol=1e-7)


def test_scores_of_far_reaching_votes_from_sampled_scales_are_close_to_exact_ones(rng, monkeypatch):
    """Close to alpha = 1 scales come from a sample; the score moves by less than a tenth of its standard error."""
    X = rng.normal(size=(1100, 2))
    graph = knn_graph(X, n_neighbors=10)
    rows = rng.integers(1100, size=800)
    votes = table(rows, (rng.random(800) < 1 / (1 + np.exp(-3 * X[rows, 0]))).astype(int))
    exact = choose_parameters(graph, votes, 2, alphas=[0.98], how=tuning.Spreading(solver="dense")).tuning.best
    monkeypatch.setattr(tuning, "SCALES_WORK", 10_000)
    rough = choose_parameters(graph, votes, 2, alphas=[0.98], how=tuning.Spreading(solver="cg")).tuning.best
    assert abs(rough.score - exact.score) < 0.1 * exact.standard_error


# ------------------------------------------------------------------------------------------------------------- choosing
def private_opinions(seed, n=400):
    """Items whose own class only loosely follows their place: an item's own vote is worth the most."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    yes = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0])), 0.95, 0.05)
    return rng, knn_graph(X, n_neighbors=10), np.stack([1 - yes, yes], axis=1)


def cast(rng, truth, rows):
    return table(rows, rng.random(len(rows)) < truth[rows, 1])


def error_at(graph, votes, truth, alpha):
    return rmse(truth, soft_labels(mass_of(graph, votes, 2, alpha), np.full(truth.shape, 0.5), 1e-4))


def test_repeats_show_what_an_items_own_vote_is_worth():
    """One vote on every item: 40 second votes lead to an alpha near the best, without them it is far too large."""
    rng, graph, truth = private_opinions(0)
    votes = cast(rng, truth, np.r_[np.arange(400), np.arange(40)])
    best = min(error_at(graph, votes, truth, alpha) for alpha in tuning.ALPHAS)
    repeated = choose_parameters(graph, votes, 2)
    assert error_at(graph, votes, truth, repeated.alpha) < 1.15 * best
    with pytest.warns(SoftspreadWarning, match="second vote"):
        single = choose_parameters(graph, table(votes.rows[:400], votes.columns[:400]), 2)
    assert single.tuning.blind_share == 1.0
    assert error_at(graph, votes, truth, single.alpha) > 1.4 * best


def test_many_votes_on_few_items_do_not_stop_the_spreading():
    """Votes on a tenth of the items, five each: the other nine tenths decide, and want their neighbours' votes."""
    rng, graph, truth = private_opinions(1)
    votes = cast(rng, truth, np.repeat(rng.choice(400, 40, replace=False), 5))
    chosen = choose_parameters(graph, votes, 2)
    best = min(error_at(graph, votes, truth, alpha) for alpha in tuning.ALPHAS)
    assert error_at(graph, votes, truth, chosen.alpha) < 1.05 * best


def test_a_good_prior_is_trusted_and_a_shuffled_one_is_not():
    """The strength is large where the prior predicts the votes and next to nothing where it does not."""
    rng, graph, truth = private_opinions(2)
    votes = cast(rng, truth, rng.integers(400, size=300))
    strengths = tuning.PRIOR_STRENGTHS
    good = choose_parameters(graph, votes, 2, prior=truth, strengths=strengths)
    useless = choose_parameters(graph, votes, 2, prior=1 - truth, strengths=strengths)
    assert good.prior_strength >= 3
    assert useless.prior_strength <= 0.1


def test_the_order_of_votes_and_of_items_does_not_matter(rng):
    """Shuffled votes on renumbered items give the same scores."""
    X = rng.normal(size=(80, 2))
    rows, columns = rng.integers(80, size=60), rng.integers(2, size=60)
    first = tune(X, Votes.from_pairs(rows, columns), n_neighbors=8)
    order, shuffled = rng.permutation(80), rng.permutation(60)
    rank = np.argsort(order)
    second = tune(X[order], Votes.from_pairs(rank[rows][shuffled], columns[shuffled]), n_neighbors=8)
    assert first.alpha == second.alpha
    assert_allclose(first.to_frame()["score"], second.to_frame()["score"], atol=1e-9)


def test_graphs_of_several_sizes_come_from_one_search(rng):
    """Cutting the lists of the largest search gives the graphs that separate searches give."""
    X = rng.normal(size=(70, 3))
    graphs = tuning._Graphs(X, (5, 12), tuning.Spreading())
    for number in (5, 12):
        assert_allclose(graphs.build(number).S.toarray(), knn_graph(X, number).S.toarray(), atol=1e-14)


def test_every_setting_is_in_the_table_and_the_lowest_is_chosen(rng):
    """The chosen row has the lowest score, the curve has one row per alpha and number of neighbours."""
    X = rng.normal(size=(90, 2))
    labels = np.where(rng.random(90) < 0.5, (X[:, 0] > 0).astype(int), -1)
    with pytest.warns(SoftspreadWarning, match="second vote"):
        result = tune(X, labels, n_neighbors="auto", prior_strengths=[1e-4, 0.1, 1.0])
    frame = result.to_frame()
    assert frame.loc[frame["chosen"], "score"].item() == frame["score"].min() == result.best.score
    assert set(frame["n_neighbors"]) == set(tuning.NEIGHBORS)
    assert not result.curve().duplicated(["alpha", "n_neighbors"]).any()
    assert "no ground truth" in result.summary()
    assert np.isfinite(frame[["score", "standard_error"]].to_numpy()).all()


def test_the_curve_is_drawn_into_given_axes(rng):
    """One line per number of neighbours, with the tried alphas on it."""
    lines = []

    class Axes:
        def errorbar(self, x, y, yerr, **style):
            lines.append((list(x), style["label"]))

        def set_xlabel(self, text):
            assert text == "alpha"

        def set_ylabel(self, text):
            assert text == "brier"

    X = rng.normal(size=(50, 2))
    votes = Votes.from_pairs(rng.integers(50, size=60), rng.integers(2, size=60))
    tune(X, votes, n_neighbors=[4, 8], alphas=[0.5, 0.9]).plot(Axes())
    assert sorted(label for _, label in lines) == ["4 neighbours", "8 neighbours"]
    assert all(x == sorted(x) for x, _ in lines)


# ------------------------------------------------------------------------------------------------------------ bad input
def test_fewer_than_two_votes_cannot_be_tuned():
    """There is nothing to predict a single vote from."""
    for votes in (Votes.from_pairs([], []), Votes.from_pairs([0], [1])):
        with pytest.raises(InputError, match="at least 2 votes"):
            tune(np.eye(4), votes, n_neighbors=2)


def test_an_estimator_keeps_the_defaults_where_votes_are_too_few(rng):
    """With fewer than ten votes nothing is chosen, and the result says why."""
    choice = choose_parameters(rng.normal(size=(30, 2)), table([0, 1], [0, 1]), 2)
    assert (choice.alpha, choice.prior_strength, choice.graph.n_neighbors) == (0.9, 1e-4, 20)
    assert "too few" in choice.tuning.how


@pytest.mark.parametrize(
    ("rows", "columns"), [([0, 0], [0, 1]), ([0, 29], [0, 0]), ([3] * 12, [0] * 12), (range(12), [1] * 12)]
)
def test_scores_are_numbers_for_any_few_votes(rng, rows, columns):
    """One item, one class, two far items: never NaN."""
    result = tune(rng.normal(size=(200, 2)), Votes.from_pairs(list(rows), columns, classes=[0, 1]), n_neighbors=5)
    assert np.isfinite(result.to_frame()[["score", "standard_error"]].to_numpy()).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"score": "auc"}, "score"),
        ({"alphas": []}, "alphas"),
        ({"alphas": [1.0]}, "alpha"),
        ({"n_neighbors": "many"}, "n_neighbors"),
        ({"prior": np.ones((3, 2))}, "prior"),
        ({"prior_strengths": [-1.0]}, "prior_strengths"),
        ({"method": "gkr"}, "truth"),
        ({"method": "svm"}, "method"),
    ],
)
def test_unusable_arguments_are_refused_by_name(rng, arguments, words):
    """The message names the argument."""
    votes = Votes.from_pairs(np.arange(20), np.arange(20) % 2)
    with pytest.raises(InputError, match=words):
        tune(rng.normal(size=(30, 2)), votes, **arguments)


def test_groups_must_fit_the_votes():
    """One group number per vote."""
    with pytest.raises(InputError, match="groups"):
        hold_out(table([0, 1], [0, 1]), 4, 2, groups=np.array([0]))


# ------------------------------------------------------------------------------------------------------ against a truth
@pytest.mark.parametrize("method", ["pls", "gkr", "knn"])
def test_tuning_against_a_truth_says_so_and_beats_a_random_setting(rng, method):
    """The best of the trials has the lowest RMSE; the result admits that it saw the truth."""
    pytest.importorskip("optuna", reason="the extra `tune` is not installed")
    X = rng.normal(size=(120, 2))
    yes = 1 / (1 + np.exp(-3 * X[:, 0]))
    truth = np.stack([1 - yes, yes], axis=1)
    rows = rng.integers(120, size=100)
    votes = Votes.from_pairs(rows, (rng.random(100) < yes[rows]).astype(int))
    result = tune(X, votes, truth=truth, method=method, n_trials=12, random_state=0)
    frame = result.to_frame()
    assert result.used_truth
    assert "WAS used" in result.summary()
    assert result.score == "rmse"
    assert result.best.score == frame["score"].min() < frame["score"].median()
    assert len(result.curve()) <= 12
    again = tune(X, votes, truth=truth, method=method, n_trials=12, random_state=0)
    assert_allclose(again.to_frame()["score"], frame["score"], atol=1e-9)


def test_a_missing_optuna_is_named_with_its_extra(rng, monkeypatch):
    """Tuning against a truth without Optuna says what to install."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    votes = Votes.from_pairs(np.arange(20), np.arange(20) % 2)
    with pytest.raises(MissingExtraError, match=r"softspread\[tune\]"):
        tune(rng.normal(size=(30, 2)), votes, truth=np.full((30, 2), 0.5))


# ----------------------------------------------------------------------------------------------------------- real votes
@pytest.fixture(scope="module")
def cifar10h():
    folder = Path(__file__).parents[1] / "../shared/data/cifar10h"
    if not folder.exists():
        pytest.skip("the shared data folder is absent")
    counts = np.load(folder / "counts.npy")
    prior = np.load(folder / "classifier_probs.npy").astype(float)
    graph = knn_graph(np.load(folder / "features_efflite2_umap20.npy"), n_neighbors=20)
    return graph, counts / counts.sum(axis=1, keepdims=True), prior / prior.sum(axis=1, keepdims=True)


def drawn_as_in_the_paper(truth, n_votes, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(truth), size=n_votes)
    return table(rows, (rng.random(n_votes)[:, None] > truth[rows].cumsum(axis=1)[:, :-1]).sum(axis=1))


def real_error(graph, votes, truth, choice, prior):
    diffusion = Diffusion(graph, choice.alpha, tol=1e-5)
    state = SpreadState(diffusion, votes, 10)
    state.solve()
    return rmse(truth, soft_labels(graph.to_user_order(state.mass()), prior, choice.prior_strength))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("n_votes", "rivals"), [(100, (0.75, 0.9, 0.95, 0.99)), (1_000, (0.5, 0.75, 0.9, 0.95)), (10_000, (0.1, 0.25, 0.5))]
)
def test_alpha_is_within_two_percent_of_the_best_in_hindsight(cifar10h, n_votes, rivals):
    """On human votes the alpha chosen without truth is nearly as good as the one that the truth would choose."""
    graph, truth, _ = cifar10h
    uniform = np.full(truth.shape, 0.1)
    votes = drawn_as_in_the_paper(truth, n_votes, seed=1)
    chosen = choose_parameters(graph, votes, 10)
    fixed = [tuning.Choice(graph, alpha, 1e-4, chosen.tuning) for alpha in rivals]
    best = min(real_error(graph, votes, truth, choice, uniform) for choice in fixed)
    assert real_error(graph, votes, truth, chosen, uniform) <= 1.02 * best


@pytest.mark.shared
@pytest.mark.parametrize(("n_votes", "target"), [(100, 0.093), (1_000, 0.089), (10_000, 0.074)])
def test_a_classifier_as_prior_reaches_its_targets(cifar10h, n_votes, target):
    """Votes and a classifier together are better than either; the strength is chosen by the votes."""
    graph, truth, prior = cifar10h
    votes = drawn_as_in_the_paper(truth, n_votes, seed=1)
    chosen = choose_parameters(graph, votes, 10, prior=prior, strengths=tuning.PRIOR_STRENGTHS)
    assert real_error(graph, votes, truth, chosen, prior) <= target


@pytest.mark.shared
def test_a_shuffled_prior_does_not_hurt(cifar10h):
    """A prior whose rows belong to other items is as good as none, within two percent."""
    graph, truth, prior = cifar10h
    shuffled = prior[np.random.default_rng(9).permutation(len(prior))]
    votes = drawn_as_in_the_paper(truth, 1_000, seed=1)
    alone = choose_parameters(graph, votes, 10)
    misled = choose_parameters(graph, votes, 10, prior=shuffled, strengths=tuning.PRIOR_STRENGTHS)
    without_prior = real_error(graph, votes, truth, alone, np.full(truth.shape, 0.1))
    assert real_error(graph, votes, truth, misled, shuffled) <= 1.02 * without_prior
