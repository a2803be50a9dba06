"""Who has done what: the checks a vote must pass before it enters the log.

Exactly once: an operation carries a key of its sender's; the second arrival of a key finds the first one's
entry. One vote per user and item stands at a time. Only one's own votes can be taken back, and only once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from softspread.web.log.history import History
from softspread.web.log.models import SKIP, UNDO, VOTE
from softspread.web.log.store import Entry

ACCEPTED, REPEATED, REFUSED = "accepted", "repeated", "refused"
IMPORTED = "import"  # votes brought along: the same name may stand on an item many times


@dataclass(frozen=True, slots=True)
class Operation:
    """What someone wants to happen: a vote, an undo or a skip."""

    kind: int
    key: str
    annotator: str
    row: int = -1
    item: str = ""
    column: int = -1
    label: str | None = None
    weight: float = 1.0
    undoes_key: str = ""  # of the vote to take back
    origin: str = "api"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an operation."""

    status: str  # accepted, repeated (it had been accepted before) or refused
    id: int | None = None
    item: str = ""
    reason: str = ""


@dataclass(slots=True)
class Draft:
    """What a group of operations would add to the log, before it is written."""

    entries: list[Entry] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    standing: dict[tuple[str, int], int | None] = field(
        default_factory=dict
    )  # changes: id of the vote, None = no more
    skipped: list[tuple[str, int]] = field(default_factory=list)


class Ledger:
    """Standing votes and skips by user; changed only by :meth:`apply`, after the log was written."""

    def __init__(self) -> None:
        self.standing: dict[str, dict[int, int]] = {}  # annotator -> row -> id of the vote
        self.skipped: dict[str, set[int]] = {}

    def read(self, history: History, start: int = 0) -> None:
        """Take in the log from an entry on."""
        ids, kind, annotator, rows, undoes = (
            part[start:] for part in history.columns("id", "kind", "annotator", "row", "undoes")
        )
        stands = (kind == VOTE) & ~np.isin(ids, undoes[kind == UNDO])
        order = np.argsort(annotator, kind="stable")
        ends = np.searchsorted(annotator[order], np.arange(len(history.annotators) + 1))
        for number, name in enumerate(history.annotators):
            mine = order[ends[number] : ends[number + 1]]
            if not len(mine):
                continue
            held = self.standing.setdefault(name, {})
            if start:  # an undo may take back a vote from before
                undos = mine[kind[mine] == UNDO]
                for row, undone in zip(rows[undos].tolist(), undoes[undos].tolist(), strict=True):
                    if held.get(row) == undone:
                        del held[row]
            votes, skips = mine[stands[mine]], mine[kind[mine] == SKIP]
            held.update(zip(rows[votes].tolist(), ids[votes].tolist(), strict=True))
            if len(skips):
                self.skipped.setdefault(name, set()).update(rows[skips].tolist())

    def seen_by(self, annotator: str) -> tuple[dict[int, int], set[int]]:
        """Rows voted on, rows skipped."""
        return self.standing.get(annotator, {}), self.skipped.get(annotator, set())

    def draft(
        self,
        operations: Sequence[Operation],
        known: dict[tuple[str, str], Entry],
        rows_of: dict[int, tuple[int, int]],
        next_id: int,
        now: float,
    ) -> Draft:
        """Decide on a group of operations, in their order.

        Parameters
        ----------
        known : entries of the log with the keys that the operations name
        rows_of : row and column of these entries, by id
        next_id : the next number of the log
        """
        draft = Draft()
        written = dict(known)
        places = dict(rows_of)
        for operation in operations:
            before = written.get((operation.annotator, operation.key))
            if before is not None:
                draft.outcomes.append(_repeated(operation, before))
                continue
            if operation.kind == UNDO:
                entry, place, reason = self._undo(operation, written, places, draft, next_id, now)
            else:
                entry, place, reason = self._vote(operation, draft, next_id, now)
            if entry is None:
                draft.outcomes.append(Outcome(REFUSED, None, operation.item, reason))
                continue
            draft.entries.append(entry)
            draft.rows.append(place[0])
            draft.columns.append(place[1])
            draft.outcomes.append(Outcome(ACCEPTED, entry.id, entry.item))
            written[(entry.annotator, entry.key)] = entry
            places[entry.id] = place
            next_id += 1
        return draft

    def _vote(
        self, operation: Operation, draft: Draft, number: int, now: float
    ) -> tuple[Entry | None, tuple[int, int], str]:
        where = (operation.annotator, operation.row)
        place = (operation.row, operation.column)
        if operation.kind == VOTE:
            if operation.origin != IMPORTED and self._standing(where, draft) is not None:
                return None, place, "you have already voted on this item; undo that vote first"
            draft.standing[where] = number
        else:
            draft.skipped.append(where)
        entry = Entry(
            number,
            operation.kind,
            operation.key,
            operation.annotator,
            operation.item,
            operation.label,
            operation.weight if operation.kind == VOTE else 0.0,
            None,
            now,
            operation.origin,
        )
        return entry, place, ""

    def _undo(
        self,
        operation: Operation,
        written: dict[tuple[str, str], Entry],
        places: dict[int, tuple[int, int]],
        draft: Draft,
        number: int,
        now: float,
    ) -> tuple[Entry | None, tuple[int, int], str]:
        vote = written.get((operation.annotator, operation.undoes_key))
        if vote is None or vote.kind != VOTE:
            return None, (-1, -1), "there is no such vote of yours"
        place = places[vote.id]
        where = (operation.annotator, place[0])
        if self._standing(where, draft) != vote.id:
            return None, place, "that vote was already taken back"
        draft.standing[where] = None
        entry = Entry(
            number,
            UNDO,
            operation.key,
            operation.annotator,
            vote.item,
            vote.label,
            -vote.weight,
            vote.id,
            now,
            operation.origin,
        )
        return entry, place, ""

    def _standing(self, where: tuple[str, int], draft: Draft) -> int | None:
        if where in draft.standing:
            return draft.standing[where]
        return self.standing.get(where[0], {}).get(where[1])

    def apply(self, draft: Draft) -> None:
        """The draft was written: it is so now."""
        for (annotator, row), vote in draft.standing.items():
            if vote is None:
                self.standing.get(annotator, {}).pop(row, None)
            else:
                self.standing.setdefault(annotator, {})[row] = vote
        for annotator, row in draft.skipped:
            self.skipped.setdefault(annotator, set()).add(row)


def _repeated(operation: Operation, before: Entry) -> Outcome:
    """The key was used: fine if it was for the same thing."""
    same_kind = operation.kind == before.kind
    same = same_kind and (
        operation.kind == UNDO or (operation.item == before.item and operation.label == before.label)
    )
    if not same:
        return Outcome(REFUSED, before.id, before.item, "this key was already used for something else")
    return Outcome(REPEATED, before.id, before.item)
