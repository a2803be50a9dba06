"""The sources of one soft label: own votes, other items' votes, classifiers, a prior, models, class shares.

    p_c = own votes_c / evidence + sum over sources s_c                                  theory: [explanation]

Ladder and kernels are weighted means of votes with a part of what they back off to; the blend is a weighted
mean of experts. Contrast and sharpening change a class as a whole: they multiply all shares of a class by one
number. So every source has a share of every class, and the shares of a class sum to p_c exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.local_reach import LocalColumns
from softspread.posterior.experts import other_shares
from softspread.posterior.kernels import kernel_of_one
from softspread.posterior.ladder import descend
from softspread.posterior.live import LiveBlend, Moved
from softspread.posterior.panel import MODELS
from softspread.spreading.explain import heaviest
from softspread.votes.table import VoteTable

OWN, VOTE, DISTANT, CLASSIFIERS, PRIOR, SHARES = (
    "own vote",
    "vote",
    "distant votes",
    "classifiers",
    "prior",
    "class shares",
)


@dataclass(frozen=True, slots=True)
class ExplainRule:
    """How far votes are followed one by one; what lies beyond is summed up per class."""

    floor: float = 1e-8  # of the pushes: on small graphs every vote is listed
    edges: int = 10_000_000  # per alpha: about 40 ms


RULE = ExplainRule()


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Shares of one distribution over the classes: of the votes on each of some items, and of all else."""

    votes: FloatArray  # (u, n_classes)
    distant: FloatArray  # (n_classes,)  votes on other items, too far to be listed
    classifiers: FloatArray  # (n_classes,)
    prior: FloatArray  # (n_classes,)
    models: FloatArray  # (n_classes,)
    shares: FloatArray  # (n_classes,)

    @classmethod
    def nothing(cls, n_items: int, n_classes: int) -> "Parts":
        """No share of anything."""
        return cls(np.zeros((n_items, n_classes)), *np.zeros((5, n_classes)))

    def _all(self) -> tuple[FloatArray, ...]:
        return self.votes, self.distant, self.classifiers, self.prior, self.models, self.shares

    @property
    def total(self) -> FloatArray:
        """(n_classes,) all shares of each class."""
        return np.asarray(self.votes.sum(axis=0) + sum(self._all()[1:]))

    def __add__(self, other: "Parts") -> "Parts":
        return Parts(*(mine + theirs for mine, theirs in zip(self._all(), other._all(), strict=True)))

    def times(self, factor: FloatArray | float) -> "Parts":
        """All shares multiplied, of each class by a number of its own where several are given."""
        return Parts(*(part * factor for part in self._all()))

    def summing_to(self, target: FloatArray) -> "Parts":
        """The shares of every class multiplied so that they sum to ``target``.

        A class without any share has one nevertheless where every class is kept possible: it counts as one
        of the class shares.
        """
        total = self.total
        known = total > 0
        scaled = self.times(np.where(known, target / np.where(known, total, 1.0), 0.0))
        return replace(scaled, shares=scaled.shares + np.where(known, 0.0, target))


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """All shares of one soft label, heaviest first; those of a class sum to its probability."""

    sources: AnyArray  # (k,)  what each row rests on
    rows: IntArray  # (k,)  the item of a vote, -1 where the row is about none
    columns: IntArray  # (k,)  the class
    weights: FloatArray  # (k,)
    annotators: AnyArray | None  # (k,)  names, None where nobody is named

    def top(self, number: int | None) -> "Explanation":
        """The heaviest rows alone."""
        names = None if self.annotators is None else self.annotators[:number]
        columns, weights = self.columns[:number], self.weights[:number]
        return Explanation(self.sources[:number], self.rows[:number], columns, weights, names)


def explain_blend(
    live: LiveBlend, counted: VoteTable, row: int, n_classes: int, rule: ExplainRule = RULE
) -> Explanation:
    """The sources of one item's soft label.

    Parameters
    ----------
    live : the blend with the votes since its fit
    counted : all votes by now, as they count
    row : the item
    n_classes : classes that are known; one class alone has a second column in the blend
    """
    only = np.array([row])
    moved = live.moved(only)
    posterior = live.of_rows(only)
    mine = np.zeros(posterior.n_classes)
    mine[:] = posterior.own.sum(axis=0)  # of no row or of one
    p = posterior.mean()[0, :n_classes]
    own = mine[:n_classes] / float(posterior.evidence()[0])
    target = p / p.sum()
    own = np.minimum(own, target)
    near = _near(live, row, rule)
    parts = _shares_of_others(live, moved, posterior.m[0].astype(np.float64), near)
    others = Parts(*(part[..., :n_classes] for part in parts._all())).summing_to(target - own)
    return _listed(others, own, counted, near)


class Near(NamedTuple):
    """The voted items whose votes are listed, and what arrives from each."""

    row: int  # the item that is explained
    voted: IntArray  # (u,)  ascending, the item itself left out
    columns: FloatArray  # (rungs, u)  entries of the unscaled profile


def _near(live: LiveBlend, row: int, rule: ExplainRule) -> Near:
    blend = live.blend
    voted = live.voted[live.voted != row]
    find = LocalColumns(live.graph, rule.floor, rule.edges)
    columns = np.array([find(rung.alpha, row, voted) for rung in blend.rungs])
    if all(expert.source != "votes" for expert in blend.fixed):  # kernels see all votes
        reached = columns.any(axis=0)
        voted, columns = voted[reached], columns[:, reached]
    return Near(row, voted, columns)


def _shares_of_others(live: LiveBlend, moved: Moved, m: FloatArray, near: Near) -> Parts:
    """Of m: everything but the item's own votes."""
    blend = live.blend
    shares, _, _ = other_shares(moved.own, moved.totals)
    start = replace(Parts.nothing(len(near.voted), len(m)), shares=shares[0].astype(np.float64))
    experts = [start, *_ladder(live, moved, near, start), *_fixed(live, near, start)]
    total = Parts.nothing(len(near.voted), len(m))
    for weight, parts in zip(blend.weights.tolist(), experts, strict=True):
        if weight > 0:
            total = total + parts.times(weight)
    kept = sum(setting.weight * setting.lam for setting in blend.calibration.settings) * blend.calibration.pi
    kept = np.minimum(kept, m)
    sharp = total.summing_to(m - kept)
    return replace(sharp, shares=sharp.shares + kept)


def _ladder(live: LiveBlend, moved: Moved, near: Near, start: Parts) -> Iterator[Parts]:
    """Shares of each expert of the ladder."""
    blend, ladder = live.blend, live.blend.rule.ladder
    masses = list(blend.others(moved.rows, moved.own, moved.more))
    shares = start.shares[None].astype(np.float32)
    ratings = descend(blend.rungs, iter(masses), shares, ladder)
    parts, back_off = start, ladder.first_back_off
    for rung, mass, column in zip(blend.rungs, masses, near.columns, strict=True):
        votes = column[:, None] * live.sources(rung, near.voted)
        listed, arrived = votes.sum(axis=0), mass[0].astype(np.float64)
        votes *= np.minimum(1.0, arrived / np.where(listed > 0, listed, 1.0))
        here = replace(Parts.nothing(*votes.shape), votes=votes, distant=np.maximum(arrived - listed, 0.0))
        parts = (here + parts.times(back_off)).times(1 / (arrived.sum() + back_off))
        for rating in islice(ratings, len(ladder.contrasts_at(rung.alpha, len(blend.rungs) == 1))):
            yield parts.summing_to(rating.q[0].astype(np.float64))
        back_off = ladder.back_off


def _fixed(live: LiveBlend, near: Near, start: Parts) -> Iterator[Parts]:
    """Shares of each expert that does not move with further votes."""
    nothing, kernels = Parts.nothing(*start.votes.shape), _kernels(live, near, start)
    for expert in live.blend.fixed:
        parts = next(kernels) if expert.source == "votes" else nothing
        if not len(expert.final):
            yield nothing
            continue
        final = expert.final[near.row].astype(np.float64)
        if expert.source == "votes":
            yield parts.summing_to(final)
        elif expert.source == "prior":
            yield replace(nothing, prior=final)
        elif expert.source == MODELS:
            yield replace(nothing, models=final)
        else:
            yield replace(nothing, classifiers=final)


def _kernels(live: LiveBlend, near: Near, start: Parts) -> Iterator[Parts]:
    """Shares at each width, from the votes of the fit."""
    blend, rule = live.blend, live.blend.rule.kernels
    X, sigma2 = live.graph.places, live.graph.sigma2
    if X is None or sigma2 is None:
        return  # then there are no kernels
    fitted, place = blend.own.on_rows(near.voted)
    parts, back_off = start, rule.first_back_off
    for K in kernel_of_one(X, sigma2, near.row, near.voted[fitted.voted], rule):
        votes = np.zeros_like(start.votes)
        votes[fitted.voted] = K[:, None] * blend.own.counts[place]
        here = replace(Parts.nothing(*votes.shape), votes=votes)
        parts = (here + parts.times(back_off)).times(1 / (votes.sum() + back_off))
        yield parts
        back_off = rule.back_off


def _listed(parts: Parts, own: FloatArray, counted: VoteTable, near: Near) -> Explanation:
    """One line per vote and per class of every other source, heaviest first."""
    cells = np.vstack([parts.votes, own])
    where = np.append(near.voted, near.row)
    at, columns = np.nonzero(cells > 0)
    votes = _by_annotator(VoteTable(where[at], columns, cells[at, columns]), counted)
    mine = votes.rows == near.row
    tables = [
        (OWN, votes.take(mine)),
        (VOTE, votes.take(~mine)),
        *((name, _of_classes(share)) for name, share in _summed(parts)),
    ]
    weights = np.concatenate([table.weights for _, table in tables])
    order = np.argsort(-weights, kind="stable")
    names = None
    if counted.annotators is not None:
        listed = [
            np.full(len(table), None) if table.annotators is None else table.annotators for _, table in tables
        ]
        names = np.concatenate([np.asarray(part, dtype=object) for part in listed])[order]
    return Explanation(
        np.concatenate([np.full(len(table), name, dtype=object) for name, table in tables])[order],
        np.concatenate([table.rows for _, table in tables])[order],
        np.concatenate([table.columns for _, table in tables])[order],
        weights[order],
        names,
    )


def _summed(parts: Parts) -> list[tuple[str, FloatArray]]:
    return [
        (DISTANT, parts.distant),
        (CLASSIFIERS, parts.classifiers),
        (PRIOR, parts.prior),
        (MODELS, parts.models),
        (SHARES, parts.shares),
    ]


def _of_classes(share: FloatArray) -> VoteTable:
    columns = np.flatnonzero(share > 0)
    return VoteTable(np.full(len(columns), -1), columns, share[columns])


def _by_annotator(cells: VoteTable, counted: VoteTable) -> VoteTable:
    """Each cell split by who cast its votes; one whose votes were all taken back since names nobody."""
    if counted.annotators is None:
        return cells
    votes = heaviest(counted.on_items(np.unique(cells.rows)))
    width = 1 + int(max(cells.columns.max(initial=0), votes.columns.max(initial=0)))
    keys = cells.rows * width + cells.columns
    order = np.argsort(keys)
    place = np.searchsorted(keys[order], votes.rows * width + votes.columns)
    known = np.append(keys[order], -1)[place] == votes.rows * width + votes.columns
    votes, at = votes.take(known), order[place[known]]
    cast = np.bincount(at, votes.weights, len(cells))
    split = votes.with_weights(cells.weights[at] * votes.weights / cast[at])
    rest = cells.take(cast == 0)
    split.append(VoteTable(rest.rows, rest.columns, rest.weights, np.full(len(rest), None)))
    return split
