"""The default solver: a dense factor for small graphs, else conjugate gradients."""

from softspread._common.threads import Workers
from softspread.diffusion.cg import ConjugateGradients
from softspread.diffusion.direct import DenseSolver
from softspread.diffusion.solver import Solver
from softspread.graph.graph import Graph

DENSE_ITEMS = 1_000  # up to here one dense factor is faster than compiled iterations, and exact


def prepare_default(graph: Graph, alpha: float, workers: Workers, dense_items: int = DENSE_ITEMS) -> Solver:
    """Dense or "cg", whichever is faster for this graph."""
    chosen = DenseSolver if choose_solver(graph.n_items, dense_items) == "dense" else ConjugateGradients
    return chosen(graph, alpha, workers)


def choose_solver(n_items: int, dense_items: int = DENSE_ITEMS) -> str:
    """Dense for small graphs, else conjugate gradients, which beat multigrid up to alpha 0.9999 at least."""
    return "dense" if n_items <= dense_items else "cg"
