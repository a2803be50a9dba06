"""The requirements on a solver of (I - alpha S) X = B."""

import numpy as np

from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread.diffusion.registry import SOLVERS
from softspread.diffusion.solver import Solution, SolverFactory, entry_bound
from softspread.graph.graph import Graph
from softspread.testing.claims import answer_of, require, require_close
from softspread.testing.examples import clustered_graph

TOLERANCE = 1e-8  # asked of the solver
ROUNDING = 1e-12  # allowed beside it


def check_solver(solver: str | SolverFactory, *, alphas: tuple[float, ...] = (0.0, 0.5, 0.9, 0.99)) -> None:
    """Check that a solver keeps the promises of :class:`~softspread.diffusion.solver.Solver`.

    On a small graph with an isolated item it must solve several columns at once to the tolerance asked for,
    report the residual truthfully, leave its input alone, treat every column by itself and answer the same
    again.

    Parameters
    ----------
    solver : str or callable
        A registered name, or what would be registered: ``solver(graph, alpha, workers)`` returns an object
        with ``name`` and ``solve(B, tol, advance)``.
    alphas : tuple of float, default (0.0, 0.5, 0.9, 0.99)
        Where to check it; leave out those it is not made for.

    Raises
    ------
    AssertionError
        Naming the first promise that is broken.

    Examples
    --------
    >>> from softspread.testing import check_solver
    >>> check_solver("cg")
    """
    make = SOLVERS.find(solver)
    graph = clustered_graph()
    for alpha in alphas:
        _check_at(make, graph, alpha)


def _check_at(make: SolverFactory, graph: Graph, alpha: float) -> None:
    where = f"at alpha {alpha:g}"
    with Workers(1) as workers:
        prepared = make(graph, alpha, workers)
        require(isinstance(prepared.name, str) and prepared.name, "a solver has a name")
        B = _right_sides(graph.n_items)
        kept = B.copy()
        solution = answer_of(lambda: prepared.solve(B, TOLERANCE), f"{where} the system is solved")
        require(np.array_equal(B, kept), f"{where} the right-hand sides stay as they are")
        _check_solution(solution, graph, alpha, B, prepared.name)
        alone = prepared.solve(B[:, 1:2].copy(), TOLERANCE).X
        most = 2 * entry_bound(alpha, TOLERANCE * float(np.linalg.norm(B[:, 1]))) + ROUNDING
        require_close(alone[:, 0], solution.X[:, 1], most, f"{where} a column alone has the same answer")
        again = prepared.solve(B, TOLERANCE).X
        require(np.array_equal(again, solution.X), f"{where} the same question has the same answer")


def _right_sides(n: int) -> FloatArray:
    """A unit vector, random numbers of both signs, nothing, and a column for the isolated item."""
    B = np.zeros((n, 4))
    B[0, 0], B[:, 1], B[n - 1, 3] = 1.0, np.random.default_rng(0).normal(size=n), 2.0
    return B


def _check_solution(solution: Solution, graph: Graph, alpha: float, B: FloatArray, name: str) -> None:
    where = f"at alpha {alpha:g}"
    system = np.eye(graph.n_items) - alpha * graph.inner_operator().toarray()
    require(solution.X.shape == B.shape, f"{where} X has the shape of B, {B.shape}, not {solution.X.shape}")
    R = B - system @ solution.X
    norms = np.linalg.norm(B, axis=0)
    off = float((np.linalg.norm(R, axis=0) - TOLERANCE * (1 + 1e-3) * norms).max())
    require(off <= ROUNDING / (1 - alpha), f"{where} every column reaches the tolerance, off by {off:.1e}")
    bound = entry_bound(alpha, TOLERANCE * (1 + 1e-3) * float(norms.max())) + ROUNDING / (1 - alpha)
    require_close(solution.X, np.linalg.solve(system, B), bound, f"{where} the answer is the exact one")
    require_close(solution.R, R, ROUNDING / (1 - alpha), f"{where} R is what is left over")
    require(solution.report.solver == name, f"{where} the report names the solver {name!r}")
    reported = float((np.linalg.norm(R, axis=0)[norms > 0] / norms[norms > 0]).max())
    require_close(
        solution.report.residual, reported, ROUNDING / (1 - alpha), f"{where} the report is truthful"
    )
