"""The built-in query strategies: laws that every one keeps, and what each one promises."""

import warnings

import numpy as np
import pytest
from scipy.stats import chisquare, kendalltau, kstest

from softspread import InputError, SoftspreadWarning, affinity_graph, knn_graph, metrics
from softspread.diffusion.diffusion import Diffusion
from softspread.queries.choose import choose_items
from softspread.queries.pool import CandidatePool
from softspread.queries.registry import STRATEGIES
from softspread.queries.rule import DEFAULT_RULE as RULE
from softspread.queries.strategies import gain_of_vote
from softspread.spreading.evidence import soft_labels
from softspread.tuning.candidates import SearchSpace, SpreadOptions
from softspread.tuning.search import choose_parameters
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable
from softspread.votes.votes import single_votes
from voted_graph import N_CLASSES, N_VOTES, N, dense_reach, four_clusters, spread


@pytest.fixture(scope="module")
def graph():
    return four_clusters()


@pytest.fixture(scope="module")
def voted(graph):
    """A diffusion, its mass and the number of votes per item."""
    return spread(Diffusion(graph, 0.9, n_jobs=1))


@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_no_item_comes_twice_and_excluded_ones_never(voted, strategy):
    """A batch of all allowed items holds each exactly once."""
    excluded = np.arange(0, N, 7)
    rows = choose_items(*voted, N - len(excluded), strategy, np.random.default_rng(0), exclude=excluded)
    assert sorted(rows.tolist()) == sorted(set(range(N)) - set(excluded.tolist()))


@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_the_seed_decides(voted, strategy):
    """The same seed gives the same rows; another one others."""
    first, again, other = (choose_items(*voted, 20, strategy, np.random.default_rng(s)) for s in (3, 3, 4))
    assert np.array_equal(first, again)
    if strategy not in ("least_evidence", "entropy", "farthest"):  # these are settled by scores but for ties
        assert not np.array_equal(first, other)


@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_inputs_stay_as_they_are(voted, strategy):
    """Choosing changes neither mass nor counts."""
    diffusion, mass, counts = voted
    before = mass.copy(), counts.copy()
    choose_items(diffusion, mass, counts, 30, strategy, np.random.default_rng(0))
    assert np.array_equal(before[0], mass)
    assert np.array_equal(before[1], counts)


@pytest.mark.parametrize("strategy", ["uniform", "gain", "balanced", "least_evidence", "entropy"])
def test_without_votes_every_item_is_equally_likely(graph, strategy):
    """No votes, no preference: 2,000 single picks spread evenly over 400 items."""
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    rng = np.random.default_rng(0)
    nothing = np.zeros((N, N_CLASSES)), np.zeros(N)
    picks = np.concatenate([choose_items(diffusion, *nothing, 1, strategy, rng) for _ in range(2000)])
    assert chisquare(np.bincount(picks, minlength=N)).pvalue > 1e-3


@pytest.mark.parametrize("strategy", ["uncertainty", "gain", "local", "least_evidence", "entropy"])
def test_a_batch_spreads_out(graph, strategy):
    """Picks of one batch reach each other less than as many picks made without knowing of each other
    would."""
    diffusion, mass, counts = spread(Diffusion(graph, 0.9, n_jobs=1), N_VOTES, seed=5)
    hole = np.arange(100)
    mass, counts = mass.copy(), counts.copy()
    mass[hole], counts[hole] = 1e-3, 0
    M = np.linalg.inv(np.eye(N) - 0.9 * graph.S.toarray())
    M /= M.max(axis=0)

    def reached(rows):
        return np.mean([M[np.delete(rows, k), row].sum() for k, row in enumerate(rows)])

    batch, singles = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        batch.append(reached(choose_items(diffusion, mass, counts, 25, strategy, rng)))
        alone = {int(choose_items(diffusion, mass, counts, 1, strategy, rng)[0]) for _ in range(25)}
        if len(alone) > 1:
            singles.append(reached(np.array(sorted(alone))) * 24 / (len(alone) - 1))
    if strategy in (
        "least_evidence",
        "entropy",
    ):  # a single best pick is always the same item: its copies reach it fully
        assert np.mean(batch) < 24
    else:
        assert np.mean(batch) < np.mean(singles)


def test_isolated_and_coinciding_items_are_picked_too():
    """Items without neighbours, and items on the same spot, break no strategy."""
    A = np.zeros((6, 6))
    A[0, 1] = A[1, 0] = 1.0
    with pytest.warns(SoftspreadWarning, match="4 of 6 items have no neighbour"):
        diffusion = Diffusion(affinity_graph(A), 0.9, n_jobs=1)
    mass, counts = np.zeros((6, 2)), np.zeros(6)
    mass[0], counts[0] = (60, 0), 60
    for strategy in set(STRATEGIES.names()) - {"farthest"}:
        rows = choose_items(diffusion, mass, counts, 6, strategy, np.random.default_rng(0))
        assert sorted(rows.tolist()) == list(range(6))
    same = Diffusion(knn_graph(np.zeros((8, 2)), 3, n_jobs=1), 0.5, n_jobs=1)
    rows = choose_items(same, np.zeros((8, 2)), np.zeros(8), 8, "farthest", np.random.default_rng(0))
    assert sorted(rows.tolist()) == list(range(8))


@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_alpha_is_chosen_well_from_votes_that_a_strategy_placed(strategy):
    """As many votes as items: the alpha chosen from them costs on average at most a quarter more RMSE than
    the best."""
    n, alphas, cost = 200, (0.1, 0.5, 0.9, 0.95), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        place = np.sort(rng.uniform(0, 2 * np.pi, n))
        graph = knn_graph(np.stack([np.cos(place), np.sin(place)], axis=1), 10, n_jobs=1)
        first = 0.5 + 0.4 * np.sin(3 * place)
        reach, counts, diffusion = (
            dense_reach(graph, alphas),
            np.zeros((n, 2)),
            Diffusion(graph, 0.9, n_jobs=1),
        )
        while counts.sum() < n:
            rows = choose_items(diffusion, reach[0.9] @ counts, counts.sum(axis=1), 25, strategy, rng)
            np.add.at(counts, (rows, (rng.random(25) > first[rows]).astype(int)), 1)
        rows, columns, weights = single_votes(counts)
        ballots = Ballots.of(VoteTable(rows, columns, weights), 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)  # few repeats: not the question here
            chosen = choose_parameters(
                graph, ballots, SearchSpace(alphas=alphas), options=SpreadOptions(n_jobs=1)
            ).alpha
        soft = {alpha: soft_labels(M @ counts, np.full((n, 2), 0.5), 1e-4) for alpha, M in reach.items()}
        rmse = {alpha: metrics.rmse(np.stack([first, 1 - first], axis=1), p) for alpha, p in soft.items()}
        cost.append((rmse[chosen] / min(rmse.values()), max(rmse.values()) / min(rmse.values())))
    mean, worst = np.mean(cost, axis=0)
    assert mean <= 1.25
    assert worst > 1.3  # a bad choice would show


def test_uniform_ignores_votes(voted):
    """The paper's way draws voted items as often as others."""
    rng = np.random.default_rng(1)
    picks = np.concatenate([choose_items(*voted, 40, "uniform", rng) for _ in range(200)])
    assert chisquare(np.bincount(picks, minlength=N)).pvalue > 1e-3


@pytest.mark.parametrize("strategy", ["balanced", "farthest"])
def test_fewest_votes_come_first(graph, strategy):
    """Before repeats begin, voted items wait until all others have a vote."""
    voted = spread(Diffusion(graph, 0.9, n_jobs=1), RULE.warm_up_votes - 1, seed=1)
    counts = voted[2]
    n_free = int((counts == 0).sum())
    rows = choose_items(*voted, n_free + 10, strategy, np.random.default_rng(0))
    assert (counts[rows[:n_free]] == 0).all()
    assert (counts[rows[n_free:]] > 0).all()
    if strategy == "balanced":
        assert (counts[rows[n_free:]] == 1).all()


@pytest.mark.parametrize("strategy", ["uncertainty", "gain", "local", "balanced", "farthest"])
def test_strategies_repeat_now_and_then(graph, strategy):
    """Half the items voted once, no repeats yet: a quarter of the picks are repeats, within four standard
    errors."""
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    counts = (np.arange(N) % 2).astype(float)
    mass = np.tile(counts[:, None] / N_CLASSES, N_CLASSES)
    rng = np.random.default_rng(0)
    picks = np.concatenate([choose_items(diffusion, mass, counts, 20, strategy, rng) for _ in range(30)])
    share = counts[picks].mean()
    assert abs(share - 0.25) < 4 * np.sqrt(0.25 * 0.75 / len(picks))
    many = counts * (1 + RULE.enough_differences)
    picks = np.concatenate([choose_items(diffusion, mass, many, 20, strategy, rng) for _ in range(30)])
    assert abs((many[picks] > 0).mean() - RULE.later_repeats) < 4 * np.sqrt(
        RULE.later_repeats * (1 - RULE.later_repeats) / len(picks)
    )


def test_repeats_do_not_look_at_the_votes(graph):
    """Most items have two votes, half of these differing ones: repeats go to both kinds alike, so no vote is
    tested for
    having surprised."""
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    torn = np.arange(N) % 2 == 0
    mass, counts = np.zeros((N, 2)), np.full(N, 2.0)
    mass[:, 0], mass[torn] = 200.0, (199.9, 0.1)  # so little in doubt that repeats stay eager
    counts[::3] = 1.0  # a pick with two votes is a repeat
    rng = np.random.default_rng(0)
    picks = np.concatenate([choose_items(diffusion, mass, counts, 20, "uncertainty", rng) for _ in range(60)])
    again = picks[counts[picks] == 2]
    assert len(again) > 100
    assert abs(torn[again].mean() - torn[counts == 2].mean()) < 4 * np.sqrt(0.25 / len(again))


@pytest.mark.parametrize(
    ("n_votes", "g"),
    [(RULE.warm_up_votes, 1 + RULE.warm_up_votes / (RULE.sharpest_from * N)), (N // 2, RULE.sharpest)],
)
def test_the_default_takes_the_largest_gain_of_five(graph, n_votes, g):
    """Its first pick has the largest gain by the written formula, with exact profiles, of the five items
    drawn."""
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    mass = np.random.default_rng(3).gamma(0.5, size=(N, 2))
    counts = (np.arange(N) < n_votes).astype(float)
    p = (mass + RULE.smoothing / 2) / (mass.sum(axis=1, keepdims=True) + RULE.smoothing)
    v, before = 1 - (p**2).sum(axis=1), mass.sum(axis=1)[:, None] + 1
    sharp = dense_reach(graph, [0.9])[0.9] ** g
    gain = (sharp * v[:, None] ** (2 * g - 1) / (before * (before + sharp))).sum(axis=0)
    assert RULE.sharpness(n_votes / N, RULE.sharpest) == pytest.approx(g)
    picks = [
        int(choose_items(diffusion, mass, counts, 1, "uncertainty", np.random.default_rng(s))[0])
        for s in range(600)
    ]
    first = [row for row in picks if counts[row] == 0]  # the others are repeats
    rank = (gain[first][:, None] > gain[counts == 0]).mean(
        axis=1
    )  # the best of five random items: rank^5 is uniform
    assert kstest(rank**5, "uniform").pvalue > 1e-3
    assert kstest(rank**3, "uniform").pvalue < 1e-3  # the test can tell


def test_fewer_than_fifty_votes_only_ask_where_nothing_has_arrived(graph):
    """Below the warm-up the default looks at how much has arrived, not at what the votes say."""
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    counts = np.zeros(N)
    counts[: RULE.warm_up_votes - 1] = 1
    first = np.random.default_rng(0).random(N)
    masses = np.ones((N, 2)), 2 * np.stack([first, 1 - first], axis=1)
    rows = [
        choose_items(diffusion, mass, counts, 9, "uncertainty", np.random.default_rng(2)) for mass in masses
    ]
    assert np.array_equal(*rows)


@pytest.mark.parametrize(("g", "power"), [(1.0, 1.0), (2.0, 3.0)])
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_gain_with_cut_profiles_ranks_as_with_exact_ones(normalization, g, power):
    """Pushed profiles without solved scales order items as the dense inverse does."""
    graph = four_clusters(normalization=normalization)
    voted = spread(Diffusion(graph, 0.9, n_jobs=1))
    pool = CandidatePool(*voted, np.ones(N, dtype=bool), np.random.default_rng(0), RULE)
    worth, reach = pool.ambiguity() ** power, dense_reach(graph, [0.9])[0.9]
    rows = np.arange(0, N, 5)
    fast = [gain_of_vote(pool.evidence, worth, g, *found) for found in pool.reach(rows)]
    exact = [gain_of_vote(pool.evidence, worth, g, np.arange(N), reach[:, row]) for row in rows]
    assert kendalltau(fast, exact).statistic > 0.95


def test_least_evidence_takes_the_lowest(voted):
    """The first pick has the lowest evidence; every later one the lowest once the picks' votes are
    counted."""
    diffusion, mass, counts = voted
    rows = choose_items(diffusion, mass, counts, 15, "least_evidence", np.random.default_rng(0))
    evidence = mass.sum(axis=1)
    still_open = np.ones(N, dtype=bool)
    for row in rows:
        lowest = evidence[still_open].min()
        assert evidence[row] <= lowest + 0.05  # profiles for choosing are cut off
        still_open[row] = False
        evidence = evidence + diffusion.literal_profile(row)


def test_entropy_takes_the_most_ambiguous_first(voted):
    """The first pick has the largest entropy of the smoothed soft labels."""
    diffusion, mass, counts = voted
    p = (mass + RULE.smoothing / N_CLASSES) / (mass.sum(axis=1, keepdims=True) + RULE.smoothing)
    entropy = -(p * np.log(p)).sum(axis=1)
    row = choose_items(diffusion, mass, counts, 1, "entropy", np.random.default_rng(0))[0]
    assert entropy[row] == pytest.approx(entropy.max())


def test_farthest_takes_the_farthest(voted):
    """The first pick that is not a repeat is the unvoted item whose nearest voted item is farthest away."""
    diffusion, _, counts = voted
    X = diffusion.graph.features
    rows = choose_items(*voted, 10, "farthest", np.random.default_rng(0))
    row = rows[counts[rows] == 0][0]
    nearest = np.linalg.norm(X[:, None] - X[counts > 0], axis=2).min(axis=1)
    assert nearest[row] == pytest.approx(nearest[counts == 0].max())


def test_farthest_needs_features():
    """An affinity has no distances."""
    diffusion = Diffusion(affinity_graph(np.ones((4, 4))), 0.5, n_jobs=1)
    with pytest.raises(InputError, match="needs the features"):
        choose_items(diffusion, np.zeros((4, 2)), np.zeros(4), 1, "farthest")
