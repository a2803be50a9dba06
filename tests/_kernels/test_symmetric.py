"""A sparse matrix and its transpose: compiled = plain Python = scipy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from kernel_twins import same_as_python
from softspread._kernels.symmetric import add_rows, transpose_rows

CASES = ["random", "empty rows", "one-sided", "a column twice", "nothing", "one item"]


def rows_of(case):
    """Starts, columns in no order, and entries."""
    rng = np.random.default_rng(0)
    n = 1 if case == "one item" else 12
    counts = rng.integers(0, min(n, 7), n) * (case != "nothing")
    if case == "empty rows":
        counts[::2] = 0
    columns = [rng.permutation(n)[:count] for count in counts]
    if case == "one-sided":
        columns = [column[column > row] for row, column in enumerate(columns)]
    elif case == "a column twice":
        columns = [np.append(column, column[:1]) for column in columns]
    starts = np.concatenate([[0], np.cumsum([len(column) for column in columns])]).astype(np.int64)
    return starts, np.concatenate(columns).astype(np.uint32), rng.random(starts[-1])


def room(n, n_entries):
    """A matrix to be filled; what it holds before does not matter to its starts."""
    return np.full(n + 1, 7), np.zeros(n_entries, dtype=np.uint32), np.zeros(n_entries)


def matrix(rows):
    """The same for scipy."""
    starts, columns, entries = rows
    return csr_array((entries, columns.astype(np.int64), starts), shape=(len(starts) - 1,) * 2)


def same_bits(rows, expected):
    """Structure and entries."""
    for one, other in zip(rows, (expected.indptr, expected.indices, expected.data), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", CASES)
def test_rows_are_transposed(case):
    """Twice gives the matrix back, its columns sorted; entries of one column keep their order."""

    def arguments():
        rows = rows_of(case)
        return rows, room(len(rows[0]) - 1, len(rows[1]))

    (rows, turned), _ = same_as_python(transpose_rows, arguments)
    same_bits(turned, csr_array(matrix(rows).T.tocsr()))
    starts, columns, entries = rows
    order = np.lexsort((columns, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
    again = room(len(starts) - 1, len(columns))
    transpose_rows(turned, again)
    np.testing.assert_array_equal(again[0], starts)
    np.testing.assert_array_equal(again[1], columns[order])
    np.testing.assert_array_equal(again[2], entries[order])


@pytest.mark.parametrize("case", CASES)
def test_rows_are_counted_then_added(case):
    """Only those of the piece; bit by bit scipy's sum, and symmetric where a column comes twice as well."""
    rows = rows_of(case)
    n, n_entries = len(rows[0]) - 1, len(rows[1])
    turned = room(n, n_entries)
    transpose_rows(rows, turned)
    transpose_rows(turned, rows)
    expected = csr_array(matrix(rows) + matrix(turned))
    first = n // 4

    def counting():
        return rows, turned, first, n, np.full(n, -1), room(n, 0)

    (*_, counts, _), _ = same_as_python(add_rows, counting)
    np.testing.assert_array_equal(counts[first:], np.diff(expected.indptr)[first:])
    assert (counts[:first] == -1).all()

    def adding():
        total = room(n, expected.nnz)
        total[0][:] = expected.indptr
        return rows, turned, 0, n, np.full(n, -1), total

    (*_, total), _ = same_as_python(add_rows, adding)
    added = matrix(total)
    assert added.has_canonical_format
    assert (added != added.T).nnz == 0
    expected.sort_indices()
    if case == "a column twice":  # scipy adds up each matrix first
        np.testing.assert_array_equal(total[1], expected.indices)
        np.testing.assert_allclose(total[2], expected.data, rtol=1e-15)
    else:
        same_bits(total, expected)
