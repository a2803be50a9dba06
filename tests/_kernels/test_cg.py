"""Steps of conjugate gradients: compiled = plain Python = the formula."""

import numpy as np
import pytest

from kernel_twins import SHAPES, dense, random_system, same_as_python
from softspread._kernels.cg import apply_rows, step_along, turn_direction


def table(n, n_columns, seed):
    return np.random.default_rng(seed).normal(size=(n, n_columns))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_columns", [1, 3])
def test_rows_of_the_system_are_applied(shape, n_columns):
    """(I - alpha S) P on a range of rows, and the column sums of P times it."""
    system, _ = random_system(shape)
    n = len(system.root)
    first = n // 3

    def arguments():
        P = table(n, n_columns, 1)
        return system, P, np.zeros_like(P), first, n, (0,) * n_columns, np.zeros(n_columns)

    (_, P, out, *_, dots), _ = same_as_python(apply_rows, arguments)
    expected = dense(system) @ P
    np.testing.assert_allclose(out[first:], expected[first:], atol=1e-13)
    np.testing.assert_allclose(dots, (P * expected)[first:].sum(axis=0), atol=1e-12)
    assert not out[:first].any()


@pytest.mark.parametrize(("n", "first", "last"), [(1, 0, 1), (9, 2, 7), (5, 3, 3)])
def test_a_step_moves_solution_and_residual(n, first, last):
    """X += step P and R -= step AP on these rows only, and the new squares."""

    def arguments():
        X, R, P, AP = (table(n, 2, seed) for seed in range(4))
        return X, R, P, AP, np.array([0.5, -2.0]), first, last, (0, 0), np.zeros(2)

    before = arguments()
    (X, R, P, AP, step, *_, squares), _ = same_as_python(step_along, arguments)
    rows = slice(first, last)
    np.testing.assert_allclose(X[rows], before[0][rows] + step * P[rows])
    np.testing.assert_allclose(R[rows], before[1][rows] - step * AP[rows])
    np.testing.assert_allclose(squares, (R[rows] ** 2).sum(axis=0))
    np.testing.assert_array_equal(np.delete(X, np.r_[rows], 0), np.delete(before[0], np.r_[rows], 0))


@pytest.mark.parametrize(("n", "first", "last"), [(1, 0, 1), (9, 2, 7), (5, 3, 3)])
def test_the_direction_turns(n, first, last):
    """P = R + ratio P on these rows only."""

    def arguments():
        return table(n, 3, 0), table(n, 3, 1), np.array([0.5, 0.0, 2.0]), first, last, (0, 0, 0)

    before = arguments()[0]
    (P, R, ratio, *_), _ = same_as_python(turn_direction, arguments)
    np.testing.assert_allclose(P[first:last], R[first:last] + ratio * before[first:last])
    np.testing.assert_array_equal(P[:first], before[:first])
