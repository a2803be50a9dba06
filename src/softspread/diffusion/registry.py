"""Solvers by name.

prepare("cg", graph, alpha, workers)  ->  a solver of (I - alpha S) X = B                theory: [system]
"""

from functools import cached_property

from softspread._common.progress import Advance
from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread.diffusion import amg, cg, direct, push
from softspread.diffusion.solver import Solution, Solver, SolverFactory, no_progress
from softspread.errors import InputError
from softspread.graph.graph import Graph

DENSE_ITEMS = 1_000  # up to here one dense factor is faster than compiled iterations, and exact
_SOLVERS: dict[str, SolverFactory] = {
    "dense": direct.DenseSolver,
    "direct": direct.SparseDirectSolver,
    "cg": cg.ConjugateGradients,
    "push": push.PushSolver,
    "amg": amg.MultigridSolver,
}


def prepare(name: str, graph: Graph, alpha: float, workers: Workers) -> Solver:
    """The named solver for this graph and alpha."""
    return _SOLVERS[resolve(name, graph)](graph, alpha, workers)


def resolve(name: str, graph: Graph) -> str:
    """The name of a solver for this graph, checked; "auto" is replaced by the solver it stands for."""
    if name == "auto":
        return choose_solver(graph.n_items)
    if name not in _SOLVERS:
        raise InputError(f"solver must be 'auto' or one of {sorted(_SOLVERS)}, got {name!r}.")
    return name


def choose_solver(n_items: int) -> str:
    """Dense for small graphs, else conjugate gradients: in lockstep they beat multigrid up to alpha 0.9999 at
    least.
    """
    return "dense" if n_items <= DENSE_ITEMS else "cg"


class PreparedOnUse:
    """The named solver, prepared by the first solve: many questions about scales never need one."""

    def __init__(self, name: str, graph: Graph, alpha: float, workers: Workers) -> None:
        self.name = resolve(name, graph)
        self._for = graph, alpha, workers

    @cached_property
    def _solver(self) -> Solver:
        return prepare(self.name, *self._for)

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        return self._solver.solve(B, tol, advance)
