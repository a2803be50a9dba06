"""Chebyshev steps: the bound that fixes their number, and what single precision costs."""

import numpy as np
import pytest

from small_blocks import assembled_by_place, runner_with_graph
from softspread._common.threads import Workers
from softspread.blocks.chebyshev import RightSide, omegas, residual_of_block, step_block, steps_for
from softspread.blocks.operator import read_operator


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The graph as one block, and as a table."""
    job = runner_with_graph(tmp_path_factory.mktemp("one"), block_items=1000).job
    return read_operator(job, 0), assembled_by_place(job)


def solve(operator, alpha, right, n_columns, tol=1e-7):
    """All steps of one block without a halo."""
    x, previous = (np.zeros((operator.n_items, n_columns), dtype=np.float32) for _ in range(2))
    halo = np.empty((0, n_columns), dtype=np.float32)
    for omega in omegas(alpha, steps_for(alpha, tol)):
        x, previous = step_block(operator, alpha, omega, x, halo, previous, right, Workers(1)), x
    return x


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.5, 0.9, 0.99, 0.999])
def test_mass_is_that_of_a_dense_solve(whole, alpha):
    """Within 1e-6 + 4e-7 / (1 - alpha) of the largest entry of its column, at all alphas of the grid."""
    operator, S = whole
    rng = np.random.default_rng(0)
    right = RightSide(np.arange(0, 240, 7), rng.random((35, 18)))
    B = np.zeros((240, 18))
    B[right.rows] = right.values
    truth = np.linalg.solve(np.eye(240) - alpha * S, B)
    error = np.abs(solve(operator, alpha, right, 18) - truth).max(axis=0) / truth.max(axis=0)
    assert error.max() <= 1e-6 + 4e-7 / (1 - alpha)


@pytest.mark.parametrize(("alpha", "n_steps"), [(0.5, 4), (0.9, 9), (0.99, 20)])
def test_the_residual_stays_below_its_bound(whole, alpha, n_steps):
    """|r| <= |b| / T_k(1 / alpha), measured in double precision."""
    operator, _ = whole
    right, workers = RightSide(np.array([3]), np.ones((1, 1))), Workers(1)
    x, previous = (np.zeros((240, 1), dtype=np.float32) for _ in range(2))
    halo = np.empty((0, 1), dtype=np.float32)
    for omega in omegas(alpha, n_steps):
        x, previous = step_block(operator, alpha, omega, x, halo, previous, right, workers), x
    asked, left, _ = residual_of_block(operator, alpha, x, halo, right, workers)
    bound = 1 / np.cosh(n_steps * np.arccosh(1 / alpha))
    assert asked[0] == 1
    assert 0 < np.sqrt(left[0]) <= bound * (1 + 1e-3)


def test_steps_are_the_fewest_that_reach_the_tolerance():
    """By the same bound."""
    for alpha in (0.5, 0.9, 0.99):
        n_steps = steps_for(alpha, 1e-6)
        reached = [1 / np.cosh(k * np.arccosh(1 / alpha)) for k in (n_steps - 1, n_steps)]
        assert reached[1] <= 1e-6 < reached[0]
