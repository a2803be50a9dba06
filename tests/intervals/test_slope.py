"""The Lipschitz constant that votes establish: its formula, its laws, and that it errs on the steep side."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta

from judged import ring, votes_on
from softspread import ProbabilisticLabelSpreading, SoftspreadWarning, affinity_graph, knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import InputError
from softspread.intervals.slope import RULE, estimate_lipschitz
from softspread.spreading.state import SpreadState
from vote_sums import random_case
from voting import solved, table


def spread(diffusion, votes, n_classes=2):
    """A solved state."""
    state = SpreadState(diffusion, votes, n_classes)
    state.solve()
    return state


def test_the_slope_is_the_formula():
    """Pairs of a vote and one that travelled to its item, weighed one by one."""
    X, _, diffusion, votes, _, phi = random_case(3, n=25, m=40)
    differ, distance, noise = [], [], []
    for item in np.unique(votes.rows):
        mine, other = np.flatnonzero(votes.rows == item), np.flatnonzero(votes.rows != item)
        weight = phi[item, other] / phi[item, other].sum()
        equal = votes.columns[mine][:, None] == votes.columns[other]
        differ.append(1 - (equal * weight).sum(axis=1).mean())
        distance.append(weight @ np.linalg.norm(X[votes.rows[other]] - X[item], axis=1))
        if len(mine) > 1:
            same = votes.columns[mine][:, None] == votes.columns[mine]
            noise.append(1 - (same.sum() - len(mine)) / (len(mine) * (len(mine) - 1)))
    n, k, a, v = len(differ), len(noise), sum(differ), sum(noise)
    excess = beta.ppf(RULE.level, a + 1, n - a) - beta.ppf(1 - RULE.level, v, k - v + 1)
    expected = np.sqrt(2 / 3 * 2 * excess) / np.mean(distance)
    assert excess > 0
    assert_allclose(estimate_lipschitz(spread(diffusion, votes, 3)), expected, rtol=1e-5)


def test_a_slope_is_per_unit_of_distance(rng):
    """The same items in millimetres: a thousandth of the slope."""
    X, votes = rng.normal(size=(60, 2)), table(np.arange(40), rng.integers(2, size=40))
    near, far = (estimate_lipschitz(solved(knn_graph(scale * X, 6), votes, 2)) for scale in (1, 1000))
    assert_allclose(far, near / 1000, rtol=1e-6)


def test_disagreement_on_one_item_is_no_slope(rng):
    """Votes drawn everywhere from the same coin: second votes show that they are noise, and so do more."""
    graph = knn_graph(rng.normal(size=(400, 2)), n_neighbors=8)
    first, second = rng.integers(2, size=(2, 400))
    rows = np.arange(400)
    slopes = [
        estimate_lipschitz(solved(graph, table(np.r_[rows, rows[:k]], np.r_[first, second[:k]]), 2))
        for k in (0, 40, 400)
    ]
    assert slopes[0] > 1.3 * slopes[1] > 1.3 * slopes[2]


def test_one_annotators_second_vote_takes_nothing_off(rng):
    """What one person says twice is one vote."""
    graph = knn_graph(rng.normal(size=(100, 2)), n_neighbors=8)
    rows, columns = np.tile(np.arange(100), 2), rng.integers(2, size=200)
    alone, two = (
        estimate_lipschitz(solved(graph, table(rows, columns, annotators=names), 2))
        for names in (["ann"] * 200, ["ann"] * 100 + ["bob"] * 100)
    )
    assert alone > 1.3 * two


def test_the_slope_of_a_ring_is_not_missed():
    """Soft labels that turn smoothly: with few votes or many, never below their mean slope of 0.32."""
    diffusion, truth = ring()
    found = []
    for n_votes in (60, 600, 6000):
        rng = np.random.default_rng(n_votes)
        rows = rng.integers(600, size=n_votes)
        found.append(estimate_lipschitz(spread(diffusion, votes_on(rows, truth, rng))))
    assert min(found) > 0.45 / np.sqrt(2)
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("n_votes", [20, 60, 200])
@pytest.mark.parametrize("alpha", [0.75, 0.99])
def test_intervals_hold_where_neighbours_say_nothing(n_votes, alpha):
    """Each item has an opinion of its own, and much spreading makes the soft labels flat: still 0.9."""
    inside = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        first = rng.choice([0.1, 0.4, 0.9], size=200)
        truth = np.stack([first, 1 - first], axis=1)
        votes = votes_on(rng.integers(200, size=n_votes), truth, rng)
        est = ProbabilisticLabelSpreading(alpha=alpha, n_jobs=1)
        est.fit(rng.normal(size=(200, 3)), votes.counts(200, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)
            lower, upper = est.predict_interval(method="hoeffding")
        inside.append(((lower <= truth) & (truth <= upper)).mean())
    assert min(inside) >= 0.9


def test_a_stricter_rule_is_an_argument():
    """Ends at a higher level are further out."""
    diffusion, truth = ring()
    state = spread(diffusion, votes_on(np.arange(0, 600, 5), truth, np.random.default_rng(0)))
    assert estimate_lipschitz(state, replace(RULE, level=0.99)) > estimate_lipschitz(state)


def test_votes_that_stay_where_they_are_have_no_slope(two_cliques_and_a_loner):
    """Without spreading nothing comes from elsewhere, and there is no bias to bound."""
    state = spread(Diffusion(two_cliques_and_a_loner, 0.0), table([0, 1], [0, 1]))
    assert estimate_lipschitz(state) == 0.0


def test_a_slope_needs_distances_and_votes_that_meet(rng):
    """No features, no votes, one voted item, items at one place: an error that says what to do."""
    with pytest.raises(InputError, match="has no features"):
        estimate_lipschitz(solved(affinity_graph([[0, 1], [1, 0]]), table([0, 1], [0, 1]), 2))
    graph = knn_graph(rng.normal(size=(40, 2)), n_neighbors=5)
    for votes in (table([], []), table([3, 3], [0, 1])):
        with pytest.raises(InputError, match="Collect more votes, or pass lipschitz"):
            estimate_lipschitz(solved(graph, votes, 2))
    together = knn_graph(np.ones((10, 2)), n_neighbors=3)
    with pytest.raises(InputError, match="from votes on 10 items"):
        estimate_lipschitz(solved(together, table(np.arange(10), np.arange(10) % 2), 2))
