"""Loops over the rows of one block: neighbours of neighbours, and a step of the Chebyshev iteration.

A block sees the rows that it owns and, after them, those of other blocks that it needs.
"""

import numpy as np

from softspread._kernels.system import compiled


@compiled
def widen_rows(X, lists, own, first, last, indices, squared):
    """Rows ``first:last`` of the neighbour lists of a block, improved by their neighbours' neighbours.

    ``lists`` (rows of X, k) are neighbours as rows of X, -1 = none; ``own`` is the row of X of each item of
    the block. ``indices`` and ``squared`` are the block's own lists, ascending, changed in place.
    """
    k, d = indices.shape[1], X.shape[1]
    seen = np.full(X.shape[0], -1, dtype=np.int64)
    near = np.empty(k, dtype=np.int64)
    for row in range(first, last):
        me = own[row]
        seen[me] = row
        for j in range(k):
            near[j] = indices[row, j]
            if near[j] >= 0:
                seen[near[j]] = row
        for j in range(k):
            if near[j] < 0:
                continue
            for t in range(k):
                other = lists[near[j], t]
                if other < 0 or seen[other] == row:
                    continue
                seen[other] = row
                limit = squared[row, k - 1]
                total = 0.0
                for c in range(d):
                    step = np.float64(X[me, c]) - np.float64(X[other, c])
                    total += step * step
                    if total > limit:
                        break
                if total >= limit:
                    continue
                place = k - 1
                while place > 0 and squared[row, place - 1] > total:
                    squared[row, place] = squared[row, place - 1]
                    indices[row, place] = indices[row, place - 1]
                    place -= 1
                squared[row, place] = total
                indices[row, place] = other


@compiled
def chebyshev_rows(block, x, previous, omega, first, last, width):
    """Rows ``first:last`` of omega (alpha S x - previous) + previous, written over ``previous``.

    ``x`` holds the rows of the block and then those that it needs of others; ``width`` has one entry per
    column, see ``cg``. What votes put in is added by the caller: few rows have any.
    """
    indptr, columns, values, alpha = block
    n_columns = len(width)
    product = np.empty(n_columns, dtype=np.float32)
    for row in range(first, last):
        for c in range(n_columns):
            product[c] = 0.0
        for edge in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            value = values[edge]
            other = columns[edge]
            for c in range(n_columns):
                product[c] += value * x[other, c]
        for c in range(n_columns):
            before = previous[row, c]
            previous[row, c] = omega * (alpha * product[c] - before) + before


@compiled
def residual_rows(block, x, right, first, last, squares, crossed):
    """Column sums of r^2 and of x r over rows ``first:last``, r = right - x + alpha S x, as doubles.

    ``right`` is overwritten by r.
    """
    indptr, columns, values, alpha = block
    for row in range(first, last):
        for c in range(x.shape[1]):
            total = 0.0
            for edge in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
                total += np.float64(values[edge]) * np.float64(x[columns[edge], c])
            left = right[row, c] - np.float64(x[row, c]) + alpha * total
            right[row, c] = left
            squares[c] += left * left
            crossed[c] += left * np.float64(x[row, c])
