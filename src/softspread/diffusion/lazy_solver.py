"""A solver by name, or a class of the user's, prepared when it is first needed.

prepare("cg" or a class, graph, alpha, workers)  ->  a solver of (I - alpha S) X = B         theory: [system]
"""

from functools import cached_property

from softspread._common.progress import Advance
from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread.diffusion.default_solver import choose_solver
from softspread.diffusion.registry import SOLVERS
from softspread.diffusion.solver import Solution, Solver, SolverFactory, no_progress
from softspread.graph.graph import Graph


def prepare(solver: str | SolverFactory, graph: Graph, alpha: float, workers: Workers) -> Solver:
    """The named solver, or one of the user's, for this graph and alpha."""
    return SOLVERS.find(solver)(graph, alpha, workers)


class LazySolver:
    """The solver, prepared by the first solve: many questions about scales never need one."""

    def __init__(self, solver: str | SolverFactory, graph: Graph, alpha: float, workers: Workers) -> None:
        chosen = choose_solver(graph.n_items) if solver in ("auto", "literal") else solver
        self.name = getattr(chosen, "name", "own") if callable(chosen) else SOLVERS.check(chosen)
        self._for = chosen, graph, alpha, workers

    @cached_property
    def _solver(self) -> Solver:
        return prepare(*self._for)

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        return self._solver.solve(B, tol, advance)
