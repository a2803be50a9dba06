"""The state behind an estimator: votes so far, their mass, and how far that mass can be from the truth.

    R = B - (I - alpha S) Y  at all times, hence  Y_true - Y = M R  and

    |error_i| <= sqrt(d_i) / (1 - alpha) * max_u |R_u| / sqrt(d_u)                       theory: [push bound]
    |error_i| <= |R|_2 / sqrt((1 - alpha) (1 - alpha^2))                                 theory: [entry bound]

A new vote changes one entry of B: its residual is pushed locally within a fixed budget of work, which gives
the immediate answer; :meth:`SpreadState.refine` brings Y to the solver's tolerance. An undo is a vote of
negative weight.
"""

import numpy as np

from softspread._common.progress import progress_bar
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray, SolveReport
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.literal import literal_mass
from softspread.diffusion.push import PushWork, push_residual
from softspread.diffusion.solver import MOST_COLUMNS, apply_system, entry_bound
from softspread.votes.table import VoteTable

EDGES_PER_VOTE = 100_000  # work of the immediate answer: about 2 ms
SOLVE_EDGES_PER_COLUMN = 10  # a refining solve costs about this many passes over the edges for each column
PUSH_FLOOR = 1e-3  # of tol: on small graphs a push goes on until it is as good as a solve
SOLVE_SHARE = 0.1  # of tol: where evidence is small, soft labels need more digits than the mass as a whole
CACHED_ROWS = 4_096  # rows of a pass over all items that is done in pieces
STALE_SHARE = 1e-2  # an immediate soft label that could be off by more is called stale


class SpreadState:
    """The mass of votes on one :class:`Diffusion`; votes are in the user's numbering, all else in the inner
    one.
    """

    def __init__(self, diffusion: Diffusion, votes: VoteTable, n_classes: int) -> None:
        n = diffusion.graph.n_items
        self.diffusion = diffusion
        self.votes = votes  # all votes so far; whoever owns the table appends to it
        self.Y = np.zeros((n, n_classes))
        self.R = np.zeros((n, n_classes))
        self._level = np.zeros(n_classes)  # |R_u| / root_u is at most this in each column
        self._norm2 = np.zeros(n_classes)  # |R|_2^2 is at most this in each column
        self._refined = True
        self.solve_report: SolveReport | None = None
        self._push_work: PushWork | None = None

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_push_work"} | {
            "_push_work": None
        }

    @property
    def refined(self) -> bool:
        """Whether the mass is at the solver's tolerance, with no immediate answers since."""
        return self._refined

    def arrays(self) -> dict[str, FloatArray]:
        """What must be saved to go on from here."""
        return {"Y": self.Y, "R": self.R}

    def restore(self, arrays: dict[str, FloatArray], refined: bool) -> None:
        """The inverse of :meth:`arrays`."""
        self.Y, self.R = arrays["Y"], arrays["R"]
        self._settle()
        self._refined = refined

    @property
    def n_classes(self) -> int:
        """Columns so far."""
        return self.Y.shape[1]

    def add_classes(self, n_new: int) -> None:
        """Room for classes first seen now; nothing has been voted for them."""
        n = len(self.Y)
        self.Y = np.hstack([self.Y, np.zeros((n, n_new))])
        self.R = np.hstack([self.R, np.zeros((n, n_new))])
        self._level = np.append(self._level, np.zeros(n_new))
        self._norm2 = np.append(self._norm2, np.zeros(n_new))

    def add(self, new: VoteTable, share: float = 1.0) -> None:
        """Answer at once for votes just appended to the table: push what they change, or solve if they are
        many.

        With a ``share`` below 1 each push does less; what it leaves is in the bound, and refined later.
        """
        if self._many(len(new)) or self.diffusion.literal:
            self.solve()
            return
        rows, columns = self.diffusion.rank[new.rows], new.columns
        amounts = self.diffusion.sources(rows, new.weights)
        np.add.at(self.R, (rows, columns), amounts)
        for column in np.unique(columns).tolist():
            mine = columns == column
            self._push(column, np.unique(rows[mine]), max(1, round(share * EDGES_PER_VOTE * int(mine.sum()))))

    def _many(self, n_votes: int) -> bool:
        graph = self.diffusion.graph
        return (
            n_votes * EDGES_PER_VOTE > SOLVE_EDGES_PER_COLUMN * graph.n_edges * max(1, self.n_classes)
            and n_votes > 1
        )

    def _push(self, column: int, starts: IntArray, edge_budget: int) -> None:
        diffusion = self.diffusion
        graph = diffusion.graph
        if self._push_work is None:
            self._push_work = PushWork(graph.n_items)
        work = self._push_work
        floor = PUSH_FLOOR * diffusion.tol
        x, r = self.Y[:, column], self.R[:, column]
        level, n_touched, _ = push_residual(
            graph, diffusion.root, diffusion.alpha, x, r, starts.astype(np.uint32), floor, edge_budget, work
        )
        touched = diffusion.root[work.touched[:n_touched]]
        self._level[column] = max(self._level[column], level)
        self._norm2[column] += level**2 * float(touched @ touched)
        self._refined = self._refined and level <= floor

    def solve(self) -> None:
        """Spread all votes from nothing."""
        diffusion = self.diffusion
        B = self.sources()
        if diffusion.literal:
            with progress_bar("votes, one by one", len(self.votes), diffusion.verbose) as advance:
                mass = literal_mass(diffusion, self.votes, self.n_classes, advance)
            self.Y = mass / diffusion.error_factor()[:, None]
            self.R = B - apply_system(diffusion.graph, diffusion.alpha, self.Y, diffusion.workers)
        else:
            self._solve_for(B, SOLVE_SHARE * diffusion.tol)
        self._settle()

    def refine(self, tol: float | None = None) -> None:
        """Bring the mass to the solver's tolerance (or a tighter one) from where it is."""
        diffusion = self.diffusion
        wanted = SOLVE_SHARE * (diffusion.tol if tol is None else min(tol, diffusion.tol))
        if self._refined and tol is None:
            return
        # From the votes, not from the running residual: rounding of a thousand pushes is forgotten here.
        B = self.sources()
        self.R = B - apply_system(diffusion.graph, diffusion.alpha, self.Y, diffusion.workers)
        wanted_norm = wanted * np.linalg.norm(B, axis=0)
        present_norm = np.linalg.norm(self.R, axis=0)
        open_columns = np.flatnonzero(present_norm > wanted_norm)
        if len(open_columns):
            relative = float(np.min(wanted_norm[open_columns] / present_norm[open_columns]))
            if len(open_columns) > 1 and self.n_classes <= MOST_COLUMNS:
                open_columns = np.arange(
                    self.n_classes
                )  # loops are compiled for each number of columns: two suffice
            correction = self._correction(open_columns, max(relative, np.finfo(np.float64).eps))
            self.Y[:, open_columns] += correction
            self.R = B - apply_system(diffusion.graph, diffusion.alpha, self.Y, diffusion.workers)
        self._settle()

    def recover(self, n_classes: int) -> None:
        """After a failed update: the residual of the mass as it is, from the votes that stand, so that bounds
        hold.
        """
        self.Y = np.ascontiguousarray(self.Y[:, :n_classes])
        self.R = self.sources() - apply_system(
            self.diffusion.graph, self.diffusion.alpha, self.Y, self.diffusion.workers
        )
        self._settle()
        self._refined = False

    def _correction(self, columns: IntArray, relative: float) -> FloatArray:
        if relative >= 1.0:
            return np.zeros((len(self.Y), len(columns)))
        solution = self.diffusion.solve(np.ascontiguousarray(self.R[:, columns]), relative)
        self.solve_report = solution.report
        return solution.X

    def _solve_for(self, B: FloatArray, tol: float) -> None:
        with progress_bar("spreading", None, self.diffusion.verbose) as advance:
            solution = self.diffusion.solve(B, tol, advance)
        self.Y, self.R, self.solve_report = solution.X, solution.R, solution.report

    def sources(self) -> FloatArray:
        """B of the symmetric system, from all votes."""
        B = np.zeros((len(self.Y), self.n_classes))
        if len(self.votes):
            rows = self.diffusion.rank[self.votes.rows]
            np.add.at(B, (rows, self.votes.columns), self.diffusion.sources(rows, self.votes.weights))
        return B

    def shift(self, dY: FloatArray, dR: FloatArray, refined: bool) -> None:
        """Add a correction found beside: dR = -(I - alpha S) dY up to what it brings closer to the votes."""
        for part in self._parts():
            self.Y[part] += dY[part]
            self.R[part] += dR[part]
        self._settle()
        self._refined = refined

    def _settle(self) -> None:
        self._level, self._norm2 = np.zeros(self.n_classes), np.zeros(self.n_classes)
        for part in self._parts():
            R = self.R[part]
            np.maximum(
                self._level, (np.abs(R) / self.diffusion.root[part, None]).max(axis=0), out=self._level
            )
            self._norm2 += np.einsum("ij,ij->j", R, R)
        self._refined = True

    def _parts(self) -> list[slice]:
        """Rows in pieces that stay in the processor's cache."""
        return [slice(first, first + CACHED_ROWS) for first in range(0, len(self.Y), CACHED_ROWS)]

    def mass(self, rows: AnyArray | slice = slice(None)) -> FloatArray:
        """Mass per class of the given rows, never negative."""
        return np.maximum(self.diffusion.mass(self.Y, rows), 0.0)

    def error_bound(self, rows: AnyArray | slice = slice(None)) -> FloatArray:
        """Proven: no entry of an item's mass is further than this from the exact solution for the scales in
        use.
        """
        return self._bound(
            float(self._level.max(initial=0.0)), float(np.sqrt(self._norm2.max(initial=0.0))), rows
        )

    def _bound(self, level: float, norm: float, rows: AnyArray | slice) -> FloatArray:
        diffusion = self.diffusion
        by_level = diffusion.root[rows] * level / (1 - diffusion.alpha)
        return np.minimum(by_level, entry_bound(diffusion.alpha, norm)) * diffusion.error_factor()[rows]

    def stale(self, prior_strength: float) -> BoolArray:
        """Items whose immediate soft label could be off by more than 0.01; none after a refinement."""
        n = len(self.Y)
        if self._refined:
            return np.zeros(n, dtype=bool)
        evidence = self.mass().sum(axis=1) + prior_strength
        # p_c = Y_c / N changes by ((1 - p_c) dY_c - p_c sum of the other dY) / N: at most the sum of all
        # errors over N
        total = self._bound(float(self._level.sum()), float(np.sqrt(self._norm2).sum()), slice(None))
        return np.asarray(total > STALE_SHARE * evidence)
