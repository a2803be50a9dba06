"""Random signs estimate sums of squares over whole profiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import ProfileRule
from softspread.diffusion.random_signs import SIGNS, RandomSigns, SignRule, squares_and_reach


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("alpha", [0.25, 0.9, 0.99])
def test_random_signs_find_the_sums_of_squares(alpha, normalization):
    """Means over the voted items agree with the dense inverse within 15 %, also where a profile fills its
    group."""
    rng = np.random.default_rng(4)
    groups = np.repeat(20 * rng.normal(size=(30, 3)), 30, axis=0)  # far apart: 30 independent sums
    graph = knn_graph(groups + rng.normal(size=(900, 3)), n_neighbors=8, normalization=normalization)
    voted, weights = rng.integers(0, 900, 500), rng.choice([1.0, 0.5], 500)
    rows, place = np.unique(voted, return_inverse=True)
    squares = np.bincount(place, weights**2)
    diffusion = Diffusion(graph, alpha, scaling="source", n_jobs=1)
    case = (diffusion, rows, squares, np.ones(len(rows)), RandomSigns(rng, len(rows), 900))
    exact, exact_reach = squares_and_reach(*case)
    reach = [diffusion.reach_of_votes(int(row), rows) for row in rows[:5]]  # the obvious formula
    expected = [(squares * phi**2).sum() - squares[i] for i, phi in enumerate(reach)]
    assert_allclose(exact[:5], expected, rtol=1e-5)
    found, found_reach = squares_and_reach(*case, rule=ProfileRule(dense_items=0))
    assert_allclose(found.mean(), exact.mean(), rtol=0.15)
    # The mean of 1 / x is larger than 1 / mean of x: by probes / (probes - 2) if sums of signs were normal.
    assert_allclose(found_reach, exact_reach * SIGNS.probes / (SIGNS.probes - 2), rtol=0.15)


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_few_columns_are_enough_for_the_means_over_many_voted_items(normalization):
    """Squares / total^2 and reach within three standard errors of the dense inverse; 400 groups far apart.

    Three columns for the votes and four for the items; for each item by itself 1 / sum would be twice too
    large.
    """
    rng = np.random.default_rng(5)
    groups = np.repeat(100 * rng.normal(size=(400, 3)), 10, axis=0)
    X = groups + rng.normal(size=(4000, 3))
    graph = knn_graph(X, n_neighbors=5, bandwidth=4.0, normalization=normalization)
    rows = np.sort(rng.choice(4000, 3000, replace=False))
    squares, rule = rng.choice([1.0, 2.0], 3000), SignRule(many_voted=2000, signs=1)
    signs, pairs = RandomSigns(rng, 3000, 4000, rule), []
    assert (signs.voted.shape, signs.inner_items.shape) == ((3000, 3), (4000, 4))
    for alpha in (0.25, 0.9, 0.99):
        diffusion = Diffusion(graph, alpha, scaling="source", n_jobs=1)
        everyone = diffusion.spread(rows, squares[:, None]).mass(rows)[:, 0]
        case = diffusion, rows, squares, np.ones(len(rows)), signs
        for dense_items in (0, 4000):
            received, reach = squares_and_reach(*case, rule=ProfileRule(dense_items=dense_items))
            pairs.append((np.mean(received / everyone**2), reach))
    found, exact = np.array(pairs[::2]), np.array(pairs[1::2])
    assert_allclose(found, exact, rtol=3 * np.sqrt(2 / (2 * 400)))


def test_very_many_voted_items_need_fewer_columns():
    """The more items, the fewer columns, down to three of signs of votes and four of items."""
    found = [
        RandomSigns(np.random.default_rng(0), *n) for n in ((19_999, 9), (20_000, 40_000), (10**5, 10**5))
    ]
    columns = [(each.voted.shape[1], each.inner_items.shape[1]) for each in found]
    assert columns == [(16, 16), (8, 4), (3, 4)]
