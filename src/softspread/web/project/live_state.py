"""The live diffusion: follows the log, answers at once, refines when there is time.

    history[applied:]  ->  push (a few ms per vote)  ->  mass  ->  soft labels     theory: [push bound]

The state is a cache of the log. A refinement runs beside new votes: everything is linear, so what the votes
changed meanwhile is added to the correction, Y = Y_now + (Y_refined - Y_then), and the same for the residual.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.archive import read_archive, write_archive
from softspread._common.digests import digest
from softspread._common.threads import count_threads
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import SoftspreadError, StoreError
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.intervals.registry import INTERVALS
from softspread.intervals.task import IntervalTask
from softspread.queries.choose import choose_items, choosing_state
from softspread.queries.rule import DEFAULT_RULE
from softspread.spreading.evidence import SoftLabels, soft_labels
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable
from softspread.web.log.history import History

SNAPSHOT_VERSION = 2
SCALES = "scales."  # prefix of the scales' arrays in a snapshot
INTERVAL_METHOD, CONFIDENCE_LEVEL = "wilson", 0.9  # of the estimators too
TINY = 60  # items of the graph that compiled loops are tried on
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How much work a vote gets, by how many arrive."""

    unhurried: int = 8  # votes that may wait; with more, each gets a smaller share of the usual work ...
    calm_rate: float = 30.0  # ... as with more votes per second: pushes then take about a tenth of a core ...
    least_share: float = 0.1  # ... but at least this: enough to reach a vote's own neighbourhood
    rate_seconds: float = 1.0  # votes per second are counted over this time
    gather_seconds: float = 0.015  # in a rush votes are applied together: less work each, fewer interruptions
    largest_step: int = 128  # votes applied at once: soft labels must not wait for a long queue
    many_scales: int = 2_000  # about a second of work: with all cores, before anyone votes
    scales_at_once: int = 128  # about 0.04 s of work
    prepared_at_once: int = 16  # a vote that waits for the interpreter waits no longer than for these
    poll_seconds: float = 0.05  # between two looks at how far the log has been read
    kept_latencies: int = 2_000


PACE = Pace()


@dataclass(frozen=True, slots=True)
class AlphaChoice:
    """Which alpha is in use and how it was found."""

    alpha: float
    n_votes: int = 0  # votes that it was chosen by
    reason: str = "given"


class LiveState:
    """Mass of all votes in the log so far; one thread keeps it up to date.

    Parameters
    ----------
    ids, classes : names of the items and classes
    choice : the alpha to start with
    auto : whether a snapshot's choice of alpha goes before ``choice``
    """

    def __init__(
        self,
        graph: Graph,
        history: History,
        ids: AnyArray,
        classes: Sequence[str],
        *,
        choice: AlphaChoice,
        auto: bool = False,
        prior_strength: float,
        n_jobs: int | None = 1,
        pace: Pace = PACE,
    ) -> None:
        self.graph, self._history, self._pace = graph, history, pace
        self._ids, self._classes = ids, np.array(classes, dtype=object)
        self.choice, self._auto, self.prior_strength = choice, auto, prior_strength
        self.prior = np.full(self.n_classes, 1 / self.n_classes)
        self._state = self._spread(Diffusion(graph, choice.alpha, n_jobs=n_jobs), VoteTable.empty())
        self.applied = 0  # entries of the history in the state
        self._lock = threading.Lock()
        self._refining = threading.Lock()  # two refinements at once would each add the other's correction
        self._news = threading.Condition()
        self._arrived: deque[tuple[int, float]] = deque()  # (entries so far, when they were written)
        self._recent: deque[tuple[int, float]] = deque()  # the same, of the last second
        self.latencies: deque[float] = deque(maxlen=pace.kept_latencies)  # from written to applied, seconds
        self._stopping = False
        self._thread = threading.Thread(target=self._follow, name="softspread-state", daemon=True)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self._classes)

    @property
    def diffusion(self) -> Diffusion:
        """The graph at the alpha in use."""
        return self._state.diffusion

    def _spread(self, diffusion: Diffusion, votes: VoteTable) -> SpreadState:
        return SpreadState(diffusion, votes, self.n_classes)

    # ------------------------------------------------------------------------------------------ start and end
    def begin(self, snapshot: Path) -> str:
        """Apply the log, from the snapshot if there is one that fits; says how."""
        with self._lock:
            done = "snapshot" if self._load(snapshot) else "batch"
            self._warm_up()
            waiting = self._history.table(self.applied)
            distinct = np.unique(waiting.rows)
            if len(distinct) > self._pace.many_scales:  # live updates then keep to their one thread
                self.diffusion.at(n_threads=count_threads(None)).scales(distinct)
            self._apply(self._state, waiting)
            self.applied = len(self._history)
            self._state.refine()
        self._thread.start()
        return done

    @contextmanager
    def finding_scales(self) -> Iterator[None]:
        """While the log is being read, find the scales of the items read so far on a core that is free."""
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
        while not read.wait(self._pace.poll_seconds):
            new = self._history.column("row", seen)
            seen += len(new)
            for rows in _parts(np.unique(new), self._pace.scales_at_once):
                if read.is_set():
                    return
                self.diffusion.scales(rows)

    def _warm_up(self) -> None:
        """Compile or load what the first votes would wait for, on states that are thrown away."""
        vote = VoteTable(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.ones(1))
        self._spread(self.diffusion, vote).add(vote)
        line = knn_graph(np.arange(float(TINY))[:, None], 2)
        tiny = Diffusion(line, self.diffusion.alpha, solver="cg", n_jobs=1)
        for n_classes in {1, self.n_classes}:  # a refinement solves for one column or all
            SpreadState(tiny, vote, n_classes).solve()
        choose_items(tiny, np.ones((TINY, 2)), np.full(TINY, 2.0), TINY // 2, rng=np.random.default_rng(0))

    def stop(self) -> None:
        """Apply what the log holds, then end."""
        with self._news:
            self._stopping = True
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    # ---------------------------------------------------------------------------------------------- following
    def notify(self) -> None:
        """The log has grown."""
        with self._news:
            now, size = time.monotonic(), len(self._history)
            self._arrived.append((size, now))
            self._recent.append((size, now))
            while self._recent[0][1] < now - self._pace.rate_seconds:
                self._recent.popleft()
            self._news.notify_all()

    def wait_until(self, entries: int, seconds: float) -> bool:
        """Wait until this many entries are applied; False if they are not in time."""
        with self._news:
            return self._news.wait_for(lambda: self.applied >= entries, seconds)

    def _follow(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._stopping or self.applied < len(self._history))
                if self.applied >= len(self._history):
                    return
            if self._rate() > self._pace.calm_rate and not self._stopping:
                time.sleep(self._pace.gather_seconds)
            behind = len(self._history) - self.applied
            stop = self.applied + min(behind, self._pace.largest_step)
            with self._lock:  # the state and ``applied`` change together
                try:
                    self._apply(self._state, self._history.table(self.applied, stop), self._share(behind))
                except (SoftspreadError, ArithmeticError, MemoryError):
                    logger.exception("a live update failed; the next refinement starts from the log")
                    self._state.recover(self.n_classes)
                self.applied = stop
            self._note_latencies(stop)

    def _share(self, behind: int) -> float:
        """How much of the usual work each of the waiting votes gets."""
        pace = self._pace
        hurry = min(pace.unhurried / behind, pace.calm_rate / max(1.0, self._rate()))
        return max(pace.least_share, min(1.0, hurry))

    def _rate(self) -> float:
        """Recent votes per second."""
        with self._news:
            first = self._recent[0][0] if self._recent else len(self._history)
            return (len(self._history) - first) / self._pace.rate_seconds

    @staticmethod
    def _apply(state: SpreadState, new: VoteTable, share: float = 1.0) -> None:
        if len(new):
            state.votes.append(new)
            state.add(new, share)

    def _note_latencies(self, stop: int) -> None:
        now = time.monotonic()
        with self._news:
            while self._arrived and self._arrived[0][0] <= stop:
                self.latencies.append(now - self._arrived.popleft()[1])
            self._news.notify_all()

    def switch_to(self, diffusion: Diffusion, choice: AlphaChoice) -> None:
        """Go on at another alpha: spread the log beside the live state, then take that state's place."""
        start = self.applied
        state = self._spread(diffusion, self._history.table(0, start))
        state.solve()
        with self._lock:
            self._apply(state, self._history.table(start, self.applied))
            self._state, self.choice = state, choice

    # ------------------------------------------------------------------------------------------------ answers
    @property
    def refined(self) -> bool:
        """Whether nothing came in since the last refinement."""
        return self._state.refined

    def soft_labels(self, rows: IntArray | None = None, level: float = CONFIDENCE_LEVEL) -> SoftLabels:
        """Soft labels with intervals of some items, or of all, as they are now."""
        with self._lock:
            mass = self._state.mass(rows)
        return self.labels_of(mass, rows, level)

    def labels_of(
        self, mass: FloatArray, rows: IntArray | None = None, level: float = CONFIDENCE_LEVEL
    ) -> SoftLabels:
        """Soft labels with intervals from the mass of some items, or of all."""
        p = soft_labels(mass, np.broadcast_to(self.prior, mass.shape), self.prior_strength)
        lower, upper = INTERVALS.find(INTERVAL_METHOD)(IntervalTask(p, mass, level))
        ids = self._ids if rows is None else self._ids[rows]
        return SoftLabels(ids, self._classes, p, mass.sum(axis=1), lower, upper)

    def choosing(self) -> tuple[Diffusion, FloatArray]:
        """What `queries.choose_items` asks for."""
        with self._lock:
            state = self._state
            if state.diffusion.alpha <= DEFAULT_RULE.largest_alpha:  # a second live state would cost a fit
                return state.diffusion, state.mass()
        copy = choosing_state(self.refined_copy())
        return copy.diffusion, copy.mass()

    def prepare(self, rows: IntArray) -> None:
        """Find the scales of items that will be voted on soon: half of what a vote would otherwise cost."""
        for part in _parts(rows, self._pace.prepared_at_once):
            self.diffusion.scales(part)

    def refined_copy(self) -> SpreadState:
        """A state of its own at the solver's tolerance; the live one gains the refinement."""
        with self._refining:
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
            state, entries, choice = self._state, self.applied, self.choice
            arrays: dict[str, AnyArray] = {name: array.copy() for name, array in state.arrays().items()}
            refined = state.refined
        arrays |= {SCALES + name: array for name, array in state.diffusion.known_scales().items()}
        header = {
            "entries": entries,
            "digest": self._digest(entries),
            "refined": refined,
            "choice": asdict(choice),
            **self._project(),
        }
        write_archive(path, "web-state", SNAPSHOT_VERSION, header, arrays)

    def _load(self, path: Path) -> bool:
        """Take over a snapshot if it belongs to this graph and to this log."""
        if not path.is_file():
            return False
        try:
            header, arrays = read_archive(path, "web-state", SNAPSHOT_VERSION)
            choice = AlphaChoice(**header["choice"])
            if any(header[name] != value for name, value in self._project().items()) or not (
                self._auto or choice.alpha == self.choice.alpha
            ):
                logger.info("the snapshot is of other items, classes or settings; starting from the log")
                return False
            diffusion = self.diffusion.at(choice.alpha)
            scales = {name.removeprefix(SCALES): arrays[name] for name in arrays if name.startswith(SCALES)}
            diffusion.restore_scales(scales)  # they belong to the graph: right whatever the log says
            self._state, self.choice = self._spread(diffusion, VoteTable.empty()), choice
            entries = int(header["entries"])
            if entries > len(self._history) or header["digest"] != self._digest(entries):
                logger.warning("the snapshot does not fit the log; starting from the log")
                return False
            state = self._spread(diffusion, self._history.table(0, entries))
            state.restore({name: arrays[name] for name in state.arrays()}, bool(header["refined"]))
        except (StoreError, KeyError, ValueError, IndexError, TypeError) as error:
            logger.warning("the snapshot cannot be used (%s); starting from the log", error)
            return False
        self._state, self.applied = state, entries
        return True

    def _digest(self, entries: int) -> str:
        """Of the first entries of the log, as numbers."""
        return digest(part[:entries] for part in self._history.columns("id", "row", "column", "weight")).hex()

    def _project(self) -> dict[str, Any]:
        return {"n_classes": self.n_classes, "graph": self.graph.digest()}


def _parts(rows: IntArray, size: int) -> Iterator[IntArray]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
