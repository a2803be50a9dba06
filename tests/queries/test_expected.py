"""What a vote is expected to take off the posterior's error, against the obvious slow way."""

import numpy as np
import pytest

from softspread import SoftLabeler
from softspread.diffusion.diffusion import Diffusion
from softspread.queries.choose import choose_items
from softspread.queries.expected import disagreement, others_share, own_gain, worth_of_further_vote
from softspread.queries.rule import LotteryRule
from voted_graph import N_CLASSES, N, dense_reach, four_clusters


@pytest.fixture(scope="module")
def labeler():
    """Four clusters with 120 votes, a few items voted on twice; people disagree about the last cluster."""
    rng = np.random.default_rng(0)
    rows, counts = rng.integers(N, size=120), np.zeros((N, N_CLASSES))
    cluster = rows // (N // 4)
    columns = np.where(cluster == 3, rng.integers(N_CLASSES, size=120), cluster % N_CLASSES)
    np.add.at(counts, (rows, columns), 1.0)
    return SoftLabeler(n_jobs=1, random_state=0).fit(four_clusters(), counts)


def slow_gain(mixtures, row):
    """Mean over the next vote of |new mean|^2, less |mean|^2, by updating every component."""
    weights, m = mixtures.weights[mixtures.place[row]], mixtures.means[row].astype(np.float64)
    place = mixtures.own_place[row]
    a = mixtures.nus[:, None] * m + (mixtures.own[place] if place >= 0 else 0.0)
    total = a.sum(axis=1)
    mean = weights @ (a / total[:, None])
    found = -mean @ mean
    for column in range(len(m)):
        after = weights * a[:, column] / total
        chance = after.sum()
        new = after / chance @ ((a + np.eye(len(m))[column]) / (total + 1)[:, None])
        found += chance * new @ new
    return found


def test_own_gain_is_the_variance_of_the_next_mean(labeler):
    """With and without own votes, for every item."""
    posterior = labeler._posterior
    slow = [slow_gain(posterior.mixtures, row) for row in range(N)]
    # means are single precision, so their rows sum to 1 within 1e-7
    np.testing.assert_allclose(own_gain(posterior), slow, rtol=0, atol=1e-6)


def test_own_gain_is_below_the_variance_there_is(labeler):
    """One vote cannot take off more than all."""
    posterior = labeler._posterior
    assert (own_gain(posterior) <= posterior.variance().sum(axis=1)).all()
    assert (own_gain(posterior) > 0).all()


def slow_scores(labeler, diffusion, mass, rule):
    """The written formula with a dense inverse: own + d sum_i phi_iq b^2 v k / ((N + k) (N + k + 1))."""
    posterior = labeler._posterior
    votes = labeler.vote_counts_.sum(axis=1)
    S, alpha, k = diffusion.graph.S.toarray(), diffusion.alpha, rule.before
    M = np.linalg.inv(np.eye(N) - alpha * S)
    m = posterior.m.astype(np.float64)
    b = 1 - votes / posterior.evidence()
    before = np.maximum(mass.sum(axis=1) - votes, 0.0) + k
    weights = b**2 * (1 - (m**2).sum(axis=1)) * k / (before * (before + 1))
    others = (1 - alpha**2 * (S**2).sum(axis=1)) * (M @ weights) - weights  # M_qq as weighted_reach takes it
    own = np.array([slow_gain(posterior.mixtures, row) for row in range(N)])
    return own + worth_of_further_vote(posterior) * others


def test_the_best_item_is_the_one_that_the_formula_names(labeler):
    """With all items as candidates every pick is the best of those left, by brute force."""
    rule = LotteryRule(
        n_candidates=N,
        uniform_share=0.0,
        first_repeats=0.0,
        most_repeats=0.0,
        later_repeats=0.0,
        tol=1e-10,
    )
    diffusion, mass, posterior = labeler._choosing()
    scores, votes = slow_scores(labeler, diffusion, mass, rule), labeler.vote_counts_.sum(axis=1)
    excluded: list[int] = []
    for _ in range(30):
        picked = choose_items(diffusion, mass, votes, 1, exclude=excluded, posterior=posterior, lottery=rule)
        still = np.setdiff1d(np.arange(N), excluded)
        assert scores[picked[0]] == pytest.approx(scores[still].max(), rel=1e-4)
        excluded.append(int(picked[0]))


def test_others_share_is_what_own_votes_leave(labeler):
    """b = 1 - own votes / evidence, 1 without own votes."""
    posterior, votes = labeler._posterior, labeler.vote_counts_.sum(axis=1)
    share = others_share(posterior)
    np.testing.assert_allclose(share, 1 - votes / posterior.evidence(), rtol=0, atol=1e-9)
    assert (share[votes == 0] == 1).all()


def test_disagreement_is_the_chance_that_two_votes_differ(labeler):
    """Drawn from what others say."""
    m = labeler._posterior.m.astype(np.float64)
    slow = [sum(a * b for i, a in enumerate(row) for j, b in enumerate(row) if i != j) for row in m]
    np.testing.assert_allclose(disagreement(labeler._posterior), slow, rtol=0, atol=1e-6)


def test_a_further_vote_tells_others_what_its_precision_adds(labeler):
    """Against the precision 1 / (1 / r + 1 / c) of c votes on one item, per unit of v, for each nu."""
    posterior, votes = labeler._posterior, labeler.vote_counts_.sum(axis=1)
    r = posterior.trust.nus + 1

    def precision(c):
        return 1 / (1 / r + 1 / c) if c else np.zeros_like(r)

    slow = [
        posterior.trust.law[posterior.group[row]]
        @ ((precision(votes[row] + 1) - precision(votes[row])) / precision(1))
        for row in range(N)
    ]
    worth = worth_of_further_vote(posterior)
    np.testing.assert_allclose(worth, slow, rtol=1e-9)
    assert (worth[votes > 1] < 1).all()


def test_inverse_probabilities_of_picks_average_to_one(labeler):
    """The mean of 1 / (n p) is 1 whatever the scores, if p is the probability of the pick."""
    inverse = [
        1 / (N * labeler.query(1, return_probabilities=True, random_state=seed)[1][0]) for seed in range(400)
    ]
    error = np.std(inverse) / np.sqrt(len(inverse))
    assert error < 0.1
    assert abs(np.mean(inverse) - 1) < 4 * error


def test_picks_prefer_large_gains_and_still_go_everywhere(labeler):
    """The mean gain of picks is above that of all items; about a tenth of the picks is uniform."""
    gains = own_gain(labeler._posterior)
    picked = np.concatenate([labeler.query(20, random_state=seed) for seed in range(10)])
    assert gains[picked].mean() > 1.1 * gains.mean()
    assert (picked // (N // 4) == 3).mean() > 0.3  # where people disagree
    assert len(np.unique(picked)) > 60


def test_first_votes_cover_the_clusters():
    """Without any vote, eight picks reach all four clusters more often than uniform ones."""
    diffusion = Diffusion(four_clusters(), 0.9, n_jobs=1)
    nothing = np.zeros((N, 1)), np.zeros(N)

    def reached(strategy, seed):
        rows = choose_items(diffusion, *nothing, 8, strategy, np.random.default_rng(seed))
        return len(np.unique(rows // (N // 4)))

    chosen, uniform = (
        np.mean([reached(name, seed) for seed in range(40)]) for name in ("uncertainty", "uniform")
    )
    assert chosen > uniform
    assert chosen > 3.8


def test_covering_picks_leave_less_unreached_than_uniform_ones():
    """With all items as candidates, ten picks reach every cluster and raise the least reached items most."""
    graph = four_clusters()
    diffusion, reach = Diffusion(graph, 0.9, n_jobs=1), dense_reach(graph, [0.9])[0.9]
    rule = LotteryRule(coverage_candidates=N, uniform_share=0.0)
    nothing = np.zeros((N, 1)), np.zeros(N)

    def least_reached(strategy, seed):
        rng = np.random.default_rng(seed)
        rows = choose_items(diffusion, *nothing, 10, strategy, rng, lottery=rule)
        return np.quantile(reach[:, rows].sum(axis=1), 0.1), len(np.unique(rows // (N // 4)))

    covering = least_reached("uncertainty", 0)
    assert covering[1] == 4
    assert covering[0] > 1.2 * np.mean([least_reached("uniform", seed)[0] for seed in range(20)])


def test_second_votes_are_asked_for_while_they_are_few(labeler):
    """As large a share of picks as the rule says; with enough repeats they are few."""
    counts, posterior = labeler.vote_counts_.sum(axis=1), labeler._posterior
    diffusion, mass, _ = labeler._choosing()

    def voted_share(rule):
        picks = [
            choose_items(
                diffusion,
                mass,
                counts,
                10,
                "uncertainty",
                np.random.default_rng(s),
                posterior=posterior,
                lottery=rule,
            )
            for s in range(30)
        ]
        return (counts[np.concatenate(picks)] > 0).mean()

    often, never = (
        LotteryRule(first_repeats=share, most_repeats=share, later_repeats=share) for share in (0.6, 0.0)
    )
    assert voted_share(often) > voted_share(never) + 0.3


def test_a_batch_spreads_out(labeler):
    """The best items one by one, each pick counted at once, reach each other less than the best of the first
    step would."""
    rule = LotteryRule(n_candidates=N, uniform_share=0.0, first_repeats=0.0, most_repeats=0.0)
    diffusion, mass, posterior = labeler._choosing()
    counts, reach = labeler.vote_counts_.sum(axis=1), dense_reach(labeler.graph_, [0.9])[0.9]

    def picks(size, seed, exclude=()):
        rng = np.random.default_rng(seed)
        return choose_items(
            diffusion, mass, counts, size, "uncertainty", rng, exclude, posterior=posterior, lottery=rule
        )

    def overlap(rows):
        return reach[np.ix_(rows, rows)][~np.eye(len(rows), dtype=bool)].mean()

    alone: list[int] = []
    for seed in range(12):
        alone.extend(picks(1, seed, alone).tolist())
    assert overlap(picks(12, 0)) < 0.7 * overlap(np.array(alone))
