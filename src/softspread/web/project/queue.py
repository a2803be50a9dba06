"""Who gets which item next.

    live mass, votes per item  ->  choose_items  ->  a pool  ->  leases by user

Two people rarely hold the same item: a lease closes it to others until it is voted on, skipped, or runs out.
Nobody gets an item twice. Leases live in memory and by a monotonic clock; after a restart everyone asks
again.
"""

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from softspread._common.types import BoolArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.queries.choose import choose_items
from softspread.web.log.ledger import Ledger
from softspread.web.project.thread_priority import lower_priority

POOL = 320  # items chosen at once: about 0.15 s of work at 100,000 items
REFILL_BELOW = 160  # then more are chosen; what is left lasts while they are
STALE_SECONDS = 10.0  # then the whole pool is chosen again where votes have come in
EXPIRE_SECONDS = (
    1.0  # leases are looked through this often: with hundreds of people it costs as much as a vote
)
LOOKED_AT = 64  # items of the pool tried for one user before looking at all items

Choosing = Callable[[], tuple[Diffusion, FloatArray]]


class Queue:
    """Open items, the pool, leases. All methods may be called from any thread."""

    def __init__(
        self,
        counts: FloatArray,
        ledger: Ledger,
        choosing: Choosing,
        *,
        strategy: str,
        overlap: int,
        lease_seconds: float,
        gold: Sequence[int] = (),
        gold_share: float = 0.0,
        rng: np.random.Generator,
        clock: Callable[[], float] = time.monotonic,
        prepare: Callable[[IntArray], None] = lambda rows: None,
    ) -> None:
        self.counts = counts  # (n,) votes that stand
        self._ledger, self._choosing = ledger, choosing
        self._strategy, self._overlap, self._lease_seconds = strategy, overlap, lease_seconds
        self._gold, self._gold_share = list(gold), gold_share if len(gold) else 0.0
        self._gold_rows = np.zeros(len(counts), dtype=bool)
        self._gold_rows[self._gold] = True
        self._rng, self._clock, self._prepare = rng, clock, prepare
        self._choosing_rng = rng.spawn(1)[0]
        self._pool: list[int] = []
        self._leases: dict[int, dict[str, float]] = {}  # row -> user -> until
        self._held: dict[
            str, dict[int, float]
        ] = {}  # user -> row -> until, in the order in which they were given
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._chosen_at = -np.inf
        self._expire_next = -np.inf
        self._chosen_votes = -1.0
        self._stopping = False
        self._thread = threading.Thread(target=self._refill_forever, name="softspread-queue", daemon=True)

    def start(self) -> None:
        """Choose the first items, then keep the pool filled."""
        self.refill()
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stopping = True
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join()

    # ------------------------------------------------------------------------------------------------- asking
    def assign(self, annotator: str, wanted: int, holding: Sequence[int] = ()) -> list[int]:
        """Rows for a user to vote on: what they hold already, first given first, then new ones up to
        ``wanted``.

        ``holding`` are rows that the person's page still shows; their leases are renewed.
        """
        with self._lock:
            now = self._clock()
            self._expire(now)
            voted, skipped = self._ledger.seen_by(annotator)
            held = self._held.setdefault(annotator, {})
            for row in holding:
                if (
                    row not in voted
                    and row not in skipped
                    and row not in held
                    and self._open(row, annotator, now)
                ):
                    self._lease(annotator, row, now)
            for row in [row for row in held if row in voted or row in skipped]:
                self._release(annotator, row)
            for row in held:
                self._lease(annotator, row, now)
            while len(held) < wanted:
                found = self._next_for(annotator, voted, skipped, now)
                if found is None:
                    break
                self._lease(annotator, found, now)
            if len(self._pool) < REFILL_BELOW or self._stale(now):
                self._wanted.set()
            return list(held)[:wanted]

    def voted(self, changes: Sequence[tuple[str, int, int]]) -> None:
        """Count what was written: (annotator, row, +1 for a vote, -1 for an undo, 0 for a skip)."""
        with self._lock:
            for annotator, row, change in changes:
                self.counts[row] += change
                if change >= 0:
                    self._release(annotator, row)

    def peek(self, wanted: int, strategy: str | None = None) -> IntArray:
        """Rows that would be asked next, without giving them to anybody."""
        diffusion, mass = self._choosing()
        with self._lock:
            counts = self.counts.copy()
            closed = counts >= self._overlap
        n_open = int((~closed).sum())
        size = min(wanted, n_open)
        if not size:
            return np.empty(0, dtype=np.int64)
        rng = np.random.default_rng()
        return choose_items(
            diffusion,
            mass,
            np.maximum(counts, 0),
            size,
            strategy or self._strategy,
            rng,
            np.flatnonzero(closed),
        )

    @property
    def n_leased(self) -> int:
        """Items that someone holds."""
        with self._lock:
            self._expire(self._clock())
            return len(self._leases)

    # ------------------------------------------------------------------------------------------------- leases
    def _lease(self, annotator: str, row: int, now: float) -> None:
        until = now + self._lease_seconds
        self._leases.setdefault(row, {})[annotator] = until
        self._held.setdefault(annotator, {})[row] = until

    def _release(self, annotator: str, row: int) -> None:
        held = self._held.get(annotator)
        if held is not None and held.pop(row, None) is not None:
            people = self._leases[row]
            del people[annotator]
            if not people:
                del self._leases[row]

    def _expire(self, now: float) -> None:
        if now < self._expire_next:
            return
        self._expire_next = now + EXPIRE_SECONDS
        late = [
            (name, row) for name, held in self._held.items() for row, until in held.items() if until <= now
        ]
        for name, row in late:
            self._release(name, row)

    # ---------------------------------------------------------------------------------------------- next item
    def _open(self, row: int, annotator: str, now: float) -> bool:
        """Whether another vote on the item is wanted, counting those that others are about to cast."""
        if self._gold_rows[row]:
            return True
        others = self._leases.get(row, {})
        leased = len(others) - (annotator in others)
        return bool(leased == 0 and self.counts[row] < self._overlap)

    def _next_for(self, annotator: str, voted: dict[int, int], skipped: set[int], now: float) -> int | None:
        held = self._held.get(annotator, {})

        def fits(row: int) -> bool:
            return (
                row not in voted
                and row not in skipped
                and row not in held
                and self._open(row, annotator, now)
            )

        if self._gold_share and self._rng.random() < self._gold_share:
            unseen = [row for row in self._gold if fits(row)]
            if unseen:
                return unseen[int(self._rng.integers(len(unseen)))]
        for place, row in enumerate(self._pool[:LOOKED_AT]):
            if fits(row):
                del self._pool[place]
                return row
        return self._any_for(voted, skipped, held)

    def _any_for(self, voted: dict[int, int], skipped: set[int], held: dict[int, float]) -> int | None:
        """An item that the user may still vote on, chosen at random among those with the fewest votes."""
        allowed = (self.counts < self._overlap) | self._gold_rows
        for closed in (list(voted), list(skipped), list(held), list(self._leases)):
            allowed[closed] = False
        rows = np.flatnonzero(allowed)
        if not len(rows):
            return None
        fewest = rows[self.counts[rows] == self.counts[rows].min()]
        return int(fewest[self._rng.integers(len(fewest))])

    # --------------------------------------------------------------------------------------------------- pool
    def _stale(self, now: float) -> bool:
        return now - self._chosen_at > STALE_SECONDS and float(self.counts.sum()) != self._chosen_votes

    def _refill_forever(self) -> None:
        lower_priority()
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._stopping:
                return
            self.refill()

    def refill(self) -> None:
        """Choose items from the live state: more for the pool, or all of it again where it is old."""
        diffusion, mass = self._choosing()
        with self._lock:
            anew = self._stale(self._clock())
            counts = self.counts.copy()
            closed: BoolArray = counts >= self._overlap
            closed[list(self._leases)] = True
            closed[self._gold] = True  # gold items come by their own share
            if not anew:
                closed[self._pool] = True
        size = min(POOL, int((~closed).sum()))
        rows: list[int] = []
        if size:
            exclude = np.flatnonzero(closed)
            picked = choose_items(
                diffusion, mass, np.maximum(counts, 0), size, self._strategy, self._choosing_rng, exclude
            )
            rows = [int(row) for row in picked]
        with self._lock:
            if anew:
                self._pool = rows
                self._chosen_at, self._chosen_votes = self._clock(), float(counts.sum())
            else:
                kept = [
                    row for row in self._pool if self.counts[row] < self._overlap and row not in self._leases
                ]
                self._pool = kept + rows
        if size:
            self._prepare(picked)
