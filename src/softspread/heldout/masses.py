"""What voted items hold, with and without their own votes.

    held-out mass at q = Y[q] - (weight taken away) phi_qq                             theory: [leave one out]

Every estimate is a ratio of sums over votes, so a prediction for a voted item without one of its votes, or
without all of them, needs no new solve. Solves at one alpha start from the solution at the last.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diagonal import RULE, OwnScales, found_scales, own_reach, sampled_scales
from softspread.diffusion.diffusion import Diffusion, Spread
from softspread.graph.graph import Graph
from softspread.heldout.split import soft_votes
from softspread.spreading.state import SpreadState

SOLVE_TOL = 1e-6  # relative residual of the solves; scores need three digits
LARGEST_DELTA, SMALLEST_DELTA = 1e-2, 1e-6  # certified accuracy asked of the scales
NOISE_SHARE = (
    1e-2  # accuracy of the scales as a share of the evidence that an average item receives from others
)
COSTLY_ALPHA = RULE.costly_alpha  # from here most scales are read off a sample


def leave_one_out_masses(state: SpreadState, *, groups: IntArray | None = None) -> FloatArray:
    """Mass that each voted item would have without that vote, (m, n_classes), one row per vote of
    ``state.votes``.

    A vote of weight w > 1 is read as w votes, of which one is left out; votes of one group (see
    :func:`hold_out`) are left out together.
    """
    votes = state.votes
    distinct, at = np.unique(votes.rows, return_inverse=True)
    reach = own_reach(state.diffusion, distinct)[at]
    together = soft_votes(votes, at) if groups is None else np.asarray(groups)
    _, unit, size = np.unique(together, return_inverse=True, return_counts=True)
    copies = np.where(size[unit] == 1, np.maximum(1, np.round(votes.weights)), 1)
    removed = csr_array(
        (reach * votes.weights / copies, (unit, votes.columns)), shape=(len(size), state.n_classes)
    )
    left: FloatArray = np.maximum(state.mass(votes.rows) - removed[unit].toarray(), 0.0)
    return left


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """What the voted items hold at one alpha."""

    mass: FloatArray  # (v, n_classes)
    reach: FloatArray  # (v,)
    noise: float  # a share of what is taken away may be left over by inexact scales
    spread: Spread  # the whole solution, where the next alpha starts
    scales: FloatArray  # (v,)


class ScaleMemory:
    """Scales of the voted items by alpha, for further searches over the same graph and items."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._rows: IntArray | None = None
        self._scales: dict[tuple[float, str], OwnScales] = {}
        self._work: dict[tuple[float, str], float] = {}

    def scales(self, diffusion: Diffusion, rows: IntArray, before: Mass | None) -> OwnScales:
        """Found where they are not known yet."""
        self._attach(diffusion.graph)
        if self._rows is None or not np.array_equal(self._rows, rows):
            self._rows, self._scales = rows, {}
        key = diffusion.alpha, diffusion.scaling
        if key not in self._scales:
            self._scales[key] = _find_scales(diffusion, rows, before)
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
            self._graph, self._rows, self._scales, self._work = graph, None, {}, {}


def spread_votes(
    diffusion: Diffusion,
    rows: IntArray,
    own: FloatArray,
    before: Mass | None,
    memory: ScaleMemory | None = None,
) -> Mass:
    """Mass at the voted items, warm-started from another alpha."""
    scales, reach, noise = (ScaleMemory() if memory is None else memory).scales(diffusion, rows, before)
    start = None if before is None else before.spread
    spread = diffusion.spread(rows, own, scales=scales, tol=SOLVE_TOL, start=start)
    return Mass(np.maximum(spread.mass(rows), 0.0), reach, noise, spread, scales)


def _find_scales(diffusion: Diffusion, rows: IntArray, before: Mass | None) -> OwnScales:
    if diffusion.alpha < COSTLY_ALPHA or diffusion.exact_scales:
        return found_scales(diffusion, rows)
    return sampled_scales(diffusion, rows, None if before is None else before.scales * before.reach)
