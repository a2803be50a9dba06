"""The state behind an estimator: votes so far, their mass, and how far that mass can be from the truth.

    votes  ->  push (a few ms per vote) or solve  ->  mass, with a proven bound          theory: [push bound]

A new vote changes one entry of the system: its residual is pushed locally within a fixed budget of work,
which gives the immediate answer; :meth:`SpreadState.refine` brings the mass to the solver's tolerance. An
undo is a vote of negative weight.
"""

import numpy as np

from softspread._common.types import BoolArray
from softspread.diffusion.faint_items import needed
from softspread.diffusion.running_solution import RunningSolution
from softspread.votes.table import VoteTable


class SpreadState(RunningSolution):
    """The mass of votes on one :class:`Diffusion`, in the user's rows."""

    def copy(self) -> "SpreadState":
        """A state of its own with the same votes and mass."""
        other = SpreadState(self.diffusion, self.votes.take(slice(None)), self.n_classes, self.rule)
        arrays = {name: array.copy() for name, array in self.arrays().items()}
        other.restore(arrays, self.refined, self.solve_report)
        other.sharp = self.sharp
        return other

    def add(self, new: VoteTable, share: float = 1.0) -> None:
        """Answer at once for votes just appended to the table.

        Pushes what they change, or solves if they are many.

        With a ``share`` below 1 each push does less; what it leaves is in the bound, and refined later.
        """
        if self._many(len(new)) or self.diffusion.literal:
            self.solve()
        else:
            self.push(new, share * self.rule.edges_per_vote)

    def _many(self, n_votes: int) -> bool:
        solve_edges = self.rule.solve_edges * self.diffusion.graph.n_edges * max(1, self.n_classes)
        return n_votes > 1 and n_votes * self.rule.edges_per_vote > solve_edges

    def stale(self, prior_strength: float) -> BoolArray:
        """Items whose soft label could be off by more than 0.01.

        None after a refinement, unless the prior is too weak to cover the error of items that next to
        nothing reaches and not even :meth:`sharpen` settles them.
        """
        if self.refined and not needed(prior_strength):
            return np.zeros(self.diffusion.n_items, dtype=bool)
        evidence = self.evidence() + prior_strength
        # p_c = Y_c / N changes by ((1 - p_c) dY_c - p_c sum of the other dY) / N: at most the sum of all
        # errors over N
        return np.asarray(self.error_bound(of_sum=True) > self.rule.stale_share * evidence)
