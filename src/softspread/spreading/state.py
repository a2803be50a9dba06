"""The state behind an estimator: votes so far, their mass, and how far that mass can be from the truth.

    votes  ->  push (a few ms per vote) or solve  ->  mass, with a proven bound          theory: [push bound]

A new vote changes one entry of the system: its residual is pushed locally within a fixed budget of work,
which gives the immediate answer; :meth:`SpreadState.refine` brings the mass to the solver's tolerance. An
undo is a vote of negative weight.
"""

import numpy as np

from softspread._common.types import BoolArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.running import RULE, RunningSolution, UpdateRule
from softspread.diffusion.solver import SolveReport
from softspread.votes.table import VoteTable


class SpreadState:
    """The mass of votes on one :class:`Diffusion`."""

    def __init__(
        self, diffusion: Diffusion, votes: VoteTable, n_classes: int, rule: UpdateRule = RULE
    ) -> None:
        self.votes = votes  # all votes so far; whoever owns the table appends to it
        self.running = RunningSolution(diffusion, n_classes, rule)

    @property
    def diffusion(self) -> Diffusion:
        """The graph and alpha."""
        return self.running.diffusion

    @property
    def rule(self) -> UpdateRule:
        """How much work an update gets."""
        return self.running.rule

    @property
    def refined(self) -> bool:
        """Whether the mass is at the solver's tolerance, with no immediate answers since."""
        return self.running.refined

    @property
    def n_classes(self) -> int:
        """Classes so far."""
        return self.running.n_columns

    @property
    def solve_report(self) -> SolveReport | None:
        """What the last solve reached; None before the first."""
        return self.running.report

    def arrays(self) -> dict[str, FloatArray]:
        """What must be saved to go on from here; opaque, see :meth:`restore` and :meth:`shift`."""
        return self.running.arrays()

    def restore(
        self, arrays: dict[str, FloatArray], refined: bool, report: SolveReport | None = None
    ) -> None:
        """The inverse of :meth:`arrays`."""
        self.running.restore(arrays, refined)
        self.running.report = report

    def shift(self, change: dict[str, FloatArray], refined: bool) -> None:
        """Add a correction found beside, a difference of two :meth:`arrays`."""
        self.running.shift(change, refined)

    def copy(self) -> "SpreadState":
        """A state of its own with the same votes and mass."""
        other = SpreadState(self.diffusion, self.votes.take(slice(None)), self.n_classes, self.rule)
        arrays = {name: array.copy() for name, array in self.arrays().items()}
        other.restore(arrays, self.refined, self.solve_report)
        return other

    def add_classes(self, n_new: int) -> None:
        """Room for classes first seen now; nothing has been voted for them."""
        self.running.add_columns(n_new)

    def add(self, new: VoteTable, share: float = 1.0) -> None:
        """Answer at once for votes just appended to the table.

        Pushes what they change, or solves if they are many.

        With a ``share`` below 1 each push does less; what it leaves is in the bound, and refined later.
        """
        if self._many(len(new)) or self.diffusion.literal:
            self.solve()
        else:
            self.running.push(new, share * self.rule.edges_per_vote)

    def _many(self, n_votes: int) -> bool:
        solve_edges = self.rule.solve_edges * self.diffusion.graph.n_edges * max(1, self.n_classes)
        return n_votes > 1 and n_votes * self.rule.edges_per_vote > solve_edges

    def solve(self) -> None:
        """Spread all votes from nothing."""
        self.running.solve(self.votes)

    def refine(self, tol: float | None = None) -> None:
        """Bring the mass to the solver's tolerance (or a tighter one) from where it is."""
        self.running.refine(self.votes, tol)

    def recover(self, n_classes: int) -> None:
        """After a failed update: bounds hold again for the votes that stand."""
        self.running.recover(self.votes, n_classes)

    def mass(self, rows: IntArray | None = None) -> FloatArray:
        """Mass per class of all items, or of some, never negative."""
        return self.running.mass(rows)

    def error_bound(self, rows: IntArray | None = None) -> FloatArray:
        """Proven bound on the error of every entry of an item's mass, for the scales in use."""
        return self.running.error_bound(rows)

    def stale(self, prior_strength: float) -> BoolArray:
        """Items whose immediate soft label could be off by more than 0.01; none after a refinement."""
        if self.refined:
            return np.zeros(self.diffusion.n_items, dtype=bool)
        evidence = self.running.evidence() + prior_strength
        # p_c = Y_c / N changes by ((1 - p_c) dY_c - p_c sum of the other dY) / N: at most the sum of all
        # errors over N
        return np.asarray(self.running.error_bound(of_sum=True) > self.rule.stale_share * evidence)
