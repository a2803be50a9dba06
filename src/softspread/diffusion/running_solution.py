"""A solution that follows its votes: pushed at once, solved when there is time, with a proven bound always.

    R = B - (I - alpha S) Y  at all times, hence  Y_true - Y = M R  and

    |error_i| <= sqrt(d_i) / (1 - alpha) * max_u |R_u| / sqrt(d_u)                       theory: [push bound]
    |error_i| <= |R|_2 / sqrt((1 - alpha) (1 - alpha^2))                                 theory: [entry bound]

Both bounds are the same for every item. Where next to nothing arrives and no prior covers it, that says
little: :meth:`RunningSolution.sharpen` finds the mass of such items to a share of itself, theory [faint].

Votes come and go in the user's rows, and so does what is read; Y and R stay in inner numbering.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softspread._common.progress import progress_bar
from softspread._common.types import FloatArray, IntArray
from softspread._kernels.push import NewVotes, PushScratch, push_scratch, push_votes
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.faint_items import needed, solve_faint
from softspread.diffusion.literal import literal_mass
from softspread.diffusion.push import push_residual
from softspread.diffusion.solver import MOST_COLUMNS, SolveReport, entry_bound
from softspread.votes.table import VoteTable


@dataclass(frozen=True, slots=True)
class UpdateRule:
    """How much work an update gets, and how well it is followed up."""

    edges_per_vote: int = 100_000  # work of the immediate answer: about 2 ms
    edges_per_item: int = 5_000  # work of the immediate answer for an item that comes or goes
    start_share: float = 1e-2  # of the largest residual: where that work starts
    solve_edges: int = 10  # a refining solve costs about this many passes over the edges for each column
    push_floor: float = 1e-3  # of tol: on small graphs a push goes on until it is as good as a solve
    solve_share: float = 0.1  # of tol: where evidence is small, soft labels need more digits than all mass
    stale_share: float = 1e-2  # an immediate soft label that could be off by more is called stale
    cached_rows: int = 4_096  # rows of a pass over all items that is done in pieces


RULE = UpdateRule()


class RunningSolution:
    """Y and its residual R for the votes so far, (n, n_classes) each."""

    def __init__(
        self, diffusion: Diffusion, votes: VoteTable, n_classes: int, rule: UpdateRule = RULE
    ) -> None:
        self.diffusion, self.rule = diffusion, rule
        self.votes = votes  # all votes so far; whoever owns the table appends to it
        self.Y = np.zeros((diffusion.n_items, n_classes))
        self.R = np.zeros((diffusion.n_items, n_classes))
        self._level = np.zeros(n_classes)  # |R_u| / root_u is at most this in each column
        self._norm2 = np.zeros(n_classes)  # |R|_2^2 is at most this in each column
        self.refined = True  # whether Y is at the solver's tolerance, with no pushes since
        # (n,) in inner numbering: bound of each item's sum since `sharpen`; None before, and after any change
        self.sharp: FloatArray | None = None
        self.solve_report: SolveReport | None = None  # of the last solve

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_scratch"}

    @cached_property
    def _scratch(self) -> PushScratch:
        return push_scratch(self.diffusion.n_items)

    @property
    def _floor(self) -> float:
        return self.rule.push_floor * self.diffusion.tol

    @property
    def n_classes(self) -> int:
        """Classes so far."""
        return self.Y.shape[1]

    def arrays(self) -> dict[str, FloatArray]:
        """The arrays to save; opaque, for :meth:`restore` on the same graph."""
        return {"Y": self.Y, "R": self.R}

    def restore(
        self, arrays: dict[str, FloatArray], refined: bool, report: SolveReport | None = None
    ) -> None:
        """The inverse of :meth:`arrays`."""
        self.Y, self.R, self.solve_report = arrays["Y"], arrays["R"], report
        self._measure(refined)

    def shift(self, change: dict[str, FloatArray], refined: bool) -> None:
        """Add a correction found beside, a difference of two :meth:`arrays`."""
        for part in self._parts():
            self.Y[part] += change["Y"][part]
            self.R[part] += change["R"][part]
        self._measure(refined)

    def add_classes(self, n_new: int) -> None:
        """Room for classes first seen now; nothing has been voted for them."""
        nothing = np.zeros((len(self.Y), n_new))
        self.Y, self.R = np.hstack([self.Y, nothing]), np.hstack([self.R, nothing])
        self._level, self._norm2 = (np.append(old, np.zeros(n_new)) for old in (self._level, self._norm2))
        self.sharp = None

    # ------------------------------------------------------------------------------------ following the votes
    def push(self, new: VoteTable, edges_per_vote: float) -> None:
        """Add new votes, visiting about ``edges_per_vote`` edges for each; the bounds cover the rest."""
        self.sharp = None
        diffusion, floor = self.diffusion, self._floor
        amounts = diffusion.sources(new.rows, new.weights)
        votes = NewVotes(diffusion.graph.rank[new.rows], new.columns, amounts)
        system = diffusion.graph.inner_system(diffusion.alpha)
        bounds = self._level, self._norm2  # one call for all columns: threads wait for their turn after each
        level = push_votes(system, self.Y, self.R, votes, floor, edges_per_vote, self._scratch, *bounds)
        self.refined = self.refined and level <= floor

    def _push(self, column: int, starts: IntArray, edge_budget: int) -> None:
        diffusion, scratch, floor = self.diffusion, self._scratch, self._floor
        system = diffusion.graph.inner_system(diffusion.alpha)
        x, r = self.Y[:, column], self.R[:, column]
        level, n_touched, _ = push_residual(system, x, r, starts, floor, edge_budget, scratch)
        touched = system.root[scratch.touched[:n_touched]]
        self._level[column] = max(self._level[column], level)
        self._norm2[column] += level**2 * float(touched @ touched)
        self.refined = self.refined and level <= floor

    def solve(self) -> None:
        """Spread all votes from nothing."""
        diffusion = self.diffusion
        B = self.entries()
        if diffusion.literal:
            with progress_bar("votes, one by one", len(self.votes), diffusion.verbose) as advance:
                mass = literal_mass(diffusion, self.votes, self.n_classes, advance)
            self.Y = mass[diffusion.graph.order] / diffusion.inner_error_factor()[:, None]
            self.R = B - diffusion.inner_apply(self.Y)
        else:
            with progress_bar("spreading", None, diffusion.verbose) as advance:
                solution = diffusion.solver.solve(B, self.rule.solve_share * diffusion.tol, advance)
            self.Y, self.R, self.solve_report = solution.X, solution.R, solution.report
        self._measure()

    def refine(self, tol: float | None = None) -> None:
        """Bring Y to the solver's tolerance (or a tighter one) from where it is."""
        if self.refined and tol is None:
            return
        diffusion = self.diffusion
        wanted = self.rule.solve_share * (diffusion.tol if tol is None else min(tol, diffusion.tol))
        # From the votes, not from the running residual: rounding of a thousand pushes is forgotten here.
        B = self.entries()
        self.R = B - diffusion.inner_apply(self.Y)
        wanted_norm, present_norm = wanted * np.linalg.norm(B, axis=0), np.linalg.norm(self.R, axis=0)
        open_columns = np.flatnonzero(present_norm > wanted_norm)
        if len(open_columns):
            relative = float(np.min(wanted_norm[open_columns] / present_norm[open_columns]))
            if len(open_columns) > 1 and self.n_classes <= MOST_COLUMNS:
                open_columns = np.arange(self.n_classes)  # loops are compiled per number of columns: two do
            self._correct(open_columns, max(relative, np.finfo(np.float64).eps))
            self.R = B - diffusion.inner_apply(self.Y)
        self._measure()

    def sharpen(self, prior_strength: float) -> None:
        """Find every item's mass to a share of itself, where the prior is too weak to cover its error.

        For Y at the solver's tolerance. Theory [faint].
        """
        if not needed(prior_strength) or self.sharp is not None:
            return
        diffusion, B = self.diffusion, self.entries()
        factor = diffusion.inner_error_factor()  # from the symmetric system to mass
        bound = self._inner_bound(of_sum=True) / factor
        operator = diffusion.graph.inner_operator()
        found = solve_faint(operator, diffusion.alpha, B, self.Y, bound, prior_strength / factor)
        self.Y = found.Y
        self.R = B - diffusion.inner_apply(self.Y)
        self._measure(self.refined)
        self.sharp = found.bound * factor

    def follow(self, old: "RunningSolution", before: IntArray) -> None:
        """Start from the solution for a graph with other items; bounds hold for what that had been asked.

        Votes keep the scales that they had there until :meth:`refine`.

        Parameters
        ----------
        before : (n,) the old row of each item, -1 for new ones
        """
        known = before >= 0

        def moved(inner: FloatArray) -> FloatArray:
            here = np.zeros((len(before), inner.shape[1]))
            there = inner * old.diffusion.inner_error_factor()[:, None]
            here[known] = old.diffusion.graph.to_user_order(there)[before[known]]
            return here[self.diffusion.graph.order] / self.diffusion.inner_error_factor()[:, None]

        B = moved(old.R + old.diffusion.inner_apply(old.Y))
        self.Y = moved(old.Y)
        self.R = B - self.diffusion.inner_apply(self.Y)
        self._measure(refined=False)
        changed = len(before) + len(old.Y) - 2 * int(known.sum())
        level = np.abs(self.R) / self.diffusion.graph.inner_root[:, None]
        for column in np.flatnonzero(self._level).tolist():
            starts = np.flatnonzero(level[:, column] > self.rule.start_share * self._level[column])
            self._push(column, starts, changed * self.rule.edges_per_item)
        self._measure(refined=False)

    def recover(self, n_classes: int) -> None:
        """After a failed update: the residual of Y as it is, from the votes that stand; bounds hold again."""
        self.Y = np.ascontiguousarray(self.Y[:, :n_classes])
        self.R = self.entries() - self.diffusion.inner_apply(self.Y)
        self._measure(refined=False)

    def entries(self) -> FloatArray:
        """B of the symmetric system."""
        votes = self.votes
        return self.diffusion.inner_entries(votes.rows, votes.columns, votes.weights, self.n_classes)

    def _correct(self, columns: IntArray, relative: float) -> None:
        if relative < 1.0:
            solution = self.diffusion.solver.solve(np.ascontiguousarray(self.R[:, columns]), relative)
            self.solve_report = solution.report
            self.Y[:, columns] += solution.X

    def _measure(self, refined: bool = True) -> None:
        """The norms of R that the bounds need."""
        self._level, self._norm2 = np.zeros(self.n_classes), np.zeros(self.n_classes)
        for part in self._parts():
            R = self.R[part]
            level = (np.abs(R) / self.diffusion.graph.inner_root[part, None]).max(axis=0)
            np.maximum(self._level, level, out=self._level)
            self._norm2 += np.einsum("ij,ij->j", R, R)
        self.refined, self.sharp = refined, None

    def _parts(self) -> list[slice]:
        """Rows in pieces that stay in the processor's cache."""
        size = self.rule.cached_rows
        return [slice(first, first + size) for first in range(0, len(self.Y), size)]

    # ------------------------------------------------------------------------------------ read by user's rows
    def mass(self, rows: IntArray | None = None) -> FloatArray:
        """Mass per column of all items, or of some, never negative."""
        graph = self.diffusion.graph
        if rows is not None:
            return np.maximum(self.diffusion.inner_mass(self.Y, graph.rank[rows]), 0.0)
        return graph.to_user_order(np.maximum(self.diffusion.inner_mass(self.Y), 0.0))

    def mass_change(self, rows: IntArray | None = None) -> FloatArray:
        """Mass per column of all items, or of some; negative where votes were taken back."""
        graph = self.diffusion.graph
        if rows is not None:
            return self.diffusion.inner_mass(self.Y, graph.rank[rows])
        return graph.to_user_order(self.diffusion.inner_mass(self.Y))

    def evidence(self) -> FloatArray:
        """Mass over all columns, (n,)."""
        inner = np.maximum(self.diffusion.inner_mass(self.Y), 0.0).sum(axis=1)
        return self.diffusion.graph.to_user_order(inner)

    def error_bound(self, rows: IntArray | None = None, *, of_sum: bool = False) -> FloatArray:
        """Proven bound on the error of an item's mass, for the scales in use.

        Of every entry, or with ``of_sum`` of the sum over all columns.
        """
        bound = self._inner_bound(of_sum=of_sum)
        graph = self.diffusion.graph
        return graph.to_user_order(bound) if rows is None else bound[graph.rank[rows]]

    def _inner_bound(self, *, of_sum: bool) -> FloatArray:
        """(n,) the same in inner numbering."""
        diffusion, norms = self.diffusion, np.sqrt(self._norm2)
        level = self._level.sum() if of_sum else self._level.max(initial=0.0)
        norm = norms.sum() if of_sum else norms.max(initial=0.0)
        by_level = diffusion.graph.inner_root * float(level) / (1 - diffusion.alpha)
        bound = np.minimum(by_level, entry_bound(diffusion.alpha, float(norm)))
        bound *= diffusion.inner_error_factor()
        return bound if self.sharp is None else np.minimum(bound, self.sharp)
