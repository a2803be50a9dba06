"""What a strategy sees, and the three ways to draw."""

import numpy as np
import pytest

from softspread import InputError, affinity_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.queries.pool import CandidatePool, FewestVotes, RandomDraws, Repeats
from softspread.queries.rule import QueryRule
from voted_graph import N_CLASSES, N, dense_reach, four_clusters, spread

RULE = QueryRule()


@pytest.fixture(scope="module")
def voted():
    return spread(Diffusion(four_clusters(), 0.9, n_jobs=1))


def pool_of(voted, rule=RULE, closed=()):
    allowed = np.ones(len(voted[1]), dtype=bool)
    allowed[list(closed)] = False
    return CandidatePool(*voted, allowed, np.random.default_rng(0), rule)


def test_ambiguity_and_entropy_are_those_of_smoothed_soft_labels(voted):
    """By the formulas, written out."""
    pool, mass = pool_of(voted), voted[1]
    p = (mass + RULE.smoothing / N_CLASSES) / (mass.sum(axis=1, keepdims=True) + RULE.smoothing)
    np.testing.assert_allclose(pool.ambiguity(), 1 - (p**2).sum(axis=1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(pool.entropy(), -(p * np.log(p)).sum(axis=1), rtol=0, atol=1e-12)


def test_open_rows_are_the_open_items(voted):
    """All of them, each once, and none after it was taken."""
    pool = pool_of(voted, closed=[3, 5])
    assert sorted(pool.open_rows().tolist()) == sorted(set(range(N)) - {3, 5})
    assert pool.take(8) == 8
    assert 8 not in pool.open_rows()


def test_a_pick_adds_its_reach_to_the_evidence(voted):
    """Close to the exact profile: cut, never more."""
    pool = pool_of(voted)
    before = pool.evidence.copy()
    pool.take(17)
    exact = dense_reach(voted[0].graph, [0.9])[0.9][:, 17]
    np.testing.assert_allclose(pool.evidence - before, exact, rtol=0, atol=0.05)
    assert pool.evidence[17] - before[17] == pytest.approx(1.0)


@pytest.mark.parametrize(("n_classes", "n_votes", "warm"), [(2, 49, True), (2, 50, False), (1, 500, True)])
def test_the_pool_warms_up_until_there_are_fifty_votes_on_two_classes(voted, n_classes, n_votes, warm):
    """Fewer votes, or a single class, say nothing about ambiguity."""
    counts = np.zeros(N)
    counts[0] = n_votes
    assert pool_of((voted[0], np.ones((N, n_classes)), counts)).warming_up is warm
    assert pool_of((voted[0], np.ones((N, 2)), np.zeros(N)), QueryRule(warm_up_votes=0)).warming_up


def test_fractions_of_votes_are_rounded_down_but_not_rounding_itself(voted):
    """0.9 is not a vote, 1 - 1e-12 is one."""
    counts = np.zeros(N)
    counts[:3] = 0.9, 1 - 1e-12, 2.5
    assert pool_of((voted[0], voted[1], counts)).vote_counts[:3].tolist() == [0, 1, 2]


def test_features_are_refused_where_there_are_none():
    """An affinity has no places; the message offers a way on."""
    diffusion = Diffusion(affinity_graph(np.ones((4, 4))), 0.5, n_jobs=1)
    with pytest.raises(InputError, match=r"needs the features of the items.*least_evidence"):
        _ = pool_of((diffusion, np.zeros((4, 2)), np.zeros(4))).features


def test_random_draws_hold_open_items_only_and_each_once(voted):
    """Also when items close between draws, until none is left."""
    pool = pool_of(voted, closed=[0, 1])
    draws = RandomDraws(np.arange(10), pool)
    assert set(draws.draw(20).tolist()) == set(range(2, 10))
    pool.open[2:9] = False
    assert draws.draw(3).tolist() == [9]
    pool.open[9] = False
    assert len(draws.draw(3)) == 0


def test_fewest_votes_are_drawn_level_by_level(voted):
    """Without votes first, then one vote, then more; draws never mix two levels."""
    counts = np.repeat([2.0, 0.0, 1.0, 0.0], N // 4)
    pool = pool_of((voted[0], voted[1], counts))
    fewest = FewestVotes(pool)
    levels = []
    for _ in range(N):
        row = int(fewest.draw(1)[0])
        pool.open[row] = False
        levels.append(int(counts[row]))
    assert levels == sorted(counts.astype(int).tolist())
    assert set(counts[FewestVotes(pool_of((voted[0], voted[1], counts))).draw(N)]) == {0.0}


def test_many_draws_leave_items_open(voted):
    """As many as asked, distinct, fewest votes first."""
    counts = np.repeat([1.0, 0.0], N // 2)
    pool = pool_of((voted[0], voted[1], counts))
    rows = FewestVotes(pool).draw_many(N // 2 + 10)
    assert len(set(rows.tolist())) == len(rows) == N // 2 + 10
    assert (np.diff(counts[rows]) >= 0).all()
    assert pool.open.all()


def test_repeats_wait_for_the_warm_up(voted):
    """No repeat before fifty votes; with a share of 1 every pick is one, as long as voted items are open."""
    assert all(len(Repeats(pool_of(spread(voted[0], 49))).draw()) == 0 for _ in range(50))
    counts = np.ones(N)
    counts[0] = 0
    always = pool_of((voted[0], voted[1], counts), QueryRule(early_repeats=1.0, enough_differences=np.inf))
    always.n_votes = float(N)
    repeats = Repeats(always)
    found = [int(repeats.draw()[0]) for _ in range(20)]
    assert (counts[found] == 1).all()
    always.open[1:] = False
    assert len(repeats.draw()) == 0
