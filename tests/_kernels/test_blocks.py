"""Loops over a block: compiled = plain Python = the formula."""

import numpy as np
import pytest

from kernel_twins import random_system, same_as_python
from softspread._kernels.blocks import chebyshev_rows, residual_rows, widen_rows


def test_neighbours_of_neighbours_improve_a_list():
    """The list becomes the best of the old one and what its members know."""

    def arguments():
        rng = np.random.default_rng(0)
        X = rng.normal(size=(12, 2))
        squared = ((X[:, None] - X) ** 2).sum(axis=2)
        np.fill_diagonal(squared, np.inf)
        lists = rng.permuted(np.tile(np.arange(12), (12, 1)), axis=1)[:, :3]
        lists[lists == np.arange(12)[:, None]] = -1
        own = np.array([4, 5, 7])
        near = np.where(lists[own] >= 0, squared[own[:, None], lists[own]], np.inf)
        order = np.argsort(near, axis=1)
        indices = np.take_along_axis(lists[own], order, axis=1)
        return X, lists, own, 0, 3, indices, np.take_along_axis(near, order, axis=1)

    before = arguments()
    (X, lists, own, _, _, indices, squared), _ = same_as_python(widen_rows, arguments)
    for row, me in enumerate(own):
        known = {int(a) for a in before[5][row] if a >= 0}
        known |= {int(b) for a in known for b in lists[a] if b >= 0} - {me}
        true = sorted(((X[me] - X[one]) ** 2).sum() for one in known)[:3]
        np.testing.assert_allclose(squared[row], true)
        assert me not in indices[row]


@pytest.mark.parametrize("shape", ["one isolated among others", "pair", "random"])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_step_is_its_formula(shape, n_columns):
    """omega (alpha S x - previous) + previous, in single precision, on the rows asked for."""
    system, _ = random_system(shape)
    n = len(system.root)

    def arguments():
        rng = np.random.default_rng(1)
        block = (system.indptr, system.indices, system.weights.astype(np.float32), 0.9)
        x, previous = (rng.random((n, n_columns), dtype=np.float32) for _ in range(2))
        return block, x, previous, np.float32(1.3), 0, n - 1, (0,) * n_columns

    _, x, old, *_ = arguments()
    (_, _, previous, *_), _ = same_as_python(chebyshev_rows, arguments)
    S = np.zeros((n, n))
    S[np.repeat(np.arange(n), np.diff(system.indptr)), system.indices] = system.weights
    wanted = 1.3 * (0.9 * S @ x - old) + old
    wanted[-1] = old[-1]
    np.testing.assert_allclose(previous, wanted, atol=1e-6)


def test_a_residual_is_its_formula():
    """In double precision, with the sums that the report needs."""
    system, _ = random_system("random")
    n = len(system.root)

    def arguments():
        rng = np.random.default_rng(2)
        block = (system.indptr, system.indices, system.weights.astype(np.float32), 0.9)
        x = rng.random((n, 2), dtype=np.float32)
        return block, x, rng.random((n, 2)), 0, n, np.zeros(2), np.zeros(2)

    block, x, right, *_ = arguments()
    (_, _, left, _, _, squares, crossed), _ = same_as_python(residual_rows, arguments)
    S = np.zeros((n, n))
    S[np.repeat(np.arange(n), np.diff(system.indptr)), system.indices] = block[2]
    R = right - x.astype(float) + 0.9 * S @ x.astype(float)
    np.testing.assert_allclose(left, R, rtol=1e-12)
    np.testing.assert_allclose(squares, (R * R).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(crossed, (R * x).sum(axis=0), rtol=1e-12)
