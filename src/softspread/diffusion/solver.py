"""The seam between the method and linear algebra: (I - alpha S) X = B, solved and measured.

    Solver(graph, alpha, workers) once  ->  .solve(B, tol) often  ->  Solution (X, R, report)
                                                                                             theory: [system]

B and X are in the graph's inner numbering. The residual of every answer is computed from the answer itself,
so a report never repeats what a solver believes of itself. Since |M e_i|^2 <= M_ii / (1 - alpha) and M_ii <=
1 / (1 - alpha^2), no entry of X is further from the truth than |r|_2 / sqrt((1 - alpha) (1 - alpha^2)),
theory [entry bound]. The names of the solvers are in ``registry``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from softspread._common.progress import Advance
from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread._kernels.cg import apply_rows
from softspread.errors import ConvergenceError
from softspread.graph.graph import Graph

MOST_COLUMNS = 16  # columns that the compiled loops take at once
MANY_ENTRIES = 200_000  # below, threads cost more than they save
N_BLOCKS = 16  # row blocks for the threads; fixed, so that sums do not depend on the number of threads
MOST_DENSE_ITEMS = 20_000  # 3.2 GB for the factor of the dense solver
ROUNDING = 8 * np.finfo(np.float64).eps  # of a relative residual, times 1 / (1 - alpha)


def no_progress(steps: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class SolveReport:
    """Accuracy of a solve of (I - alpha S) X = B, measured on the answer itself.

    Attributes
    ----------
    solver : str
        Name of the solver.
    iterations : int
        Steps that it took.
    residual : float
        Largest norm of b - (I - alpha S) x relative to that of b, over the columns.
    bound : float
        Proven: no entry of X is further than this from the true one, apart from rounding.

    See Also
    --------
    ScaleReport : The same for the scales of profiles.

    Examples
    --------
    >>> from softspread import ProbabilisticLabelSpreading
    >>> est = ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=1).fit([[0.0], [1.0], [2.0]], [0, -1, 1])
    >>> est.solve_report_.residual < 1e-3
    True
    """

    solver: str
    iterations: int
    residual: float
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """X with (I - alpha S) X = B, and its residual."""

    X: FloatArray  # (n, columns)
    R: FloatArray  # (n, columns)  B - (I - alpha S) X
    report: SolveReport


class Solver(Protocol):
    """Prepared for one graph and one alpha."""

    name: str

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        """X for B (n, columns) with |residual|_2 <= tol |b|_2 in every column.

        Raises :class:`ConvergenceError` where that is not reached.
        """
        ...


SolverFactory = Callable[[Graph, float, Workers], Solver]  # what is registered, or given in place of a name


def entry_bound(alpha: float, residual_norm: float) -> float:
    """Largest possible error of one entry for a residual of this 2-norm, theory [entry bound]."""
    return residual_norm / float(np.sqrt((1 - alpha) * (1 - alpha * alpha)))


def row_blocks(graph: Graph, n_columns: int) -> list[tuple[int, int]]:
    """Row ranges with about equally many edges."""
    n = graph.n_items
    n_blocks = N_BLOCKS if n * n_columns >= MANY_ENTRIES else 1
    share = np.arange(1, n_blocks) * (graph.n_edges / n_blocks)
    cuts = [0, *np.searchsorted(graph.indptr, share).tolist(), n]
    return [(first, last) for first, last in pairwise(cuts) if last > first]


def column_groups(n_columns: int) -> list[slice]:
    """Columns in groups that the compiled loops can take, as even as possible."""
    n_groups = -(-n_columns // MOST_COLUMNS)
    cuts = np.linspace(0, n_columns, n_groups + 1).round().astype(int)
    return [slice(int(first), int(last)) for first, last in pairwise(cuts)]


def apply_system(graph: Graph, alpha: float, X: FloatArray, workers: Workers) -> FloatArray:
    """(I - alpha S) X."""
    out, system = np.empty_like(X), graph.inner_system(alpha)
    for group in column_groups(X.shape[1]):
        part = np.ascontiguousarray(X[:, group])
        product = np.empty_like(part)
        width = (0,) * part.shape[1]

        def work(
            rows: tuple[int, int],
            part: FloatArray = part,
            product: FloatArray = product,
            width: tuple[int, ...] = width,
        ) -> None:
            ignored = np.empty(len(width))
            apply_rows(system, part, product, *rows, width, ignored)

        workers.run(work, row_blocks(graph, part.shape[1]))
        out[:, group] = product
    return out


def relative_residual(R: FloatArray, B: FloatArray) -> float:
    """Largest |r|_2 / |b|_2 over the columns; a zero column must have a zero residual."""
    norms = np.linalg.norm(B, axis=0)
    left = np.linalg.norm(R, axis=0)
    return float((left / np.where(norms > 0, norms, 1.0)).max(initial=0.0))


class GraphSolver:
    """Base of the built-in solvers: the system, and the answer with its measured residual."""

    name: str

    def __init__(self, graph: Graph, alpha: float, workers: Workers) -> None:
        self.graph, self.alpha, self.workers = graph, alpha, workers

    def measured(self, X: FloatArray, B: FloatArray, tol: float, iterations: int) -> Solution:
        """The answer with its own residual; refused where that is larger than what was asked for."""
        isolated = self.graph.inner_degrees == 0
        X[isolated] = B[isolated]  # nothing reaches or leaves them
        R = B - apply_system(self.graph, self.alpha, X, self.workers)
        residual = relative_residual(R, B)
        if not residual <= max(tol * (1 + 1e-3), ROUNDING / (1 - self.alpha)):
            raise ConvergenceError(
                f"{self.name} reached a relative residual of {residual:.1e} after {iterations} steps, asked "
                f"{tol:.0e}. Loosen tol, or pass solver='dense' (up to {MOST_DENSE_ITEMS:,} items) or "
                "solver='amg' (alpha close to 1)."
            )
        bound = entry_bound(self.alpha, float(np.linalg.norm(R, axis=0).max(initial=0.0)))
        return Solution(X, R, SolveReport(self.name, iterations, residual, bound))
