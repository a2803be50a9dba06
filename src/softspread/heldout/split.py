"""Which votes to hold out, and how much each of them counts.

    items with j own votes  <-  votes held out on items with j + 1 votes               theory: [leave one out]

A vote held out on an item with j + 1 votes shows how well items with j votes are known. Such votes together
count as much as there are items with j votes, so that a mean over held-out votes speaks for all items however
the votes were placed.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, vstack

from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.votes.table import RETRACTED, VoteTable

ENOUGH_VOTES = 10  # fewer votes judge nothing by themselves: they join their neighbours
BORROWED_ITEMS = 2_000  # items from which held-out votes are borrowed; more would not change the score
ONE_VOTE = 1e-6  # rounding of the sum of a soft vote


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
class OwnVotes:
    """The votes of each voted item, summed up; a row of weight 3 is three votes, fractions make up soft
    votes.
    """

    voted: IntArray  # (v,)  the user's rows of the voted items
    weight: FloatArray  # (v, n_classes)
    squares: FloatArray  # (v,)  weighted mean of |y|^2 over the item's votes y; 1 unless votes are soft
    concentration: (
        FloatArray  # (v,)  sum of squared weights of single votes / square of their sum: 1 / votes if alike
    )
    n_votes: int  # single votes

    @property
    def n_repeats(self) -> int:
        """Votes beyond the first on their item."""
        return self.n_votes - len(self.voted)


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

    Items with j votes of their own are judged by votes held out on items with j + 1 votes, and together count
    as much as there are such items. Where fewer than 10 such votes exist, several votes are left out at once
    on items with more of them; where that is impossible too, the items are judged as if they had fewer votes,
    as many as can be.

    Parameters
    ----------
    votes : positions in the user's numbering; a weight of 3 is three votes, fractions are votes that count
    less
    groups : (m,) votes with the same number are one soft vote; None: fractions on one item by one annotator,
    or
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
    voted, own, units = _read(votes, n_classes, groups)
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


def own_votes(votes: VoteTable, n_classes: int, groups: IntArray | None = None) -> OwnVotes:
    """Sum up the votes of each item; ``groups`` as in :func:`hold_out`.

    Examples
    --------
    >>> import numpy as np
    >>> own_votes(VoteTable(np.array([0, 0, 2]), np.array([0, 1, 1]), np.ones(3)), 2).concentration.tolist()
    [0.5, 1.0]
    """
    voted, own, units = _read(votes, n_classes, groups)
    content, n = units.content, len(voted)
    weight = np.asarray(content.sum(axis=1)).ravel()
    total = np.bincount(units.position, weight, n)
    squares = np.asarray((content * content).sum(axis=1)).ravel() / weight
    concentration = np.bincount(units.position, weight**2 / units.copies, n) / total**2
    mean_squares = np.bincount(units.position, squares, n) / total
    return OwnVotes(voted, own, mean_squares, np.minimum(concentration, 1.0), int(units.copies.sum()))


def _read(votes: VoteTable, n_classes: int, groups: IntArray | None) -> tuple[IntArray, FloatArray, _Units]:
    """Voted items, the weight of their votes per class, and their single votes."""
    votes, groups = _net(votes, groups)
    voted, at = np.unique(votes.rows, return_inverse=True)
    own = np.zeros((len(voted), n_classes))
    np.add.at(own, (at, votes.columns), votes.weights)
    return voted, own, _units(votes, at.astype(np.int64), groups, n_classes)


def _net(votes: VoteTable, groups: IntArray | None) -> tuple[VoteTable, IntArray | None]:
    """Votes without those taken back; a retraction cancels votes of the same item, class and annotator."""
    if groups is not None and len(groups) != len(votes):
        raise InputError(
            f"groups must name one soft vote for each of the {len(votes)} votes, got {len(groups)}."
        )
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
    table = VoteTable(
        total["row"].to_numpy(), total["column"].to_numpy(), total["weight"].to_numpy(), annotators
    )
    return table, None if groups is None else total["group"].to_numpy()


def _some(votes: VoteTable, keep: BoolArray) -> AnyArray | None:
    return None if votes.annotators is None else votes.annotators[keep]


def _units(votes: VoteTable, at: IntArray, groups: IntArray | None, n_classes: int) -> _Units:
    """Rows of votes -> single votes."""
    together = soft_votes(votes, at) if groups is None else np.asarray(groups)
    _, first, unit = np.unique(together, return_index=True, return_inverse=True)
    content = csr_array((votes.weights, (unit, votes.columns)), shape=(len(first), n_classes))
    weight = np.asarray(content.sum(axis=1)).ravel()
    lone = np.bincount(unit, minlength=len(first)) == 1
    copies = np.where(lone, np.maximum(1, np.round(weight)), 1).astype(np.int64)
    return _Units(at[first], copies, content)


def soft_votes(votes: VoteTable, at: IntArray) -> IntArray:
    """A number per vote, shared by the fractions that make up one soft vote."""
    together = np.arange(len(votes))
    fraction = np.flatnonzero(votes.weights < 1)
    if len(fraction) == 0:
        return together
    named = votes.annotators is not None
    who = pd.factorize(pd.Series(votes.annotators, dtype=object))[0] if named else np.full(len(votes), -1)
    key = pd.DataFrame(
        {"at": at[fraction], "who": who[fraction], "vote": fraction, "w": votes.weights[fraction]}
    )
    by = key.groupby(["at", "who"], sort=False)
    one = (key["who"] >= 0) | (np.abs(by["w"].transform("sum") - 1) <= ONE_VOTE)
    together[fraction[one]] = by["vote"].transform("min").to_numpy()[one]
    return together


def _plan_levels(n_own: IntArray, n_items: int) -> pd.DataFrame:
    """For each number of own votes: the share of items, the number they are judged at, by how many votes, and
    how.
    """
    sizes, n_voted = np.unique(n_own, return_counts=True)
    counts = dict(zip(sizes.tolist(), n_voted.tolist(), strict=True))

    def judges(level: int) -> tuple[str, int]:
        """Votes that show how well items with ``level`` own votes are known, left out one by one or several
        at once.
        """
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
