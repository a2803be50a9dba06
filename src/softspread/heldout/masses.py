"""Mass at the voted items, with and without their own votes.

    held-out mass at q = Y[q] - (weight taken away) phi_qq                             theory: [leave one out]

Every estimate is a ratio of sums over votes, so a prediction for a voted item without one of its votes, or
without all of them, needs no new solve. Solves at one alpha start from the solution at the last.
"""

from dataclasses import dataclass

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diagonal import OwnScales, SampleRule, found_scales, sampled_scales
from softspread.diffusion.diffusion import Diffusion, Spread
from softspread.graph.graph import Graph
from softspread.spreading.state import SpreadState


@dataclass(frozen=True, slots=True)
class HeldOutAccuracy:
    """How well masses must be known where only means over many votes are read from them."""

    solve_tol: float = 1e-6  # relative residual of the solves; scores need three digits ...
    many_voted: int = 20_000  # ... and the mean of so many items has them also with ...
    solve_tol_of_many: float = 1e-5  # ... this
    # Scales: a share of the evidence that an average item receives from others, within these limits
    noise_share: float = 1e-2
    best_scales: float = 1e-6
    worst_scales: float = 1e-2
    # Predicted from a sample and from those at the last alpha, scales were off by .2 to .7 % at alpha .9 and
    # .95 on three graphs of 3,000 to 10,000 items; where no better is asked, that will do
    sampled_scales: float = 7.5e-3

    def of_solve(self, n_voted: int) -> float:
        """Relative residual to ask of a solve from which means over so many items are read."""
        return self.solve_tol if n_voted < self.many_voted else self.solve_tol_of_many

    def of_scales(self, alpha: float, voted_share: float) -> float:
        """Certified accuracy to ask of the scales where this share of the items has votes."""
        from_others = voted_share * alpha / max(1 - alpha, 1e-6)
        return min(self.worst_scales, max(self.best_scales, self.noise_share * from_others))


ACCURACY = HeldOutAccuracy()
# For scores as a function of alpha or of the number of votes. With 100,000 voted items no Brier score moves
# by more than 4e-4, .4 % of how much it changes from alpha .9 to .25; at .75 and above by 2e-5
LOOSE = HeldOutAccuracy(solve_tol_of_many=1e-3)
# 160 entries at alpha .9, 32 from .98 on: eight times as many do not predict the others better
SAMPLE = SampleRule(work=1_600, fewest=32, whole_alpha=1.0, always_local=True)


@dataclass(frozen=True, slots=True, eq=False)
class VotedMass:
    """Mass of the voted items at one alpha."""

    mass: FloatArray  # (v, n_classes)
    scales: OwnScales
    spread: Spread | None = None  # the whole solution, where the next alpha starts

    @property
    def reach(self) -> FloatArray:
        """(v,) phi_qq."""
        return self.scales.reach

    def without(self, taken: FloatArray, at: IntArray | slice = slice(None)) -> FloatArray:
        """Mass of the items at some places without votes of these weights, (t, n_classes), never negative."""
        own = taken * self.reach[at][:, None]
        left = self.mass[at] - own
        left[left <= self.scales.noise * own] = 0.0  # rounding, not evidence
        return np.asarray(left)


def voted_mass(
    diffusion: Diffusion,
    voted: IntArray,
    weights: FloatArray,
    *,
    scales: OwnScales | None = None,
    tol: float | None = None,
    before: VotedMass | None = None,
) -> VotedMass:
    """Spread votes, and read off what the voted items hold.

    Parameters
    ----------
    voted : (v,) distinct items
    weights : (v, n_classes) total weight of their votes
    scales : as :func:`find_scales` or a :class:`ScaleMemory` gives them; None = as the diffusion knows them
    tol : relative residual of the solve; None = the diffusion's
    before : the same votes at another alpha, where the solve starts
    """
    scales = exact_scales(diffusion, voted) if scales is None else scales
    start = None if before is None else before.spread
    spread = diffusion.spread(voted, weights, scales=scales.scales, tol=tol, start=start)
    return VotedMass(np.maximum(spread.mass(voted), 0.0), scales, spread)


def mass_of_state(state: SpreadState, voted: IntArray) -> VotedMass:
    """Mass of the voted items of a solved state."""
    return VotedMass(state.mass(voted), exact_scales(state.diffusion, voted))


def exact_scales(diffusion: Diffusion, voted: IntArray) -> OwnScales:
    """Scales as well as the diffusion knows them, with nothing taken for rounding."""
    return found_scales(diffusion, voted)._replace(noise=0.0)


def find_scales(
    diffusion: Diffusion, voted: IntArray, hint: FloatArray | None = None, *, rough: bool = True
) -> OwnScales:
    """Scales as well as a mean over many votes needs them: read off a sample where they are costly.

    ``hint`` is M_qq at another alpha, (v,), which shows which scales are large. Unless ``rough``, a sample is
    only taken close to alpha 1: the log score depends on the smallest masses, which roughness hides.
    """
    costly = diffusion.alpha >= SAMPLE.costly_alpha
    enough = rough and hint is not None and diffusion.accuracy >= ACCURACY.sampled_scales
    if diffusion.exact_scales or not (costly or enough):
        return found_scales(diffusion, voted)
    return sampled_scales(diffusion, voted, hint, SAMPLE)


class ScaleMemory:
    """Scales of the voted items by alpha, for further searches over the same graph and items."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._voted: IntArray | None = None
        self._scales: dict[tuple[float, str, bool], OwnScales] = {}
        self._work: dict[tuple[float, str], float] = {}

    def scales(
        self, diffusion: Diffusion, voted: IntArray, before: VotedMass | None, *, rough: bool = True
    ) -> OwnScales:
        """As :func:`find_scales`, where they are not known yet; ``before`` is the mass at another alpha."""
        self._attach(diffusion.graph)
        if self._voted is None or not np.array_equal(self._voted, voted):
            self._voted, self._scales = voted, {}
        key = diffusion.alpha, diffusion.scaling, rough
        if key not in self._scales:
            hint = None if before is None else before.scales.scales * before.reach  # M_qq
            self._scales[key] = find_scales(diffusion, voted, hint, rough=rough)
        return self._scales[key]

    def rows_per_scale(self, diffusion: Diffusion) -> float:
        """How many rows of the graph the solve for one scale takes, on average over a fixed sample."""
        self._attach(diffusion.graph)
        key = diffusion.alpha, diffusion.scaling
        if key not in self._work:
            self._work[key] = diffusion.rows_per_scale()
        return self._work[key]

    def _attach(self, graph: Graph) -> None:
        if self._graph is not graph:
            self._graph, self._voted, self._scales, self._work = graph, None, {}, {}
