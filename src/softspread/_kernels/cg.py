"""One step of conjugate gradients on a range of rows, all columns at once.

``width`` is a tuple with one entry per column: its length is part of its type, so the inner loops over
columns have a constant length and are unrolled. One compilation per number of columns, kept on disk. Sums
are returned per range, so that the caller adds them in a fixed order.
"""

import numpy as np

from softspread._kernels.system import compiled


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
        for edge in range(indptr[row], indptr[row + 1]):
            weight = weights[edge]
            neighbor = indices[edge]
            for c in range(n_columns):
                product[c] += weight * P[neighbor, c]
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
