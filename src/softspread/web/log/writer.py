"""One thread writes the log; votes that arrive together share one commit.

    requests -> [drain the queue] -> one transaction -> commit -> acknowledge -> hand on to the live state

A vote is acknowledged after its commit, never before. When the database refuses, every sender in the group
gets the error, nothing in memory changes, and the log is read again before the next group: a commit whose
answer was lost may stand.
"""

import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from softspread.errors import StoreError
from softspread.web.log.clock import SteadyClock
from softspread.web.log.entry import UNDO, Entry, Outcome
from softspread.web.log.history import History
from softspread.web.log.ledger import Draft, Ledger
from softspread.web.log.store import DuplicateEntryError, Store

LARGEST_GROUP = 256  # entries in one commit
MOST_WAITING = 20_000  # entries; beyond this, senders are asked to come back
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting:
    entries: Sequence[Entry]
    answer: "Future[list[Outcome]]"


class Writer:
    """Takes requests for entries from any thread, answers through futures."""

    def __init__(
        self,
        store: Store,
        history: History,
        ledger: Ledger,
        clock: SteadyClock,
        on_growth: Callable[[int], None],
    ) -> None:
        self._store, self._history, self._ledger, self._clock = store, history, ledger, clock
        self._on_growth = on_growth  # called with the number of entries before
        self._waiting: queue.Queue[_Waiting | None] = queue.Queue()
        self._n_waiting = 0
        self._in_doubt = False
        self._turn = threading.Lock()  # held while a group is written
        self._thread = threading.Thread(target=self._run, name="softspread-writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, then end."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Votes wait inside the block; all that are in the log are known to the history."""
        with self._turn:
            if self._in_doubt:
                self._catch_up()
            yield

    def follow(self, history: History) -> None:
        """Write into another history from now on, one that knows all of the log; only while paused."""
        self._history = history

    def submit(self, entries: Sequence[Entry]) -> "Future[list[Outcome]]":
        """Ask for entries of one sender, in order; the answer comes after the commit."""
        answer: Future[list[Outcome]] = Future()
        if self._n_waiting > MOST_WAITING:
            answer.set_exception(
                StoreError("too many votes are waiting to be written; try again in a second.")
            )
            return answer
        self._n_waiting += len(entries)
        self._waiting.put(_Waiting(entries, answer))
        return answer

    def _run(self) -> None:
        while True:
            group = self._next_group()
            if not group:
                return
            try:
                with self._turn:
                    self._write(group)
            except Exception as error:  # one strange vote must not end all voting
                self._in_doubt = True
                expected = isinstance(error, StoreError)
                logger.warning("votes not written: %s", error, exc_info=not expected)
                for waiting in group:
                    waiting.answer.set_exception(
                        error if expected else StoreError(f"votes not written: {error}")
                    )
            finally:
                self._n_waiting -= sum(len(waiting.entries) for waiting in group)

    def _next_group(self) -> list[_Waiting]:
        first = self._waiting.get()
        if first is None:
            return []
        group, size = [first], len(first.entries)
        while size < LARGEST_GROUP:
            try:
                more = self._waiting.get_nowait()
            except queue.Empty:
                break
            if more is None:
                self._waiting.put(None)
                break
            group.append(more)
            size += len(more.entries)
        return group

    def _write(self, group: list[_Waiting]) -> None:
        if self._in_doubt:
            self._catch_up()
        entries = [entry for waiting in group for entry in waiting.entries]
        draft = self._write_new(entries) or self._write_any(entries)
        if draft.entries:
            self._ledger.apply(draft)
            start = len(self._history)
            self._history.take_entries(draft.entries, draft.rows, draft.columns)
            self._on_growth(start)
        outcomes = iter(draft.outcomes)
        for waiting in group:
            waiting.answer.set_result([next(outcomes) for _ in waiting.entries])

    def _write_new(self, entries: Sequence[Entry]) -> Draft | None:
        """The usual case, without a search for earlier keys: all new, none refused. None if that fails."""
        if any(entry.kind == UNDO for entry in entries):
            return None
        draft = self._draft(entries, {})
        if any(outcome.status != "accepted" for outcome in draft.outcomes):
            return None  # what looks refused may be a vote sent twice
        try:
            with self._store.writing() as connection:
                self._store.append(connection, draft.entries)
        except DuplicateEntryError:  # a key that was used before: nothing was written
            return None
        return draft

    def _write_any(self, entries: Sequence[Entry]) -> Draft:
        with self._store.writing() as connection:
            draft = self._draft(entries, self._store.find(connection, _keys(entries)))
            self._store.append(connection, draft.entries)
        return draft

    def _draft(self, entries: Sequence[Entry], known: dict[tuple[str, str], Entry]) -> Draft:
        return self._ledger.draft(entries, known, self._history.last_id + 1, self._clock())

    def _catch_up(self) -> None:
        """Read what the log holds beyond what we know."""
        start = len(self._history)
        self._history.take_blocks(self._store.read_log(self._history.last_id))
        self._ledger.read(self._history, start)
        self._in_doubt = False
        if len(self._history) > start:
            self._on_growth(start)


def _keys(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    undone = [(entry.annotator, entry.undoes_key) for entry in entries if entry.kind == UNDO]
    return [(entry.annotator, entry.key) for entry in entries] + undone
