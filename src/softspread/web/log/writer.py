"""One thread writes the log; votes that arrive together share one commit.

operations -> [drain the queue] -> one transaction -> commit -> acknowledge -> hand on to the live state

A vote is acknowledged after its commit and never before. When the database refuses, everyone in the group is
told, nothing in memory changes, and the log is read again before the next group: a commit whose answer was
lost may stand.
"""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from softspread.errors import StoreError
from softspread.web.log.clock import SteadyClock
from softspread.web.log.history import History
from softspread.web.log.ledger import ACCEPTED, Draft, Ledger, Operation, Outcome
from softspread.web.log.models import UNDO
from softspread.web.log.store import DuplicateEntryError, Entry, Store

LARGEST_GROUP = 256  # operations in one commit
MOST_WAITING = 20_000  # operations; beyond, senders are told to come back
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting:
    operations: Sequence[Operation]
    answer: "Future[list[Outcome]]"


class Writer:
    """Takes operations from any thread, answers through futures."""

    def __init__(
        self,
        store: Store,
        history: History,
        ledger: Ledger,
        clock: SteadyClock,
        place_of: Callable[[Entry], tuple[int, int]],
        written: Callable[[Draft], None],
        caught_up: Callable[[int], None],
    ) -> None:
        self._store, self._history, self._ledger, self._clock = store, history, ledger, clock
        self._place_of, self._written, self._caught_up = place_of, written, caught_up
        self._waiting: queue.Queue[_Waiting | None] = queue.Queue()
        self._n_waiting = 0
        self._in_doubt = False
        self._thread = threading.Thread(target=self._run, name="softspread-writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, then end."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()

    def submit(self, operations: Sequence[Operation]) -> "Future[list[Outcome]]":
        """Ask for operations of one sender, kept in order; the answer comes after the commit."""
        answer: Future[list[Outcome]] = Future()
        if self._n_waiting > MOST_WAITING:
            answer.set_exception(
                StoreError("too many votes are waiting to be written; try again in a second.")
            )
            return answer
        self._n_waiting += len(operations)
        self._waiting.put(_Waiting(operations, answer))
        return answer

    def _run(self) -> None:
        while True:
            group = self._next_group()
            if not group:
                return
            try:
                self._write(group)
            except StoreError as error:
                self._in_doubt = True
                logger.warning("votes not written: %s", error)
                for waiting in group:
                    waiting.answer.set_exception(error)
            except Exception as error:  # one strange vote must not end all voting
                self._in_doubt = True
                logger.exception("writer")
                for waiting in group:
                    waiting.answer.set_exception(StoreError(f"votes not written: {error}"))
            finally:
                self._n_waiting -= sum(len(waiting.operations) for waiting in group)

    def _next_group(self) -> list[_Waiting]:
        first = self._waiting.get()
        if first is None:
            return []
        group, size = [first], len(first.operations)
        while size < LARGEST_GROUP:
            try:
                more = self._waiting.get_nowait()
            except queue.Empty:
                break
            if more is None:
                self._waiting.put(None)
                break
            group.append(more)
            size += len(more.operations)
        return group

    def _write(self, group: list[_Waiting]) -> None:
        if self._in_doubt:
            self._catch_up()
        operations = [operation for waiting in group for operation in waiting.operations]
        draft = self._write_new(operations) or self._write_any(operations)
        if draft.entries:
            self._ledger.apply(draft)
            self._history.take_entries(draft.entries, draft.rows, draft.columns)
            self._written(draft)
        outcomes = iter(draft.outcomes)
        for waiting in group:
            waiting.answer.set_result([next(outcomes) for _ in waiting.operations])

    def _write_new(self, operations: Sequence[Operation]) -> Draft | None:
        """The usual case, without looking for earlier keys: all new, nothing refused; None where that does
        not hold.
        """
        if any(operation.kind == UNDO for operation in operations):
            return None
        draft = self._ledger.draft(operations, {}, {}, self._history.last_id + 1, self._clock())
        if any(outcome.status != ACCEPTED for outcome in draft.outcomes):
            return None  # what looks refused may be a vote sent twice
        try:
            with self._store.writing() as connection:
                self._store.append(connection, draft.entries)
        except DuplicateEntryError:  # a key that was used before: nothing was written
            return None
        return draft

    def _write_any(self, operations: Sequence[Operation]) -> Draft:
        with self._store.writing() as connection:
            known = self._store.find(connection, _keys(operations))
            places = {entry.id: self._place_of(entry) for entry in known.values()}
            draft = self._ledger.draft(operations, known, places, self._history.last_id + 1, self._clock())
            self._store.append(connection, draft.entries)
        return draft

    def _catch_up(self) -> None:
        """Read what the log holds beyond what we know."""
        start = len(self._history)
        self._history.take_blocks(self._store.read_log(self._history.last_id))
        self._ledger.read(self._history, start)
        self._in_doubt = False
        if len(self._history) > start:
            self._caught_up(start)


def _keys(operations: Sequence[Operation]) -> list[tuple[str, str]]:
    keys = [(operation.annotator, operation.key) for operation in operations]
    return keys + [(op.annotator, op.undoes_key) for op in operations if op.kind == UNDO]
