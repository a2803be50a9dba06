"""Random signs estimate sums of squares over whole profiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import ProfileRule
from softspread.diffusion.random_signs import FEW_PROBES, MANY_VOTED, PROBES, RandomSigns, squares_and_reach


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
    # The mean of 1 / x is larger than 1 / mean of x: by PROBES / (PROBES - 2) if sums of signs were normal.
    assert_allclose(found_reach, exact_reach * PROBES / (PROBES - 2), rtol=0.15)


def test_very_many_voted_items_need_fewer_columns():
    """Half of them, whose mean over the items is as close."""
    shapes = [RandomSigns(np.random.default_rng(0), n, 50).voted.shape for n in (MANY_VOTED - 1, MANY_VOTED)]
    assert shapes == [(MANY_VOTED - 1, PROBES), (MANY_VOTED, FEW_PROBES)]
