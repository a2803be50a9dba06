"""Factor once, solve exactly: dense Cholesky (the truth for all tests) and sparse LU for small graphs.

L L^T = I - alpha S,   X = L^-T L^-1 B        theory: [system]
"""

from contextlib import nullcontext

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import splu
from threadpoolctl import threadpool_limits

from softspread._common.progress import Advance
from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread.diffusion.solver import MOST_DENSE_ITEMS, GraphSolver, Solution, no_progress
from softspread.errors import InputError
from softspread.graph.graph import Graph

# Below, BLAS threads wait for each other longer than they work, above all on a busy machine
ONE_THREAD_ITEMS = 2_000


class DenseSolver(GraphSolver):
    """Dense Cholesky factor of I - alpha S; memory n * n * 8 bytes."""

    name = "dense"
    most_items = MOST_DENSE_ITEMS

    def __init__(self, graph: Graph, alpha: float, workers: Workers) -> None:
        if graph.n_items > self.most_items:
            raise InputError(
                f"solver='dense' takes up to {self.most_items:,} items, got {graph.n_items:,}; use "
                "solver='cg'."
            )
        super().__init__(graph, alpha, workers)
        system = graph.inner_operator().toarray()
        system *= -alpha
        system[np.diag_indices_from(system)] += 1.0
        with threadpool_limits(1, "blas") if graph.n_items <= ONE_THREAD_ITEMS else nullcontext():
            self._factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        X = np.ascontiguousarray(cho_solve(self._factor, B, check_finite=False))
        return self.measured(X, B, tol, 1)


class SparseDirectSolver(GraphSolver):
    """Sparse LU factor of I - alpha S; fill-in makes it slow beyond some ten thousand items."""

    name = "direct"

    def __init__(self, graph: Graph, alpha: float, workers: Workers) -> None:
        super().__init__(graph, alpha, workers)
        system = csc_array(eye_array(graph.n_items) - alpha * graph.inner_operator())
        self._factor = splu(
            system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}, diag_pivot_thresh=0.0
        )

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        X = np.ascontiguousarray(self._factor.solve(np.asarray(B)))
        return self.measured(X, B, tol, 1)
