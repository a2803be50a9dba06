"""Neighbour lists: drop the item itself, measure, sort."""

import numpy as np

from softspread._kernels.system import compiled_as_written


@compiled_as_written
def drop_self(found, first_row, out):
    """Each row of ``found`` without the item itself, or without its last entry where the item is absent."""
    k = out.shape[1]
    for row in range(found.shape[0]):
        filled = 0
        for j in range(found.shape[1]):
            if filled < k and found[row, j] != first_row + row:
                out[row, filled] = found[row, j]
                filled += 1


@compiled_as_written
def squared_distances(X, queries, neighbors, out):
    """|queries[i] - X[neighbors[i, j]]|**2 in double precision."""
    for row in range(neighbors.shape[0]):
        for j in range(neighbors.shape[1]):
            other = neighbors[row, j]
            total = 0.0
            for c in range(X.shape[1]):
                difference = np.float64(queries[row, c]) - np.float64(X[other, c])
                total += difference * difference
            out[row, j] = total


@compiled_as_written
def sort_rows(keys, values):
    """Sort each row of both by key, then value; insertion sort, as rows are short and nearly sorted."""
    for row in range(keys.shape[0]):
        for j in range(1, keys.shape[1]):
            key = keys[row, j]
            value = values[row, j]
            i = j
            while i > 0 and (
                keys[row, i - 1] > key or (keys[row, i - 1] == key and values[row, i - 1] > value)
            ):
                keys[row, i] = keys[row, i - 1]
                values[row, i] = values[row, i - 1]
                i -= 1
            keys[row, i] = key
            values[row, i] = value
