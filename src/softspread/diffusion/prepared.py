"""A solver by name, prepared when it is first needed.

prepare("cg", graph, alpha, workers)  ->  a solver of (I - alpha S) X = B                theory: [system]
"""

from functools import cached_property

from softspread._common.progress import Advance
from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread.diffusion.automatic import choose_solver
from softspread.diffusion.registry import SOLVERS
from softspread.diffusion.solver import Solution, Solver, no_progress
from softspread.graph.graph import Graph


def prepare(name: str, graph: Graph, alpha: float, workers: Workers) -> Solver:
    """The named solver for this graph and alpha."""
    return SOLVERS.get(name)(graph, alpha, workers)


class PreparedOnUse:
    """The named solver, prepared by the first solve: many questions about scales never need one."""

    def __init__(self, name: str, graph: Graph, alpha: float, workers: Workers) -> None:
        self.name = choose_solver(graph.n_items) if name in ("auto", "literal") else SOLVERS.check(name)
        self._for = graph, alpha, workers

    @cached_property
    def _solver(self) -> Solver:
        return prepare(self.name, *self._for)

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        return self._solver.solve(B, tol, advance)
