"""Choosing parameters from the votes themselves."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import SoftspreadWarning, Votes, knn_graph
from softspread.diffusion import diagonal
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout import masses
from softspread.heldout.masses import ScaleMemory
from softspread.heldout.scores import Scored
from softspread.metrics import rmse
from softspread.queries.choose import choose_items
from softspread.spreading.evidence import soft_labels
from softspread.tuning.candidates import ALPHAS, PRIOR_STRENGTHS, SearchSpace, SpreadOptions
from softspread.tuning.result import Choice
from softspread.tuning.search import RULE, _Search, choose_parameters
from softspread.tuning.tune import tune
from softspread.votes.ballots import Ballots
from voting import ballots_of, drawn, mass_of, solved, table


def chosen_from(graph, votes, n_classes=2, space=None, **options):
    """What is chosen from a table of votes."""
    return choose_parameters(graph, Ballots.of(votes, n_classes), space, **options)


def private_opinions(seed, n=300):
    """Items whose own class only loosely follows their place: an item's own vote is worth the most."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    yes = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0])), 0.95, 0.05)
    return rng, knn_graph(X, n_neighbors=10), np.stack([1 - yes, yes], axis=1)


def cast(rng, truth, rows):
    """One vote on each row, yes or no."""
    return table(rows, rng.random(len(rows)) < truth[rows, 1])


def ratio_to_best(graph, votes, truth, chosen):
    """RMSE at the chosen alpha over that at the best of the grid."""
    S, counts, errors = graph.S.toarray(), votes.counts(*truth.shape), {}
    for alpha in ALPHAS:
        M = np.linalg.inv(np.eye(len(truth)) - alpha * S)
        errors[alpha] = rmse(truth, soft_labels(M / M.max(axis=0) @ counts, np.full(truth.shape, 0.5), 1e-4))
    return errors[chosen.alpha] / min(errors.values())


def test_repeats_show_what_an_items_own_vote_is_worth():
    """One vote on every item: 40 second votes lead to an alpha near the best; without them we warn, and
    guess."""
    rng, graph, truth = private_opinions(0)
    votes = cast(rng, truth, np.r_[np.arange(300), np.arange(40)])
    assert ratio_to_best(graph, votes, truth, chosen_from(graph, votes)) < 1.2
    once = table(votes.rows[:300], votes.columns[:300])
    with pytest.warns(SoftspreadWarning, match="No item has a second vote"):
        single = chosen_from(graph, once)
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
    assert ratio_to_best(graph, agreeing, truth, chosen_from(graph, agreeing)) < 1.4


@pytest.mark.parametrize("strategy", ["with replacement", "balanced", "least_evidence", "uncertainty"])
@pytest.mark.parametrize("n_votes", [150, 500])
def test_the_choice_is_right_however_the_votes_were_placed(strategy, n_votes):
    """Uniform, without repeats, least evidence, the default mixture: near the best alpha for votes placed
    so."""
    rng, graph, truth = private_opinions(4)
    diffusion, votes = Diffusion(graph, 0.9), table([], [])
    while len(votes) < n_votes:
        counts = votes.counts(300, 2)
        if strategy == "with replacement":
            rows = rng.integers(300, size=50)
        else:
            mass = solved(graph, votes, 2).mass()
            rows = choose_items(diffusion, mass, counts.sum(axis=1), 50, strategy, rng)
        new = cast(rng, truth, rows)
        votes = table(np.r_[votes.rows, new.rows], np.r_[votes.columns, new.columns])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        chosen = chosen_from(graph, votes)
    assert ratio_to_best(graph, votes, truth, chosen) < 1.2


def test_many_votes_on_few_items_do_not_stop_the_spreading():
    """Votes on a tenth of the items, five each: the other nine tenths decide, and want their neighbours'
    votes."""
    rng, graph, truth = private_opinions(1)
    votes = cast(rng, truth, np.repeat(rng.choice(300, 30, replace=False), 5))
    assert ratio_to_best(graph, votes, truth, chosen_from(graph, votes)) < 1.05


def test_a_good_prior_is_trusted_and_a_shuffled_one_is_not():
    """The strength is large where the prior predicts the votes and next to nothing where it does not."""
    rng, graph, truth = private_opinions(2)
    votes = cast(rng, truth, rng.integers(300, size=300))
    space = SearchSpace(strengths=PRIOR_STRENGTHS)
    good = chosen_from(graph, votes, 2, space, prior=truth)
    useless = chosen_from(graph, votes, 2, space, prior=1 - truth)
    assert good.prior_strength >= 3
    assert useless.prior_strength <= 0.1


def test_the_order_of_votes_and_of_items_does_not_matter(rng):
    """Shuffled votes on renumbered items give the same scores."""
    X = rng.normal(size=(80, 2))
    rows, columns = rng.integers(80, size=160), rng.integers(2, size=160)
    first = tune(X, Votes.from_pairs(rows, columns), n_neighbors=8)
    order, shuffled = rng.permutation(80), rng.permutation(160)
    rank = np.argsort(order)
    second = tune(X[order], Votes.from_pairs(rank[rows][shuffled], columns[shuffled]), n_neighbors=8)
    assert first.alpha == second.alpha
    assert_allclose(first.to_frame()["score"], second.to_frame()["score"], atol=1e-9)


def test_a_vote_counts_by_its_weight_and_judges_as_one(rng):
    """Votes that are three times as heavy lead to other soft labels; three times as many prove more."""
    X = rng.normal(size=(80, 2))
    graph, rows, columns = knn_graph(X, n_neighbors=8), rng.integers(80, size=160), rng.integers(2, size=160)
    light, heavy, many = (
        ballots_of(rows, columns),
        ballots_of(rows, columns, np.full(160, 3.0)),
        ballots_of(np.tile(rows, 3), np.tile(columns, 3)),
    )
    found = [choose_parameters(graph, ballots).tuning for ballots in (light, heavy, many)]
    assert [tuning.n_repeats for tuning in found] == [light.n_repeats, light.n_repeats, many.n_repeats]
    assert found[1].vote_noise == pytest.approx(found[0].vote_noise, rel=1e-3)  # with a prior of 1e-4 votes


@pytest.mark.parametrize("score", ["brier", "log"])
def test_scores_are_finite_where_a_class_has_no_probability(rng, score):
    """A vote for a class that nobody near voted for and that the prior rules out costs a finite score."""
    cloud = knn_graph(rng.normal(size=(60, 2)), n_neighbors=6)
    votes = table([0, 1, 2, 3] * 3, [0, 0, 0, 1] * 3)
    certain = np.tile([1.0, 0.0, 0.0], (60, 1))
    for strengths in ([0.0], [0.0, 1.0]):
        space = SearchSpace(strengths=strengths)
        found = chosen_from(cloud, votes, 3, space, prior=certain, score=score).tuning
        assert np.isfinite(found.to_frame()[["score", "standard_error", "penalty"]].to_numpy()).all()


def test_scores_of_far_reaching_votes_from_sampled_scales_are_close_to_exact_ones(rng):
    """Close to alpha = 1 scales come from a sample; the score moves by less than a tenth of its standard
    error."""
    X = rng.normal(size=(1100, 2))
    graph = knn_graph(X, n_neighbors=10)
    rows = rng.integers(1100, size=800)
    votes = table(rows, (rng.random(800) < 1 / (1 + np.exp(-3 * X[rows, 0]))).astype(int))
    space = SearchSpace(alphas=[0.98])
    exact = chosen_from(graph, votes, 2, space, options=SpreadOptions(solver="dense")).tuning.best
    assert len(np.unique(rows)) > diagonal.RULE.size(0.98)  # so that most are read off
    rough = chosen_from(graph, votes, 2, space, options=SpreadOptions(solver="cg")).tuning.best
    assert abs(rough.score - exact.score) < 0.1 * exact.standard_error


class _Scores:
    """A judge that was told what each item adds to the score at each alpha."""

    def __init__(self, parts):
        self.weights = np.full(4, 0.25)
        self._parts = {alpha: np.asarray(row, dtype=float) for alpha, row in parts.items()}

    def scored(self, key):
        parts = self._parts[key[1]]
        return Scored((np.array([parts.sum()]), np.zeros(1), np.zeros(1)), parts.sum(), parts)


@pytest.mark.parametrize(
    ("parts", "chosen"),
    [
        ({0.25: [1, 1, 1, 1], 0.5: [2, 2, 2, 2], 0.9: [3, 3, 3, 3]}, 0.25),  # every item says so
        ({0.25: [1, 1, 1, 1], 0.5: [2, 2, 2, 2], 0.9: [0, 0, 1, 9]}, 0.9),  # one item says so, two do not
        (
            {0.25: [1, 1, 1, 1], 0.5: [0.5, 0.5, 1, 3], 0.9: [2, 2, 2, 3]},
            0.5,
        ),  # .9 clearly worse, .5 level
        ({0.5: [1, 1, 1, 1], 0.99: [1, 1, 1, 1]}, 0.5),  # the nearer in log(1 - alpha)
    ],
)
def test_alphas_within_one_and_a_half_standard_errors_give_way_to_the_default(parts, chosen):
    """An alpha far from the default is chosen only if the items agree that it is better."""
    assert RULE.level == 1.5
    search = _Search(_Scores(parts), None, None, None, RULE)
    search._tried = {(0, alpha): 20 for alpha in parts}
    assert search.chosen_key(RULE.level) == (0, chosen)
    assert search.points([1e-4], (0, chosen))[1].alpha == chosen
    assert search.chosen_key(0.0) == search.best_key()


def test_an_estimator_keeps_the_defaults_where_votes_are_too_few(rng):
    """With fewer than ten votes nothing is chosen, and the result says why."""
    choice = chosen_from(rng.normal(size=(30, 2)), table([0, 1], [0, 1]))
    assert (choice.alpha, choice.prior_strength, choice.graph.n_neighbors) == (0.9, 1e-4, 20)
    assert "too few" in choice.tuning.how


@pytest.mark.parametrize(
    ("rows", "columns"), [([0, 0], [0, 1]), ([0, 29], [0, 0]), ([3] * 12, [0] * 12), (range(12), [1] * 12)]
)
def test_scores_are_numbers_for_any_few_votes(rng, rows, columns):
    """One item, one class, two far items: never NaN."""
    graph = knn_graph(rng.normal(size=(200, 2)), n_neighbors=5)
    votes = table(list(rows), columns)
    result = chosen_from(graph, votes, rule=replace(RULE, fewest_votes=2)).tuning
    assert np.isfinite(result.to_frame()[["score", "standard_error"]].to_numpy()).all()


def test_alphas_that_would_take_minutes_are_not_tried():
    """The work of a sample decides, the same on every machine, and the result says so."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 1500)
    graph = knn_graph(rng.normal(size=(3000, 2)) + 8 * truth[:, None], n_neighbors=10)
    rows = rng.integers(0, 3000, 300)
    votes, space = table(rows, truth[rows]), SearchSpace(alphas=[0.9, 0.99])
    free = chosen_from(graph, votes, 2, space)
    assert {point.alpha for point in free.tuning.points} == {0.9, 0.99}
    assert "not tried" not in free.tuning.how
    bound = chosen_from(graph, votes, 2, space, rule=replace(RULE, largest_work=1.0))
    assert bound.alpha == 0.9
    assert "alpha 0.99 and above were not tried" in bound.tuning.how


def test_how_often_two_votes_differ_is_said_only_where_an_item_has_two():
    """Without a second vote the noise of votes is an assumption, not a finding."""
    rng, graph, truth = private_opinions(1)
    rows = rng.permutation(len(truth))[:100]
    with pytest.warns(SoftspreadWarning, match="No item has a second vote"):
        single = chosen_from(graph, cast(rng, truth, rows)).tuning
    twice = chosen_from(graph, cast(rng, truth, np.concatenate([rows, rows[:50]]))).tuning
    assert "Two votes on one item differ" not in single.how
    assert "Two votes on one item differ" in twice.how


def test_a_second_search_over_the_same_items_finds_no_scale_again(rng, monkeypatch):
    """Scales belong to items and alpha, not to the weights of votes: a search that remembers answers the
    same."""
    X = rng.normal(size=(1100, 3))
    graph, rows = knn_graph(X, n_neighbors=8), rng.integers(1100, size=400)
    columns = X[rows, 0] + rng.normal(0, 0.5, 400) > 0
    names = np.arange(400)  # so that no two fractions are one vote
    ballots = ballots_of(rows, columns, annotators=names)
    heavier = ballots_of(rows, columns, rng.uniform(0.5, 1.0, 400), names)
    space = SearchSpace(alphas=[0.75, 0.9, 0.99])
    alone = choose_parameters(graph, heavier, space)
    memory = ScaleMemory()
    choose_parameters(graph, ballots, space, memory=memory)

    def fail(*_, **__):
        raise AssertionError("a scale was found twice")

    monkeypatch.setattr(masses, "find_scales", fail)
    again = choose_parameters(graph, heavier, space, memory=memory)
    assert [point.alpha for point in again.tuning.points] == [point.alpha for point in alone.tuning.points]
    scores = [[point.score for point in found.tuning.points] for found in (again, alone)]
    assert_allclose(*scores, atol=1e-9)


def test_a_memory_of_scales_forgets_other_graphs_and_items(rng):
    """What was found for one graph or one set of items is never used for another."""
    X = rng.normal(size=(1100, 3))
    memory, space = ScaleMemory(), SearchSpace(alphas=[0.5, 0.9])
    votes = ballots_of(np.arange(40), X[:40, 0] > 0)
    others = ballots_of(np.arange(50, 90), X[50:90, 0] > 0)
    for k, ballots in ((8, votes), (4, votes), (4, others)):
        graph = knn_graph(X, n_neighbors=k)
        kept = choose_parameters(graph, ballots, space, memory=memory)
        fresh = choose_parameters(graph, ballots, space)
        assert [point.score for point in kept.tuning.points] == [point.score for point in fresh.tuning.points]


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


def real_error(graph, votes, truth, choice, prior):
    """RMSE of soft labels with the chosen setting."""
    mass = mass_of(graph, votes, 10, choice.alpha, tol=1e-5)
    return rmse(truth, soft_labels(mass, prior, choice.prior_strength))


@pytest.mark.shared
@pytest.mark.parametrize(("n_votes", "rivals"), [(1_000, (0.5, 0.75, 0.9, 0.95)), (10_000, (0.1, 0.25, 0.5))])
def test_alpha_is_within_two_percent_of_the_best_in_hindsight(cifar10h, n_votes, rivals):
    """On human votes the alpha chosen without truth is nearly as good as the one that the truth would
    choose."""
    graph, truth, _ = cifar10h
    uniform = np.full(truth.shape, 0.1)
    votes = drawn(truth, n_votes, seed=1)
    chosen = chosen_from(graph, votes, 10)
    fixed = [Choice(graph, alpha, 1e-4, chosen.tuning) for alpha in rivals]
    best = min(real_error(graph, votes, truth, choice, uniform) for choice in fixed)
    assert real_error(graph, votes, truth, chosen, uniform) <= 1.02 * best


@pytest.mark.shared
@pytest.mark.parametrize(("n_votes", "target"), [(1_000, 0.089), (10_000, 0.074)])
def test_a_classifier_as_prior_reaches_its_targets(cifar10h, n_votes, target):
    """Votes and a classifier together are better than either; the strength is chosen by the votes."""
    graph, truth, prior = cifar10h
    votes = drawn(truth, n_votes, seed=1)
    chosen = chosen_from(graph, votes, 10, SearchSpace(strengths=PRIOR_STRENGTHS), prior=prior)
    assert real_error(graph, votes, truth, chosen, prior) <= target


@pytest.mark.shared
def test_a_shuffled_prior_does_not_hurt(cifar10h):
    """A prior whose rows belong to other items is as good as none, within two percent."""
    graph, truth, prior = cifar10h
    shuffled = prior[np.random.default_rng(9).permutation(len(prior))]
    votes = drawn(truth, 1_000, seed=1)
    alone = chosen_from(graph, votes, 10)
    misled = chosen_from(graph, votes, 10, SearchSpace(strengths=PRIOR_STRENGTHS), prior=shuffled)
    without_prior = real_error(graph, votes, truth, alone, np.full(truth.shape, 0.1))
    assert real_error(graph, votes, truth, misled, shuffled) <= 1.02 * without_prior
