"""The method: votes diffuse over the graph, what arrives becomes a soft label.

    B[q, c] = (votes on q for c) / s_q,   Y = (I - alpha S)^-1 B,   p = (Y + kappa prior) / (N + kappa)

theory: [profile], [mass], [soft label]. Only the scale s_q of each *distinct* voted item stands between the
paper's loop over votes and one linear system with a column per class; `literal_mass` keeps the loop as the
reference.
"""

from typing import Any

import numpy as np

from softspread._common.progress import Advance
from softspread._common.threads import Workers, count_threads
from softspread._common.types import FloatArray, IntArray, ScaleReport, Solution
from softspread.diffusion.scales import ScaleFinder
from softspread.diffusion.solver import Solver, no_progress, prepare
from softspread.graph.graph import Graph

PROFILE_TOL = 1e-10  # single profiles (explanations, the literal mode) are cheap enough to be nearly exact
LARGEST_DELTA = 1.7e-3


def scale_accuracy(alpha: float, tol: float) -> float:
    """Certified accuracy to ask of the scales: soft labels off by less than 1e-4 at tol 1e-6, than 1e-6 at
    tol 1e-8.

    Measured on cifar10h and on synthetic items at alpha 0.5 to 0.99: the farther votes travel, the more of
    them an item averages over, and the less an error of one scale matters. 6.5e-4 at alpha 0.5, 1.7e-3 from
    0.9 on.
    """
    return min(LARGEST_DELTA, 6.5e-4 * float((0.5 / (1 - alpha)) ** 0.6 * (tol / 1e-6) ** 1.25))


class Diffusion:
    """One graph at one alpha: scales, profiles and solves, in the graph's inner numbering.

    In the random-walk form (I - alpha S)^-1 = D^-1/2 M D^1/2 with the symmetric M, so a vote enters
    multiplied by sqrt(d) at its item and mass leaves divided by sqrt(d); in the symmetric form both factors
    are 1.
    """

    def __init__(
        self,
        graph: Graph,
        alpha: float,
        *,
        scaling: str = "peak",
        solver: str = "auto",
        tol: float = 1e-6,
        scale_mode: str = "calibrated",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.graph, self.alpha, self.scaling, self.tol = graph, alpha, scaling, tol
        self.literal = solver == "literal"
        self.solver_name, self.scale_mode, self.n_jobs, self.verbose = solver, scale_mode, n_jobs, verbose
        self.workers = Workers(count_threads(n_jobs))
        self.solver: Solver = prepare("auto" if self.literal else solver, graph, alpha, self.workers)
        delta = scale_accuracy(alpha, tol)
        self.finder = ScaleFinder(graph, alpha, scaling, scale_mode, delta, self.solver, self.workers)
        self.root = graph.root_degrees()
        self.rank = graph.rank
        self._factor = self.root if graph.normalization == "random_walk" else None

    def __getstate__(self) -> dict[str, Any]:
        names = ("graph", "alpha", "scaling", "tol", "scale_mode", "n_jobs", "verbose")
        return {
            "settings": {name: getattr(self, name) for name in names} | {"solver": self.solver_name},
            "scales": self.finder.state(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings = dict(state["settings"])
        self.__init__(settings.pop("graph"), settings.pop("alpha"), **settings)  # type: ignore[misc]
        self.finder.restore(state["scales"])

    def sources(self, rows: IntArray, weights: FloatArray) -> FloatArray:
        """What votes of these weights put into the symmetric system at their items."""
        amounts = weights / self.finder.scales(rows, self.verbose)
        return amounts if self._factor is None else amounts * self._factor[rows]

    def mass(self, Y: FloatArray, rows: Any = slice(None)) -> FloatArray:
        """Mass of the given rows from the solution of the symmetric system."""
        part = Y[rows]
        return part if self._factor is None else np.asarray(part / self._factor[rows][:, None])

    def error_factor(self) -> FloatArray:
        """What an error of the symmetric solution is multiplied with to become an error of mass, per item."""
        return np.ones(self.graph.n_items) if self._factor is None else 1 / self._factor

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        """The symmetric system."""
        return self.solver.solve(B, tol, advance)

    def profile(self, row: int) -> FloatArray:
        """M e_q of the symmetric system, unscaled."""
        unit = np.zeros((self.graph.n_items, 1))
        unit[row] = 1.0
        return np.asarray(self.solve(unit, PROFILE_TOL).X[:, 0])

    def reach_of_votes(self, row: int, vote_rows: IntArray) -> FloatArray:
        """How much one item receives from a vote of weight 1 on each of the given rows."""
        profile = self.profile(row)[vote_rows]
        scaled = profile / self.finder.scales(vote_rows)
        return scaled if self._factor is None else scaled * self._factor[vote_rows] / self._factor[row]

    def literal_profile(self, row: int) -> FloatArray:
        """Algorithm 1, lines 11 and 12: one solve for one vote, divided as the scaling says."""
        phi = self.profile(row)
        if self._factor is not None:
            phi = phi * self._factor[row] / self._factor
        scale = {"peak": float(phi.max()), "source": float(phi[row]), "none": 1.0}[self.scaling]
        return np.asarray(phi / scale)

    def scale_report(self) -> ScaleReport:
        """How well the scales are known."""
        return self.finder.report()
