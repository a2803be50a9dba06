"""(I - alpha S) Y = B by Chebyshev steps: no sums over all items, and a number of steps known beforehand.

    y_0 = 0,  y_1 = b,  y_k+1 = omega_k+1 (alpha S y_k + b - y_k-1) + y_k-1
    omega_1 = 1,  omega_2 = 1 / (1 - alpha^2 / 2),  omega_k+1 = 1 / (1 - alpha^2 omega_k / 4)

The spectrum of alpha S lies in [-alpha, alpha], so the residual after k steps is T_k(S) B / T_k(1 / alpha)
with the Chebyshev polynomial T_k: |r|_2 <= |B|_2 / T_k(1 / alpha), which fixes k for a tolerance. Vectors
are in single precision, which adds about 1e-7 / (1 - alpha) of the largest entries nearby; the residual
that a run reports is measured on its answer in double precision.
"""

import math
from typing import NamedTuple

import numpy as np

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread._kernels.blocks import chebyshev_rows, residual_rows
from softspread.blocks.operator import BlockOperator
from softspread.diffusion.solver import column_groups

ROWS_AT_ONCE = 16_384  # of a step, per thread


class RightSide(NamedTuple):
    """What votes put into the system, on the few rows that have any."""

    rows: IntArray  # (m,)  positions in the block
    values: FloatArray  # (m, columns)


def steps_for(alpha: float, tol: float) -> int:
    """Fewest steps after which the relative residual is at most ``tol``, by the bound above.

    Examples
    --------
    >>> steps_for(0.9, 1e-7), steps_for(0.99, 1e-7), steps_for(0.0, 1e-7)
    (36, 119, 1)
    """
    return 1 if alpha == 0 else max(1, math.ceil(math.acosh(1 / tol) / math.acosh(1 / alpha)))


def omegas(alpha: float, n_steps: int) -> list[float]:
    """The factors of all steps."""
    found = [1.0]
    for step in range(1, n_steps):
        found.append(1 / (1 - alpha * alpha * found[-1] / (2 if step == 1 else 4)))
    return found[:n_steps]


def step_block(
    operator: BlockOperator,
    alpha: float,
    omega: float,
    x: AnyArray,
    halo: AnyArray,
    previous: AnyArray,
    right: RightSide,
    workers: Workers,
) -> AnyArray:
    """The next vector of one block, (b, columns), written over ``previous``.

    Parameters
    ----------
    x : (b, columns) float32, the block's own rows; halo : (h, columns), those of its neighbours
    """
    block = (operator.indptr, operator.columns, operator.values, alpha)
    for group in column_groups(x.shape[1]):
        seen = np.concatenate([x[:, group], halo[:, group]])
        part = np.ascontiguousarray(previous[:, group])
        width = (0,) * part.shape[1]

        def work(
            first: int, seen: AnyArray = seen, part: AnyArray = part, width: tuple[int, ...] = width
        ) -> None:
            last = min(len(part), first + ROWS_AT_ONCE)
            chebyshev_rows(block, seen, part, np.float32(omega), first, last, width)

        workers.run(work, range(0, len(part), ROWS_AT_ONCE))
        if part.base is not previous and part is not previous:
            previous[:, group] = part
    previous[right.rows] += (omega * right.values).astype(np.float32)
    return previous


def residual_of_block(
    operator: BlockOperator, alpha: float, x: AnyArray, halo: AnyArray, right: RightSide, workers: Workers
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Column sums of b^2, r^2 and x r over the rows of one block, r = b - (I - alpha S) x."""
    n_columns = x.shape[1]
    seen, R = np.concatenate([x, halo]), np.zeros((len(x), n_columns))
    R[right.rows] = right.values
    asked = np.einsum("ij,ij->j", right.values, right.values)
    pieces = range(0, len(x), ROWS_AT_ONCE)
    sums = np.zeros((2, len(pieces), n_columns))
    block = (operator.indptr, operator.columns, operator.values, alpha)

    def work(number: int) -> None:
        first = pieces[number]
        last = min(len(x), first + ROWS_AT_ONCE)
        residual_rows(block, seen, R, first, last, sums[0, number], sums[1, number])

    workers.run(work, range(len(pieces)))
    return asked, sums[0].sum(axis=0), sums[1].sum(axis=0)
