"""Choosing parameters from the votes: held-out predictions are refits, and their shares speak for all
items."""

import sys
import warnings
from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from softspread import InputError, MissingExtraError, SoftspreadWarning, Votes, affinity_graph, knn_graph
from softspread.diffusion import diagonal
from softspread.diffusion.diagonal import own_reach
from softspread.diffusion.diffusion import Diffusion, Spread
from softspread.heldout import masses
from softspread.heldout.masses import leave_one_out_masses
from softspread.heldout.scores import (
    LEAST_ERROR,
    LOG_FLOOR,
    SHARE_BELIEF,
    SHARES,
    BrierScore,
    Scored,
    find_noise,
    log_scores,
)
from softspread.heldout.split import hold_out, own_votes
from softspread.metrics import rmse
from softspread.queries.choose import choose_items
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from softspread.tuning import search as search_module
from softspread.tuning.candidates import Graphs
from softspread.tuning.search import choose_parameters
from softspread.tuning.tune import tune
from softspread.votes.table import VoteTable

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
    return spread(graph, votes, n_classes, alpha, scaling).mass()


def without(votes, vote, weight=None):
    weights = votes.weights.copy()
    weights[vote] -= weights[vote] if weight is None else weight
    return VoteTable(votes.rows, votes.columns, weights)


@pytest.fixture
def star():
    """A hub with five leaves: at alpha close to 1 the hub holds more of a leaf's profile than the leaf
    itself."""
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
    return table(
        rows, rng.integers(3, size=40), rng.choice([1.0, 1.0, 0.4], size=40), np.arange(40).astype(object)
    )


# -------------------------------------------------------------------------------------------- held-out masses
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
    assert own_reach(state.diffusion, np.array([1]))[0] < 0.9
    held = leave_one_out_masses(state)
    for vote, row in enumerate(votes.rows):
        assert_allclose(held[vote], mass_of(star, without(votes, vote), 2, alpha=0.98)[row], atol=1e-9)


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


# ----------------------------------------------------------------------------------------------------- shares
def test_counts_and_single_votes_are_held_out_alike(rng):
    """The same votes as a table of counts get the same total share on every item."""
    rows, columns = rng.integers(30, size=80), rng.integers(2, size=80)
    counts = table(rows, columns).counts(40, 2)
    as_counts = hold_out(table(*np.nonzero(counts), counts[np.nonzero(counts)]), 40, 2)
    single = hold_out(table(rows, columns), 40, 2)
    assert as_counts.n_votes == single.n_votes == 80
    totals = [np.bincount(held.position, held.shares, len(held.voted)) for held in (as_counts, single)]
    assert_allclose(*totals, atol=1e-12)


def test_own_votes_are_summed_up_alike_as_counts_and_as_single_votes(rng):
    """Weight 3 is three votes: same weights, same concentration, 1 / votes."""
    rows, columns = rng.integers(30, size=80), rng.integers(2, size=80)
    counts = table(rows, columns).counts(40, 2)
    single, counted = (
        own_votes(table(rows, columns), 2),
        own_votes(table(*np.nonzero(counts), counts[counts > 0]), 2),
    )
    for name in ("voted", "weight", "squares", "concentration"):
        assert_allclose(getattr(single, name), getattr(counted, name))
    assert_allclose(single.concentration, 1 / counts[single.voted].sum(axis=1))
    assert single.n_votes == counted.n_votes == 80
    assert single.n_repeats == 80 - len(single.voted)


def test_a_soft_vote_is_one_vote_that_is_shorter_than_a_whole_one():
    """Half cat, half dog: one vote, |y|^2 = 1/2, no repeat; two annotators of unequal weight are fewer than
    two."""
    soft = own_votes(table([0, 0], [0, 1], [0.5, 0.5]), 2)
    assert (soft.n_votes, soft.squares[0], soft.concentration[0]) == (1, 0.5, 1.0)
    unequal = own_votes(table([0, 0], [0, 1], [1.0, 0.25], np.array(["ann", "bob"], dtype=object)), 2)
    assert_allclose(unequal.concentration, (1 + 0.25**2) / 1.25**2)
    assert_allclose(unequal.squares, 1.0)


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


# ----------------------------------------------------------------------------------------------------- scores
def held_at(state, own):
    """What voted items hold, as the search hands it to a score."""
    rows = own.voted
    spread = Spread(state.diffusion, state.running.Y)
    return masses.Mass(state.mass(rows), own_reach(state.diffusion, rows), 1e-9, spread, np.ones(len(rows)))


@pytest.mark.parametrize("kappa", [0.0, 1e-4, 2.0])
def test_the_log_score_is_that_of_refits(rng, cloud, kappa):
    """Fast scores equal the obvious loop: take away, spread again, add the prior, compare with what was taken
    away."""
    votes = table(rng.integers(15, size=25), rng.integers(3, size=25))
    prior = rng.dirichlet(np.ones(3), size=60)
    held = hold_out(votes, 60, 3)
    fast = log_scores(held, held_at(spread(cloud, votes, 3), held), prior[held.voted], [kappa])[0]
    counts = votes.counts(60, 3)
    for trial, position in enumerate(held.position):
        row = held.voted[position]
        left = counts.copy()
        left[row] -= held.removed[[trial]].toarray()[0]
        refit = table(*np.nonzero(left), left[np.nonzero(left)])
        p = soft_labels(mass_of(cloud, refit, 3), prior, kappa)[row]
        judged = held.judged[[trial]].toarray()[0]
        assert_allclose(fast[trial], judged @ -np.log(np.maximum(p, LOG_FLOOR)) / judged.sum(), atol=1e-7)


@pytest.mark.parametrize("kappa", [0.0, 1e-4, 2.0])
def test_the_brier_score_is_that_of_refits_without_the_items_votes(rng, cloud, kappa):
    """Loss, weight of own votes and noise, put together item by item from refits."""
    votes = table(rng.integers(15, size=25), rng.integers(3, size=25))
    prior = rng.dirichlet(np.ones(3), size=60)
    own, counts = own_votes(votes, 3), votes.counts(60, 3)
    judge = BrierScore(own, 60, prior[own.voted], [kappa], np.zeros(1))
    judge.add("only", held_at(spread(cloud, votes, 3), own))
    loss, own_weight = np.empty(len(own.voted)), np.empty(len(own.voted))
    for place, row in enumerate(own.voted):
        left = counts.copy()
        left[row] = 0
        mass = mass_of(cloud, table(*np.nonzero(left), left[np.nonzero(left)]), 3)
        q = soft_labels(mass, prior, kappa)[row]
        cast_here = np.repeat(np.eye(3), counts[row].astype(int), axis=0)
        loss[place] = ((q - cast_here) ** 2).sum(axis=1).mean()
        own_weight[place] = counts[row].sum() / (counts[row].sum() + mass[row].sum() + kappa)
    noise, n_own, share, errors = (
        find_noise(own, loss),
        counts[own.voted].sum(axis=1),
        len(own.voted) / 60,
        [],
    )
    for part in SHARES:
        v = noise.settled + part * noise.open
        with_own = (1 - own_weight) ** 2 * (loss - v) + own_weight**2 * v / n_own
        errors.append(np.mean((1 - share) * (loss - v) + share * with_own))
    positive = np.maximum(errors, LEAST_ERROR * np.mean(loss))
    expected = np.prod(positive**noise.chances) + np.mean(noise.expected)
    scored = judge.scored("only")
    assert_allclose(scored.means[0], expected, atol=1e-7)
    assert_allclose(scored.parts.sum(), expected, atol=1e-7)


def test_the_brier_score_of_further_votes_is_right_on_average(rng, cloud):
    """Over many draws the score, which sees no further votes, is their Brier score; half the items have no
    vote."""
    p = rng.dirichlet(np.ones(2), size=60)
    p = p[np.argsort(p[:, 0])]
    estimated, real = [], []
    rows = np.repeat(rng.permutation(60)[:30], 3)
    diffusion = Diffusion(cloud, ALPHA)
    for _ in range(300):
        votes = table(rows, rng.random(len(rows)) < p[rows, 1])
        own = own_votes(votes, 2)
        state = SpreadState(diffusion, votes, 2)
        state.solve()
        judge = BrierScore(own, 30, np.full((30, 2), 0.5), [1e-4], np.zeros(1))  # of the voted items alone
        judge.add("only", held_at(state, own))
        estimated.append(judge.scored("only").means[0])
        soft = soft_labels(state.mass(), np.full((60, 2), 0.5), 1e-4)[own.voted]
        real.append(np.mean(((soft - p[own.voted]) ** 2).sum(axis=1) + 1 - (p[own.voted] ** 2).sum(axis=1)))
    standard_error = np.std(estimated) / np.sqrt(300)
    assert abs(np.mean(estimated) - np.mean(real)) < 3 * standard_error + 0.02 * np.mean(real)


def test_the_noise_of_many_votes_is_how_often_two_of_them_differ():
    """With many votes an item's own estimate rules; without repeats the noise is a share of the loss, never
    more."""
    many = own_votes(table([0, 0], [0, 1], [600.0, 400.0]), 2)
    assert_allclose(find_noise(many, np.array([0.5])).expected, 0.48, atol=1e-3)
    single = find_noise(own_votes(table([0, 1], [0, 1]), 2), np.array([0.5, 0.1]))
    mean = SHARE_BELIEF / (SHARE_BELIEF + 1)  # of a share with density s^(belief - 1) on [0, 1]
    assert_allclose(single.expected, mean * np.array([0.5, 0.1]), rtol=0.02)
    differing = own_votes(table([0, 0, 1], [0, 1, 1]), 2)
    assert find_noise(differing, np.array([0.1, 0.1])).expected[1] <= 0.1


@pytest.mark.parametrize("agreeing", [0, 10, 40])
def test_more_repeats_leave_fewer_shares_possible(agreeing):
    """40 repeats on items of loss 1/2: all differ, ten or all agree; the likely share is what they say."""
    rows = np.repeat(np.arange(40), 2)
    votes = table(rows, np.arange(80) % 2 * (rows >= agreeing))
    noise = find_noise(own_votes(votes, 2), np.full(40, 0.5))
    assert_allclose(noise.chances.sum(), 1.0)
    assert noise.chances @ SHARES == pytest.approx(
        np.clip((40 - agreeing) / 20, SHARES[0], SHARES[-1]), abs=0.1
    )
    few = find_noise(own_votes(table(rows[-8:], votes.columns[-8:]), 2), np.full(4, 0.5))
    assert noise.chances.max() > few.chances.max()


def test_scores_are_finite_where_a_class_has_no_probability(cloud):
    """A vote for a class that nobody near voted for and that the prior rules out costs a finite log score."""
    votes = table([0, 1, 2, 3] * 3, [0, 0, 0, 1] * 3)
    certain = np.tile([1.0, 0.0, 0.0], (60, 1))
    for score in ("brier", "log"):
        for strengths in ([0.0], [0.0, 1.0]):
            found = choose_parameters(cloud, votes, 3, prior=certain, strengths=strengths, score=score).tuning
            assert np.isfinite(found.to_frame()[["score", "standard_error", "penalty"]].to_numpy()).all()


def test_scores_of_far_reaching_votes_from_sampled_scales_are_close_to_exact_ones(rng):
    """Close to alpha = 1 scales come from a sample; the score moves by less than a tenth of its standard
    error."""
    X = rng.normal(size=(1100, 2))
    graph = knn_graph(X, n_neighbors=10)
    rows = rng.integers(1100, size=800)
    votes = table(rows, (rng.random(800) < 1 / (1 + np.exp(-3 * X[rows, 0]))).astype(int))
    exact = choose_parameters(
        graph, votes, 2, alphas=[0.98], how=search_module.Spreading(solver="dense")
    ).tuning.best
    assert len(np.unique(rows)) > diagonal.RULE.size(0.98)  # so that most are read off
    rough = choose_parameters(
        graph, votes, 2, alphas=[0.98], how=search_module.Spreading(solver="cg")
    ).tuning.best
    assert abs(rough.score - exact.score) < 0.1 * exact.standard_error


# --------------------------------------------------------------------------------------------------- choosing
def private_opinions(seed, n=300):
    """Items whose own class only loosely follows their place: an item's own vote is worth the most."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    yes = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0])), 0.95, 0.05)
    return rng, knn_graph(X, n_neighbors=10), np.stack([1 - yes, yes], axis=1)


def cast(rng, truth, rows):
    return table(rows, rng.random(len(rows)) < truth[rows, 1])


def ratio_to_best(graph, votes, truth, chosen):
    """RMSE at the chosen alpha over that at the best of the grid."""
    S, counts, errors = graph.S.toarray(), votes.counts(*truth.shape), {}
    for alpha in search_module.ALPHAS:
        M = np.linalg.inv(np.eye(len(truth)) - alpha * S)
        errors[alpha] = rmse(truth, soft_labels(M / M.max(axis=0) @ counts, np.full(truth.shape, 0.5), 1e-4))
    return errors[chosen.alpha] / min(errors.values())


def test_repeats_show_what_an_items_own_vote_is_worth():
    """One vote on every item: 40 second votes lead to an alpha near the best; without them we warn, and
    guess."""
    rng, graph, truth = private_opinions(0)
    votes = cast(rng, truth, np.r_[np.arange(300), np.arange(40)])
    assert ratio_to_best(graph, votes, truth, choose_parameters(graph, votes, 2)) < 1.2
    once = table(votes.rows[:300], votes.columns[:300])
    with pytest.warns(SoftspreadWarning, match="second votes"):
        single = choose_parameters(graph, once, 2)
    assert single.tuning.n_repeats == 0
    assert ratio_to_best(graph, once, truth, single) < 1.6


def test_few_repeats_that_all_agree_do_not_stop_the_spreading():
    """Votes that are nearly certain: 40 second votes without a difference do not prove that votes are free of
    noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    yes = np.where(X[:, 0] > 0, 0.97, 0.03)
    graph, truth = knn_graph(X, n_neighbors=10), np.stack([1 - yes, yes], axis=1)
    votes = cast(rng, truth, np.r_[np.arange(300), np.arange(40)])
    agreeing = table(votes.rows, np.r_[votes.columns[:300], votes.columns[:40]])
    assert ratio_to_best(graph, agreeing, truth, choose_parameters(graph, agreeing, 2)) < 1.4


@pytest.mark.parametrize("strategy", ["with replacement", "balanced", "least_evidence", "uncertainty"])
@pytest.mark.parametrize("n_votes", [150, 500])
def test_the_choice_is_right_however_the_votes_were_placed(strategy, n_votes):
    """Uniform, without repeats, least evidence, the default mixture: near the best alpha for votes placed
    so."""
    rng, graph, truth = private_opinions(4)
    diffusion, votes = Diffusion(graph, ALPHA), table([], [])
    while len(votes) < n_votes:
        counts = votes.counts(300, 2)
        if strategy == "with replacement":
            rows = rng.integers(300, size=50)
        else:
            state = SpreadState(diffusion, votes, 2)
            state.solve()
            rows = choose_items(diffusion, state.mass(), counts.sum(axis=1), 50, strategy, rng)
        new = cast(rng, truth, rows)
        votes = table(np.r_[votes.rows, new.rows], np.r_[votes.columns, new.columns])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        chosen = choose_parameters(graph, votes, 2)
    assert ratio_to_best(graph, votes, truth, chosen) < 1.2


def test_many_votes_on_few_items_do_not_stop_the_spreading():
    """Votes on a tenth of the items, five each: the other nine tenths decide, and want their neighbours'
    votes."""
    rng, graph, truth = private_opinions(1)
    votes = cast(rng, truth, np.repeat(rng.choice(300, 30, replace=False), 5))
    assert ratio_to_best(graph, votes, truth, choose_parameters(graph, votes, 2)) < 1.05


def test_a_good_prior_is_trusted_and_a_shuffled_one_is_not():
    """The strength is large where the prior predicts the votes and next to nothing where it does not."""
    rng, graph, truth = private_opinions(2)
    votes = cast(rng, truth, rng.integers(300, size=300))
    strengths = search_module.PRIOR_STRENGTHS
    good = choose_parameters(graph, votes, 2, prior=truth, strengths=strengths)
    useless = choose_parameters(graph, votes, 2, prior=1 - truth, strengths=strengths)
    assert good.prior_strength >= 3
    assert useless.prior_strength <= 0.1


def test_the_order_of_votes_and_of_items_does_not_matter(rng):
    """Shuffled votes on renumbered items give the same scores."""
    X = rng.normal(size=(80, 2))
    rows, columns = rng.integers(80, size=120), rng.integers(2, size=120)
    first = tune(X, Votes.from_pairs(rows, columns), n_neighbors=8)
    order, shuffled = rng.permutation(80), rng.permutation(120)
    rank = np.argsort(order)
    second = tune(X[order], Votes.from_pairs(rank[rows][shuffled], columns[shuffled]), n_neighbors=8)
    assert first.alpha == second.alpha
    assert_allclose(first.to_frame()["score"], second.to_frame()["score"], atol=1e-9)


def test_graphs_of_several_sizes_come_from_one_search(rng):
    """Cutting the lists of the largest search gives the graphs that separate searches give."""
    X = rng.normal(size=(70, 3))
    graphs = Graphs(X, (5, 12), search_module.Spreading())
    for number in (5, 12):
        assert_allclose(graphs.build(number).S.toarray(), knn_graph(X, number).S.toarray(), atol=1e-14)


def test_every_setting_is_in_the_table_and_one_is_chosen(rng):
    """The chosen row is the best of its alpha, the curve has one row per alpha and number of neighbours."""
    X = rng.normal(size=(90, 2))
    labels = np.where(rng.random(90) < 0.5, (X[:, 0] > 0).astype(int), -1)
    with pytest.warns(SoftspreadWarning, match="second vote"):
        result = tune(X, labels, n_neighbors="auto", prior_strengths=[1e-4, 0.1, 1.0])
    frame = result.to_frame()
    chosen = frame[frame["chosen"]]
    rivals = frame[(frame["alpha"] == result.alpha) & (frame["n_neighbors"] == result.n_neighbors)]
    assert chosen["score"].item() == rivals["score"].min() == result.best.score
    lowest = frame.loc[frame["score"].idxmin()]
    assert lowest["n_neighbors"] == result.n_neighbors
    if lowest["alpha"] != result.alpha:
        assert (
            f"level with the lowest ({lowest['score']:.4f} at alpha {lowest['alpha']:g})" in result.summary()
        )
    assert set(frame["n_neighbors"]) == set(search_module.NEIGHBORS)
    assert not result.curve().duplicated(["alpha", "n_neighbors"]).any()
    assert "no ground truth" in result.summary()
    assert np.isfinite(frame[["score", "standard_error"]].to_numpy()).all()


class _Scores:
    """A judge that was told what each item adds to the score at each alpha."""

    def __init__(self, parts):
        self.weights = np.full(4, 0.25)
        self._parts = {alpha: np.asarray(row, dtype=float) for alpha, row in parts.items()}

    def scored(self, key):
        parts = self._parts[key[1]]
        return Scored(np.array([parts.sum()]), np.zeros(1), 0, parts)


@pytest.mark.parametrize(
    ("parts", "chosen"),
    [
        ({0.25: [1, 1, 1, 1], 0.5: [2, 2, 2, 2], 0.9: [3, 3, 3, 3]}, 0.25),  # every item says so
        (
            {0.25: [1, 1, 1, 1], 0.5: [2, 2, 2, 2], 0.9: [0, 0, 1, 9]},
            0.9,
        ),  # one item says so, two others do not
        (
            {0.25: [1, 1, 1, 1], 0.5: [0.5, 0.5, 1, 3], 0.9: [2, 2, 2, 3]},
            0.5,
        ),  # .9 is clearly worse, .5 is level
        ({0.5: [1, 1, 1, 1], 0.99: [1, 1, 1, 1]}, 0.5),  # the nearer in log(1 - alpha)
    ],
)
def test_alphas_within_one_standard_error_give_way_to_the_default(parts, chosen):
    """An alpha far from the default is chosen only if the items agree that it is better."""
    search = search_module._Search(_Scores(parts), None, np.zeros(1), None, None)
    search._tried = {(0, alpha): 20 for alpha in parts}
    assert search.chosen_key() == (0, chosen)
    assert search.points([1e-4])[1].alpha == chosen


def test_the_curve_is_drawn_into_given_axes(rng):
    """One line per number of neighbours, with the tried alphas on it."""
    X = rng.normal(size=(50, 2))
    votes = Votes.from_pairs(rng.integers(50, size=120), rng.integers(2, size=120))
    axes = Figure().subplots()
    tune(X, votes, n_neighbors=[4, 8], alphas=[0.5, 0.9]).plot(axes)
    assert axes.get_legend_handles_labels()[1] == ["4 neighbours", "8 neighbours"]
    assert axes.get_xlabel() == "alpha"
    for container in axes.containers:
        assert container.lines[0].get_xdata().tolist() == [0.5, 0.9]


# -------------------------------------------------------------------------------------------------- bad input
def test_too_few_votes_are_refused_with_the_number_that_is_needed():
    """Nine votes are too few, also as counts; ten are enough."""
    for votes in (
        Votes.from_pairs([], []),
        Votes.from_pairs([0] * 9, [1] * 9),
        np.array([[9, 0]] + [[0, 0]] * 3),
    ):
        with pytest.raises(InputError, match=r"at least 10 votes, got [09];"):
            tune(np.eye(4), votes, n_neighbors=2)
    with pytest.raises(InputError, match="at least 1 vote"):
        tune(np.eye(4), Votes.from_pairs([], [], classes=[0, 1]), truth=np.full((4, 2), 0.5))
    with pytest.warns(SoftspreadWarning, match="second votes"):
        assert tune(np.eye(4), np.array([[9, 1]] + [[0, 0]] * 3), n_neighbors=2).alpha is not None


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
    graph = knn_graph(rng.normal(size=(200, 2)), n_neighbors=5)
    result = choose_parameters(graph, table(list(rows), columns), 2, fewest_votes=2).tuning
    assert np.isfinite(result.to_frame()[["score", "standard_error"]].to_numpy()).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"score": "auc"}, "score"),
        ({"alphas": []}, "alphas"),
        ({"alphas": [1.0]}, "alpha must be at least 0 and below 1"),
        ({"alphas": [-0.1]}, "alpha must be at least 0 and below 1"),
        ({"alphas": "auto"}, "alphas"),
        ({"n_neighbors": "many"}, "n_neighbors"),
        ({"prior": np.ones((3, 2))}, r"prior must have shape \(30, 2\)"),
        ({"prior": np.full((30, 3), 1 / 3)}, "pass classes"),
        ({"prior": np.full((30, 2), [2.0, -1.0])}, "not negative"),
        ({"truth": np.ones((30, 3))}, r"truth must have shape \(30, 2\)"),
        ({"truth": np.full((30, 2), 0.5), "n_trials": 0}, "n_trials"),
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


# -------------------------------------------------------------------------------------------- against a truth
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
    axes = Figure().subplots()
    result.plot(axes)
    assert axes.lines[0].get_ydata().min() == result.best.score
    again = tune(X, votes, truth=truth, method=method, n_trials=12, random_state=0)
    assert_allclose(again.to_frame()["score"], frame["score"], atol=1e-9)


def test_a_missing_optuna_is_named_with_its_extra(rng, monkeypatch):
    """Tuning against a truth without Optuna says what to install."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    votes = Votes.from_pairs(np.arange(20), np.arange(20) % 2)
    with pytest.raises(MissingExtraError, match=r"softspread\[tune\]"):
        tune(rng.normal(size=(30, 2)), votes, truth=np.full((30, 2), 0.5))


# ------------------------------------------------------------------------------------------------- real votes
@cache
def human_votes(folder):
    counts = np.load(folder / "counts.npy")
    prior = np.load(folder / "classifier_probs.npy").astype(float)
    graph = knn_graph(np.load(folder / "features_efflite2_umap20.npy"), n_neighbors=20)
    return graph, counts / counts.sum(axis=1, keepdims=True), prior / prior.sum(axis=1, keepdims=True)


@pytest.fixture
def cifar10h(shared_data):
    """Graph, human soft labels, a classifier's predictions."""
    return human_votes(shared_data / "cifar10h")


def drawn_as_in_the_paper(truth, n_votes, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(truth), size=n_votes)
    return table(rows, (rng.random(n_votes)[:, None] > truth[rows].cumsum(axis=1)[:, :-1]).sum(axis=1))


def real_error(graph, votes, truth, choice, prior):
    diffusion = Diffusion(graph, choice.alpha, tol=1e-5)
    state = SpreadState(diffusion, votes, 10)
    state.solve()
    return rmse(truth, soft_labels(state.mass(), prior, choice.prior_strength))


@pytest.mark.shared
@pytest.mark.parametrize(("n_votes", "rivals"), [(1_000, (0.5, 0.75, 0.9, 0.95)), (10_000, (0.1, 0.25, 0.5))])
def test_alpha_is_within_two_percent_of_the_best_in_hindsight(cifar10h, n_votes, rivals):
    """On human votes the alpha chosen without truth is nearly as good as the one that the truth would
    choose."""
    graph, truth, _ = cifar10h
    uniform = np.full(truth.shape, 0.1)
    votes = drawn_as_in_the_paper(truth, n_votes, seed=1)
    chosen = choose_parameters(graph, votes, 10)
    fixed = [search_module.Choice(graph, alpha, 1e-4, chosen.tuning) for alpha in rivals]
    best = min(real_error(graph, votes, truth, choice, uniform) for choice in fixed)
    assert real_error(graph, votes, truth, chosen, uniform) <= 1.02 * best


@pytest.mark.shared
@pytest.mark.parametrize(("n_votes", "target"), [(1_000, 0.089), (10_000, 0.074)])
def test_a_classifier_as_prior_reaches_its_targets(cifar10h, n_votes, target):
    """Votes and a classifier together are better than either; the strength is chosen by the votes."""
    graph, truth, prior = cifar10h
    votes = drawn_as_in_the_paper(truth, n_votes, seed=1)
    chosen = choose_parameters(graph, votes, 10, prior=prior, strengths=search_module.PRIOR_STRENGTHS)
    assert real_error(graph, votes, truth, chosen, prior) <= target


@pytest.mark.shared
def test_a_shuffled_prior_does_not_hurt(cifar10h):
    """A prior whose rows belong to other items is as good as none, within two percent."""
    graph, truth, prior = cifar10h
    shuffled = prior[np.random.default_rng(9).permutation(len(prior))]
    votes = drawn_as_in_the_paper(truth, 1_000, seed=1)
    alone = choose_parameters(graph, votes, 10)
    misled = choose_parameters(graph, votes, 10, prior=shuffled, strengths=search_module.PRIOR_STRENGTHS)
    without_prior = real_error(graph, votes, truth, alone, np.full(truth.shape, 0.1))
    assert real_error(graph, votes, truth, misled, shuffled) <= 1.02 * without_prior


def test_alphas_that_would_take_minutes_are_not_tried(monkeypatch):
    """The work of a sample decides, the same on every machine, and the result says so."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 1500)
    graph = knn_graph(rng.normal(size=(3000, 2)) + 8 * truth[:, None], n_neighbors=10)
    rows = rng.integers(0, 3000, 300)
    votes = VoteTable(rows, truth[rows], np.ones(300))
    free = choose_parameters(graph, votes, 2, alphas=[0.9, 0.99])
    assert {point.alpha for point in free.tuning.points} == {0.9, 0.99}
    assert "not tried" not in free.tuning.how
    monkeypatch.setattr(search_module, "LARGEST_WORK", 1.0)
    bound = choose_parameters(graph, votes, 2, alphas=[0.9, 0.99])
    assert bound.alpha == 0.9
    assert "alpha 0.99 and above were not tried" in bound.tuning.how
