"""Conjugate gradients with an algebraic multigrid preconditioner, for alpha close to 1 (extra "amg").

The slowest direction of I - alpha S is sqrt(d), which is handed to the coarse levels as their near null
space.
"""

import numpy as np
from scipy.sparse import csr_matrix, eye_array
from scipy.sparse.linalg import LinearOperator, cg

from softspread._common.progress import Advance
from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread.diffusion.solver import GraphSolver, Solution, no_progress
from softspread.errors import MissingExtraError
from softspread.graph.graph import Graph

MAX_STEPS = 500  # of each column; beyond, the measured residual refuses the answer


class MultigridSolver(GraphSolver):
    """Sets up the hierarchy once; each column is then a few preconditioned steps."""

    name = "amg"

    def __init__(self, graph: Graph, alpha: float, workers: Workers) -> None:
        try:
            from pyamg import smoothed_aggregation_solver
        except ImportError as error:
            raise MissingExtraError('solver="amg" needs: pip install "softspread[amg]"') from error
        super().__init__(graph, alpha, workers)
        self._system = csr_matrix(eye_array(graph.n_items) - alpha * graph.inner_operator())
        self._system.indptr = self._system.indptr.astype(np.int32)
        self._system.indices = self._system.indices.astype(np.int32)
        hierarchy = smoothed_aggregation_solver(
            self._system, B=graph.inner_root[:, None], symmetry="symmetric"
        )
        self._preconditioner: LinearOperator = hierarchy.aspreconditioner()

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        X = np.zeros_like(B)
        iterations = 0

        def count(_: FloatArray) -> None:
            nonlocal iterations
            iterations += 1

        for column in range(B.shape[1]):
            # Half the tolerance: the recursive residual drifts from the true one, by which `measured` judges.
            X[:, column], _ = cg(
                self._system,
                B[:, column],
                rtol=0.5 * tol,
                atol=0.0,
                maxiter=MAX_STEPS,
                M=self._preconditioner,
                callback=count,
            )
            advance(1)
        return self.measured(X, B, tol, iterations)
