"""The method: votes diffuse over the graph, what arrives becomes a soft label.

    B[q, c] = (votes on q for c) / s_q,   Y = (I - alpha S)^-1 B,   p = (Y + kappa prior) / (N + kappa)

theory: [profile], [mass], [soft label]. Only the scale s_q of each *distinct* voted item stands between the
paper's loop over votes and one linear system with a column per class; `literal_mass` keeps the loop as the
reference.

Rows are the user's. Names that start with ``inner_`` speak the graph's inner numbering instead; only
``graph``, ``diffusion`` and the compiled loops may use them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.threads import Workers, count_threads
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.lazy_solver import LazySolver
from softspread.diffusion.scales import ONWARD_ALPHA, ScaleFinder, ScaleReport
from softspread.diffusion.solver import Solver, SolverFactory, apply_system
from softspread.graph.graph import Graph

PROFILE_TOL = 1e-10  # single profiles (explanations, the literal mode) are cheap enough to be nearly exact
LARGEST_DELTA = 1.7e-3  # what alpha 0.9 asks for; beyond, errors average out no further
# Where the remainder is read off each solve, solves looser by this leave about the same errors; above alpha
# 0.95 less is gained on small graphs
ONWARD_GAIN, GAIN_BEYOND = 3.0, 1.5


def scale_accuracy(alpha: float, tol: float) -> float:
    """Certified accuracy to ask of the scales.

    Soft labels are then off by less than 1e-4 at tol 1e-6, by less than 1e-6 at tol 1e-8.

    Measured on cifar10h and on synthetic items at alpha 0.5 to 0.99: the farther votes travel, the more of
    them an item averages over, and the less an error of one scale matters. 6.5e-4 at alpha 0.5, 1.7e-3 from
    0.9 on.
    """
    return min(LARGEST_DELTA, 6.5e-4 * float((0.5 / (1 - alpha)) ** 0.6 * (tol / 1e-6) ** 1.25))


def local_accuracy(alpha: float, tol: float) -> float:
    """Certified accuracy to ask of local solves, with what :class:`ScaleFinder` makes of their remainder.

    Root mean square error of 400 scales at alpha 0.95, one multiple for all and this: at a million items
    2.2e-5 and 3.4e-5, at 10,000 items 1.1e-4 and 8.5e-5; at 0.99 and 10,000 items 8.8e-5 and 1.1e-4.
    """
    gain = 1.0 if alpha < ONWARD_ALPHA else ONWARD_GAIN if alpha == ONWARD_ALPHA else GAIN_BEYOND
    return gain * scale_accuracy(alpha, tol)


class Diffusion:
    """One graph at one alpha: scales, profiles and solves.

    In the random-walk form (I - alpha S)^-1 = D^-1/2 M D^1/2 with the symmetric M, so a vote enters
    multiplied by sqrt(d) at its item and mass leaves divided by sqrt(d); in the symmetric form both factors
    are 1.

    Parameters
    ----------
    accuracy : certified accuracy of the scales; None = what ``tol`` asks for at this alpha
    workers : threads to share; None starts ``n_jobs`` of its own
    """

    def __init__(
        self,
        graph: Graph,
        alpha: float,
        *,
        scaling: str = "peak",
        solver: str | SolverFactory = "auto",
        tol: float = 1e-6,
        accuracy: float | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        workers: Workers | None = None,
    ) -> None:
        self.graph, self.alpha, self.scaling, self.tol, self.verbose = graph, alpha, scaling, tol, verbose
        self.solver_name, self.literal = solver, solver == "literal"
        self.accuracy = local_accuracy(alpha, tol) if accuracy is None else accuracy
        self.workers = Workers(count_threads(n_jobs)) if workers is None else workers
        self.solver: Solver = LazySolver(solver, graph, alpha, self.workers)  # in inner numbering
        self.inner_finder = self._finder()
        self._factor = graph.inner_root if graph.normalization == "random_walk" else None

    def _finder(self) -> ScaleFinder:
        limits = self.scaling, "calibrated", self.accuracy
        return ScaleFinder(self.graph, self.alpha, *limits, self.solver, self.workers)

    def _settings(self) -> dict[str, Any]:
        names = ("graph", "alpha", "scaling", "tol", "accuracy", "verbose", "workers")
        return {name: getattr(self, name) for name in names} | {"solver": self.solver_name}

    def at(
        self,
        alpha: float | None = None,
        *,
        tol: float | None = None,
        scaling: str | None = None,
        accuracy: float | None = None,
        n_threads: int | None = None,
    ) -> "Diffusion":
        """The same graph and the same choice of solver with another alpha, or whatever else is given.

        What still holds is shared: the threads, a prepared solver, scales found by either of the two. The
        accuracy of the scales follows alpha and tol unless it is given.
        """
        given = {"alpha": alpha, "tol": tol, "scaling": scaling}
        settings = self._settings() | {name: value for name, value in given.items() if value is not None}
        if (settings["alpha"], settings["tol"]) != (self.alpha, self.tol) or accuracy is not None:
            settings["accuracy"] = accuracy
        if n_threads is not None:
            settings["workers"] = Workers(n_threads)
        other = Diffusion(**settings)
        if other.alpha == self.alpha and n_threads is None:
            other.solver = self.solver
            other.inner_finder = other._finder()
        if (other.alpha, other.scaling, other.accuracy) == (self.alpha, self.scaling, self.accuracy):
            other.inner_finder = self.inner_finder.with_workers(other.workers)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self._settings(), "scales": self.known_scales()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["settings"])  # type: ignore[misc]
        self.restore_scales(state["scales"])

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.graph.n_items

    # ------------------------------------------------------------------------------------------------- scales
    @property
    def exact_scales(self) -> bool:
        """Whether one dense factor gives every scale exactly."""
        return self.inner_finder.exact

    @property
    def factored(self) -> bool:
        """Whether the solver keeps a factor, so that further columns are almost free."""
        return self.solver.name in ("dense", "direct")

    def scales(self, rows: IntArray) -> FloatArray:
        """s_q of each row; those not known yet are found and kept, theory [scale]."""
        return self.inner_finder.scales(self.graph.rank[rows], self.verbose)

    def diagonal(self, rows: IntArray) -> FloatArray:
        """M_qq of the symmetric system, (len(rows),); comes with the scales, whatever the scaling."""
        return self.inner_finder.diagonal(self.graph.rank[rows], self.verbose)

    def rows_per_scale(self) -> float:
        """How many rows of the graph the solve for one scale takes, on average over a fixed sample."""
        return self.inner_finder.rows_per_scale()

    def scale_report(self) -> ScaleReport:
        """How well the scales are known."""
        return self.inner_finder.report()

    def share_scales(self, other: "Diffusion") -> None:
        """Find scales together with another diffusion of the same graph, each once."""
        ours, theirs = ((one.graph, one.alpha, one.scaling, one.accuracy) for one in (self, other))
        if ours == theirs:
            self.inner_finder = other.inner_finder

    def known_scales(self) -> dict[str, AnyArray]:
        """All scales found so far, for a file; only :meth:`restore_scales` of the same graph reads it."""
        return self.inner_finder.state()

    def restore_scales(self, state: dict[str, AnyArray]) -> None:
        """The inverse of :meth:`known_scales`."""
        self.inner_finder.restore(state)

    def sources(
        self, rows: IntArray, weights: FloatArray | float = 1.0, scales: FloatArray | None = None
    ) -> FloatArray:
        """Right-hand side of the symmetric system from votes of these weights, (len(rows),).

        ``scales`` replaces the items' own scales where they are known from elsewhere.
        """
        amounts = weights / (self.scales(rows) if scales is None else scales)
        return amounts if self._factor is None else amounts * self._factor[self.graph.rank[rows]]

    def missed_at_most(self, floor: float) -> FloatArray:
        """(n,) mass that a push of a unit source to this floor can miss, theory [push bound]."""
        missed = floor * self.graph.inner_root * self.inner_error_factor() / (1 - self.alpha)
        return self.graph.to_user_order(missed)

    def root_degrees(self, rows: IntArray) -> FloatArray:
        """sqrt(d) of some items, 1 for isolated ones."""
        return np.asarray(self.graph.inner_root[self.graph.rank[rows]])

    # ------------------------------------------------------------------------------------------ mass of votes
    def spread(
        self,
        rows: IntArray,
        weights: FloatArray,
        *,
        scales: FloatArray | None = None,
        tol: float | None = None,
        start: "Spread | None" = None,
    ) -> "Spread":
        """Spread soft votes.

        Parameters
        ----------
        rows : (m,) items voted on, in any order, repeats allowed
        weights : (m, columns) what each puts into every column
        scales : (m,) instead of the items' own scales
        tol : relative residual of every column; None = the diffusion's
        start : a solution nearby, such as that for another alpha: used where it is closer than nothing
        """
        B = np.zeros((self.n_items, weights.shape[1]))
        np.add.at(B, self.graph.rank[rows], weights * self.sources(rows, scales=scales)[:, None])
        tol = self.tol if tol is None else tol
        return Spread(self, self.solver.solve(B, tol).X if start is None else self._solve_from(start, B, tol))

    def spread_entries(
        self, rows: IntArray, columns: IntArray, weights: FloatArray, n_columns: int, tol: float | None = None
    ) -> "Spread":
        """:meth:`spread` for votes that each belong to one column: (m,) rows, columns and weights."""
        B = self.inner_entries(rows, columns, weights, n_columns)
        return Spread(self, self.solver.solve(B, self.tol if tol is None else tol).X)

    def _solve_from(self, start: "Spread", B: FloatArray, tol: float) -> FloatArray:
        R = B - self.inner_apply(start.inner_solution)
        wanted, left = tol * np.linalg.norm(B, axis=0), np.linalg.norm(R, axis=0)
        open_columns = np.flatnonzero(left > wanted)
        Y = start.inner_solution.copy()
        if len(open_columns):
            share = float(np.min(wanted[open_columns] / left[open_columns]))
            if share < tol:  # the start is worse than nothing somewhere
                return self.solver.solve(B, tol).X
            Y[:, open_columns] += self.solver.solve(np.ascontiguousarray(R[:, open_columns]), share).X
        return Y

    # ----------------------------------------------------------------------------------------------- profiles
    def reach_of_votes(self, row: int, vote_rows: IntArray, tol: float = PROFILE_TOL) -> FloatArray:
        """How much one item receives from a vote of weight 1 on each of the given rows; one solve."""
        rank = self.graph.rank
        reach = self._profile(rank[row], tol)[rank[vote_rows]] * self.sources(vote_rows)
        return np.asarray(reach if self._factor is None else reach / self._factor[rank[row]])

    def literal_profile(self, row: int, tol: float = PROFILE_TOL) -> FloatArray:
        """Algorithm 1, lines 11 and 12: one solve for one vote, divided as the scaling says, (n,)."""
        seed = self.graph.rank[row]
        phi = self._profile(seed, tol)
        if self._factor is not None:
            phi = phi * self._factor[seed] / self._factor
        scale = {"peak": float(phi.max()), "source": float(phi[seed]), "none": 1.0}[self.scaling]
        return self.graph.to_user_order(phi / scale)

    def _profile(self, inner_row: int, tol: float = PROFILE_TOL) -> FloatArray:
        """M e_q of the symmetric system, unscaled, in inner numbering."""
        unit = np.zeros((self.n_items, 1))
        unit[inner_row] = 1.0
        return np.asarray(self.solver.solve(unit, tol).X[:, 0])

    # ---------------------------------------------------------------------------------------- inner numbering
    def inner_apply(self, X: FloatArray) -> FloatArray:
        """(I - alpha S) X."""
        return apply_system(self.graph, self.alpha, X, self.workers)

    def inner_entries(
        self, rows: IntArray, columns: IntArray, weights: FloatArray, n_columns: int
    ) -> FloatArray:
        """B of the symmetric system for votes on the user's rows."""
        B = np.zeros((self.n_items, n_columns))
        if len(rows):
            np.add.at(B, (self.graph.rank[rows], columns), self.sources(rows, weights))
        return B

    def inner_mass(self, Y: FloatArray, inner_rows: Any = slice(None)) -> FloatArray:
        """Mass of some inner rows from the solution of the symmetric system."""
        part = Y[inner_rows]
        return part if self._factor is None else np.asarray(part / self._factor[inner_rows][:, None])

    def inner_error_factor(self) -> FloatArray:
        """Factor from an error of the symmetric solution to an error of mass, per item."""
        return np.ones(self.n_items) if self._factor is None else 1 / self._factor


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Votes spread over the graph: the mass of every item."""

    diffusion: Diffusion
    inner_solution: FloatArray  # (n, columns)  solution of the symmetric system

    def mass(self, rows: IntArray | None = None, columns: slice = slice(None)) -> FloatArray:
        """Mass per column, of all items or of some; the solver's tolerance may leave it below 0."""
        diffusion, Y = self.diffusion, self.inner_solution[:, columns]
        if rows is not None:
            return diffusion.inner_mass(Y, diffusion.graph.rank[rows])
        return diffusion.graph.to_user_order(diffusion.inner_mass(Y))
