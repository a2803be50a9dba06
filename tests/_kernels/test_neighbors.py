"""Neighbour lists: compiled = plain Python = numpy."""

import numpy as np
import pytest

from kernel_twins import same_as_python
from softspread._kernels.neighbors import drop_self, sort_rows, squared_distances


def test_the_item_itself_is_dropped_wherever_it_stands():
    """By its number, not its place; where it is absent the last entry goes."""

    def arguments():
        found = np.array([[5, 1, 2], [1, 6, 2], [3, 2, 1], [8, 4, 0]])
        return found, 5, np.zeros((4, 2), dtype=np.int64)

    (_, _, out), _ = same_as_python(drop_self, arguments)
    np.testing.assert_array_equal(out, [[1, 2], [1, 2], [3, 2], [4, 0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (7, 3), (4, 0)])
def test_squared_distances_are_in_double_precision(dtype, n, k):
    """Differences are taken as doubles, also of single-precision features."""

    def arguments():
        rng = np.random.default_rng(0)
        X, queries = rng.normal(size=(n, 4)).astype(dtype), rng.normal(size=(5, 4)).astype(dtype)
        return X, queries, rng.integers(0, n, (5, k)), np.zeros((5, k))

    (X, queries, neighbors, out), _ = same_as_python(squared_distances, arguments)
    gaps = queries[:, None].astype(float) - X[neighbors].astype(float)
    np.testing.assert_allclose(out, (gaps**2).sum(axis=2))


@pytest.mark.parametrize("k", [0, 1, 6])
def test_rows_are_sorted_by_key_then_value(k):
    """Ties go to the smaller value, as a lexical sort has it."""

    def arguments():
        rng = np.random.default_rng(1)
        return rng.integers(0, 3, (8, k)).astype(float), rng.integers(0, 50, (8, k))

    before = arguments()
    (keys, values), _ = same_as_python(sort_rows, arguments)
    for row in range(8):
        order = np.lexsort((before[1][row], before[0][row]))
        np.testing.assert_array_equal(keys[row], before[0][row][order])
        np.testing.assert_array_equal(values[row], before[1][row][order])
