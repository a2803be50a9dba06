"""What voted items hold, with and without their own votes.

    held-out mass at q = Y[q] - (weight taken away) phi_qq                             theory: [leave one out]

Every estimate is a ratio of sums over votes, so a prediction for a voted item without one of its votes, or
without all of them, needs no new solve. Solves at one alpha start from the solution at the last.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.scales import ScaleFinder
from softspread.diffusion.solver import MOST_COLUMNS, apply_system, prepare
from softspread.graph.graph import Graph
from softspread.heldout.split import soft_votes
from softspread.spreading.state import SpreadState

SOLVE_TOL = 1e-6  # relative residual of the solves; scores need three digits
LARGEST_DELTA, SMALLEST_DELTA = 1e-2, 1e-6  # certified accuracy asked of the scales
NOISE_SHARE = (
    1e-2  # accuracy of the scales as a share of the evidence that an average item receives from others
)
HINT_ALPHA = 0.9  # cheap scales that tell which of the costly ones are large
COSTLY_ALPHA = 0.98  # from here one scale takes many milliseconds ...
WHOLE_ALPHA = 0.995  # ... and from here a loose solve over the whole graph takes less than a local one
SCALES_WORK, FEWEST_SCALES = (
    20_000,
    32,
)  # ... so only this many times (1 - alpha) are found, and read off for the rest
CHECKED_SCALES, CHECK_FACTOR = 8, 1e-2  # so many are found this much more tightly, to correct the others


def own_reach(diffusion: Diffusion, rows: IntArray) -> FloatArray:
    """phi_qq after scaling: what an item receives from one vote of its own, (len(rows),) for inner rows.

    It is 1 where the voted item is the peak of its profile. With u_i = M_iq / sqrt(d_i) and p the largest
    probability of a step from another item to q, u_i <= u_q alpha p / (1 - alpha + alpha p) for i != q: few
    need a closer look.
    """
    reach = np.ones(len(rows))
    if diffusion.scaling == "source" or diffusion.alpha == 0.0 or len(rows) == 0:
        return reach
    if diffusion.scaling == "none":
        return _diagonal(diffusion, rows)
    if diffusion.graph.normalization == "symmetric":
        unsure = np.flatnonzero(_peak_bound(diffusion, rows) > 1)
        if len(unsure):
            own = _diagonal(diffusion, rows[unsure]) / diffusion.finder.scales(rows[unsure])
            reach[unsure] = np.minimum(own, 1.0)
    return reach


def _diagonal(diffusion: Diffusion, rows: IntArray) -> FloatArray:
    """M_qq as well as the scales are known."""
    finder = ScaleFinder(
        diffusion.graph,
        diffusion.alpha,
        "source",
        diffusion.scale_mode,
        diffusion.finder.delta,
        diffusion.solver,
        diffusion.workers,
    )
    return finder.scales(rows, diffusion.verbose)


def _peak_bound(diffusion: Diffusion, rows: IntArray) -> FloatArray:
    """Proven: no entry of a profile but the seed's own exceeds this multiple of the seed's own."""
    graph, alpha, root = diffusion.graph, diffusion.alpha, diffusion.root
    S = graph.inner_operator()[rows]
    steps = (
        S.data * np.repeat(root[rows], np.diff(S.indptr)) / root[S.indices]
    )  # from a neighbour to the seed
    seed = np.repeat(np.arange(len(rows)), np.diff(S.indptr))
    p = np.zeros(len(rows))
    np.maximum.at(p, seed, steps)
    bound: FloatArray = alpha * p / (1 - alpha + alpha * p) * float(root.max(initial=1.0)) / root[rows]
    return bound


def leave_one_out_masses(state: SpreadState, *, groups: IntArray | None = None) -> FloatArray:
    """Mass that each voted item would have without that vote, (m, n_classes), one row per vote of
    ``state.votes``.

    A vote of weight w > 1 is read as w votes, of which one is left out; votes of one group (see
    :func:`hold_out`) are left out together.
    """
    votes = state.votes
    rows = state.diffusion.rank[votes.rows]
    distinct, at = np.unique(rows, return_inverse=True)
    reach = own_reach(state.diffusion, distinct)[at]
    together = soft_votes(votes, at) if groups is None else np.asarray(groups)
    _, unit, size = np.unique(together, return_inverse=True, return_counts=True)
    copies = np.where(size[unit] == 1, np.maximum(1, np.round(votes.weights)), 1)
    removed = csr_array(
        (reach * votes.weights / copies, (unit, votes.columns)), shape=(len(size), state.n_classes)
    )
    left: FloatArray = np.maximum(state.mass(rows) - removed[unit].toarray(), 0.0)
    return left


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """What the voted items hold at one alpha."""

    mass: FloatArray  # (v, n_classes)
    reach: FloatArray  # (v,)
    noise: float  # a share of what is taken away may be left over by inexact scales
    Y: FloatArray  # (n, n_classes)  the whole solution, where the next alpha starts
    scales: FloatArray  # (v,)


_Scales = tuple[FloatArray, FloatArray, float]  # of the voted items, their own reach, the share of error


class ScaleMemory:
    """Scales of the voted items by alpha, for further searches over the same graph and items."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self._rows: IntArray | None = None
        self._scales: dict[tuple[float, str], _Scales] = {}
        self._work: dict[tuple[float, str], float] = {}

    def scales(self, diffusion: Diffusion, rows: IntArray, before: Mass | None) -> _Scales:
        """Found where they are not known yet."""
        self._attach(diffusion.graph)
        if self._rows is None or not np.array_equal(self._rows, rows):
            self._rows, self._scales = rows, {}
        key = diffusion.alpha, diffusion.scaling
        if key not in self._scales:
            self._scales[key] = _find_scales(diffusion, rows, before)
        return self._scales[key]

    def rows_per_scale(self, graph: Graph, alpha: float, scaling: str, n_jobs: int | None) -> float:
        """How many rows of the graph the solve for one scale takes, on average over a fixed sample."""
        self._attach(graph)
        if (alpha, scaling) not in self._work:
            finder = Diffusion(graph, alpha, scaling=scaling, n_jobs=n_jobs).finder
            self._work[alpha, scaling] = finder.rows_per_scale()
        return self._work[alpha, scaling]

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
    """Mass at the voted items (inner rows), warm-started from another alpha."""
    scales, reach, noise = (ScaleMemory() if memory is None else memory).scales(diffusion, rows, before)
    B = np.zeros((diffusion.graph.n_items, own.shape[1]))
    B[rows] = own / (scales * diffusion.error_factor()[rows])[:, None]
    Y = _solve(diffusion, B, None if before is None else before.Y)
    return Mass(np.maximum(diffusion.mass(Y, rows), 0.0), reach, noise, Y, scales)


def _find_scales(diffusion: Diffusion, rows: IntArray, before: Mass | None) -> _Scales:
    if diffusion.alpha >= COSTLY_ALPHA and not diffusion.finder.exact:
        return _rough_scales(diffusion, rows, before)
    scales, reach = diffusion.finder.scales(rows, diffusion.verbose), own_reach(diffusion, rows)
    return scales, reach, diffusion.scale_report().estimated


def _rough_scales(diffusion: Diffusion, rows: IntArray, last: Mass | None) -> _Scales:
    """Scales, own reach and the share of error for alpha close to 1, where one vote is a small part of all.

    The seed's own entry stands for the peak, and a sample for all: larger at one alpha is larger at the next.
    """
    from scipy.optimize import isotonic_regression  # slow to load, and only needed here

    n_sample = min(len(rows), max(FEWEST_SCALES, int(SCALES_WORK * (1 - diffusion.alpha))))
    sample = np.linspace(0, len(rows) - 1, n_sample).astype(np.int64)
    known = _rough_diagonal(diffusion, rows[sample], LARGEST_DELTA)
    checked = np.unique(np.linspace(0, n_sample - 1, CHECKED_SCALES).astype(np.int64))
    ratios = _rough_diagonal(diffusion, rows[sample[checked]], LARGEST_DELTA * CHECK_FACTOR) / known[checked]
    known *= np.median(ratios)  # a loose solve is off the same way everywhere
    noise = float(np.abs(ratios / np.median(ratios) - 1).max())
    own = known
    if n_sample < len(rows):
        hint = _diagonal_at(diffusion, HINT_ALPHA, rows) if last is None else last.scales * last.reach  # M_qq
        by_hint = np.argsort(hint[sample], kind="stable")
        rising = isotonic_regression(np.log(known[by_hint])).x
        own = np.exp(np.interp(hint, hint[sample[by_hint]], rising))
        noise += float(np.sqrt(np.mean((own[sample] / known - 1) ** 2)))
        own[sample] = known
    ones = np.ones(len(rows))
    return (ones, own, noise) if diffusion.scaling == "none" else (own, ones, noise)


def _rough_diagonal(diffusion: Diffusion, rows: IntArray, delta: float) -> FloatArray:
    """M_qq by local solves, or, closer to 1, by loose solves over the whole graph, theory [scale
    certificate].
    """
    alpha = diffusion.alpha
    if alpha <= WHOLE_ALPHA:
        return _diagonal_at(diffusion, alpha, rows, delta)
    own = np.empty(len(rows))
    tol = float(np.sqrt(delta * (1 - alpha * alpha)))
    for first in range(0, len(rows), MOST_COLUMNS):
        part = rows[first : first + MOST_COLUMNS]
        columns = np.arange(len(part))
        B = np.zeros((diffusion.graph.n_items, len(part)))
        B[part, columns] = 1.0
        found = diffusion.solve(B, tol)
        left = np.einsum("ij,ij->j", found.X + found.R / (1 - alpha * alpha), found.R)
        own[first : first + MOST_COLUMNS] = found.X[part, columns] + left
    return own


def _diagonal_at(
    diffusion: Diffusion, alpha: float, rows: IntArray, delta: float = LARGEST_DELTA
) -> FloatArray:
    """M_qq of any alpha by local solves."""
    solver = prepare("cg", diffusion.graph, alpha, diffusion.workers)
    return ScaleFinder(
        diffusion.graph, alpha, "source", "certified", delta, solver, diffusion.workers
    ).scales(rows)


def _solve(diffusion: Diffusion, B: FloatArray, start: FloatArray | None) -> FloatArray:
    """(I - alpha S) Y = B, from a given start where that is closer than nothing."""
    if start is None:
        return diffusion.solve(B, SOLVE_TOL).X
    R = B - apply_system(diffusion.graph, diffusion.alpha, start, diffusion.workers)
    wanted, left = SOLVE_TOL * np.linalg.norm(B, axis=0), np.linalg.norm(R, axis=0)
    open_columns = np.flatnonzero(left > wanted)
    Y = start.copy()
    if len(open_columns):
        tol = float(np.min(wanted[open_columns] / left[open_columns]))
        if tol < SOLVE_TOL:  # the start is worse than nothing somewhere
            return diffusion.solve(B, SOLVE_TOL).X
        Y[:, open_columns] += diffusion.solve(np.ascontiguousarray(R[:, open_columns]), tol).X
    return Y
