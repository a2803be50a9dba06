"""The live soft labels: they follow the log, answer at once, and learn again when it pays.

    history[applied:]  ->  push at every alpha (a few ms per vote)  ->  posterior of any rows  ->  soft labels

What was learned (weights of experts and annotators, classifiers, trust) stays until :meth:`LiveState.learn`
has fitted all votes beside the voting, replayed those that came meanwhile, and put the new fit in place. The
state is a cache of the log.
"""

import logging
import threading
import time
import warnings
from collections import deque
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import SoftspreadError, SoftspreadWarning
from softspread.estimators.labeler import REFIT, RefitRule, SoftLabeler
from softspread.posterior.explain import Explanation
from softspread.posterior.posterior import Posterior
from softspread.queries.rule import DEFAULT_LOTTERY
from softspread.spreading.evidence import SoftLabels
from softspread.votes.table import VoteTable
from softspread.votes.votes import Votes
from softspread.web.log.history import History
from softspread.web.project.learner import (
    CONFIDENCE_LEVEL,
    TINY,
    AnyLearned,
    Learned,
    Learner,
    rows_once,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How much work a vote gets, by how many arrive."""

    unhurried: int = 8  # votes that may wait; with more, each gets a smaller share of the usual work ...
    calm_rate: float = 10.0  # ... as with more votes per second: pushes then take about a tenth of a core ...
    least_share: float = 0.02  # ... but at least this: enough to reach a vote's own neighbourhood
    rate_seconds: float = 1.0  # votes per second are counted over this time
    gather_seconds: float = 0.015  # in a rush votes are applied together: less work each, fewer interruptions
    largest_step: int = 128  # votes applied at once: soft labels must not wait for a long queue
    catching_up: int = 20  # rounds of replaying votes onto a new fit before voting waits for the last ones
    choosing_share: float = 0.1  # of a core at most for the posterior that items are chosen by
    kept_latencies: int = 2_000


PACE = Pace()


class ChosenFrom(NamedTuple):
    """The input for choosing items."""

    diffusion: Diffusion
    mass: FloatArray  # (n, n_classes) at the diffusion's alpha
    posterior: Posterior


class LiveState:
    """Soft labels of all votes in the log so far; one thread keeps them up to date.

    Parameters
    ----------
    learner : fits the log
    history : the log
    ids : names of the items
    refit : when further votes make it worthwhile to learn again
    """

    def __init__(
        self,
        learner: Learner,
        history: History,
        ids: AnyArray,
        *,
        refit: RefitRule = REFIT,
        pace: Pace = PACE,
    ) -> None:
        self._learner, self._history, self._ids = learner, history, ids
        self._refit, self._pace = refit, pace
        self.applied = 0  # entries of the history in the state
        self._lock = threading.Lock()
        self._learning = threading.Lock()  # two fits at once would be one too many
        self._refining = threading.Lock()  # two refinements at once would each add the other's correction
        self._news = threading.Condition()
        self._arrived: deque[tuple[int, float]] = deque()  # (entries so far, when they were written)
        self._recent: deque[tuple[int, float]] = deque()  # the same, of the last second
        self.latencies: deque[float] = deque(maxlen=pace.kept_latencies)  # from written to applied, seconds
        self._chosen_from: list[ChosenFrom] | None = None
        self._choose_again = 0.0  # when ``_chosen_from`` is too old
        self._stopping = False
        self._thread = threading.Thread(target=self._follow, name="softspread-state", daemon=True)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self._ids)

    @property
    def calm(self) -> bool:
        """Whether votes come in slowly enough for each to get the usual work."""
        return self._rate() <= self._pace.calm_rate

    @property
    def learned(self) -> AnyLearned:
        """The fit in use."""
        return self._learned

    # ------------------------------------------------------------------------------------------ start and end
    def begin(self, learned: AnyLearned | None = None) -> None:
        """Learn from the log, or go on from what was learned before; then follow the log."""
        several = self._history.answers.n_questions > 1
        warm_up(2 if several else len(self._learner.names.classes))
        self._learned = self._learner.learn(len(self._history)) if learned is None else learned
        self._learned.add(self._history.table(self._learned.entries))
        self.applied = len(self._history)
        self._thread.start()

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
            if not (self.calm or self._stopping):
                time.sleep(self._pace.gather_seconds)
            behind = len(self._history) - self.applied
            stop = self.applied + min(behind, self._pace.largest_step)
            with self._lock:  # the state and ``applied`` change together
                try:
                    self._learned.add(self._history.table(self.applied, stop), self._share(behind))
                except (SoftspreadError, ArithmeticError, MemoryError):
                    logger.exception("a live update failed; the next refinement starts from the votes")
                    for one in self._learned.each:
                        one.live.recover()
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

    def _note_latencies(self, stop: int) -> None:
        now = time.monotonic()
        with self._news:
            while self._arrived and self._arrived[0][0] <= stop:
                self.latencies.append(now - self._arrived.popleft()[1])
            self._news.notify_all()

    # ----------------------------------------------------------------------------------------- learning again
    @property
    def refit_due(self) -> bool:
        """Whether enough votes have come in since the last fit to make another one worthwhile."""
        return self._refit.due(self._learned.n_since, self._learned.n_votes)

    def learn(self) -> AnyLearned:
        """Fit all votes so far beside the voting, catch up with those that came meanwhile, take that fit."""
        with self._learning:
            found = self._learner.learn(self.applied)
            found.follow(self._learned)
            seen = found.entries
            for _ in range(self._pace.catching_up):
                stop = self.applied
                found.add(self._history.table(seen, stop), self._share(max(1, stop - seen)))
                seen = stop
                if self.applied - seen <= self._pace.unhurried:
                    break
            with self._lock:
                found.add(self._history.table(seen, self.applied), self._pace.least_share)
                self._learned, self._chosen_from = found, None
            return found

    def refine(self) -> None:
        """Bring pushes to the solver's tolerance, beside further votes."""
        with self._refining:
            for one in self._learned.each:
                one.live.refine(self._lock)

    # ------------------------------------------------------------------------------------------------ answers
    @property
    def refined(self) -> bool:
        """Whether nothing came in since the last refinement."""
        return all(one.live.refined for one in self._learned.each)

    def soft_labels(self, rows: IntArray, level: float = CONFIDENCE_LEVEL) -> SoftLabels:
        """Soft labels with intervals and verdicts of some items as they are now."""
        once, back = rows_once(rows)
        with self._lock:
            learned = self._learned
            moved = [one.live.moved(once) for one in learned.each]
        return learned.labels(moved, self._ids[once], level).take(back)

    def explain(self, row: int) -> list[Explanation]:
        """What one soft label is made of, by question; votes wait meanwhile, some milliseconds per alpha."""
        with self._lock:
            votes = self._history.standing_votes(self.applied)[0]
            return self._learned.explain(votes, row)

    def posteriors(self) -> list[tuple[Learned, Posterior]]:
        """The posterior of all items by now, of each question, and its fit."""
        return [(one, one.posterior(self._lock)) for one in self._learned.each]

    def choosing(self) -> list[ChosenFrom]:
        """The input for choosing items, of each question; kept for a while where it is costly."""
        kept, begin = self._chosen_from, time.monotonic()
        if kept is not None and begin < self._choose_again:
            return kept
        found = [self._choosing_by(one) for one in self._learned.each]
        took = time.monotonic() - begin
        self._chosen_from, self._choose_again = found, begin + took / self._pace.choosing_share
        return found

    def _choosing_by(self, learned: Learned) -> ChosenFrom:
        live, diffused = learned.live, learned.parts.diffusion
        rung = min(live.blend.rungs, key=lambda rung: abs(rung.alpha - DEFAULT_LOTTERY.alpha))
        mass = live.mass(rung).astype(np.float64)  # a vote that is just being pushed may be there in part
        return ChosenFrom(diffused.at(rung.alpha), mass, learned.posterior(self._lock))

    def prepare(self, rows: IntArray) -> None:
        """Find the scales of items that will be voted on soon: half of what a vote would otherwise cost."""
        self._learned.each[0].live.prepare(rows)  # several questions share them


@cache
def warm_up(n_classes: int) -> None:
    """Compile or load ahead, once per process, what the first votes need; on a project of a few items."""
    rng = np.random.default_rng(0)
    columns = rng.integers(n_classes, size=4 * TINY)
    votes = Votes.from_pairs(np.arange(4 * TINY) % TINY, columns)
    labeler = SoftLabeler(n_neighbors=3, n_jobs=1)
    with warnings.catch_warnings():  # votes at random: what it would warn of is meant
        warnings.simplefilter("ignore", SoftspreadWarning)
        labeler.fit(rng.normal(size=(TINY, 2)), votes, classes=np.arange(n_classes))
    learned = Learned(labeler, 0).ready()
    one = np.zeros(1, dtype=np.int64)
    learned.add(VoteTable(one, one, np.ones(1)))
    learned.live.refine()
    labeler.query(2, random_state=0)
