"""The log in memory: one array per column, in the order of ids.

log rows (names)  ->  rows of items, numbers of answers and annotators  ->  VoteTable, counts, reports

The log keeps names as they were cast. A class that was renamed or merged since answers to its old names too.
"""

import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.votes.standing import KEEP
from softspread.votes.table import VoteTable
from softspread.web.log.answers import NOTHING_SAID, Answers
from softspread.web.log.entry import COUNTED, NOBODY, UNDO, VOTE, Entry
from softspread.web.log.suggestions import read

FIRST_ROOM = 1024  # entries; doubled whenever it is full
_COLUMNS = (
    "id",
    "kind",
    "annotator",
    "row",
    "column",  # number of the answer: the column of its class where a vote names one
    "weight",
    "undoes",
    "created_at",
    "probability",
    "suggested",  # number of the answer that a suggestion named; -1: none is known
    "share",  # of the leading class in the suggestion
    "seen",  # whether the suggestion was shown
)
_FORMATS = ("i8", "i1", "i4", "i8", "i8", "f8", "i8", "f8", "f8", "i4", "f8", "?")
_FIELDS = np.dtype({"names": _COLUMNS, "formats": _FORMATS}, align=True)


class History:
    """All entries of the log whose item and class are known; grows in place. One writer, any readers."""

    def __init__(self, item_ids: "pd.Index[Any]", answers: Answers, left_out: Collection[str] = ()) -> None:
        """``left_out``: whose votes do not count."""
        self._item_ids, self._left_out = item_ids, frozenset(left_out)
        self.answers = answers
        self._entries = np.empty(FIRST_ROOM, dtype=_FIELDS)
        self._size = 0
        self._lock = threading.Lock()
        self.annotators: list[str] = []  # names by number
        self._numbers: dict[str, int] = {}
        self.unknown = 0  # entries about items or classes that this project does not have
        self.last_id = 0
        self.last_time = 0.0

    def __len__(self) -> int:
        return self._size

    def take_blocks(self, blocks: Iterable[list[Any]]) -> None:
        """Read rows as `Store.read_log` gives them."""
        for block in blocks:
            ids, kinds, annotators, items, labels, weights, undoes, created, *rest = zip(*block, strict=True)
            chosen, probabilities, shown, _ = rest
            new = np.empty(len(ids), dtype=_FIELDS)
            codes, names = pd.factorize(np.array(annotators, dtype=object))
            new["id"], new["kind"], new["weight"], new["created_at"] = ids, kinds, weights, created
            new["annotator"] = np.array([self.number_of(name) for name in names], dtype=np.int32)[codes]
            new["row"] = self._item_ids.get_indexer(pd.Index(items, dtype=object))
            codes, texts = pd.factorize(np.array(labels, dtype=object))
            found = np.array([*map(self.answers.number, texts), NOTHING_SAID], dtype=np.int64)
            new["column"] = found[codes]  # the last one: for entries without an answer
            new["undoes"] = [-1 if value is None else value for value in undoes]
            new["probability"] = list(map(_probability, chosen, probabilities))
            new["suggested"], new["share"], new["seen"] = self._suggestions(shown)
            known = (new["row"] >= 0) & ((new["column"] >= 0) | ~np.isin(new["kind"], COUNTED))
            self.unknown += int((~known).sum())
            self._extend(new[known])
            self.last_id, self.last_time = int(ids[-1]), max(self.last_time, float(max(created)))

    def take_entries(self, entries: Sequence[Entry], rows: Sequence[int], columns: Sequence[int]) -> None:
        """Add what was just written."""
        values = [
            (
                entry.id,
                entry.kind,
                self.number_of(entry.annotator),
                row,
                column,
                entry.weight,
                -1 if entry.undoes is None else entry.undoes,
                entry.created_at,
                _probability(entry.chosen, entry.probability),
                *self._suggestion(entry.shown),
            )
            for entry, row, column in zip(entries, rows, columns, strict=True)
        ]
        self._extend(np.array(values, dtype=_FIELDS))
        self.last_id, self.last_time = entries[-1].id, max(self.last_time, entries[-1].created_at)

    def _suggestion(self, shown: str | None) -> tuple[int, float, bool]:
        """Number of the answer, share of the leading class and whether it was seen."""
        found = read(shown)
        if found is None:
            return NOTHING_SAID, np.nan, False
        return self.answers.suggested(found.p), max(found.p.values()), found.seen

    def _suggestions(self, shown: Sequence[str | None]) -> AnyArray:
        """The same for many: three rows."""
        if not any(shown):
            return np.array([[-1], [np.nan], [False]])
        return np.array([self._suggestion(text) for text in shown]).T

    def number_of(self, annotator: str) -> int:
        """A small number for a name, the same one each time."""
        number = self._numbers.get(annotator)
        if number is None:
            number = self._numbers[annotator] = len(self.annotators)
            self.annotators.append(annotator)
        return number

    def _extend(self, new: AnyArray) -> None:
        with self._lock:
            size = self._size + len(new)
            if size > len(self._entries):
                grown = np.empty(max(size, 2 * len(self._entries)), dtype=_FIELDS)
                grown[: self._size] = self._entries[: self._size]
                self._entries = grown
            self._entries[self._size : size] = new
            self._size = size

    def column(self, name: str, start: int = 0) -> AnyArray:
        """One column from an entry on; never changes afterwards, as the log is append-only."""
        return self.columns(name)[0][start:]

    def columns(self, *names: str) -> list[AnyArray]:
        """Several columns of the same entries."""
        with self._lock:
            entries = self._entries[: self._size]
        return [entries[name] for name in names]

    # ----------------------------------------------------------------------------------------------- readings
    def table(self, start: int = 0, stop: int | None = None) -> VoteTable:
        """Votes and undos (as negative weights) of a part of the log, with names."""
        kind, rows, columns, weights, annotator = (
            part[start:stop] for part in self.columns("kind", "row", "column", "weight", "annotator")
        )
        counted = np.isin(kind, COUNTED) & self._is_in(annotator)
        names = self._names_of(annotator[counted])
        return VoteTable(rows[counted], columns[counted], weights[counted], names)

    def standing(self, stop: int | None = None) -> BoolArray:
        """(entries,) which ones are votes that count and that nobody took back, or had at entry ``stop``."""
        ids, kind, undoes, annotator = (
            part[:stop] for part in self.columns("id", "kind", "undoes", "annotator")
        )
        return np.asarray((kind == VOTE) & ~np.isin(ids, undoes[kind == UNDO]) & self._is_in(annotator))

    def counts_votes_of(self, annotator: str) -> bool:
        """Whether this person's votes enter the soft labels."""
        return annotator not in self._left_out

    def _is_in(self, numbers: AnyArray) -> BoolArray:
        """Which of these people's votes count."""
        if not self._left_out:
            return np.ones(len(numbers), dtype=bool)
        return np.array([name not in self._left_out for name in self.annotators], dtype=bool)[numbers]

    def standing_votes(self, stop: int | None = None) -> tuple[VoteTable, IntArray]:
        """The votes that stand, or stood at entry ``stop``, with names, and their numbers in the log."""
        stands = self.standing(stop)
        rows, columns, weights, annotator = (
            part[: len(stands)][stands] for part in self.columns("row", "column", "weight", "annotator")
        )
        table = VoteTable(rows, columns, weights, self._names_of(annotator))
        table.repeats = KEEP  # the ledger has decided which votes stand
        return table, np.flatnonzero(stands)

    def probabilities(self, stop: int | None = None) -> FloatArray:
        """With which the item of each standing vote was drawn; nan where the page did not hand it out.

        1 where it came for sure (gold) or nobody knows: such a vote speaks for its own item only.
        """
        stands = self.standing(stop)
        return np.asarray(self.column("probability")[: len(stands)][stands])

    def _names_of(self, numbers: AnyArray) -> AnyArray | None:
        """Who cast the votes; nobody cast those of a file without names and decisions: each counts."""
        people = [None if name in NOBODY else name for name in self.annotators]
        names = np.array([*people, None], dtype=object)[numbers]
        return None if all(name is None for name in names) else names

    def counts(self, n: int) -> FloatArray:
        """(n,) votes that stand on each item, whatever they weigh."""
        return np.bincount(self.standing_votes()[0].rows, minlength=n).astype(np.float64)


def _probability(chosen: str | None, probability: float | None) -> float:
    """As the column has it: nan for an item that was not handed out, 1 where the probability is not known."""
    if chosen is None:
        return np.nan
    return 1.0 if probability is None else probability
