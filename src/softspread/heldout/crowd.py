"""Mass at the voted items without *all* votes of one annotator.

    p_v ~ Y[q] - (mass at q from the votes of v's annotator) + strength * class shares   theory: [consistency]

An annotator's own mass comes from pushes where the votes are few, from one solve per class where they are
many, whichever is less work.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import BoolArray, FloatArray, IntArray
from softspread.diffusion.diagonal import own_reach
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import local_profiles
from softspread.votes.ballots import Ballots


@dataclass(frozen=True, slots=True)
class OwnMassRule:
    """How an annotator's own mass is found."""

    tol: float = 1e-4  # relative residual of solves: an error of a few 1e-4 votes
    floor: float = 1e-4  # where a push stops: it keeps about 90 % of a profile's mass at alpha 0.9
    sample: int = 32  # profiles that show how far pushes reach
    push_work: float = 6.0  # an item is pushed about this / (1 - alpha) times, measured at alpha 0.5 to 0.99
    batch_columns: int = 64  # solved at once
    batch_entries: int = 10_000_000  # of pushed profiles in memory at once: 240 MB


class Crowd:
    """Votes on one diffusion, seen from each named entry of the ballots without its annotator's votes.

    ``amounts`` are always (e, n_classes), what each entry of the ballots gives to every class; results are
    (named, n_classes), one row per named entry, sorted by annotator.
    """

    def __init__(self, diffusion: Diffusion, ballots: Ballots, rule: OwnMassRule | None = None) -> None:
        self.diffusion, self.ballots = diffusion, ballots
        self.rule = OwnMassRule() if rule is None else rule
        by_annotator = np.argsort(ballots.annotator, kind="stable")
        self.named: IntArray = by_annotator[int(np.count_nonzero(ballots.annotator < 0)) :]
        self.who, self.columns = ballots.annotator[self.named], ballots.column[self.named]
        self._rows = ballots.rows[self.named]
        starts = np.searchsorted(self.who, np.arange(ballots.n_annotators + 1))
        self._parts = [slice(int(first), int(last)) for first, last in pairwise(starts)]
        self._starts: IntArray = starts[:-1]
        totals = ballots.counts.sum(axis=0)
        self.class_shares: FloatArray = (totals + 1) / (totals.sum() + ballots.n_classes)

    # --------------------------------------------------------------------------------- votes as they are
    @cached_property
    def choices(self) -> FloatArray:
        """(e, n_classes) 1 at the class of each entry."""
        return np.eye(self.ballots.n_classes)[self.ballots.column]

    @cached_property
    def cast(self) -> FloatArray:
        """(e, n_classes) amounts as they were cast."""
        return self.choices * self.ballots.weight[:, None]

    @cached_property
    def trust(self) -> FloatArray:
        """(named,) how much each counts as an observation: an annotator on one item at most 1 altogether."""
        weight = self.ballots.weight[self.named]
        pair = self.who * len(self.ballots.voted) + self.ballots.item[self.named]
        _, pair = np.unique(pair, return_inverse=True)
        return np.asarray(weight / np.maximum(1.0, np.bincount(pair, weight))[pair])

    def per_annotator(self, values: FloatArray) -> FloatArray:
        """(a, k) sums over each annotator of (named, k) values, each counted as far as it is trusted."""
        return np.asarray(np.add.reduceat(values * self.trust[:, None], self._starts, axis=0))

    # ---------------------------------------------------------------------------------------------- mass
    def others(self, amounts: FloatArray, own: FloatArray, strength: float) -> FloatArray:
        """p_v: the opinion of everybody but the annotator about the item, smoothed by the class shares."""
        spread = self.diffusion.spread(self.ballots.rows, amounts)
        total = np.maximum(spread.mass(self._rows) - own, 0.0) + strength * self.class_shares
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def said_by(self, heard: BoolArray, strength: float) -> FloatArray:
        """(named, n_classes) what the annotators in ``heard`` (a,) say, and all votes without a name."""
        counted = self.cast * np.append(heard, True)[self.ballots.annotator][:, None]
        mass = self.diffusion.spread(self.ballots.rows, counted, tol=self.rule.tol).mass(self._rows)
        total = np.maximum(mass, 0.0) + strength * self.class_shares
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    @cached_property
    def own_as_cast(self) -> FloatArray:
        """:meth:`own` of the votes as they were cast."""
        return self.own(self.cast)

    def own(self, amounts: FloatArray) -> FloatArray:
        """Mass at each named entry's item from the votes of its annotator alone.

        Memory: n * 64 and 240 MB.
        """
        mine = amounts[self.named]
        out = np.zeros_like(mine)
        blocks = self._local_blocks
        for number, block in blocks.items():
            part = self._parts[number]
            _, place = np.unique(self._rows[part], return_inverse=True)
            totals = np.zeros((block.shape[0], mine.shape[1]))
            np.add.at(totals, place, mine[part])
            out[part] = (block.T @ totals)[place]
        waiting: list[tuple[slice, IntArray]] = []
        n_columns = 0
        for number, part in enumerate(self._parts):
            if number not in blocks:
                waiting.append((part, np.flatnonzero(mine[part].any(axis=0))))
                n_columns += len(waiting[-1][1])
            if n_columns >= self.rule.batch_columns:
                self._solve_own(waiting, mine, out)
                waiting, n_columns = [], 0
        self._solve_own(waiting, mine, out)
        return out

    def _solve_own(self, waiting: list[tuple[slice, IntArray]], mine: FloatArray, out: FloatArray) -> None:
        """One column per annotator and class."""
        rows, places, weights, n_columns = [], [], [], 0
        for part, columns in waiting:
            at, place = np.nonzero(mine[part][:, columns])
            rows.append(self._rows[part][at])
            places.append(n_columns + place)
            weights.append(mine[part][at, columns[place]])
            n_columns += len(columns)
        if not n_columns:
            return
        spread = self.diffusion.spread_entries(
            np.concatenate(rows), np.concatenate(places), np.concatenate(weights), n_columns, self.rule.tol
        )
        first = 0
        for part, columns in waiting:
            mass = spread.mass(self._rows[part], slice(first, first + len(columns)))
            out[part.start : part.stop, columns] = mass
            first += len(columns)

    @cached_property
    def _local_blocks(self) -> dict[int, csr_array]:
        """Profiles between the items of each annotator for whom pushes are less work than solves."""
        blocks: dict[int, csr_array] = {}
        items = [np.unique(self._rows[part]) for part in self._parts]
        if self.diffusion.factored or not items:  # a column costs next to nothing once there is a factor
            return blocks
        reach = self._pushed_entries()
        few = np.flatnonzero(np.array([len(rows) for rows in items]) < self._break_even(reach)).tolist()
        room = max(1.0, self.rule.batch_entries / reach)
        if few and len(np.unique(np.concatenate([items[number] for number in few]))) <= room:
            room = np.inf  # items of several annotators are then pushed once
        group: list[int] = []
        for number in few:
            group.append(number)
            if sum(len(items[other]) for other in group) >= room or number == few[-1]:
                rows = np.unique(np.concatenate([items[member] for member in group]))
                profiles = csr_array(local_profiles(self.diffusion, rows, self.rule.floor)[:, rows])
                profiles.setdiag(own_reach(self.diffusion, rows))  # known better than a push finds it
                for member in group:
                    place = np.searchsorted(rows, items[member])
                    blocks[member] = csr_array(profiles[place][:, place])
                group = []
        return blocks

    def _pushed_entries(self) -> float:
        """How many items a push reaches, on average over a sample."""
        voted = np.unique(self._rows)
        sample = np.linspace(0, len(voted) - 1, min(len(voted), self.rule.sample)).astype(np.int64)
        return float(local_profiles(self.diffusion, voted[sample], self.rule.floor).nnz / len(sample))

    def _break_even(self, reach: float) -> FloatArray:
        """(a,) the number of items at which pushing them one by one costs as much as solving for all."""
        alpha = self.diffusion.alpha
        push = reach / self.diffusion.n_items * self.rule.push_work / (1 - alpha)  # in passes over all edges
        condition = np.sqrt((1 + alpha) / (1 - alpha))
        solve = 0.5 * condition * np.log(2 * condition / self.rule.tol)
        n_columns = np.array([len(np.unique(self.columns[part])) for part in self._parts])
        return np.asarray(n_columns * solve / push)
