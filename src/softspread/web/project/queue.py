"""Who gets which item next, how it was chosen and with what probability.

    posterior, votes per item  ->  choose_items  ->  a pool of picks  ->  leases by user

Two users rarely hold the same item: a lease closes it to others until it is voted on, skipped, or expires.
Nobody gets an item twice. Leases live in memory; after a restart every page asks again.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from softspread._common.types import BoolArray, FloatArray, IntArray
from softspread.queries.choose import choose_items
from softspread.queries.rule import DEFAULT_LOTTERY
from softspread.queries.turns import pick_in_turn
from softspread.web.log.entry import LONGEST_CHOSEN
from softspread.web.log.ledger import Ledger
from softspread.web.project.live_state import ChosenFrom
from softspread.web.project.thread_priority import lower_priority

Choosing = Callable[[], Sequence[ChosenFrom]]  # of each question
KNOWN = ("uncertainty", "uniform")  # strategies that say how probable their picks are
UNIFORM, FEWEST, GOLD, AGAIN = (
    "uniform",
    "fewest votes",
    "gold",
    "asked again",
)  # ways to choose beside the strategy


class Pick(NamedTuple):
    """An item, how it was chosen, and the probability of that draw given those before it."""

    row: int
    chosen: str
    probability: float | None  # None: not known


@dataclass(frozen=True, slots=True)
class QueueRule:
    """How items are chosen and handed out."""

    strategy: str = "uncertainty"
    overlap: int = 3  # an item is handed out until this many users have voted on it
    lease_seconds: float = 120.0
    gold_share: float = 0.05  # of the items that a user gets
    uniform_share: float = 0.15  # of the picks: every item can be picked, so votes can speak for all items
    pool_size: int = 320  # items chosen at once ...
    largest_pool: int = 2_500  # ... or as many as are handed out until the pool is stale, up to this
    refill_share: float = 0.5  # of the pool is left when more are chosen: that lasts in the meantime
    stale_seconds: float = 10.0  # then the whole pool is chosen again if votes have come in
    expire_seconds: float = 1.0  # time between two searches for expired leases, each as costly as a vote
    prepared_at_once: int = 16  # a refill, and a vote that waits for the interpreter, wait for no more
    tried_first: int = 64  # items of the pool tried for a user before all items are searched
    remembered: int = 1_000  # items per user whose choice is remembered, also after an undo


class Queue:
    """Open items, the pool, leases. All methods may be called from any thread."""

    def __init__(
        self,
        counts: FloatArray,
        ledger: Ledger,
        choosing: Choosing,
        rule: QueueRule,
        *,
        rng: np.random.Generator,
        gold: Sequence[int] = (),
        clock: Callable[[], float] = time.monotonic,
        prepare: Callable[[IntArray], None] = lambda rows: None,
    ) -> None:
        self.counts = counts  # (n,) votes that stand
        self._n_votes = float(counts.sum())  # kept beside the counts: every page asks for them all the time
        self._n_done = self._done_of(rule, counts)
        self._ledger, self._choosing, self._rule = ledger, choosing, rule
        self._gold = list(gold)
        self._gold_rows = np.zeros(len(counts), dtype=bool)
        self._gold_rows[self._gold] = True
        self._rng, self._clock, self._prepare = rng, clock, prepare
        self._choosing_rng = rng.spawn(1)[0]
        self._pool: list[Pick] = []
        self._unprepared: list[int] = []  # rows of the pool, first picked first
        self._again: set[int] = set()  # rows that a lead wants one more vote on
        self._given: dict[str, dict[int, Pick]] = {}  # user -> row -> how it was chosen
        self._size, self._n_handed, self._refilled_at = rule.pool_size, 0, -np.inf
        self._leases: dict[int, dict[str, float]] = {}  # row -> user -> until
        self._held: dict[str, dict[int, float]] = {}  # user -> row -> until, first given first
        self._lock = threading.Lock()
        self._refilling = threading.Lock()  # one choice at a time; taken before ``_lock``
        self._wanted = threading.Event()
        self._chosen_at = self._expire_next = -np.inf
        self._chosen_votes = -1.0
        self._stopping = False
        self._thread = threading.Thread(target=self._refill_forever, name="softspread-queue", daemon=True)

    def start(self) -> None:
        """Choose the first items, then keep the pool filled."""
        self.refill()
        self._thread.start()

    def set_rule(self, rule: QueueRule) -> None:
        """Choose and hand out by another rule from now on; items that someone holds stay theirs."""
        with self._lock:
            self._rule, self._pool = rule, []
            self._n_done = self._done_of(rule, self.counts)
            self._chosen_at = -np.inf
        self.refill()

    def take_over(self, older: "Queue") -> None:
        """Go on with the leases of an older queue of the same items, and with how they were chosen."""
        with older._lock:
            self._given, self._leases, self._held = older._given, older._leases, older._held
            self._again = older._again
            older._given, older._leases, older._held, older._again = {}, {}, {}, set()

    def set_gold(self, rows: Sequence[int]) -> None:
        """Items with known answers from now on."""
        with self._lock:
            self._gold = list(rows)
            self._gold_rows = np.zeros(len(self.counts), dtype=bool)
            self._gold_rows[self._gold] = True

    def ask_again(self, row: int) -> None:
        """Hand an item out once more, to someone who has not seen it, before all others."""
        with self._lock:
            self._again.add(row)

    def stop(self) -> None:
        """End."""
        self._stopping = True
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join()

    # ------------------------------------------------------------------------------------------------- asking
    def assign(self, annotator: str, wanted: int, holding: Sequence[int] = ()) -> list[int]:
        """Rows for a user to vote on: what they hold already, first given first, then new ones.

        Parameters
        ----------
        wanted : how many
        holding : rows that the user's page still shows; their leases are renewed
        """
        with self._lock:
            now = self._clock()
            self._expire(now)
            voted, skipped = self._ledger.seen_by(annotator)
            held = self._held.setdefault(annotator, {})
            for row in [row for row in held if row in voted or row in skipped]:
                self._release(annotator, row)
            for row in [*(row for row in holding if self._fits(annotator, row)), *held]:
                self._lease(annotator, row, now)
            while len(held) < wanted:
                found = self._next_for(annotator)
                if found is None:
                    break
                self._lease(annotator, found.row, now)
                self._remember(annotator, found)
            if len(self._pool) < self._rule.refill_share * self._size or self._stale(now):
                self._wanted.set()
            return list(held)[:wanted]

    def voted(self, changes: Sequence[tuple[str, int, int]]) -> None:
        """Count what was written: (annotator, row, +1 for a vote, -1 for an undo, 0 for a skip)."""
        with self._lock:
            for annotator, row, change in changes:
                before = self.counts[row]
                self.counts[row] += change
                self._n_votes += change
                self._n_done += min(before + change, self._rule.overlap) - min(before, self._rule.overlap)
                if change > 0:
                    self._again.discard(row)
                if change >= 0:
                    self._release(annotator, row)

    def how(self, annotator: str, row: int) -> Pick | None:
        """How an item was chosen for a user; None where they were not given it, or long ago."""
        with self._lock:
            return self._given.get(annotator, {}).get(row)

    def peek(self, wanted: int, strategy: str | None = None) -> IntArray:
        """The next rows, without assigning them."""
        with self._lock:
            counts = self.counts.copy()
        closed = counts >= self._rule.overlap
        picks = self._choose(wanted, counts, closed, np.random.default_rng(), strategy)
        return np.array([pick.row for pick in picks], dtype=np.int64)

    def _choose(
        self,
        wanted: int,
        counts: FloatArray,
        closed: BoolArray,
        rng: np.random.Generator,
        strategy: str | None = None,
    ) -> list[Pick]:
        size, strategy = min(wanted, int((~closed).sum())), strategy or self._rule.strategy
        if not size:
            return []
        questions, share = self._choosing(), self._rule.uniform_share

        def pick(question: int, number: int, name: str, closed: BoolArray) -> list[Pick]:
            diffusion, mass, posterior = questions[question]
            chances: list[float] | None = [] if name in KNOWN else None
            rows = choose_items(
                diffusion,
                mass,
                np.maximum(counts, 0),
                number,
                name,
                rng,
                np.flatnonzero(closed),
                posterior=posterior,
                probabilities=chances,
                lottery=replace(DEFAULT_LOTTERY, uniform_share=share),
            )
            known = [None] * number if chances is None else chances
            called = name[:LONGEST_CHOSEN]
            return [Pick(row, called, chance) for row, chance in zip(rows.tolist(), known, strict=True)]

        def draw(number: int, name: str, closed: BoolArray) -> list[Pick]:
            """Each question in turn names an item, as the estimator's own queries do."""

            def wanted(question: int, size: int, taken: list[Pick]) -> list[Pick]:
                shut = closed.copy()
                shut[[one.row for one in taken]] = True
                return pick(question, size, name, shut)

            return pick_in_turn(len(questions), number, rng, wanted)

        if strategy in KNOWN:  # the lottery has its uniform share in every draw
            return draw(size, strategy, closed)
        n_uniform = int(rng.binomial(size, share))
        picks = draw(n_uniform, UNIFORM, closed) if n_uniform else []
        closed = closed.copy()
        closed[[pick.row for pick in picks]] = True
        picks += draw(size - n_uniform, strategy, closed) if n_uniform < size else []
        places = np.sort(rng.permutation(size)[:n_uniform])  # uniform picks come at random among the others
        order = np.empty(size, dtype=np.int64)
        order[places], order[np.setdiff1d(np.arange(size), places)] = (
            np.arange(n_uniform),
            np.arange(n_uniform, size),
        )
        return [picks[place] for place in order.tolist()]

    @property
    def done(self) -> float:
        """Share of the wanted votes that have been cast."""
        return float(self._n_done) / (len(self.counts) * self._rule.overlap)

    @staticmethod
    def _done_of(rule: QueueRule, counts: FloatArray) -> float:
        """Votes that were wanted and are cast."""
        return float(np.minimum(counts, rule.overlap).sum())

    @property
    def missing(self) -> int:
        """Votes that are still wanted."""
        return int(np.maximum(0, self._rule.overlap - self.counts).sum())

    @property
    def n_leased(self) -> int:
        """Items that someone holds."""
        with self._lock:
            self._expire(self._clock())
            return len(self._leases)

    # ------------------------------------------------------------------------------------------------- leases
    def _lease(self, annotator: str, row: int, now: float) -> None:
        until = now + self._rule.lease_seconds
        self._leases.setdefault(row, {})[annotator] = until
        self._held.setdefault(annotator, {})[row] = until

    def _remember(self, annotator: str, pick: Pick) -> None:
        given = self._given.setdefault(annotator, {})
        given[pick.row] = pick
        self._n_handed += 1
        if len(given) > self._rule.remembered:
            del given[next(iter(given))]

    def _release(self, annotator: str, row: int) -> None:
        held = self._held.get(annotator)
        if held is not None and held.pop(row, None) is not None:
            users = self._leases[row]
            del users[annotator]
            if not users:
                del self._leases[row]

    def _expire(self, now: float) -> None:
        if now < self._expire_next:
            return
        self._expire_next = now + self._rule.expire_seconds
        late = [
            (name, row) for name, held in self._held.items() for row, until in held.items() if until <= now
        ]
        for name, row in late:
            self._release(name, row)

    # ---------------------------------------------------------------------------------------------- next item
    def _fits(self, annotator: str, row: int) -> bool:
        """Whether the item is new to the user, held by nobody, and short of votes."""
        voted, skipped = self._ledger.seen_by(annotator)
        if row in voted or row in skipped or row in self._held.get(annotator, {}):
            return False
        wanted = self.counts[row] < self._rule.overlap or row in self._again
        free = not self._leases.get(row) and wanted
        return bool(free or self._gold_rows[row])

    def _next_for(self, annotator: str) -> Pick | None:
        for row in self._again:
            if self._fits(annotator, row):
                return Pick(row, AGAIN, None)
        if self._gold and self._rng.random() < self._rule.gold_share:
            unseen = [row for row in self._gold if self._fits(annotator, row)]
            if unseen:  # everybody gets every one of them, sooner or later
                return Pick(unseen[int(self._rng.integers(len(unseen)))], GOLD, 1.0)
        for place, pick in enumerate(self._pool[: self._rule.tried_first]):
            if self._fits(annotator, pick.row):
                del self._pool[place]
                return pick
        return self._any_for(annotator)

    def _any_for(self, annotator: str) -> Pick | None:
        """An item that the user may still vote on, drawn from those with the fewest votes."""
        voted, skipped = self._ledger.seen_by(annotator)
        allowed = (self.counts < self._rule.overlap) | self._gold_rows
        for closed in (voted, skipped, self._held.get(annotator, {}), self._leases):
            allowed[list(closed)] = False
        rows = np.flatnonzero(allowed)
        if not len(rows):
            return None
        fewest = rows[self.counts[rows] == self.counts[rows].min()]
        return Pick(int(fewest[self._rng.integers(len(fewest))]), FEWEST, 1 / len(fewest))

    # --------------------------------------------------------------------------------------------------- pool
    def _stale(self, now: float) -> bool:
        waited = now - self._chosen_at > self._rule.stale_seconds
        return waited and self._n_votes != self._chosen_votes

    def _refill_forever(self) -> None:
        lower_priority()
        while True:
            if not self._unprepared:
                self._wanted.wait()
            if self._stopping:
                return
            if self._wanted.is_set():
                self._wanted.clear()
                self.refill()
            self.prepare_some()

    def prepare_some(self) -> None:
        """Have a few items of the pool prepared, before anyone votes on them."""
        with self._lock:
            size = self._rule.prepared_at_once
            rows, self._unprepared = self._unprepared[:size], self._unprepared[size:]
        if rows:
            self._prepare(np.array(rows, dtype=np.int64))

    def refill(self) -> None:
        """Choose more items for the pool from the live state; a stale pool is replaced."""
        with self._refilling:
            self._refill()

    def _refill(self) -> None:
        with self._lock:
            stale, n_votes = self._stale(self._clock()), self._n_votes
            counts = self.counts.copy()
            closed: BoolArray = counts >= self._rule.overlap
            closed[[*self._leases, *self._gold]] = True  # gold items come by their own share
            if not stale:
                closed[[pick.row for pick in self._pool]] = True
            size = self._next_size()
        picked = self._choose(size, counts, closed, self._choosing_rng)
        with self._lock:
            kept: list[Pick] = []
            if stale:
                self._chosen_at, self._chosen_votes = self._clock(), n_votes
            else:
                full = self._rule.overlap
                kept = [
                    pick
                    for pick in self._pool
                    if self.counts[pick.row] < full and pick.row not in self._leases
                ]
            self._pool, self._size = kept + picked, size
            self._unprepared = [pick.row for pick in self._pool]  # those known already cost nothing

    def _next_size(self) -> int:
        """How many items will be handed out until the pool is stale, at the present pace."""
        now, rule = self._clock(), self._rule
        handed = self._n_handed / max(now - self._refilled_at, 1.0) * rule.stale_seconds
        self._n_handed, self._refilled_at = 0, now
        return int(np.clip(handed, rule.pool_size, max(rule.pool_size, rule.largest_pool)))
