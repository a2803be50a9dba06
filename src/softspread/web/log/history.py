"""The log in memory: one array per column, in the order of ids.

log rows (names)  ->  rows of items, columns of classes, numbers of annotators  ->  VoteTable, counts, reports
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.votes.table import VoteTable
from softspread.web.log.models import SKIP, UNDO, VOTE
from softspread.web.log.store import Entry

_KINDS = {
    "id": np.int64,
    "kind": np.int8,
    "annotator": np.int32,
    "row": np.int64,
    "column": np.int64,
    "weight": np.float64,
    "undoes": np.int64,
    "created_at": np.float64,
}
FIRST_ROOM = 1024


class History:
    """All entries of the log whose item and class are known; grows in place. One writer, any readers."""

    def __init__(self, item_ids: "pd.Index[Any]", classes: Sequence[str]) -> None:
        self._item_ids, self._classes = item_ids, pd.Index(classes)
        self._columns = {name: np.empty(FIRST_ROOM, dtype=kind) for name, kind in _KINDS.items()}
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
            ids, kinds, annotators, items, labels, weights, undoes, created = zip(*block, strict=True)
            rows = self._item_ids.get_indexer(pd.Index(items, dtype=object))
            columns = self._classes.get_indexer(pd.Index(labels, dtype=object))
            kind = np.array(kinds, dtype=np.int8)
            known = (rows >= 0) & ((columns >= 0) | (kind == SKIP))
            codes, names = pd.factorize(np.array(annotators, dtype=object))
            numbers = np.array([self.number_of(name) for name in names], dtype=np.int32)[codes]
            undone = np.array([-1 if value is None else value for value in undoes], dtype=np.int64)
            self.unknown += int((~known).sum())
            self._extend(
                {
                    "id": np.array(ids, dtype=np.int64)[known],
                    "kind": kind[known],
                    "annotator": numbers[known],
                    "row": rows[known],
                    "column": columns[known],
                    "weight": np.array(weights, dtype=np.float64)[known],
                    "undoes": undone[known],
                    "created_at": np.array(created, dtype=np.float64)[known],
                }
            )
            self.last_id, self.last_time = int(ids[-1]), max(self.last_time, float(max(created)))

    def take_entries(self, entries: Sequence[Entry], rows: Sequence[int], columns: Sequence[int]) -> None:
        """Take in what was just written; rows and columns are known already."""
        self._extend(
            {
                "id": np.array([entry.id for entry in entries], dtype=np.int64),
                "kind": np.array([entry.kind for entry in entries], dtype=np.int8),
                "annotator": np.array([self.number_of(entry.annotator) for entry in entries], dtype=np.int32),
                "row": np.array(rows, dtype=np.int64),
                "column": np.array(columns, dtype=np.int64),
                "weight": np.array([entry.weight for entry in entries], dtype=np.float64),
                "undoes": np.array([-1 if e.undoes is None else e.undoes for e in entries], dtype=np.int64),
                "created_at": np.array([entry.created_at for entry in entries], dtype=np.float64),
            }
        )
        self.last_id, self.last_time = entries[-1].id, max(self.last_time, entries[-1].created_at)

    def number_of(self, annotator: str) -> int:
        """A small number for a name, the same one each time."""
        number = self._numbers.get(annotator)
        if number is None:
            number = self._numbers[annotator] = len(self.annotators)
            self.annotators.append(annotator)
        return number

    def _extend(self, new: dict[str, AnyArray]) -> None:
        with self._lock:
            added = len(new["id"])
            size = self._size + added
            if size > len(self._columns["id"]):
                room = max(size, 2 * len(self._columns["id"]))
                for name, old in self._columns.items():
                    grown = np.empty(room, dtype=old.dtype)
                    grown[: self._size] = old[: self._size]
                    self._columns[name] = grown
            for name, values in new.items():
                self._columns[name][self._size : size] = values
            self._size = size

    def column(self, name: str, start: int = 0) -> AnyArray:
        """One column from an entry on; never changes afterwards, as the log is append-only."""
        with self._lock:
            return self._columns[name][start : self._size]

    def columns(self, *names: str) -> list[AnyArray]:
        """Several columns of the same entries."""
        with self._lock:
            return [self._columns[name][: self._size] for name in names]

    # ----------------------------------------------------------------------------------------------- readings
    def table(self, start: int = 0, stop: int | None = None) -> VoteTable:
        """Votes and undos (as negative weights) of a part of the log, without names."""
        kind, rows, columns, weights = (
            part[start:stop] for part in self.columns("kind", "row", "column", "weight")
        )
        counted = kind != SKIP
        return VoteTable(rows[counted], columns[counted], weights[counted])

    def standing(self) -> BoolArray:
        """(entries,) which ones are votes that nobody took back."""
        ids, kind, undoes = self.columns("id", "kind", "undoes")
        return np.asarray((kind == VOTE) & ~np.isin(ids, undoes[kind == UNDO]))

    def standing_votes(self) -> tuple[VoteTable, IntArray]:
        """The votes that stand, with names, and their numbers in the log."""
        stands = self.standing()
        rows, columns, weights, annotator = (
            part[: len(stands)][stands] for part in self.columns("row", "column", "weight", "annotator")
        )
        names = np.array([*self.annotators, None], dtype=object)[annotator]
        return VoteTable(rows, columns, weights, names), np.flatnonzero(stands)

    def counts(self, n: int) -> FloatArray:
        """(n,) votes that stand on each item, whatever they weigh."""
        kind, rows = self.columns("kind", "row")
        counts = np.bincount(rows[kind == VOTE], minlength=n) - np.bincount(rows[kind == UNDO], minlength=n)
        return np.asarray(counts, dtype=np.float64)
