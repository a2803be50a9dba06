"""The live diffusion: follows the log, answers at once, refines when there is time.

    history[applied:]  ->  push (a few ms a vote)  ->  soft labels        theory: [push bound]

The state is a cache of the log. A refinement runs beside new votes: everything is linear, so what the votes
changed meanwhile stays beside the correction, Y = Y_now + (Y_refined - Y_then), and the same for the residual
R.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from softspread._common.archive import read_archive, write_archive
from softspread._common.digests import digest
from softspread._common.threads import count_threads
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import SoftspreadError, StoreError
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.intervals.wilson import wilson
from softspread.queries.choose import choose_items, choosing_state
from softspread.queries.rule import DEFAULT_RULE
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable
from softspread.web.log.history import History

UNHURRIED = 8  # votes that may wait; with more, each gets a smaller share of the usual work of a push ...
CALM_RATE = (
    30  # ... and with more votes a second than this: all pushes together take about a tenth of a core ...
)
LEAST_SHARE = 0.1  # ... but at least this: a vote's own neighbourhood is reached within it
PACE_SECONDS = 1.0  # votes a second are counted over this time
GATHER_SECONDS = (
    0.015  # in a rush votes are taken in together: less work each, and the others are interrupted less
)
LARGEST_STEP = 128  # votes taken in at once: soft labels must not wait for a long queue to be emptied
MANY_SCALES = 2_000  # about a second of work
SNAPSHOT_VERSION = 1
FOUND_AT_ONCE = 128  # scales: about 0.04 s of work
SHORT_PAUSE = 0.05  # seconds between two looks at what was read
PREPARED_AT_ONCE = 16  # a vote that waits for the interpreter waits no longer than for these
# items of the graph that compiled loops are tried on; two votes each are enough for the default strategy
TINY = 60
KEPT_LATENCIES = 2_000
logger = logging.getLogger(__name__)


class LiveState:
    """Mass of all votes in the log so far; one thread keeps it up to date."""

    def __init__(
        self,
        graph: Graph,
        history: History,
        n_classes: int,
        *,
        alpha: float,
        prior_strength: float,
        n_jobs: int | None = 1,
    ) -> None:
        self.graph, self._history, self.n_classes = graph, history, n_classes
        self.diffusion = Diffusion(graph, alpha, n_jobs=n_jobs)
        self.prior = np.full(n_classes, 1 / n_classes)
        self.prior_strength = prior_strength
        self._state = SpreadState(self.diffusion, _no_votes(), n_classes)
        self.applied = 0  # entries of the history taken in
        self._lock = threading.Lock()
        self._refining = threading.Lock()  # two refinements at once would each add the other's correction
        self._news = threading.Condition()
        self._arrived: deque[tuple[int, float]] = deque()  # (entries so far, when they were written)
        self._recent: deque[tuple[int, float]] = deque()  # the same, of the last second
        self.latencies: deque[float] = deque(maxlen=KEPT_LATENCIES)  # from written to taken in, seconds
        self._stopping = False
        self._thread = threading.Thread(target=self._follow, name="softspread-state", daemon=True)

    # ------------------------------------------------------------------------------------------ start and end
    def begin(self, snapshot: Path) -> str:
        """Take in the log, from the snapshot where there is one that fits; says how."""
        done = "batch"
        with self._lock:
            self._warm_up()
            if self._load(snapshot):
                done = "snapshot"
            waiting = self._history.table(self.applied)
            self._find_scales(waiting.rows)
            self._take_in(waiting)
            self.applied = len(self._history)
            self._state.refine()
        self._thread.start()
        return done

    @contextmanager
    def finding_scales(self) -> Iterator[None]:
        """While the log is being read, find the scales of the items met so far with a core that reading
        leaves free.
        """
        read = threading.Event()
        thread = threading.Thread(
            target=self._find_ahead, args=(read,), name="softspread-scales", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            read.set()
            thread.join()

    def _find_ahead(self, read: threading.Event) -> None:
        seen = 0
        while not read.wait(SHORT_PAUSE):
            met = self._history.column("row", seen)
            seen += len(met)
            rows = np.unique(met)
            for start in range(0, len(rows), FOUND_AT_ONCE):
                if read.is_set():
                    return
                self.diffusion.scales(rows[start : start + FOUND_AT_ONCE])

    def _find_scales(self, rows: IntArray) -> None:
        """Scales of many items with all cores, before anybody votes; live updates then keep to their one."""
        distinct = np.unique(rows)
        if len(distinct) > MANY_SCALES:
            self.diffusion.at(n_threads=count_threads(None)).scales(distinct)

    def _warm_up(self) -> None:
        """Compile or load what the first votes would wait for, on states that are thrown away."""
        vote = VoteTable(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.ones(1))
        SpreadState(self.diffusion, vote, self.n_classes).add(vote)
        tiny = Diffusion(
            knn_graph(np.arange(float(TINY))[:, None], 2), self.diffusion.alpha, solver="cg", n_jobs=1
        )
        for n_classes in {1, self.n_classes}:  # a refinement takes one column or all
            small = SpreadState(tiny, vote, n_classes)
            small.solve()
        choose_items(tiny, np.ones((TINY, 2)), np.full(TINY, 2.0), TINY // 2, rng=np.random.default_rng(0))

    def stop(self) -> None:
        """Take in what the log holds, then end."""
        with self._news:
            self._stopping = True
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    # ---------------------------------------------------------------------------------------------- following
    def tell(self) -> None:
        """The log has grown."""
        with self._news:
            now = time.monotonic()
            self._arrived.append((len(self._history), now))
            self._recent.append((len(self._history), now))
            while self._recent[0][1] < now - PACE_SECONDS:
                self._recent.popleft()
            self._news.notify_all()

    def wait_until(self, entries: int, seconds: float) -> bool:
        """Wait until so many entries are in; False if they are not."""
        with self._news:
            return self._news.wait_for(lambda: self.applied >= entries, seconds)

    def _follow(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._stopping or self.applied < len(self._history))
                if self.applied >= len(self._history):
                    return
            if self._rate() > CALM_RATE and not self._stopping:
                time.sleep(GATHER_SECONDS)
            behind = len(self._history) - self.applied
            stop = self.applied + min(behind, LARGEST_STEP)
            try:
                with self._lock:
                    self._take_in(self._history.table(self.applied, stop), self._share(behind))
            except (SoftspreadError, ArithmeticError, MemoryError):
                logger.exception("a live update failed; the next refinement starts from the log")
                with self._lock:
                    self._state.recover(self.n_classes)
            self._done(stop)

    def _share(self, behind: int) -> float:
        """How much of the usual work each of the waiting votes gets."""
        return max(LEAST_SHARE, min(1.0, UNHURRIED / behind, CALM_RATE / max(1.0, self._rate())))

    def _rate(self) -> float:
        """Votes a second, of late."""
        with self._news:
            return (len(self._history) - self._recent[0][0]) / PACE_SECONDS if self._recent else 0.0

    def _take_in(self, new: VoteTable, share: float = 1.0) -> None:
        if len(new):
            self._state.votes.append(new)
            self._state.add(new, share)

    def _done(self, stop: int) -> None:
        now = time.monotonic()
        with self._news:
            self.applied = stop
            while self._arrived and self._arrived[0][0] <= stop:
                self.latencies.append(now - self._arrived.popleft()[1])
            self._news.notify_all()

    # ------------------------------------------------------------------------------------------------ answers
    @property
    def refined(self) -> bool:
        """Whether nothing came in since the last refinement."""
        return self._state.refined

    @property
    def n_votes(self) -> int:
        """Votes and undos in the state."""
        return len(self._state.votes)

    def mass_of(self, rows: IntArray) -> FloatArray:
        """Mass per class of some items, (len(rows), n_classes)."""
        with self._lock:
            return self._state.mass(rows)

    def soft_labels_of(self, rows: IntArray) -> FloatArray:
        """Soft labels of some items, (len(rows), n_classes)."""
        return self.to_soft_labels(self.mass_of(rows))

    def to_soft_labels(self, mass: FloatArray) -> FloatArray:
        """Mass to soft labels with this project's prior."""
        return soft_labels(mass, np.broadcast_to(self.prior, mass.shape), self.prior_strength)

    @staticmethod
    def intervals(mass: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Wilson intervals."""
        return wilson(mass, level)

    def whole_mass(self) -> FloatArray:
        """Mass of all items in the user's order, (n, n_classes), as it is now."""
        with self._lock:
            return self._state.mass()

    def choosing(self) -> tuple[Diffusion, FloatArray]:
        """What `queries.choose_items` asks for."""
        if (
            self.diffusion.alpha <= DEFAULT_RULE.largest_alpha
        ):  # below its floor too: a second live state would cost a fit per refill
            return self.diffusion, self.whole_mass()
        copy = choosing_state(self.refined_copy())
        return copy.diffusion, copy.mass()

    def prepare(self, rows: IntArray) -> None:
        """Find the scales of items that will be voted on soon: half of what a vote would otherwise cost."""
        for start in range(0, len(rows), PREPARED_AT_ONCE):
            self.diffusion.scales(rows[start : start + PREPARED_AT_ONCE])

    def refined_copy(self) -> SpreadState:
        """A state of its own at the solver's tolerance; the live one gains the refinement."""
        with self._refining:
            return self._refine_beside()

    def _refine_beside(self) -> SpreadState:
        with self._lock:
            live = self._state
            copy = live.copy()
        if copy.refined:
            return copy
        change = {name: -then for name, then in copy.arrays().items()}
        copy.refine()
        for name, refined in copy.arrays().items():
            change[name] += refined
        with self._lock:
            live.shift(change, len(live.votes) == len(copy.votes))
        return copy

    # ---------------------------------------------------------------------------------------------- snapshots
    def save(self, path: Path) -> None:
        """Write the state with the number of log entries that it holds."""
        with self._lock:
            entries = self.applied
            arrays: dict[str, AnyArray] = {k: array.copy() for k, array in self._state.arrays().items()}
            refined = self._state.refined
        arrays |= {f"scales.{name}": array for name, array in self.diffusion.known_scales().items()}
        header = {
            "entries": entries,
            "digest": self._digest(entries),
            "setting": self._setting(),
            "refined": refined,
        }
        write_archive(path, "web-state", SNAPSHOT_VERSION, header, arrays)

    def _load(self, path: Path) -> bool:
        """Take over a snapshot if it belongs to this graph and to this log."""
        if not path.is_file():
            return False
        try:
            header, arrays = read_archive(path, "web-state", SNAPSHOT_VERSION)
            if header["setting"] != self._setting():
                logger.info("the snapshot is of another graph or other classes; starting from the log")
                return False
            scales = {
                name.removeprefix("scales."): array for name, array in arrays.items() if name[:7] == "scales."
            }
            self.diffusion.restore_scales(scales)  # they belong to the graph: right whatever the log says
            entries = int(header["entries"])
            if entries > len(self._history) or header["digest"] != self._digest(entries):
                logger.warning("the snapshot does not fit the log; starting from the log")
                return False
            self._state.votes.append(self._history.table(0, entries))
            self._state.restore({"Y": arrays["Y"], "R": arrays["R"]}, bool(header["refined"]))
            self.applied = entries
        except (StoreError, KeyError, ValueError, IndexError, TypeError) as error:
            logger.warning("the snapshot cannot be used (%s); starting from the log", error)
            self._state = SpreadState(self.diffusion, _no_votes(), self.n_classes)
            return False
        return True

    def _digest(self, entries: int) -> str:
        """Of the first entries of the log, as numbers."""
        return digest(part[:entries] for part in self._history.columns("id", "row", "column", "weight")).hex()

    def _setting(self) -> dict[str, object]:
        graph = self.graph.digest()
        return {"alpha": self.diffusion.alpha, "n_classes": self.n_classes, "graph": graph}


def _no_votes() -> VoteTable:
    return VoteTable(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
