"""Who has done what: the checks that an entry must pass before it enters the log.

Exactly once: each entry carries a key of its sender's; the second arrival of a key finds the first one's
entry. One vote per user and item stands at a time. Users can take back only their own votes, each once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from softspread.web.log.entry import COUNTED, IMPORTED, SKIP, UNDO, VOTE, Entry, Outcome
from softspread.web.log.history import History

Key = tuple[str, str]  # annotator, key
PlaceOf = Callable[[Entry], tuple[int, int]]  # row of the item, column of the class; -1 where unknown


@dataclass(slots=True)
class Draft:
    """Entries that a group of requests would add to the log."""

    entries: list[Entry] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    standing: dict[tuple[str, int], int | None] = field(default_factory=dict)  # id of the vote, None: undone


class Ledger:
    """Standing votes and skips by user; changed only by :meth:`apply`, after the log was written."""

    def __init__(self, place_of: PlaceOf) -> None:
        self._place_of = place_of
        self.standing: dict[str, dict[int, int]] = {}  # annotator -> row -> id of the vote
        self.skipped: dict[str, set[int]] = {}

    def read(self, history: History, start: int = 0) -> None:
        """Read the log from an entry on."""
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

    def draft(self, wanted: Sequence[Entry], known: Mapping[Key, Entry], next_id: int, now: float) -> Draft:
        """Decide on a group of requests, in their order.

        Parameters
        ----------
        wanted : entries without id and time
        known : entries of the log with the keys that ``wanted`` names
        next_id : the next number of the log
        """
        draft, written = Draft(), dict(known)
        for entry in wanted:
            before = written.get((entry.annotator, entry.key))
            if before is not None:
                draft.outcomes.append(_repeated(entry, before))
                continue
            vote = written.get((entry.annotator, entry.undoes_key))
            reason = self._objection(entry, vote, draft)
            if reason:
                draft.outcomes.append(Outcome("refused", None, entry.item, reason))
                continue
            if entry.kind == UNDO and vote is not None:
                entry = replace(  # noqa: PLW2901 - from here on the whole entry
                    entry,
                    item=vote.item,
                    label=vote.label,
                    weight=-vote.weight,
                    undoes=vote.id,
                    undoes_key="",
                )
            number = next_id + len(draft.entries)
            self._add(draft, replace(entry, id=number, created_at=now))
            written[entry.annotator, entry.key] = draft.entries[-1]
        return draft

    def _add(self, draft: Draft, entry: Entry) -> None:
        row, column = self._place_of(entry)
        if entry.kind in COUNTED:
            draft.standing[entry.annotator, row] = entry.id if entry.kind == VOTE else None
        draft.entries.append(entry)
        draft.rows.append(row)
        draft.columns.append(column)
        draft.outcomes.append(Outcome("accepted", entry.id, entry.item))

    def _objection(self, entry: Entry, vote: Entry | None, draft: Draft) -> str:
        """Why an entry cannot be written, or nothing; ``vote`` is what an undo names."""
        if entry.kind == UNDO:
            if vote is None or vote.kind != VOTE:
                return "there is no such vote of yours"
            return "" if self._standing(vote, draft) == vote.id else "that vote was already taken back"
        if entry.kind == VOTE and entry.origin != IMPORTED and self._standing(entry, draft) is not None:
            return "you have already voted on this item; undo that vote first"
        return ""

    def _standing(self, entry: Entry, draft: Draft) -> int | None:
        """Id of the annotator's standing vote on an entry's item, with the draft written."""
        where = entry.annotator, self._place_of(entry)[0]
        return draft.standing.get(where, self.standing.get(where[0], {}).get(where[1]))

    def apply(self, draft: Draft) -> None:
        """Take over a draft that was written."""
        for (annotator, row), vote in draft.standing.items():
            if vote is None:
                self.standing.get(annotator, {}).pop(row, None)
            else:
                self.standing.setdefault(annotator, {})[row] = vote
        for entry, row in zip(draft.entries, draft.rows, strict=True):
            if entry.kind == SKIP:
                self.skipped.setdefault(entry.annotator, set()).add(row)


def _repeated(entry: Entry, before: Entry) -> Outcome:
    """The key was used before: fine if it was for the same thing."""
    same = entry.kind == before.kind and (
        entry.kind == UNDO or (entry.item == before.item and entry.label == before.label)
    )
    if not same:
        return Outcome("refused", before.id, before.item, "this key was already used for something else")
    return Outcome("repeated", before.id, before.item)
