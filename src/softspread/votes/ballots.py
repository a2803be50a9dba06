"""The votes that stand after retractions, and what counts as one vote.

    VoteTable (rows with a weight, negative = taken back)  ->  Ballots (entries -> votes -> items, annotators)

A vote is one observation whatever its weight; the weight says how much evidence it carries. Fractions that
one annotator gives to one item, or that an unnamed source gives to one item and that sum to 1, are one soft
vote. Tuning, intervals, annotators and quality all read votes through this module.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.votes.table import ROUNDING, WHOLE_VOTE, VoteTable


def sums(place: IntArray, values: FloatArray, size: int) -> FloatArray:
    """(size,) sum of the values at each place."""
    return np.bincount(place, values, size).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Ballots:
    """Votes that stand: entries make up votes, which belong to items and annotators.

    An entry is a row of the vote table, or what retractions left of it. Most votes have one entry; a soft
    vote has one per class. All numbers are in the order of the table.
    """

    n_classes: int
    voted: IntArray  # (v,)  items with a vote that stands, ascending
    names: AnyArray  # (a,)  annotators with a vote that stands, in order
    item: IntArray  # (e,)  place of the entry's item in ``voted``
    column: IntArray  # (e,)
    weight: FloatArray  # (e,)  above 0
    annotator: IntArray  # (e,)  place in ``names``, -1 = no name
    vote: IntArray  # (e,)  number of the vote that the entry belongs to
    entry_of_row: IntArray  # (m,)  an entry of the same item, class and annotator; -1 = none stands
    row_of_entry: IntArray  # (e,)  the row that the entry stands for

    @classmethod
    def of(cls, votes: VoteTable, n_classes: int, groups: IntArray | None = None) -> "Ballots":
        """Read a table of votes.

        Parameters
        ----------
        votes : a negative weight takes back votes of the same item, class and annotator; where it is unclear
            which of several, the lightest, which leaves the largest sum of squares
        groups : (m,) rows with the same number are one soft vote; None = see the module

        Examples
        --------
        >>> votes = VoteTable(np.array([0, 0, 2, 2]), np.array([0, 1, 1, 1]), np.array([0.5, 0.5, 1, -1]))
        >>> ballots = Ballots.of(votes, n_classes=2)
        >>> ballots.n_votes, ballots.voted.tolist(), ballots.counts.tolist()
        (1, [0], [[0.5, 0.5]])
        """
        if groups is not None and len(groups) != len(votes):
            raise InputError(f"groups must have one number per vote ({len(votes)}), got {len(groups)}.")
        codes, found = _annotators(votes)
        left, entry_of_row = _standing(votes, codes)
        rows = np.flatnonzero(left > 0)
        voted, item = np.unique(votes.rows[rows], return_inverse=True)
        names, annotator = _in_order(found, codes[rows])
        vote = _votes(item, annotator, left[rows], None if groups is None else np.asarray(groups)[rows])
        column = votes.columns[rows]
        return cls(n_classes, voted, names, item, column, left[rows], annotator, vote, entry_of_row, rows)

    def weighted(self, factors: FloatArray) -> "Ballots":
        """The votes as annotators count, one factor each, (a,); 1 without a name.

        Where annotators differ, all that one of them says about an item is one vote.
        """
        vote = _numbered(self._sources)
        return replace(self, weight=self.weight * self.per_entry(factors), vote=vote)

    @property
    def rows(self) -> IntArray:
        """(e,) the item of each entry."""
        return self.voted[self.item]

    # ---------------------------------------------------------------------------------------------- per vote
    @cached_property
    def n_votes(self) -> int:
        """How many votes stand."""
        return int(self.vote.max(initial=-1)) + 1

    @cached_property
    def item_of_vote(self) -> IntArray:
        """(n_votes,) place of each vote's item in ``voted``."""
        items = np.empty(self.n_votes, dtype=np.int64)
        items[self.vote] = self.item
        return items

    @cached_property
    def turn_of_vote(self) -> IntArray:
        """(n_votes,) how many votes on the same item stand before each, in the order of the table."""
        order = np.argsort(self.item_of_vote, kind="stable")
        at = self.item_of_vote[order]
        turns = np.empty(self.n_votes, dtype=np.int64)
        turns[order] = np.arange(self.n_votes) - np.searchsorted(at, at)
        return turns

    def of_votes(self, values: FloatArray) -> FloatArray:
        """(n_votes,) mean over each vote's entries of a value per row of the table, (m,)."""
        mine = values[self.row_of_entry]
        return sums(self.vote, mine, self.n_votes) / np.bincount(self.vote, minlength=self.n_votes)

    @cached_property
    def content(self) -> csr_array:
        """(n_votes, n_classes) weight of each vote per class."""
        return csr_array((self.weight, (self.vote, self.column)), shape=(self.n_votes, self.n_classes))

    # ---------------------------------------------------------------------------------------------- per item
    @cached_property
    def counts(self) -> FloatArray:
        """(v, n_classes) weight per item and class."""
        cells = self.item * self.n_classes + self.column
        shape = len(self.voted), self.n_classes
        return sums(cells, self.weight, shape[0] * shape[1]).reshape(shape)

    @cached_property
    def totals(self) -> FloatArray:
        """(v,) weight per item."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def mean_vote(self) -> FloatArray:
        """(v, n_classes) weighted mean of each item's votes."""
        return self.counts / self.totals[:, None]

    @cached_property
    def votes_per_item(self) -> IntArray:
        """(v,) number of votes."""
        return np.bincount(self.item_of_vote, minlength=len(self.voted))

    @property
    def n_repeats(self) -> int:
        """Votes beyond the first on their item."""
        return self.n_votes - len(self.voted)

    @cached_property
    def n_repeated(self) -> int:
        """Items with two or more independent votes."""
        return int(np.count_nonzero(self.opinions.number > 1))

    @cached_property
    def sharpness(self) -> FloatArray:
        """(v,) weighted mean of |y|^2 over an item's votes y, each summing to 1; 1 unless votes are soft."""
        weight = sums(self.vote, self.weight, self.n_votes)
        squares = np.asarray((self.content * self.content).sum(axis=1)).ravel() / weight
        return sums(self.item_of_vote, squares, len(self.voted)) / self.totals

    @cached_property
    def concentration(self) -> FloatArray:
        """(v,) sum of squared weights / square of their sum: 1 / votes where all weigh the same."""
        squares = sums(self.vote, self.weight, self.n_votes) ** 2
        share = sums(self.item_of_vote, squares, len(self.voted)) / self.totals**2
        return np.minimum(share, 1.0)

    @cached_property
    def own_noise(self) -> FloatArray:
        """(v,) unbiased E|y - p|^2 of a vote, from the item's own votes: how often two differ; 0 with one."""
        spread = np.maximum(self.sharpness - (self.mean_vote**2).sum(axis=1), 0.0)
        several = self.concentration < 1
        return np.where(several, spread / np.where(several, 1 - self.concentration, 1.0), 0.0)

    @cached_property
    def opinions(self) -> "Opinions":
        """Independent opinions: all that one named annotator says about an item is one of them."""
        _, first, source = np.unique(self._sources, return_index=True, return_inverse=True)
        item, weight = self.item[first], sums(source, self.weight, len(first))
        largest = np.zeros(len(self.voted))
        np.maximum.at(largest, item, weight)
        number = np.bincount(item, minlength=len(self.voted))
        return Opinions(sums(item, weight * weight, len(self.voted)), largest, number)

    @property
    def _sources(self) -> IntArray:
        """(e,) a number shared by the entries of one annotator on one item, or of one vote without a name."""
        pair = self.n_votes + self.item * len(self.names) + self.annotator
        return np.where(self.annotator >= 0, pair, self.vote)

    # ----------------------------------------------------------------------------------------- per annotator
    @property
    def n_annotators(self) -> int:
        """Annotators with a name."""
        return len(self.names)

    @cached_property
    def weight_of_annotators(self) -> FloatArray:
        """(a,) total weight of each annotator's votes."""
        named = self.annotator >= 0
        return sums(self.annotator[named], self.weight[named], self.n_annotators)

    def per_entry(self, values: FloatArray) -> FloatArray:
        """A value per annotator -> one per entry, 1 without a name."""
        return np.append(values, 1.0)[self.annotator]


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """Independent opinions on each voted item, for sums over votes."""

    squares: FloatArray  # (v,)  sum of squared weights
    largest: FloatArray  # (v,)  largest weight
    number: IntArray  # (v,)


class Overdrawn(NamedTuple):
    """An item, class and annotator with more votes taken back than cast."""

    row: int
    column: int
    total: float


def taken_back_too_often(votes: VoteTable) -> Overdrawn | None:
    """Where the total weight is furthest below 0; None where it is nowhere."""
    touched, cell = _touched(votes, _annotators(votes)[0])
    weights = votes.weights[touched]
    total, turnover = np.bincount(cell, weights), np.bincount(cell, np.abs(weights))
    below = np.where(total < -ROUNDING * turnover, total, 0.0)
    if not below.any():
        return None
    row = touched[int((cell == below.argmin()).argmax())]
    return Overdrawn(int(votes.rows[row]), int(votes.columns[row]), float(below.min()))


def _annotators(votes: VoteTable) -> tuple[IntArray, AnyArray]:
    """A number per row, -1 without a name, and the names."""
    if votes.annotators is None:
        return np.full(len(votes), -1), np.empty(0, dtype=object)
    codes, names = pd.factorize(pd.Series(votes.annotators, dtype=object))
    return codes, np.asarray(names, dtype=object)


def _touched(votes: VoteTable, codes: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of an item, class and annotator from which something was taken back, and the cell of each."""
    taken = votes.weights < 0
    if not taken.any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    n_columns = int(votes.columns.max()) + 1
    key = ((codes + 1) * (int(votes.rows.max()) + 1) + votes.rows) * n_columns + votes.columns
    touched = np.flatnonzero(np.isin(key, key[taken]))
    return touched, np.unique(key[touched], return_inverse=True)[1]


def _standing(votes: VoteTable, codes: IntArray) -> tuple[FloatArray, IntArray]:
    """The rest of each row's weight, (m,), and :attr:`Ballots.entry_of_row`."""
    left = np.maximum(votes.weights, 0.0)
    touched, cell = _touched(votes, codes)
    if len(touched):
        table = pd.DataFrame({"cell": cell, "row": touched, "weight": votes.weights[touched]})
        by_cell = table.groupby("cell")["weight"]
        table["total"] = by_cell.transform("sum")
        table["turnover"] = table["weight"].abs().groupby(cell).transform("sum")
        table = table[table["weight"] > 0].sort_values("weight", ascending=False, kind="stable")
        before = table.groupby("cell")["weight"].cumsum() - table["weight"]
        rest = np.clip((table["total"] - before).to_numpy(), 0.0, table["weight"].to_numpy())
        left[table["row"]] = np.where(rest > ROUNDING * table["turnover"].to_numpy(), rest, 0.0)
    stands = left > 0
    entry_of_row = np.where(stands, np.cumsum(stands) - 1, -1)
    if len(touched):
        some = np.full(int(cell.max()) + 1, -1)
        np.maximum.at(some, cell, entry_of_row[touched])
        entry_of_row[touched] = some[cell]
    return left, entry_of_row


def _in_order(found: AnyArray, codes: IntArray) -> tuple[AnyArray, IntArray]:
    """The names that are in use, sorted, and the place of each code among them."""
    used = np.unique(codes[codes >= 0])
    if not len(used):
        return found[:0], codes
    names = np.asarray(validation.distinct_sorted(found[used]), dtype=object)
    place = np.full(len(found) + 1, -1)  # the last is for those without a name
    place[used] = pd.Index(names, dtype=object).get_indexer(pd.Index(found[used], dtype=object))
    return names, place[codes]


def _votes(item: IntArray, annotator: IntArray, weight: FloatArray, groups: IntArray | None) -> IntArray:
    """The number of each entry's vote."""
    if groups is not None:
        return _numbered(groups)
    together = np.arange(len(item))
    fraction = np.flatnonzero(weight < 1)
    if len(fraction):
        key = item[fraction] * (int(annotator.max()) + 2) + annotator[fraction]
        _, start, group = np.unique(key, return_index=True, return_inverse=True)
        total = np.bincount(group, weight[fraction])[group]
        soft: BoolArray = (annotator[fraction] >= 0) | (np.abs(total - 1) <= WHOLE_VOTE)
        together[fraction[soft]] = fraction[start[group[soft]]]
    return _numbered(together)


def _numbered(groups: IntArray) -> IntArray:
    """0, 1, 2, ... for equal entries, in the order of their first appearance."""
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[group])
