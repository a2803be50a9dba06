"""Choosing alpha, the number of neighbours and the strength of a prior from the votes themselves.

    held-out mass at q = Y[q] - (weight taken away) phi_qq,   p = (held-out mass + kappa prior) / (its sum + kappa)

theory: [leave one out], [score]. Every estimate is a ratio of sums over votes, so a prediction for a voted item without
one of its votes needs no new solve. A vote held out on an item with j + 1 votes shows how well items with j votes are
known; :func:`hold_out` weights such votes by the share of items that have j votes, so that the score speaks for all
items however the votes were placed. :func:`tune` can also search against a known truth, and says so.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, vstack

from softspread import checks
from softspread.data import AnyArray, BoolArray, FloatArray, IntArray, Neighbors
from softspread.diffusion.scales import SCALINGS, ScaleFinder
from softspread.diffusion.solver import AMG_ALPHA, MOST_COLUMNS, apply_system
from softspread.errors import InputError, MissingExtraError, SoftspreadWarning
from softspread.graph.build import _symmetric_affinity, _tell, kernel_width
from softspread.graph.neighbors import leaf_order, search_neighbors
from softspread.graph.operator import Graph, operator_from_affinity
from softspread.live import SpreadState
from softspread.parallel import Workers, count_threads
from softspread.spreading import Diffusion, soft_labels
from softspread.votes import RETRACTED, Votes, VoteTable, has_vote

ALPHAS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
START_ALPHA = 0.75  # the search starts here: both ways are cheap, and above 0.95 each step costs ten times the last
NEIGHBORS = (10, 20, 40)
STRENGTHS = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0)  # without a prior: 1e-4 only breaks ties, 1 smooths strongly
PRIOR_STRENGTHS = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
USUAL_STRENGTH = 3.0  # a prediction worth having counts as a few votes; log(kappa / 3) ~ Cauchy(0, 1), a belief that
LIKELIHOOD = {"brier": 2.0, "log": 1.0}  # ... 100 votes outweigh: Brier read as a Gaussian log-likelihood of spread 1/2
DEFAULT_ALPHA, DEFAULT_NEIGHBORS, DEFAULT_STRENGTH = 0.9, 20, 1e-4  # where votes are too few to choose anything
SCORES = ("brier", "log")
METHODS = ("pls", "gkr", "knn")

ENOUGH_VOTES = 10  # fewer votes judge nothing by themselves: they join their neighbours
FIRM_VOTES = 40  # so many choose well, see docs/tuning.md; with fewer on many items we warn
BORROWED_ITEMS = 2_000  # items from which held-out votes are borrowed; more would not change the score
BLIND_SHARE = 0.2  # of all items: so many may be judged by the wrong number of own votes before we warn
CLEAR_RISE = 2.0  # standard errors of a paired difference: beyond, the search turns back after one step
PATIENCE = 2  # steps uphill before the search turns back
LOG_FLOOR = 1e-6  # one impossible vote must not decide the mean log score
SOLVE_TOL = 1e-6  # relative residual of the solves; scores need three digits
LARGEST_DELTA, SMALLEST_DELTA = 1e-2, 1e-6  # certified accuracy asked of the scales
NOISE_SHARE = 1e-2  # accuracy of the scales as a share of the evidence that an average item receives from others
COSTLY_ALPHA = 0.98  # from here one scale takes many milliseconds ...
SCALES_WORK, FEWEST_SCALES = 20_000, 32  # ... so only this many times (1 - alpha) are found, and read off for the rest
CHECKED_SCALES, CHECK_FACTOR = 8, 1e-2  # so many are found this much more tightly, to correct the others
BLOCK_ENTRIES = 4_000_000  # held-out masses in memory at once: 32 MB an array
ONE_VOTE = 1e-6  # rounding of the sum of a soft vote
LARGEST_ALPHA = 0.999  # of the search against a truth; Beta(5, 1) passes it once in 200 draws
BETA = 5.0  # alpha ~ Beta(5, 1): the fifth root of a uniform number
MOST_NEIGHBORS = 100
GAMMA_RANGE = (1e-6, 1e6)


# -------------------------------------------------------------------------------------------------------------- results
@dataclass(frozen=True, slots=True)
class TuningPoint:
    """One setting and how it scored; a setting that does not apply is None."""

    alpha: float | None
    n_neighbors: int | None
    prior_strength: float | None
    gamma: float | None
    score: float  # lower is better
    standard_error: float  # NaN where the score is measured against a truth
    penalty: float = 0.0  # what an unusual strength of a given prior costs; vanishes with many votes

    @property
    def objective(self) -> float:
        """What is made small: score + penalty."""
        return self.score + self.penalty


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was tried, what was chosen, and by what.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import Votes
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, size=(50, 2)) for c in (0, 4)])
    >>> items = rng.integers(100, size=60)
    >>> tuning = tune(X, Votes.from_pairs(items, items // 50), n_neighbors=10)
    >>> tuning.used_truth, 0 < tuning.alpha < 1, tuning.to_frame().columns.tolist()[:2]
    (False, True, ['alpha', 'n_neighbors'])
    """

    best: TuningPoint
    points: tuple[TuningPoint, ...]
    score: str  # "brier" or "log" of held-out votes; "rmse" against a truth
    how: str  # in words
    used_truth: bool
    blind_share: float = 0.0  # share of items whose own votes count in the result, but not in the score
    method: str = "pls"

    @property
    def alpha(self) -> float | None:
        """The chosen spreading intensity."""
        return self.best.alpha

    @property
    def n_neighbors(self) -> int | None:
        """The chosen number of neighbours; None where a graph was given."""
        return self.best.n_neighbors

    @property
    def prior_strength(self) -> float | None:
        """The chosen strength of the prior."""
        return self.best.prior_strength

    @property
    def gamma(self) -> float | None:
        """The chosen decay of kernel regression."""
        return self.best.gamma

    def to_frame(self) -> pd.DataFrame:
        """All settings tried: alpha, n_neighbors, prior_strength, gamma, score, standard_error, penalty, chosen."""
        names = ("alpha", "n_neighbors", "prior_strength", "gamma", "score", "standard_error", "penalty")
        frame = pd.DataFrame({name: [getattr(point, name) for point in self.points] for name in names})
        frame["chosen"] = [point is self.best for point in self.points]
        return frame

    def curve(self) -> pd.DataFrame:
        """The best score for each alpha and number of neighbours, in order: the curve to look at."""
        frame = self.to_frame().sort_values("score", kind="stable")
        keys = (
            ["n_neighbors", "alpha"] if self.method == "pls" else ["gamma" if self.method == "gkr" else "n_neighbors"]
        )
        return frame.drop_duplicates(keys).sort_values(keys, kind="stable").reset_index(drop=True)

    def plot(self, axes: Any) -> None:
        """Draw the curve with its standard errors into matplotlib axes."""
        frame = self.curve()
        across = "gamma" if self.method == "gkr" else "alpha" if self.method == "pls" else "n_neighbors"
        lines = frame["n_neighbors"].unique() if self.method == "pls" else [None]
        for number in lines:
            part = frame if number is None or pd.isna(number) else frame[frame["n_neighbors"] == number]
            name = None if number is None or pd.isna(number) else f"{number:g} neighbours"
            axes.errorbar(part[across], part["score"], yerr=part["standard_error"].fillna(0.0), marker="o", label=name)
        axes.set_xlabel(across)
        axes.set_ylabel(self.score)

    def summary(self) -> str:
        """What was chosen and how, in a sentence or two."""
        names = ("alpha", "n_neighbors", "prior_strength", "gamma")
        values = [f"{name}={getattr(self, name):g}" for name in names if getattr(self, name) is not None]
        return f"{', '.join(values)}: {self.how}"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What an estimator needs to go on with."""

    graph: Graph
    alpha: float
    prior_strength: float
    tuning: Tuning


# ------------------------------------------------------------------------------------------------------- held-out votes
@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Trials: what is taken away from an item, and the votes that then judge the prediction for it."""

    voted: IntArray  # (v,)  the user's rows of the voted items
    own: FloatArray  # (v, n_classes)  weight of each item's own votes
    position: IntArray  # (t,)  the item of each trial, as a place in ``voted``
    removed: csr_array  # (t, n_classes)  weight taken away
    judged: csr_array  # (t, n_classes)  weight of the votes that judge
    shares: FloatArray  # (t,)  how much each trial counts; sum 1
    levels: pd.DataFrame = field(repr=False)  # own_votes, share of items, judged_at, votes, by
    blind_share: float  # share of items that have votes of their own, but are judged as if they had none
    n_votes: int  # single votes


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """Single votes: whole votes one by one (a row of weight 3 is three), soft votes as one."""

    position: IntArray  # (u,)
    copies: IntArray  # (u,)
    content: csr_array  # (u, n_classes)  weight of all copies together


def hold_out(
    votes: VoteTable,
    n_items: int,
    n_classes: int,
    *,
    groups: IntArray | None = None,
    rng: np.random.Generator | None = None,
) -> HeldOut:
    """Which votes to hold out, and how much each counts, so that the score speaks for all items.

    Items with j votes of their own are judged by votes held out on items with j + 1 votes, and together count as much
    as there are such items. Where fewer than 10 such votes exist, several votes are left out at once on items with
    more of them; where that is impossible too, the items are judged as if they had fewer votes, as many as can be.

    Parameters
    ----------
    votes : positions in the user's numbering; a weight of 3 is three votes, fractions are votes that count less
    groups : (m,) votes with the same number are one soft vote; None: fractions on one item by one annotator, or
        by nobody in particular if they sum to 1
    rng : draws the votes to leave out where several are left out at once

    Examples
    --------
    >>> import numpy as np
    >>> votes = VoteTable(np.array([0, 0, 2]), np.array([0, 1, 1]), np.ones(3))
    >>> hold_out(votes, n_items=4, n_classes=2).judged.toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    rng = np.random.default_rng(0) if rng is None else rng
    votes, groups = _net(votes, groups)
    voted, at = np.unique(votes.rows, return_inverse=True)
    own = np.zeros((len(voted), n_classes))
    np.add.at(own, (at, votes.columns), votes.weights)
    units = _units(votes, at.astype(np.int64), groups, n_classes)
    n_own = np.bincount(units.position, units.copies, len(voted)).astype(np.int64)
    plan = _plan_levels(n_own, n_items)
    parts = []
    for level in np.unique(plan["judged_at"].to_numpy(dtype=np.int64)).tolist():
        rows = plan[plan["judged_at"] == level]
        if (rows["by"] == "several").any():
            trials = _leave_several(units, n_own, level, rng)
        else:
            merged = np.append(rows["own_votes"].to_numpy(), level) + 1
            trials = _leave_one(units, np.isin(n_own[units.position], merged))
        parts.append((trials, float(rows["share"].sum())))
    position = np.concatenate([trials[0] for trials, _ in parts]) if parts else np.empty(0, np.int64)
    empty = csr_array((0, n_classes))
    removed = csr_array(vstack([empty, *(trials[1] for trials, _ in parts)], format="csr"))
    judged = csr_array(vstack([empty, *(trials[2] for trials, _ in parts)], format="csr"))
    weights = [np.asarray(trials[2].sum(axis=1)).ravel() for trials, _ in parts]
    shares = [share * weight / weight.sum() for weight, (_, share) in zip(weights, parts, strict=True)]
    blind = float(plan.loc[(plan["own_votes"] > 0) & (plan["judged_at"] == 0), "share"].sum())
    counted = np.concatenate(shares) if shares else np.empty(0)
    return HeldOut(voted, own, position, removed, judged, counted, plan, blind, int(n_own.sum()))


def _net(votes: VoteTable, groups: IntArray | None) -> tuple[VoteTable, IntArray | None]:
    """Votes without those taken back; a retraction cancels votes of the same item, class and annotator."""
    if groups is not None and len(groups) != len(votes):
        raise InputError(f"groups must name one soft vote for each of the {len(votes)} votes, got {len(groups)}.")
    if not (votes.weights < 0).any():
        keep = votes.weights > 0
        table = VoteTable(votes.rows[keep], votes.columns[keep], votes.weights[keep], _some(votes, keep))
        return table, None if groups is None else np.asarray(groups)[keep]
    frame = pd.DataFrame({"row": votes.rows, "column": votes.columns, "weight": votes.weights})
    keys = ["row", "column"]
    if votes.annotators is not None:
        frame["annotator"] = pd.Series(votes.annotators, dtype=object)
        keys.append("annotator")
    if groups is not None:
        frame["group"] = groups
        keys.append("group")
    total = frame.groupby(keys, sort=False, dropna=False)["weight"].sum().reset_index()
    total = total[total["weight"] > RETRACTED]
    annotators = None if votes.annotators is None else total["annotator"].to_numpy(dtype=object)
    table = VoteTable(total["row"].to_numpy(), total["column"].to_numpy(), total["weight"].to_numpy(), annotators)
    return table, None if groups is None else total["group"].to_numpy()


def _some(votes: VoteTable, keep: BoolArray) -> AnyArray | None:
    return None if votes.annotators is None else votes.annotators[keep]


def _units(votes: VoteTable, at: IntArray, groups: IntArray | None, n_classes: int) -> _Units:
    """Rows of votes -> single votes."""
    together = _soft_votes(votes, at) if groups is None else np.asarray(groups)
    _, first, unit = np.unique(together, return_index=True, return_inverse=True)
    content = csr_array((votes.weights, (unit, votes.columns)), shape=(len(first), n_classes))
    weight = np.asarray(content.sum(axis=1)).ravel()
    lone = np.bincount(unit, minlength=len(first)) == 1
    copies = np.where(lone, np.maximum(1, np.round(weight)), 1).astype(np.int64)
    return _Units(at[first], copies, content)


def _soft_votes(votes: VoteTable, at: IntArray) -> IntArray:
    """A number per vote, shared by the fractions that make up one soft vote."""
    together = np.arange(len(votes))
    fraction = np.flatnonzero(votes.weights < 1)
    if len(fraction) == 0:
        return together
    named = votes.annotators is not None
    who = pd.factorize(pd.Series(votes.annotators, dtype=object))[0] if named else np.full(len(votes), -1)
    key = pd.DataFrame({"at": at[fraction], "who": who[fraction], "vote": fraction, "w": votes.weights[fraction]})
    by = key.groupby(["at", "who"], sort=False)
    one = (key["who"] >= 0) | (np.abs(by["w"].transform("sum") - 1) <= ONE_VOTE)
    together[fraction[one]] = by["vote"].transform("min").to_numpy()[one]
    return together


def _plan_levels(n_own: IntArray, n_items: int) -> pd.DataFrame:
    """For each number of own votes: the share of items, the number they are judged at, by how many votes, and how."""
    sizes, n_voted = np.unique(n_own, return_counts=True)
    counts = dict(zip(sizes.tolist(), n_voted.tolist(), strict=True))

    def judges(level: int) -> tuple[str, int]:
        """Votes that show how well items with ``level`` own votes are known, left out one by one or several at once."""
        one = (level + 1) * counts.get(level + 1, 0)
        return ("one", one) if one >= ENOUGH_VOTES else ("several", int((n_own[n_own > level] - level).sum()))

    present = dict(counts)
    if n_items > len(n_own):
        present[0] = n_items - len(n_own)
    rows = []
    for level in sorted(present):
        judged_at = next((lower for lower in range(level, 0, -1) if judges(lower)[1] >= ENOUGH_VOTES), 0)
        by, votes = judges(judged_at)
        rows.append((level, present[level] / n_items, judged_at, votes, by))
    return pd.DataFrame(rows, columns=["own_votes", "share", "judged_at", "votes", "by"])


_TrialArrays = tuple[IntArray, csr_array, csr_array]


def _leave_one(units: _Units, chosen: BoolArray) -> _TrialArrays:
    """Each vote on the chosen items is left out by itself and judges."""
    rows = np.flatnonzero(chosen)
    judged = csr_array(units.content[rows])
    removed = judged.copy()
    removed.data = removed.data / np.repeat(units.copies[rows], np.diff(removed.indptr))
    return units.position[rows], removed, judged


def _leave_several(units: _Units, n_own: IntArray, keep: int, rng: np.random.Generator) -> _TrialArrays:
    """On each item with more than ``keep`` votes all but ``keep`` random ones are left out and judge."""
    items = np.flatnonzero(n_own > keep)
    if keep > 0 and len(items) > BORROWED_ITEMS:
        items = np.sort(rng.choice(items, BORROWED_ITEMS, replace=False))
    mine = np.flatnonzero(np.isin(units.position, items))
    copy = np.repeat(mine, units.copies[mine]) if keep > 0 else mine
    order = np.lexsort((rng.random(len(copy)), units.position[copy]))
    copy = copy[order]
    at = units.position[copy]
    place = np.arange(len(copy)) - np.searchsorted(at, at)  # 0, 1, 2, ... within each item
    left = copy[place >= keep]
    share = 1 / units.copies[left] if keep > 0 else np.ones(len(left))
    item, trial = np.unique(units.position[left], return_inverse=True)
    gather = csr_array((share, (trial, left)), shape=(len(item), len(units.position)))
    removed = csr_array(gather @ units.content)
    return item, removed, removed


# -------------------------------------------------------------------------------------------------------- held-out mass
def own_reach(diffusion: Diffusion, rows: IntArray) -> FloatArray:
    """phi_qq after scaling: what an item receives from one vote of its own, (len(rows),) for inner rows.

    It is 1 where the voted item is the peak of its profile. With u_i = M_iq / sqrt(d_i) and p the largest probability
    of a step from another item to q, u_i <= u_q alpha p / (1 - alpha + alpha p) for i != q: few need a closer look.
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
    steps = S.data * np.repeat(root[rows], np.diff(S.indptr)) / root[S.indices]  # from a neighbour to the seed
    seed = np.repeat(np.arange(len(rows)), np.diff(S.indptr))
    p = np.zeros(len(rows))
    np.maximum.at(p, seed, steps)
    bound: FloatArray = alpha * p / (1 - alpha + alpha * p) * float(root.max(initial=1.0)) / root[rows]
    return bound


def leave_one_out_masses(state: SpreadState, *, groups: IntArray | None = None) -> FloatArray:
    """Mass that each voted item would have without that vote, (m, n_classes), one row per vote of ``state.votes``.

    A vote of weight w > 1 is read as w votes, of which one is left out; votes of one group (see :func:`hold_out`)
    are left out together.
    """
    votes = state.votes
    rows = state.diffusion.rank[votes.rows]
    distinct, at = np.unique(rows, return_inverse=True)
    reach = own_reach(state.diffusion, distinct)[at]
    together = _soft_votes(votes, at) if groups is None else np.asarray(groups)
    _, unit, size = np.unique(together, return_inverse=True, return_counts=True)
    copies = np.where(size[unit] == 1, np.maximum(1, np.round(votes.weights)), 1)
    removed = csr_array((reach * votes.weights / copies, (unit, votes.columns)), shape=(len(size), state.n_classes))
    left: FloatArray = np.maximum(state.mass(rows) - removed[unit].toarray(), 0.0)
    return left


@dataclass(frozen=True, slots=True, eq=False)
class _Mass:
    """What the voted items hold at one alpha."""

    mass: FloatArray  # (v, n_classes)
    reach: FloatArray  # (v,)
    noise: float  # a share of what is taken away may be left over by inexact scales
    Y: FloatArray  # (n, n_classes)  the whole solution, where the next alpha starts
    scales: FloatArray  # (v,)


def _spread(diffusion: Diffusion, rows: IntArray, own: FloatArray, before: _Mass | None) -> _Mass:
    """Mass at the voted items (inner rows), warm-started from another alpha."""
    if diffusion.alpha >= COSTLY_ALPHA and not diffusion.finder.exact:
        scales, reach, noise = _rough_scales(diffusion, rows, before)
    else:
        scales, reach = diffusion.finder.scales(rows, diffusion.verbose), own_reach(diffusion, rows)
        noise = diffusion.scale_report().estimated
    B = np.zeros((diffusion.graph.n_items, own.shape[1]))
    B[rows] = own / (scales * diffusion.error_factor()[rows])[:, None]
    Y = _solve(diffusion, B, None if before is None else before.Y)
    return _Mass(np.maximum(diffusion.mass(Y, rows), 0.0), reach, noise, Y, scales)


def _rough_scales(diffusion: Diffusion, rows: IntArray, last: _Mass | None) -> tuple[FloatArray, FloatArray, float]:
    """Scales, own reach and the share of error for alpha close to 1, where one vote is a small part of all.

    The seed's own entry stands for the peak, and a sample for all: larger at one alpha is larger at the next.
    """
    from sklearn.isotonic import IsotonicRegression

    n_sample = min(len(rows), max(FEWEST_SCALES, int(SCALES_WORK * (1 - diffusion.alpha))))
    sample = np.linspace(0, len(rows) - 1, n_sample).astype(np.int64)
    known = _rough_diagonal(diffusion, rows[sample], LARGEST_DELTA)
    checked = np.unique(np.linspace(0, n_sample - 1, CHECKED_SCALES).astype(np.int64))
    ratios = _rough_diagonal(diffusion, rows[sample[checked]], LARGEST_DELTA * CHECK_FACTOR) / known[checked]
    known *= np.median(ratios)  # a loose solve is off the same way everywhere
    noise = float(np.abs(ratios / np.median(ratios) - 1).max())
    own = known
    if n_sample < len(rows):
        hint = _return_probability(diffusion, rows) if last is None else last.scales * last.reach  # M_qq
        fit = IsotonicRegression(out_of_bounds="clip").fit(hint[sample], np.log(known))
        own = np.exp(fit.predict(hint))
        noise += float(np.sqrt(np.mean((own[sample] / known - 1) ** 2)))
        own[sample] = known
    ones = np.ones(len(rows))
    return (ones, own, noise) if diffusion.scaling == "none" else (own, ones, noise)


def _return_probability(diffusion: Diffusion, rows: IntArray) -> FloatArray:
    """(S^2)_qq, the first term of M_qq - 1."""
    S = diffusion.graph.inner_operator()[rows]
    return np.asarray((S * S).sum(axis=1)).ravel()


def _rough_diagonal(diffusion: Diffusion, rows: IntArray, delta: float) -> FloatArray:
    """M_qq by local solves, or, closer to 1, by loose solves over the whole graph, theory [scale certificate]."""
    alpha = diffusion.alpha
    if alpha <= AMG_ALPHA:
        graph, solver, workers = diffusion.graph, diffusion.solver, diffusion.workers
        return ScaleFinder(graph, alpha, "source", "certified", delta, solver, workers).scales(rows)
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


# --------------------------------------------------------------------------------------------------------------- scores
def score_trials(
    held: HeldOut,
    mass: FloatArray,
    reach: FloatArray,
    prior: FloatArray,
    strengths: Sequence[float],
    score: str,
    noise: float,
) -> FloatArray:
    """Score of each trial for each strength, (len(strengths), t); lower is better. Theory [score].

    Parameters
    ----------
    mass, reach, prior : (v, n_classes), (v,), (v, n_classes) of the voted items
    score : "brier": sum_c (p_c - vote_c)^2, or "log": -log p[vote]; a soft vote averages over its classes
    noise : left-over mass below this share of what was taken away is rounding, not evidence
    """
    out = np.empty((len(strengths), len(held.position)))
    size = max(1, BLOCK_ENTRIES // max(1, mass.shape[1]))
    for first in range(0, len(held.position), size):
        part = slice(first, first + size)
        at = held.position[part]
        removed = held.removed[part].toarray() * reach[at][:, None]
        left = mass[at] - removed
        left[left <= noise * removed] = 0.0
        judged = held.judged[part].toarray()
        judged /= judged.sum(axis=1, keepdims=True)
        rate = _brier if score == "brier" else _log_score
        out[:, part] = rate(left, prior[at], judged, strengths)
    return out


def _brier(mass: FloatArray, prior: FloatArray, judged: FloatArray, strengths: Sequence[float]) -> FloatArray:
    """1 - 2 p.vote + p.p, from sums that do not depend on the strength."""

    def dot(left: FloatArray, right: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ij,ij->i", left, right))

    evidence = mass.sum(axis=1)
    hit, prior_hit = dot(mass, judged), dot(prior, judged)
    squares, mixed, prior_squares = dot(mass, mass), dot(mass, prior), dot(prior, prior)
    out = np.empty((len(strengths), len(mass)))
    for row, kappa in enumerate(strengths):
        total = evidence + kappa
        some = total > 0
        total = np.where(some, total, 1.0)
        right = (hit + kappa * prior_hit) / total
        length = (squares + 2 * kappa * mixed + kappa * kappa * prior_squares) / total**2
        out[row] = 1 - 2 * np.where(some, right, prior_hit) + np.where(some, length, prior_squares)
    return out


def _log_score(mass: FloatArray, prior: FloatArray, judged: FloatArray, strengths: Sequence[float]) -> FloatArray:
    out = np.empty((len(strengths), len(mass)))
    for row, kappa in enumerate(strengths):
        p = soft_labels(mass, prior, kappa)
        out[row] = -(judged * np.log(np.maximum(p, LOG_FLOOR))).sum(axis=1)
    return out


def _mean_and_error(held: HeldOut, values: FloatArray) -> tuple[float, float]:
    """Weighted mean over trials, and its standard error with the trials of one item taken together."""
    mean = float(held.shares @ values)
    per_item = np.bincount(held.position, held.shares * (values - mean), len(held.voted))
    return mean, float(np.sqrt(per_item @ per_item))


# --------------------------------------------------------------------------------------------------------------- search
@dataclass(frozen=True, slots=True)
class Spreading:
    """How votes spread, apart from what is being chosen: see :class:`~softspread.ProbabilisticLabelSpreading`."""

    bandwidth: str | float = "kth"
    scaling: str = "peak"
    solver: str = "auto"
    index: str = "auto"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False


class _Search:
    """Scores of settings on one graph; every alpha is spread once and kept as scores only."""

    def __init__(
        self,
        graph: Graph,
        held: HeldOut,
        prior: FloatArray,
        strengths: Sequence[float],
        penalties: FloatArray,
        score: str,
        how: Spreading,
    ) -> None:
        self.graph, self.held, self.prior = graph, held, prior
        self.strengths, self.score, self.how = strengths, score, how
        self.penalties = penalties
        self.rows = graph.rank[held.voted]
        self.points: list[TuningPoint] = []
        self._last: _Mass | None = None
        self._best: dict[float, FloatArray] = {}  # scores of the trials at the best strength

    def evaluate(self, alpha: float) -> float:
        """Lowest objective over the strengths at one alpha."""
        how, held = self.how, self.held
        solver = "auto" if how.solver == "literal" else how.solver
        diffusion = Diffusion(
            self.graph, alpha, scaling=how.scaling, solver=solver, n_jobs=how.n_jobs, verbose=how.verbose
        )
        from_others = len(held.voted) / self.graph.n_items * alpha / max(1 - alpha, ONE_VOTE)
        diffusion.finder.delta = min(LARGEST_DELTA, max(SMALLEST_DELTA, NOISE_SHARE * from_others))
        with diffusion.workers:
            self._last = spread = _spread(diffusion, self.rows, held.own, self._last)
        scores = score_trials(held, spread.mass, spread.reach, self.prior, self.strengths, self.score, spread.noise)
        new = []
        for kappa, values, penalty in zip(self.strengths, scores, self.penalties.tolist(), strict=True):
            mean, error = _mean_and_error(held, values)
            new.append(TuningPoint(alpha, self.graph.n_neighbors, kappa, None, mean, error, penalty))
        best = min(range(len(new)), key=lambda row: new[row].objective)
        self._best[alpha] = scores[best]
        self.points += new
        return new[best].objective

    @property
    def lowest(self) -> TuningPoint:
        """The best setting so far."""
        return min(self.points, key=lambda point: point.objective)

    def rises_clearly(self, alpha: float, best: float) -> bool:
        """Whether alpha scores worse than ``best`` beyond doubt, vote by vote."""
        difference, error = _mean_and_error(self.held, self._best[alpha] - self._best[best])
        return difference > CLEAR_RISE * error

    def walk(self, alphas: Sequence[float], start: float) -> None:
        """Evaluate alphas from the start outwards, each way until the score has turned."""
        ordered = sorted(alphas)
        first = min(range(len(ordered)), key=lambda place: abs(ordered[place] - start))
        found = {ordered[first]: self.evaluate(ordered[first])}
        middle = self._last
        for way in (ordered[first + 1 :], ordered[:first][::-1]):
            uphill, self._last = 0, middle
            for alpha in way:
                best = min(found, key=lambda tried: found[tried])
                found[alpha] = self.evaluate(alpha)
                uphill = uphill + 1 if found[alpha] >= found[best] else 0
                if uphill >= PATIENCE or (uphill and self.rises_clearly(alpha, best)):
                    break


def choose_parameters(
    items: AnyArray | Graph,
    votes: VoteTable,
    n_classes: int,
    *,
    alphas: Sequence[float] = ALPHAS,
    neighbors: Sequence[int] = (DEFAULT_NEIGHBORS,),
    prior: FloatArray | None = None,
    strengths: Sequence[float] = (DEFAULT_STRENGTH,),
    score: str = "brier",
    how: Spreading | None = None,
    groups: IntArray | None = None,
    fewest_votes: int = ENOUGH_VOTES,
) -> Choice:
    """Alpha, number of neighbours and prior strength by the score of held-out votes; what has one candidate stays.

    Parameters
    ----------
    items : (n, d) features, or a Graph (then ``neighbors`` is not used)
    votes : in the user's numbering
    prior : (n, n_classes), rows summing to 1, in the user's numbering; None = uniform
    groups : see :func:`hold_out`
    fewest_votes : with fewer, nothing is chosen: the default stays, or the first candidate where it is not among them

    Notes
    -----
    The scales of alphas above 0.95 cost far more than all others, and are only asked for while the score still falls.
    """
    how = Spreading() if how is None else how
    graphs = _Graphs(items, neighbors, how)
    held = hold_out(votes, graphs.n_items, n_classes, groups=groups)
    if held.n_votes < fewest_votes:
        alpha, strength = _default(alphas, DEFAULT_ALPHA), _default(strengths, DEFAULT_STRENGTH)
        point = TuningPoint(alpha, graphs.build(graphs.first).n_neighbors, strength, None, np.nan, np.nan)
        words = f"defaults; {held.n_votes} votes are too few to choose by, at least {fewest_votes} are needed."
        return Choice(
            graphs.build(graphs.first), alpha, strength, Tuning(point, (point,), score, words, used_truth=False)
        )
    rows_of_prior = np.full((len(held.voted), n_classes), 1 / n_classes) if prior is None else prior[held.voted]
    penalties = np.zeros(len(strengths)) if prior is None else _unusual(strengths, held, score)

    def explore(number: int, start: float) -> _Search:
        search = _Search(graphs.build(number), held, rows_of_prior, strengths, penalties, score, how)
        search.walk(alphas, start)
        return search

    found = explore(graphs.first, START_ALPHA)
    points, best, graph = list(found.points), found.lowest, found.graph
    for number in graphs.numbers:
        if number != graphs.first:
            found = explore(number, float(best.alpha or 0.0))
            points += found.points
            if found.lowest.objective < best.objective:
                best, graph = found.lowest, found.graph
    _warn_if_blind(held)
    tuning = Tuning(best, tuple(points), score, _in_words(held, best, points, score), False, held.blind_share)
    return Choice(graph, float(best.alpha or 0.0), float(best.prior_strength or 0.0), tuning)


def _unusual(strengths: Sequence[float], held: HeldOut, score: str) -> FloatArray:
    """What a strength far from the usual costs, per vote: -log of a Cauchy density of log(strength)."""
    n_effective = 1 / float(held.shares @ held.shares)
    smallest = np.finfo(np.float64).tiny  # a strength of 0 has no logarithm
    distance = np.log(np.maximum(np.asarray(strengths, dtype=np.float64), smallest) / USUAL_STRENGTH)
    return np.asarray(np.log1p(distance**2) / (LIKELIHOOD[score] * n_effective))


def _default(candidates: Sequence[float], usual: float) -> float:
    return usual if usual in candidates else candidates[0]


def _in_words(held: HeldOut, best: TuningPoint, points: list[TuningPoint], score: str) -> str:
    return (
        f"lowest mean {score} score of {held.n_votes} held-out votes, {best.score:.4f} (standard error "
        f"{best.standard_error:.4f}), of {len(points)} settings; no ground truth was used."
    )


def _warn_if_blind(held: HeldOut) -> None:
    """Items with own votes that nothing, or next to nothing, judges as such."""
    own = held.levels[held.levels["own_votes"] > 0]
    blind = own["judged_at"] == 0
    thin = ~blind & (own["votes"] < FIRM_VOTES)
    share = float(own.loc[blind | thin, "share"].sum())
    if share > BLIND_SHARE:
        judges = f"only {int(own.loc[thin, 'votes'].min())} held-out votes" if thin.any() else "nothing"
        warnings.warn(
            f"{share:.0%} of the items have votes of their own, and {judges} can tell how much an item's own vote is "
            "worth: too few items have a second vote. The choice suits items without votes; for the others it may "
            "spread too far or too little. Collect about 50 second votes, or set alpha yourself.",
            SoftspreadWarning,
            stacklevel=4,
        )


class _Graphs:
    """Graphs with several numbers of neighbours from one search."""

    def __init__(self, items: AnyArray | Graph, numbers: Sequence[int], how: Spreading) -> None:
        self.items, self.how = items, how
        self._found: Neighbors | None = None
        self._built: dict[int, Graph] = {}
        if isinstance(items, Graph):
            self.n_items, self.numbers, self.first = items.n_items, [0], 0
            self._built[0] = items
        else:
            self.n_items = len(items)
            self.numbers = list(dict.fromkeys(max(1, min(number, self.n_items - 1)) for number in numbers))
            self.first = int(_default(self.numbers, DEFAULT_NEIGHBORS))

    def build(self, number: int) -> Graph:
        """The graph of each item's ``number`` nearest neighbours."""
        if number not in self._built:
            self._built = {number: self._from_neighbors(number)}  # only the last is kept: a graph is large
        return self._built[number]

    def _from_neighbors(self, number: int) -> Graph:
        X, how = np.asarray(self.items), self.how
        order = leaf_order(X)
        if self._found is None:
            with Workers(count_threads(how.n_jobs)) as workers:
                rng = checks.generator(how.random_state)
                largest = min(max(self.numbers), self.n_items - 1)
                self._found = search_neighbors(X[order], largest, how.index, workers, rng, how.verbose)
        all_found = self._found
        found = Neighbors(
            np.ascontiguousarray(all_found.indices[:, :number]),
            np.ascontiguousarray(all_found.squared[:, :number]),
            all_found.index,
            all_found.recall,
            all_found.details,
        )
        sigma2 = kernel_width(found, how.bandwidth)
        facts = {"sigma2": sigma2, "recall_": found.recall, "index": found.index, "details": found.details}
        A = _symmetric_affinity(found, sigma2)
        graph = operator_from_affinity(A, order, kind="knn", n_neighbors=found.indices.shape[1], features=X, **facts)
        return _tell(graph) if len(self.numbers) == 1 else graph


# ------------------------------------------------------------------------------------------------------------- the edge
def tune(
    X: Any,
    votes: Any,
    *,
    alphas: Sequence[float] = ALPHAS,
    n_neighbors: int | str | Sequence[int] = DEFAULT_NEIGHBORS,
    prior: Any = None,
    prior_strengths: Sequence[float] | None = None,
    score: str = "brier",
    truth: Any = None,
    method: str = "pls",
    n_trials: int = 200,
    item_ids: Any = None,
    classes: Any = None,
    bandwidth: str | float = "kth",
    scaling: str = "peak",
    index: str = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Tuning:
    """Choose parameters by leaving votes out, or, if a truth is given, by comparing with it.

    Parameters
    ----------
    X : (n, d) array or frame, or a Graph
    votes : Votes, (n,) labels with -1 for no vote, or (n, n_classes) counts
    alphas : candidates; high ones are only tried while the score still falls
    n_neighbors : one number, several, or "auto": 10, 20, 40
    prior : (n, n_classes) or (n_classes,) probabilities; None = uniform
    prior_strengths : candidates; None: a grid from 1e-4 to 100 where a prior is given, else 1e-4
    score : "brier" or "log", of the held-out votes
    truth : (n, n_classes) known soft labels: Bayesian optimisation of the RMSE, for studies; the result says so
    method : "pls"; against a truth also "gkr" (kernel regression) and "knn"
    n_trials : evaluations against the truth
    item_ids, classes, bandwidth, scaling, index, n_jobs, random_state, verbose : as in
        :class:`~softspread.ProbabilisticLabelSpreading`

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, size=(50, 2)) for c in (0, 4)])
    >>> y = np.full(100, -1)
    >>> y[::5] = np.arange(0, 100, 5) // 50
    >>> tuning = tune(X, y, n_neighbors=[5, 10])
    >>> tuning.used_truth, tuning.n_neighbors in (5, 10)
    (False, True)
    """
    checks.choice("score", score, SCORES)
    checks.choice("scaling", scaling, SCALINGS)
    checks.choice("method", method, METHODS)
    items = X if isinstance(X, Graph) else checks.features(X)
    n = items.n_items if isinstance(items, Graph) else len(items)
    table, n_classes = _read_votes(votes, n, item_ids, classes)
    how = Spreading(bandwidth, scaling, "auto", index, n_jobs, random_state, verbose)
    if truth is not None:
        known = checks.prior(truth, n, n_classes)
        return _tune_against_truth(items, table, known, method, checks.count("n_trials", n_trials, 1), how)
    if method != "pls":
        raise InputError(f"method={method!r} can only be tuned against a truth; pass truth, or method='pls'.")
    if float(np.maximum(table.weights, 0).sum()) == 0 or len(table) < 2:
        raise InputError(
            f"tuning needs at least 2 votes, got {len(table)}; collect some, or set the parameters yourself."
        )
    checked = None if prior is None else checks.prior(prior, n, n_classes)
    return choose_parameters(
        items,
        table,
        n_classes,
        alphas=[checks.alpha(value) for value in _some_of("alphas", alphas)],
        neighbors=neighbor_candidates(n_neighbors),
        prior=checked,
        strengths=strength_candidates("auto" if prior is not None else DEFAULT_STRENGTH, prior is not None)
        if prior_strengths is None
        else [checks.not_negative("prior_strengths", value) for value in _some_of("prior_strengths", prior_strengths)],
        score=score,
        how=how,
        fewest_votes=2,
    ).tuning


def alpha_candidates(alpha: float | str) -> Sequence[float]:
    """What an estimator's ``alpha`` allows: itself, or for "auto" the grid."""
    return ALPHAS if isinstance(alpha, str) and alpha == "auto" else (checks.alpha(alpha),)


def neighbor_candidates(n_neighbors: int | str | Sequence[int]) -> Sequence[int]:
    """What an estimator's ``n_neighbors`` allows: itself, several, or for "auto" 10, 20 and 40."""
    if isinstance(n_neighbors, str):
        checks.choice("n_neighbors", n_neighbors, ("auto",), "or a whole number")
        return NEIGHBORS
    several = [n_neighbors] if np.ndim(n_neighbors) == 0 else _some_of("n_neighbors", n_neighbors)
    return [checks.count("n_neighbors", number, smallest=1) for number in several]


def strength_candidates(prior_strength: float | str, has_prior: bool) -> Sequence[float]:
    """What an estimator's ``prior_strength`` allows: itself, or for "auto" a grid, longer where a prior is given."""
    if isinstance(prior_strength, str):
        checks.choice("prior_strength", prior_strength, ("auto",), "or a number, 0 or above")
        return PRIOR_STRENGTHS if has_prior else STRENGTHS
    return (checks.not_negative("prior_strength", prior_strength),)


def _some_of(name: str, values: Any) -> list[Any]:
    listed = list(np.atleast_1d(values).tolist()) if not isinstance(values, str) else []
    if not listed:
        raise InputError(f"{name} must list at least one candidate, got {values!r}.")
    return listed


def _read_votes(votes: Any, n: int, item_ids: Any, classes: Any) -> tuple[VoteTable, int]:
    """Votes of any accepted form, as numbers, and how many classes there are."""
    named = isinstance(votes, Votes)
    if not named:
        table = np.asarray(votes)
        if table.ndim not in (1, 2) or len(table) != n:
            raise InputError(f"votes must be Votes, {n} labels or {n} rows of counts, got shape {table.shape}.")
        if table.ndim == 2:
            votes = Votes.from_counts(table)
        else:
            voted = np.flatnonzero(has_vote(table))
            votes = Votes.from_pairs(voted, checks.names(table[voted], "label"))
    ids = checks.item_ids(item_ids, n) if named and item_ids is not None else None
    names = checks.class_names(classes) if classes is not None else votes.class_names()
    rows = checks.rows_of_items(votes.items, ids, n)
    columns = checks.columns_of_labels(votes.labels, names)
    return VoteTable(rows, columns, votes.weights, votes.annotators), len(names)


# ------------------------------------------------------------------------------------------------------ against a truth
def _tune_against_truth(
    items: AnyArray | Graph, votes: VoteTable, truth: FloatArray, method: str, n_trials: int, how: Spreading
) -> Tuning:
    """Bayesian optimisation of the RMSE to known soft labels."""
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError('tuning against a truth needs: pip install "softspread[tune]"') from error
    if isinstance(items, Graph) and method != "pls":
        raise InputError(f"method={method!r} needs the features of the items, not a Graph.")
    evaluate = _objective(items, votes, truth, method, how)
    seed = int(checks.generator(how.random_state).integers(2**31 - 1))
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        points = []
        for _ in range(n_trials):
            trial = study.ask()
            points.append(evaluate(trial))
            study.tell(trial, points[-1].score)
    finally:
        optuna.logging.set_verbosity(level)
    best = min(points, key=lambda point: point.score)
    words = f"lowest RMSE to the given truth, {best.score:.4f}, in {n_trials} trials; the ground truth WAS used."
    return Tuning(best, tuple(points), "rmse", words, used_truth=True, method=method)


def _objective(
    items: AnyArray | Graph, votes: VoteTable, truth: FloatArray, method: str, how: Spreading
) -> Callable[[Any], TuningPoint]:
    """A function that draws a setting from a trial and measures it."""
    from softspread.baselines import GaussianKernelRegression, KNeighborsVotes
    from softspread.metrics import rmse

    n, n_classes = truth.shape
    counts = votes.counts(n, n_classes)
    uniform = np.full((n, n_classes), 1 / n_classes)
    graphs = _Graphs(items, (MOST_NEIGHBORS,), how)

    def by_spreading(trial: Any) -> TuningPoint:
        uniform_draw = trial.suggest_float("alpha_to_the_fifth", 0.0, LARGEST_ALPHA**BETA)
        alpha = float(uniform_draw ** (1 / BETA))
        if isinstance(items, Graph):
            graph = items
        else:
            graph = graphs.build(trial.suggest_int("n_neighbors", 1, min(MOST_NEIGHBORS, n - 1)))
        diffusion = Diffusion(graph, alpha, scaling=how.scaling, n_jobs=how.n_jobs, verbose=how.verbose)
        with diffusion.workers:
            state = SpreadState(diffusion, votes, n_classes)
            state.solve()
        p = soft_labels(graph.to_user_order(state.mass()), uniform, DEFAULT_STRENGTH)
        return TuningPoint(alpha, graph.n_neighbors, DEFAULT_STRENGTH, None, rmse(truth, p), np.nan)

    def by_kernel(trial: Any) -> TuningPoint:
        gamma = trial.suggest_float("gamma", *GAMMA_RANGE, log=True)
        p = GaussianKernelRegression(gamma).fit(items, counts).predict_proba()
        return TuningPoint(None, None, None, gamma, rmse(truth, p), np.nan)

    def by_neighbors(trial: Any) -> TuningPoint:
        number = trial.suggest_int("n_neighbors", 1, max(1, len(votes)))
        p = KNeighborsVotes(number, n_jobs=how.n_jobs).fit(items, counts).predict_proba()
        return TuningPoint(None, number, None, None, rmse(truth, p), np.nan)

    return {"pls": by_spreading, "gkr": by_kernel, "knn": by_neighbors}[method]
