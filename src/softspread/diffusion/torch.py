"""Conjugate gradients on torch's sparse tensors: the processor or, by the same code, a CUDA device.

x += a p,  r -= a (I - alpha S) p,  p = r + b p,   a and b per column        theory: [system]

The device is CUDA where torch finds one, else the processor. All numbers are float64, and the residual of
the answer is measured here, outside torch, as for every other solver.
"""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from softspread._common.progress import Advance
from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread.diffusion.cg import most_steps
from softspread.diffusion.solver import GraphSolver, Solution, no_progress
from softspread.errors import MissingExtraError
from softspread.graph.graph import Graph

if TYPE_CHECKING:
    import torch


class TorchSolver(GraphSolver):
    """Copies S to the device once; memory there: S and five arrays of B's shape."""

    name = "torch"

    def __init__(self, graph: Graph, alpha: float, workers: Workers) -> None:
        try:
            import torch
        except ImportError as error:
            raise MissingExtraError('solver="torch" needs: pip install "softspread[torch]"') from error
        super().__init__(graph, alpha, workers)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        S = graph.inner_operator()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support", UserWarning)  # "is in beta state"
            self._operator = torch.sparse_csr_tensor(
                torch.from_numpy(np.array(S.indptr, dtype=np.int64)),
                torch.from_numpy(np.array(S.indices, dtype=np.int64)),
                torch.from_numpy(np.array(S.data, dtype=np.float64)),
                size=S.shape,
                device=self.device,
                check_invariants=True,
            )

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        import torch

        with torch.no_grad():
            X, steps = self._solve(torch.from_numpy(np.array(B)).to(self.device), tol, advance)
        answer = np.ascontiguousarray(X.cpu().numpy())
        return self.measured(answer, B, tol, steps)

    def _solve(self, B: "torch.Tensor", tol: float, advance: Advance) -> tuple["torch.Tensor", int]:
        import torch

        X, R, P = torch.zeros_like(B), B.clone(), B.clone()
        squares = (R * R).sum(dim=0)
        # Half the tolerance inside: the recursive residual drifts a little from the true one.
        target = (0.5 * tol) ** 2 * squares
        limit = most_steps(self.alpha, tol)
        nothing = torch.zeros_like(squares)
        for iteration in range(limit):
            unsolved = squares > target
            if not bool(unsolved.any()):
                return X, iteration
            AP = P - self.alpha * (self._operator @ P)
            # A solved column stands still: its answer must not depend on the columns it was solved beside.
            step = torch.where(unsolved, squares / (P * AP).sum(dim=0), nothing)
            X += step * P
            R -= step * AP
            previous, squares = squares, (R * R).sum(dim=0)
            P = R + torch.where(unsolved, squares / previous, nothing) * P
            advance(1)
        return X, limit
