"""Votes that stand: one cell per annotator, item and class."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.votes.table import RETRACTED, VoteTable


@dataclass(frozen=True, slots=True, eq=False)
class NetVotes:
    """Votes after retractions: one cell per annotator, item and class with a weight above 0, nobody's cells
    first.
    """

    rows: IntArray  # (cells,) user's numbering
    columns: IntArray  # (cells,)
    weights: FloatArray  # (cells,)
    who: IntArray  # (cells,) number of the annotator, ascending, -1 = nobody
    names: AnyArray  # (annotators,)
    n_classes: int
    cell_of_vote: IntArray  # (m,) -1 where a vote was taken back
    who_of_vote: IntArray  # (m,) -1 = nobody, or an annotator without standing votes

    @property
    def n_annotators(self) -> int:
        return len(self.names)

    @property
    def named(self) -> slice:
        """The cells of named annotators."""
        return slice(int(np.searchsorted(self.who, 0)), len(self.who))

    def votes_of_each(self) -> FloatArray:
        """(annotators,) total weight."""
        return np.bincount(self.who[self.named], self.weights[self.named], self.n_annotators).astype(
            np.float64
        )

    def table(self) -> VoteTable:
        """As a table of votes; names are not needed any more."""
        return VoteTable(self.rows, self.columns, self.weights)

    def choices(self) -> FloatArray:
        """(cells, n_classes) 1 at the class that was named."""
        return np.eye(self.n_classes)[self.columns]

    def spread_to_cells(self, values: FloatArray) -> FloatArray:
        """A value per annotator -> one per cell, 1 for nobody's."""
        return np.append(values, 1.0)[self.who]

    def to_votes(self, values: FloatArray) -> FloatArray:
        """A value per annotator -> one per vote, 1 for nobody's."""
        return np.append(values, 1.0)[self.who_of_vote]

    def soft_to_votes(self, soft: FloatArray, votes: VoteTable) -> FloatArray:
        """A soft vote per cell -> one per vote; what was taken back stays what it was, and cancels."""
        out = np.eye(self.n_classes)[votes.columns]
        standing = self.cell_of_vote >= 0
        out[standing] = soft[self.cell_of_vote[standing]]
        return out

    def trust(self) -> FloatArray:
        """(named cells,) how much each counts as an observation: all votes of one annotator on one item at
        most 1.
        """
        named = self.named
        _, pair = np.unique(np.stack([self.who[named], self.rows[named]]), axis=1, return_inverse=True)
        pair = pair.ravel()
        totals = np.bincount(pair, self.weights[named])
        return np.asarray(self.weights[named] / np.maximum(1.0, totals)[pair])


def net_votes(votes: VoteTable, n_classes: int) -> NetVotes:
    """Add up the votes of each annotator on each item for each class, and drop what was taken back."""
    m = len(votes)
    codes, names = np.full(m, -1), np.empty(0, dtype=object)
    if votes.annotators is not None:
        codes, found = pd.factorize(pd.Series(votes.annotators, dtype=object))
        names = np.asarray(found, dtype=object)
    keys, cell = np.unique(np.stack([codes, votes.rows, votes.columns]), axis=1, return_inverse=True)
    cell = cell.ravel()
    totals = np.bincount(cell, votes.weights, minlength=keys.shape[1]).astype(np.float64)
    standing = totals > RETRACTED
    who = keys[0][standing]
    kept = np.unique(who[who >= 0])
    in_order = validation.distinct_sorted(names[kept]) if len(kept) else names[:0]
    place = np.full(len(names) + 1, -1)  # the last place is nobody's
    place[kept] = pd.Index(in_order, dtype=object).get_indexer(pd.Index(names[kept], dtype=object))
    who = place[who]
    by_annotator = np.argsort(who, kind="stable")
    number = np.full(len(standing), -1)
    number[np.flatnonzero(standing)[by_annotator]] = np.arange(len(by_annotator))
    rows, columns, weights = keys[1][standing], keys[2][standing], totals[standing]
    return NetVotes(
        rows[by_annotator],
        columns[by_annotator],
        weights[by_annotator],
        who[by_annotator],
        np.asarray(in_order, dtype=object),
        n_classes,
        number[cell],
        place[codes],
    )
