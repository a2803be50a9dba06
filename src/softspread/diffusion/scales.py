"""Stage 1: how large is a profile before it is scaled?

    s_q = max_i M_iq ("peak"),  M_qq ("source"),  1 ("none"),   M = (I - alpha S)^-1        theory: [scale]

A small local solve per distinct voted item gives x with residual r = e_q - (I - alpha S) x; then

    M_qq = x_q + x.r + r.M r,   |r|^2 / (1 + alpha) <= r.M r <= |r|^2 / (1 - alpha)
                                                                              theory: [scale certificate]

so that a loose solve gives a tight scale with a proven bound. What is left of r.M r is nearly the same
multiple of |r|^2 for all items of a graph: fitted on a fixed sample of items it makes the scale several times
better still, as an estimate. Close to alpha 1, where solves are large, the multiple is read off each solve:
it goes with r.S r and |S r|^2, which begin the series r.M r = |r|^2 + alpha r.S r + alpha^2 |S r|^2 + ...; so
solves may be looser. The sample depends on the graph alone, so an item's scale is the same whatever the votes
and their order.
"""

import threading
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softspread._common.progress import progress_bar
from softspread._common.threads import Workers
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread._kernels.local_scales import (
    CERTIFICATE,
    ONWARD,
    LocalWork,
    ScaleGoal,
    local_scales,
    local_work,
)
from softspread.diffusion.solver import MOST_COLUMNS, Solver
from softspread.graph.graph import Graph

SCALINGS = ("peak", "source", "none")
# From here on the remainder is read off each solve; at 0.9 that takes as long as the tight solves it saves
ONWARD_ALPHA = 0.95
FEWEST_FITTED = 24  # solves, for five numbers
FARTHEST = 3.0  # standard deviations of a trait


@dataclass(frozen=True, slots=True)
class ScaleRule:
    """How scales are found."""

    sample: int = 32  # items on which the remainder of the certificate is fitted
    sample_factor: float = 1e-2  # how much tighter the sample is solved: it leaves a hundredth open
    onward_sample: int = (
        64  # the same where the remainder is read off each solve: more numbers are fitted ...
    )
    onward_factor: float = 0.05  # ... and both solves leave the same multiple open, so less need be solved
    local_rows: int = 20_000  # a local set larger than this is no longer local
    local_share: float = 0.2  # of all items: beyond, 16 solves over the whole graph at once are cheaper
    # of delta: solves over the whole graph have no fitted remainder, and a digit more costs only some steps
    whole_factor: float = 0.1
    onward_whole_factor: float = 0.03  # where local solves are looser
    smallest_delta: float = 1e-9  # below, rounding in the local solves is no longer negligible
    dense_columns: int = 256  # columns of a dense solve at once
    chunk: int = 128  # seeds per task: long enough to hide the hand-over, short enough to balance


@dataclass(frozen=True, slots=True)
class ScaleReport:
    """How well the scales of the voted items are known, as shares of the scale.

    Attributes
    ----------
    method : str
        "exact", "certified", "calibrated" or "none".
    certified : float
        Proven: no scale is further off than this.
    estimated : float
        Largest error on a sample solved far more tightly; equals ``certified`` where nothing was sampled.
    global_solves : int
        How many items needed a solve over the whole graph.

    See Also
    --------
    SolveReport : The same for the soft labels' linear system.

    Examples
    --------
    >>> from softspread import ProbabilisticLabelSpreading
    >>> est = ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=1).fit([[0.0], [1.0], [2.0]], [0, -1, 1])
    >>> est.scale_report_.estimated < 0.01
    True
    """

    method: str
    certified: float
    estimated: float
    global_solves: int = 0


class Remainder(NamedTuple):
    """What a local solve leaves open of r.M r, as a multiple of |r|^2."""

    middle: float
    error: float  # the largest that it leaves on the sample, as a share of the scale
    centre: FloatArray = np.empty(0)  # of the traits of a solve; none: the same multiple for all
    spread: FloatArray = np.empty(0)
    slopes: FloatArray = np.empty(0)

    def multiples(self, found: FloatArray) -> FloatArray | float:
        """Of some local solves."""
        if not len(self.slopes):
            return self.middle
        traits = _standardised(found, self.centre, self.spread)
        return np.asarray(self.middle + (traits * self.slopes).sum(axis=1))  # of each row by itself

    def numbers(self) -> FloatArray:
        """For a file."""
        return np.concatenate([[self.middle, self.error], self.centre, self.spread, self.slopes])

    @classmethod
    def of(cls, numbers: FloatArray) -> "Remainder":
        """The inverse of :meth:`numbers`."""
        middle, error = numbers[:2].tolist()
        return cls(middle, error, *np.split(numbers[2:], 3))


class _Known:
    """All that has been computed about the scales of one graph at one alpha."""

    def __init__(self, n_items: int) -> None:
        self.scales = np.full(n_items, np.nan)
        self.diagonal = np.full(n_items, np.nan)
        self.certified = np.zeros(n_items)
        self.sample: tuple[IntArray, FloatArray] | None = None
        self.remainder: Remainder | None = None
        self.global_solves = 0


def read_local_solves(
    found: FloatArray, alpha: float, multiple: FloatArray | float | None
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """M_qq, scale and the bound of its error from local solves, and which did not reach their certificate.

    Parameters
    ----------
    found : (n, 5) or more, as the kernel ``local_scale`` leaves it
    multiple : k in r.M r = k |r|^2, see :func:`fitted_remainder`; None = the middle of the certificate
    """
    value, squares, runner_up, failed = found[:, 0], found[:, 1], found[:, 2], found[:, 4] > 0
    lowest, highest = value + squares / (1 + alpha), value + squares / (1 - alpha)
    estimate = 0.5 * (lowest + highest) if multiple is None else value + multiple * squares
    own = np.clip(estimate, lowest, highest)
    error = np.maximum(highest - own, own - lowest)
    reach = np.sqrt(squares / ((1 - alpha) * (1 - alpha * alpha)))
    error = np.where(runner_up > 0, np.maximum(error, reach), error)
    return own, np.maximum(own, runner_up), error, failed


def fitted_remainder(loose: FloatArray, tight: FloatArray, alpha: float) -> tuple[float, float]:
    """The multiple k in r.M r = k |r|^2, and the largest error it leaves: the median over a solved sample."""
    truth = tight[:, 0] + tight[:, 1] / (1 - alpha**2)
    good = (loose[:, 4] == 0) & (tight[:, 4] == 0) & (loose[:, 1] > 0)
    multiples = (truth[good] - loose[good, 0]) / loose[good, 1]
    middle = float(np.median(multiples)) if good.any() else 1 / (1 - alpha**2)
    errors = np.abs(middle - multiples) * loose[good, 1] / truth[good]
    return middle, float(errors.max(initial=0.0)) if good.any() else np.inf


def fitted_traits(loose: FloatArray, tight: FloatArray, alpha: float) -> Remainder:
    """The multiple by the traits of a solve: weighted least squares on a solved sample, slopes shrunk.

    Weights are what an error of the multiple does to the scale. Errors are those of each item of the sample
    with itself left out.
    """
    good = (loose[:, 4] == 0) & (tight[:, 4] == 0) & (loose[:, 1] > 2 * tight[:, 1])
    if good.sum() < FEWEST_FITTED:
        return Remainder(*fitted_remainder(loose, tight, alpha))
    loose, tight = loose[good], tight[good]
    multiples = (tight[:, 0] - loose[:, 0]) / (loose[:, 1] - tight[:, 1])  # the same is left open of both
    middle, weights = float(np.median(multiples)), loose[:, 1] / loose[:, 0]
    traits = _traits(loose)
    centre, spread = traits.mean(axis=0), np.maximum(traits.std(axis=0), np.finfo(np.float64).eps)
    Z = np.column_stack([np.ones(len(loose)), _standardised(loose, centre, spread)])
    weighted = Z * weights[:, None]
    penalty = np.diag([0.0, *[1.0] * len(centre)]) * float((weights**2).mean())
    hat = np.linalg.solve(weighted.T @ weighted + penalty, weighted.T)
    fitted = hat @ (weights * (multiples - middle))
    kept = 1 - np.einsum("ij,ji->i", weighted, hat)
    errors = weights * (multiples - middle - Z @ fitted) / kept
    return Remainder(middle + float(fitted[0]), float(np.abs(errors).max()), centre, spread, fitted[1:])


def _traits(found: FloatArray) -> FloatArray:
    """(n, 4) r.S r and |S r|^2 over |r|^2, and the logarithms of the rows and of what is left open."""
    value, squares = found[:, 0], np.maximum(found[:, 1], np.finfo(np.float64).tiny)
    onward = found[:, CERTIFICATE:] / squares[:, None]
    return np.column_stack([onward, np.log(np.maximum(found[:, 3], 1.0)), np.log(squares / value)])


def _standardised(found: FloatArray, centre: FloatArray, spread: FloatArray) -> FloatArray:
    """The traits of solves in deviations from the sample's, no farther than a sample shows."""
    return np.clip((_traits(found) - centre) / spread, -FARTHEST, FARTHEST)


class ScaleFinder:
    """Scales of items of one graph at one alpha, in inner numbering; each is computed once and kept."""

    def __init__(
        self,
        graph: Graph,
        alpha: float,
        scaling: str,
        mode: str,
        delta: float,
        solver: Solver,
        workers: Workers,
        rule: ScaleRule = ScaleRule(),
    ) -> None:
        self.graph, self.alpha, self.scaling, self.mode, self.rule = graph, alpha, scaling, mode, rule
        self.delta = max(delta, rule.smallest_delta)
        self._solver, self._workers = solver, workers
        # In the random-walk form M_iq / M_qq <= alpha < 1: the seed is always the peak.
        self._onward = mode == "calibrated" and alpha >= ONWARD_ALPHA
        self._want_peak = scaling == "peak" and graph.normalization == "symmetric"
        self._known = _Known(graph.n_items)
        self._max_degree = float(graph.inner_degrees.max(initial=0.0))
        self._scratch = threading.local()

    def with_workers(self, workers: Workers) -> "ScaleFinder":
        """The same finder with other threads; both share their results."""
        other = copy(self)
        other._workers = workers
        return other

    @property
    def exact(self) -> bool:
        """True where one dense factor gives every scale exactly."""
        return self._solver.name == "dense"

    def scales(self, rows: IntArray, show: bool = False) -> FloatArray:
        """The scale of each (inner) row; new ones are computed and kept."""
        if self.scaling == "none" or self.alpha == 0.0:
            return np.ones(len(rows))
        return self._find(rows, self._known.scales, show)

    def diagonal(self, rows: IntArray, show: bool = False) -> FloatArray:
        """M_qq of each (inner) row, found together with the scale whatever the scaling."""
        return np.ones(len(rows)) if self.alpha == 0.0 else self._find(rows, self._known.diagonal, show)

    def _find(self, rows: IntArray, known: FloatArray, show: bool) -> FloatArray:
        found = known[rows]
        missing = np.isnan(found)
        if not missing.any():
            return found
        new = np.unique(rows[missing])
        if self.exact or not self._is_local():
            self._keep(new, *self._solve_globally(new, show))
        else:
            self._find_locally(new, show)
        return known[rows]

    def report(self) -> ScaleReport:
        """How well all scales asked for so far are known."""
        if self.scaling == "none" or self.alpha == 0.0:
            return ScaleReport("none", 0.0, 0.0)
        known = ~np.isnan(self._known.scales)
        certified = float(self._known.certified[known].max(initial=0.0))
        if self.exact:
            return ScaleReport("exact", certified, certified)
        if (
            self._known.remainder is None
        ):  # nothing was fitted: mode "certified", or every item was solved on the whole graph
            return ScaleReport("certified", certified, certified, self._known.global_solves)
        estimated = min(certified, self._known.remainder.error)
        return ScaleReport("calibrated", certified, estimated, self._known.global_solves)

    def state(self) -> dict[str, AnyArray]:
        """The arrays to save, so that a loaded finder gives the same scales."""
        known = np.flatnonzero(~np.isnan(self._known.scales))
        remainder = self._known.remainder
        fitted = np.empty(0) if remainder is None else remainder.numbers()
        return {
            "rows": known,
            "scales": self._known.scales[known],
            "certified": self._known.certified[known],
            "fitted": fitted,
        }

    def restore(self, state: dict[str, AnyArray]) -> None:
        """The inverse of :meth:`state`."""
        self._known.scales[state["rows"]] = state["scales"]
        self._known.certified[state["rows"]] = state["certified"]
        if len(state["fitted"]):
            self._known.remainder = Remainder.of(state["fitted"])

    def _find_locally(self, rows: IntArray, show: bool) -> None:
        found = self._local_solves(rows, self.delta, show)
        multiple = self._calibrate().multiples(found) if self.mode == "calibrated" else None
        own, scale, error, failed = read_local_solves(found, self.alpha, multiple)
        if failed.any():
            own[failed], scale[failed], error[failed] = self._solve_globally(rows[failed], show)
        self._keep(rows, own, scale, error)

    def _keep(self, rows: IntArray, own: FloatArray, scale: FloatArray, error: FloatArray) -> None:
        self._known.diagonal[rows], self._known.scales[rows] = own, scale
        self._known.certified[rows] = error / scale

    def _solved_sample(self) -> tuple[IntArray, FloatArray]:
        """A fixed sample of items with neighbours, and their local solves."""
        if self._known.sample is None:
            tied = np.flatnonzero(self.graph.inner_degrees > 0)
            size = self.rule.onward_sample if self._onward else self.rule.sample
            rows = tied[np.linspace(0, len(tied) - 1, min(len(tied), size)).astype(np.int64)]
            self._known.sample = rows, self._local_solves(rows, self.delta)
        return self._known.sample

    def rows_per_scale(self) -> float:
        """How many rows of the graph the solve for one scale takes, on average over a fixed sample."""
        if self.exact:
            return 0.0
        rows, solved = self._solved_sample()
        return float(solved[:, 3].mean()) if len(rows) else 0.0

    def _is_local(self) -> bool:
        """Whether profiles stay in a small part of the graph."""
        share = self.rule.local_share
        return share >= 1.0 or self.rows_per_scale() <= share * self.graph.n_items

    def _calibrate(self) -> Remainder:
        """What local solves leave open, from a fixed sample."""
        if self._known.remainder is None:
            rule, (sample, loose) = self.rule, self._solved_sample()
            tighter = rule.onward_factor if self._onward else rule.sample_factor
            tight = self._local_solves(sample, self.delta * tighter)
            if self._onward:
                self._known.remainder = fitted_traits(loose, tight, self.alpha)
            else:
                self._known.remainder = Remainder(*fitted_remainder(loose, tight, self.alpha))
        return self._known.remainder

    def _local_solves(self, rows: IntArray, delta: float, show: bool = False) -> FloatArray:
        graph, chunk = self.graph, self.rule.chunk
        seeds = rows.astype(np.uint32)
        width = CERTIFICATE + ONWARD * self._onward
        out, system = np.zeros((len(rows), width)), graph.inner_system(self.alpha)
        goal = ScaleGoal(delta, self._want_peak, self._max_degree)

        def work(first: int) -> None:
            part = slice(first, first + chunk)
            local_scales(system, graph.inner_degrees, goal, seeds[part], self._local_work(), out[part])

        chunks = range(0, len(rows), chunk)
        with progress_bar("scales of voted items", len(rows), show) as advance:
            for _ in self._workers.stream(work, chunks):
                advance(min(chunk, len(rows)))
        return out

    def _local_work(self) -> LocalWork:
        """Scratch memory of the calling thread."""
        if not hasattr(self._scratch, "work"):
            n = self.graph.n_items
            rows = min(n, self.rule.local_rows)
            longest = int(np.diff(self.graph.indptr).max(initial=0))
            nodes = min(n, 10 * rows) + longest
            edges = min(self.graph.n_edges, 40 * rows + longest)
            self._scratch.work = local_work(n, rows, nodes, edges)
        work: LocalWork = self._scratch.work
        return work

    def _solve_globally(
        self, rows: IntArray, show: bool = False
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """M_qq, scales and the bounds of their errors from solves over the whole graph, several at once."""
        own, scales, errors = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows))
        with progress_bar("scales, whole graph", len(rows), show) as advance:
            size = self.rule.dense_columns if self.exact else MOST_COLUMNS
            for first in range(0, len(rows), size):
                part = slice(first, first + size)
                own[part], scales[part], errors[part] = self._solve_columns(rows[part])
                advance(len(rows[part]))
        if not self.exact:
            self._known.global_solves += len(rows)
        return own, scales, errors

    def _solve_columns(self, rows: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A loose solve gives M_qq to second order.

        A tight one follows only where another item may be the peak.
        """
        alpha = self.alpha
        factor = self.rule.onward_whole_factor if self._onward else self.rule.whole_factor
        delta = factor * self.delta
        own, bound, other, reach = self._columns_at(rows, float(np.sqrt(0.5 * delta * (1 - alpha * alpha))))
        unclear = np.flatnonzero(other + reach > own - bound)
        if self._want_peak and len(unclear):
            tight = delta * float(np.sqrt((1 - alpha) * (1 - alpha * alpha)))
            own[unclear], bound[unclear], other, reach = self._columns_at(rows[unclear], tight)
            bound[unclear] = np.where(other > own[unclear], reach, bound[unclear])
            scale = own.copy()
            scale[unclear] = np.maximum(own[unclear], other)
            return own, scale, bound
        return own, own, bound

    def _columns_at(self, rows: IntArray, tol: float) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """M_qq and its bound, the largest other entry of M e_q and its bound, for each of a few rows q."""
        alpha = self.alpha
        columns = np.arange(len(rows))
        B = np.zeros((self.graph.n_items, len(rows)))
        B[rows, columns] = 1.0
        solution = self._solver.solve(B, tol)
        squares = np.einsum("ij,ij->j", solution.R, solution.R)
        correction = np.einsum("ij,ij->j", solution.X, solution.R)
        own = solution.X[rows, columns] + correction + squares / (1 - alpha * alpha)
        solution.X[rows, columns] = 0.0
        return own, squares * alpha / (1 - alpha * alpha), solution.X.max(axis=0), solution.report.bound
