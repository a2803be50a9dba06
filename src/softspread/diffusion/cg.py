"""Conjugate gradients on all columns in lockstep: one pass over the graph per step serves every column.

x += a p,  r -= a (I - alpha S) p,  p = r + b p,   a and b per column        theory: [system]
"""

import numpy as np

from softspread._common.progress import Advance
from softspread._common.types import FloatArray
from softspread._kernels.cg import apply_rows, step_along, turn_direction
from softspread.diffusion.solver import GraphSolver, Solution, column_groups, no_progress, row_blocks


def most_steps(alpha: float, tol: float) -> int:
    """Most steps that conjugate gradients need.

    In theory sqrt(condition) / 2 * ln(2 sqrt(condition) / tol); rounding earns a margin.
    """
    condition = (1 + alpha) / (1 - alpha)
    return 20 + int(np.ceil(2 * np.sqrt(condition) * np.log(2 * np.sqrt(condition) / tol)))


class ConjugateGradients(GraphSolver):
    """Needs no preparation; memory: four arrays of B's shape."""

    name = "cg"

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        X = np.zeros_like(B)
        iterations = 0
        for group in column_groups(B.shape[1]):
            X[:, group], steps = self._solve_group(np.ascontiguousarray(B[:, group]), tol, advance)
            iterations = max(iterations, steps)
        return self.measured(X, B, tol, iterations)

    def _solve_group(self, B: FloatArray, tol: float, advance: Advance) -> tuple[FloatArray, int]:
        system = self.graph.inner_system(self.alpha)
        n_columns = B.shape[1]
        width = (0,) * n_columns
        blocks = row_blocks(self.graph, n_columns)
        numbered = list(enumerate(blocks))
        partial = np.zeros((len(blocks), n_columns))
        X, R, P, AP = np.zeros_like(B), B.copy(), B.copy(), np.empty_like(B)
        step, ratio = np.zeros(n_columns), np.zeros(n_columns)

        def apply(block: tuple[int, tuple[int, int]]) -> None:
            number, rows = block
            apply_rows(system, P, AP, *rows, width, partial[number])

        def move(block: tuple[int, tuple[int, int]]) -> None:
            number, rows = block
            step_along(X, R, P, AP, step, *rows, width, partial[number])

        def turn(block: tuple[int, tuple[int, int]]) -> None:
            turn_direction(P, R, ratio, *block[1], width)

        squares = np.einsum("ij,ij->j", R, R)
        # Half the tolerance inside: the recursive residual drifts a little from the true one.
        target = (0.5 * tol) ** 2 * squares
        limit = most_steps(self.alpha, tol)
        for iteration in range(limit):
            unsolved = squares > target
            if not unsolved.any():
                return X, iteration
            self.workers.run(apply, numbered)
            # A solved column stands still: its answer must not depend on the columns it was solved beside.
            step[:] = 0.0
            np.divide(squares, partial.sum(axis=0), out=step, where=unsolved)
            self.workers.run(move, numbered)
            previous, squares = squares, partial.sum(axis=0)
            ratio[:] = 0.0
            np.divide(squares, previous, out=ratio, where=unsolved)
            self.workers.run(turn, numbered)
            advance(1)
        return X, limit
