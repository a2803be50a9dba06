"""One step of conjugate gradients on a range of rows, all columns at once.

``width`` is a tuple with one entry per column: its length is part of its type, so the inner loops over
columns have a constant length and are unrolled. One compilation per number of columns, kept on disk. Sums
are returned per range, so that the caller adds them in a fixed order.
"""

import numpy as np

from softspread._kernels.system import compiled

FOUR = np.uint64(4)  # unsigned like the indices: signed ones would be tested for wrapping around


@compiled
def apply_rows(system, P, out, first, last, width, dots):
    """Rows ``first:last`` of out = (I - alpha S) P, and the column sums of P * out over these rows."""
    indptr, indices, weights, _, alpha = system
    n_columns = len(width)
    total = np.zeros(n_columns)
    product = np.empty(n_columns)
    for row in range(first, last):
        for c in range(n_columns):
            product[c] = 0.0
        edge, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        while edge + FOUR <= end:  # four edges at a time: the sum is read and written once for them
            a, b = edge + np.uint64(1), edge + np.uint64(2)
            d = edge + np.uint64(3)
            i, j, k, m = indices[edge], indices[a], indices[b], indices[d]
            u, v, w, z = weights[edge], weights[a], weights[b], weights[d]
            for c in range(n_columns):
                product[c] += (u * P[i, c] + v * P[j, c]) + (w * P[k, c] + z * P[m, c])
            edge += FOUR
        while edge < end:
            weight = weights[edge]
            neighbor = indices[edge]
            for c in range(n_columns):
                product[c] += weight * P[neighbor, c]
            edge += np.uint64(1)
        for c in range(n_columns):
            value = P[row, c] - alpha * product[c]
            out[row, c] = value
            total[c] += P[row, c] * value
    for c in range(n_columns):
        dots[c] = total[c]


@compiled
def step_along(X, R, P, AP, step, first, last, width, squares):
    """X += step P and R -= step AP on rows ``first:last``, and the column sums of R**2 over these rows."""
    n_columns = len(width)
    total = np.zeros(n_columns)
    for row in range(first, last):
        for c in range(n_columns):
            X[row, c] += step[c] * P[row, c]
            value = R[row, c] - step[c] * AP[row, c]
            R[row, c] = value
            total[c] += value * value
    for c in range(n_columns):
        squares[c] = total[c]


@compiled
def turn_direction(P, R, ratio, first, last, width):
    """P = R + ratio P on rows ``first:last``."""
    for row in range(first, last):
        for c in range(len(width)):
            P[row, c] = R[row, c] + ratio[c] * P[row, c]
