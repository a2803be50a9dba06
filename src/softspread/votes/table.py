"""Votes as numbers: which row, which column, how much.

    (row, column, weight, annotator) of every vote  ->  counts (n, n_classes)

Everything below the reader speaks rows and columns; only annotators keep their names.
"""

import numpy as np
import pandas as pd

from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread._common.validation import WHOLE_FLOATS

ROUNDING = 1e-9  # of all that was cast and taken back: a rest this small counts as nothing
WHOLE_VOTE = 1e-6  # how far from 1 the parts of a soft vote may sum


class VoteTable:
    """Row of the item, column of the class and weight of every vote; annotators keep their names.

    Grows in place.
    """

    def __init__(
        self, rows: IntArray, columns: IntArray, weights: FloatArray, annotators: AnyArray | None = None
    ) -> None:
        self._rows, self._columns, self._weights, self._annotators = rows, columns, weights, annotators
        self._size = len(rows)
        self._cast: VoteTable | None = None
        self.repeats = "last"  # or "keep": how a person's further votes on an item count, see `standing`

    @classmethod
    def empty(cls) -> "VoteTable":
        """No votes yet."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"VoteTable({len(self):,} votes on {len(np.unique(self.rows)):,} rows)"

    @property
    def rows(self) -> IntArray:
        """(m,) row of the voted item."""
        return self._rows[: self._size]

    @property
    def columns(self) -> IntArray:
        """(m,) column of the class."""
        return self._columns[: self._size]

    @property
    def weights(self) -> FloatArray:
        """(m,) weight, negative for a vote taken back."""
        return self._weights[: self._size]

    @property
    def annotators(self) -> AnyArray | None:
        """(m,) names, or None where nobody is named."""
        return None if self._annotators is None else self._annotators[: self._size]

    @property
    def cast(self) -> "VoteTable":
        """All votes as they were cast, of which these stand; the table itself where all do."""
        return self if self._cast is None else self._cast

    @cast.setter
    def cast(self, votes: "VoteTable") -> None:
        self._cast = None if votes is self else votes

    def copy(self) -> "VoteTable":
        """A table with arrays of its own and the same votes."""
        other = self.take(np.arange(self._size))
        other._cast = None if self._cast is None else self._cast.copy()
        return other

    def append(self, new: "VoteTable") -> None:
        """Add votes at the end; memory at least doubles when it runs out, so single votes stay cheap."""
        size = self._size + len(new)
        room = size if size <= len(self._rows) else max(size, 2 * len(self._rows), 16)
        if self._annotators is not None or new.annotators is not None:
            mine = self.annotators if self.annotators is not None else np.full(self._size, None)
            theirs = new.annotators if new.annotators is not None else np.full(len(new), None)
            self._annotators = _grown(mine, theirs, max(room, len(self._rows)))
        self._rows = _grown(self._rows[: self._size], new.rows, room, self._rows)
        self._columns = _grown(self._columns[: self._size], new.columns, room, self._columns)
        self._weights = _grown(self._weights[: self._size], new.weights, room, self._weights)
        self._size = size

    def forget(self, n_votes: int) -> None:
        """Drop the last votes."""
        self._size -= n_votes

    def keep(self, which: BoolArray) -> None:
        """Keep only some of the votes, in place."""
        self._rows, self._columns, self._weights = self.rows[which], self.columns[which], self.weights[which]
        self._annotators = None if self._annotators is None else self._annotators[: self._size][which]
        self._size = len(self._rows)

    def take(self, which: IntArray | BoolArray | slice) -> "VoteTable":
        """Some of the votes, by mask, by number or from one to another."""
        names = None if self.annotators is None else self.annotators[which]
        taken = VoteTable(self.rows[which], self.columns[which], self.weights[which], names)
        taken.repeats = self.repeats
        return taken

    def on_items(self, rows: IntArray) -> "VoteTable":
        """The votes on some items."""
        return self.take(np.isin(self.rows, rows))

    def moved(self, place: IntArray) -> "VoteTable":
        """The votes on items that stay, by their new rows: ``place`` of every row, -1 for those that go."""
        other = self.take(place[self.rows] >= 0)
        other._rows = place[other._rows]
        other._cast = None if self._cast is None else self._cast.moved(place)
        return other

    def with_weights(self, weights: FloatArray) -> "VoteTable":
        """The same votes with other weights."""
        other = self.take(slice(None))
        other._weights = weights
        return other

    def counts(self, n: int, n_classes: int) -> FloatArray:
        """(n, n_classes) total weights."""
        table = np.zeros((n, n_classes))
        np.add.at(table, (self.rows, self.columns), self.weights)
        if (self.weights < 0).any():
            # 0.1 + 0.2 - 0.3 is 6e-17: what rounding leaves of a retracted vote is none
            turnover = np.zeros((n, n_classes))
            np.add.at(turnover, (self.rows, self.columns), np.abs(self.weights))
            table[table <= ROUNDING * turnover] = 0.0
        return table


def _grown(old: AnyArray, new: AnyArray, room: int, memory: AnyArray | None = None) -> AnyArray:
    """``old``, then ``new``, in an array of ``room`` entries; in ``memory`` where that is large enough."""
    size = len(old) + len(new)
    if memory is not None and len(memory) >= room and memory.base is None and memory.flags.writeable:
        memory[len(old) : size] = new
        return memory
    both = joined(old, new)
    grown = np.empty(room, dtype=both.dtype)
    grown[:size] = both
    return grown


def joined(first: AnyArray, second: AnyArray) -> AnyArray:
    """Both, one after the other, never turning numbers into text."""
    if not len(first) or not len(second):
        return (first if len(first) else second).copy()
    same = first.dtype.kind == second.dtype.kind
    if not same and {first.dtype.kind, second.dtype.kind} <= set("iuf"):
        whole = np.result_type(first, second).kind in "iu"
        same = whole or max(_size(first), _size(second)) <= WHOLE_FLOATS
    if same:
        return np.concatenate([first, second])
    # numpy would turn times into bare numbers, pandas keeps them times
    parts = [part if part.dtype.kind not in "mM" else pd.Series(part) for part in (first, second)]
    return np.concatenate([np.asarray(part.astype(object)) for part in parts])


def _size(whole: AnyArray) -> int:
    """The largest whole number in magnitude; 0 for floats."""
    return 0 if whole.dtype.kind == "f" else max(int(whole.max()), -int(whole.min()))
