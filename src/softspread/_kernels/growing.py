"""Loops of a graph that grows: lists read off its edges, and which pairs are near enough to matter."""

import numpy as np

from softspread._kernels.system import compiled_as_written


@compiled_as_written
def nearest_edges(indptr, indices, X, ranks, first, last, found, squared):
    """The nearest ends of the edges of rows ``first`` to ``last``, nearest first; ties go by rank.

    Rows with too few edges keep what ``found`` and ``squared`` held before.
    """
    k = found.shape[1]
    gaps = np.empty(np.diff(indptr[first : last + 1]).max())
    near, ends = np.empty(k + 1), np.empty(k + 1, dtype=np.int64)  # the last place is for what drops out
    for row in range(first, last):
        begin, end = indptr[row], indptr[row + 1]
        for edge in range(begin, end):  # a loop of its own, free of jumps: the processor works ahead
            other = indices[edge]
            total = 0.0
            for c in range(X.shape[1]):
                difference = np.float64(X[row, c]) - np.float64(X[other, c])
                total += difference * difference
            gaps[edge - begin] = total
        filled = 0
        for edge in range(begin, end):
            total, new = gaps[edge - begin], np.int64(indices[edge])
            at = filled
            while at > 0 and (
                near[at - 1] > total or (near[at - 1] == total and ranks[ends[at - 1]] > ranks[new])
            ):
                near[at] = near[at - 1]
                ends[at] = ends[at - 1]
                at -= 1
            near[at] = total
            ends[at] = new
            filled = min(filled + 1, k)
        squared[row, :filled] = near[:filled]
        found[row, :filled] = ends[:filled]


@compiled_as_written
def near_pairs(products, row_norms, column_norms, row_limits, column_limits, rows, columns):
    """Pairs with |x|^2 + |y|^2 - 2 x.y at most the larger of their limits, and how many they are.

    Those that find no room in ``rows`` and ``columns`` are only counted.
    """
    count = 0
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            squared = row_norms[i] + column_norms[j] - 2.0 * products[i, j]
            if squared <= row_limits[i] or squared <= column_limits[j]:
                if count < len(rows):
                    rows[count] = i
                    columns[count] = j
                count += 1
    return count
