"""Lists read off edges and pairs that are near: compiled = plain Python = numpy."""

import numpy as np
import pytest

from kernel_twins import same_as_python
from softspread._kernels.growing import near_pairs, nearest_edges


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_nearest_edges_are_those_of_a_sorted_list(dtype):
    """Nearest first, ties by rank; rows outside the piece and rows with too few edges keep what they had."""
    n, k = 9, 3

    def arguments():
        rng = np.random.default_rng(0)
        X = rng.integers(0, 3, (n, 2)).astype(dtype)  # many ties
        ends = [np.setdiff1d(np.arange(n), [row])[: 2 + row] for row in range(n)]
        indptr = np.concatenate([[0], np.cumsum([len(end) for end in ends])])
        indices, ranks = np.concatenate(ends).astype(np.uint32), rng.permutation(n)
        return indptr, indices, X, ranks, 0, n - 1, np.full((n, k), -1), np.full((n, k), np.inf)

    (indptr, indices, X, ranks, _, _, found, squared), _ = same_as_python(nearest_edges, arguments)
    for row in range(n - 1):
        ends = indices[indptr[row] : indptr[row + 1]].astype(int)
        gaps = ((X[ends].astype(float) - X[row].astype(float)) ** 2).sum(axis=1)
        best = np.lexsort((ranks[ends], gaps))[:k]
        np.testing.assert_array_equal(found[row, : len(best)], ends[best])
        np.testing.assert_array_equal(squared[row, : len(best)], gaps[best])
    assert found[0].tolist()[2] == -1
    assert (found[n - 1] == -1).all()


@pytest.mark.parametrize("room", [0, 3, 40])
def test_near_pairs_are_listed_as_far_as_there_is_room(room):
    """And counted beyond it."""

    def arguments():
        rng = np.random.default_rng(1)
        x, y = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
        sizes = (x**2).sum(axis=1), (y**2).sum(axis=1)
        limits = np.full(6, 0.5), np.linspace(0, 2, 5)
        return (x @ y.T, *sizes, *limits, np.zeros(room, np.int64), np.zeros(room, np.int64))

    (products, sizes, others, row_limits, column_limits, rows, columns), count = same_as_python(
        near_pairs, arguments
    )
    squared = sizes[:, None] + others - 2 * products
    near = np.argwhere((squared <= row_limits[:, None]) | (squared <= column_limits))
    assert count == len(near) > 3
    listed = min(room, count)
    np.testing.assert_array_equal(np.column_stack([rows, columns])[:listed], near[:listed])
