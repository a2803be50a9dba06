"""Background work beside the voting, never more than a share of the time: fits and their results.

    votes since the last fit  ->  another fit when it pays        the last fit  ->  quality, gain, annotators
    the posterior by now      ->  histograms, verdicts, lists

Everything is a plain dict, ready for JSON; None where there are too few votes to say.
"""

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.types import AnyArray
from softspread._common.wording import counted
from softspread.annotators.verdict import VERDICTS
from softspread.errors import SoftspreadError
from softspread.estimators.multilabel import OVERALL
from softspread.intervals.uncertainty import AMBIGUOUS, CLEAR, TOO_FEW
from softspread.votes.repeats import REPEATS
from softspread.votes.table import VoteTable
from softspread.web.log.entry import COUNTED, DECIDED, VOTE
from softspread.web.log.history import History
from softspread.web.project.in_words import news_of, on_neighbours
from softspread.web.project.learner import CONFIDENCE_LEVEL, AnyLearned, Learned
from softspread.web.project.live_state import LiveState
from softspread.web.project.readings import (
    gain_together,
    plain,
    quality_together,
    read_posterior,
    read_together,
)
from softspread.web.project.thread_priority import lower_priority

EVIDENCE_EDGES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, math.inf)  # half decades
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AnalystRule:
    """How often statistics are made, and how much of them."""

    shortest_pause: float = 1.0  # seconds between two updates ...
    pause_per_work: float = 12.0  # ... and this many times as long as the last one took
    pause_per_fit: float = 2.0  # the same after a fit, which everybody's soft labels wait for
    calm_seconds: float = 1.0  # heavy work waits while more than ``calm_votes`` arrive in this time ...
    calm_votes: int = 20
    longest_wait: float = 600.0  # ... but no longer than this
    patience: float = 30.0  # seconds to wait for unfinished work when the server stops
    longest_list: int = 12
    width_bins: int = 20
    timeline_points: int = 200
    more_share: float = 0.25  # "the next votes" are a quarter of those so far
    worthwhile: float = 0.02  # stop when a quarter more votes lower the RMSE by less than this share
    likely: float = 0.5  # an item listed as ambiguous is more likely so than not


RULE = AnalystRule()


class Analyst:
    """Threads that learn again when it pays and keep the statistics of the dashboard up to date."""

    def __init__(
        self,
        state: LiveState,
        history: History,
        gold: dict[int, int],
        on_update: Callable[[], None],
        on_fit: Callable[[], None] = lambda: None,
        rule: AnalystRule = RULE,
    ) -> None:
        self._state, self._history, self._gold = state, history, gold
        self._on_update, self._on_fit, self._rule = on_update, on_fit, rule
        self.overview: dict[str, Any] = {}
        self.quality: dict[str, Any] = {"quality": None, "gain": None, "verdict": "unknown", "trend": []}
        self.annotators: list[dict[str, Any]] = []
        self.p: AnyArray = np.empty((0, 0))  # (n, n_classes) as the overview saw it, float32
        self.evidence: AnyArray = np.empty(0)
        self.width: AnyArray = np.empty(0)  # (n,) of the leading class's interval
        self._judged = 0  # entries of the log that the fit behind ``quality`` has seen
        self._ending = threading.Event()
        works = (
            (self.update_overview, False, rule.pause_per_work),
            (self.update_quality, True, rule.pause_per_work),
            (self.learn_if_due, False, rule.pause_per_fit),
        )
        self._threads = [
            threading.Thread(
                target=self._repeat, args=work, name=f"softspread-{work[0].__name__}", daemon=True
            )
            for work in works
        ]

    def start(self) -> None:
        """A first overview at once, then everything whenever something has changed."""
        self.update_overview()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End when the present work is done, or soon."""
        self._ending.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=self._rule.patience)

    def _repeat(self, work: Callable[[], None], heavy: bool, pause_per_work: float) -> None:
        """Do the work whenever votes or the fit have changed, with pauses in proportion to its cost."""
        lower_priority()
        seen: tuple[int, int] | None = None
        while not self._ending.is_set():
            if heavy:
                self._wait_for_calm()
            begin, now = time.monotonic(), (len(self._history), self._state.learned.entries)
            try:
                if seen != now:
                    work()
                    seen = now
                    self._on_update()
            except Exception:  # statistics that fail must not end the server
                logger.exception("the dashboard could not be brought up to date")
            pause = pause_per_work * (time.monotonic() - begin)
            self._ending.wait(max(self._rule.shortest_pause, pause))

    def _wait_for_calm(self) -> None:
        """While many people vote, the cores are theirs."""
        begin = time.monotonic()
        while not self._ending.is_set() and time.monotonic() - begin < self._rule.longest_wait:
            before = len(self._history)
            self._ending.wait(self._rule.calm_seconds)
            if len(self._history) - before <= self._rule.calm_votes:
                return

    # ----------------------------------------------------------------------------------------- learning again
    def learn_if_due(self) -> None:
        """Fit all votes again if that pays; else refine what was pushed, unless many people vote."""
        if self._state.refit_due:
            logger.info("%s", news_of(self._state.learn()))
            self._on_update()
            self._on_fit()
        elif self._state.calm:
            self._state.refine()

    # ----------------------------------------------------------------------------------------------- overview
    def update_overview(self) -> None:
        """Histograms, verdicts, lists and counts of the posterior by now."""
        rule, each = self._rule, [read_posterior(*found) for found in self._state.posteriors()]
        found = each[0] if len(each) == 1 else read_together(each)
        p, evidence, width, verdict = found.p, found.evidence, found.width, found.verdict
        self.p, self.evidence, self.width = (part.astype(np.float32) for part in (p, evidence, width))
        self.overview = {
            "evidence": {
                "edges": list(EVIDENCE_EDGES[:-1]),
                "counts": np.histogram(evidence, bins=np.array(EVIDENCE_EDGES))[0].tolist(),
            },
            "uncertainty": np.histogram(width, bins=rule.width_bins, range=(0, 1))[0].tolist(),
            "class_share": p.mean(axis=0).tolist(),
            "verdicts": {name: int((verdict == name).sum()) for name in (CLEAR, AMBIGUOUS, TOO_FEW)},
            "mean_uncertainty": float(width.mean()),
            "ambiguous": self._most_ambiguous(found.ambiguous) if len(self._history) else [],
            "least_known": np.argsort(evidence, kind="stable")[: rule.longest_list].tolist(),
        }

    def _most_ambiguous(self, chance: AnyArray) -> list[int]:
        """Rows that most likely have no class on which people agree; none that more likely has one."""
        order = np.argsort(-chance, kind="stable")[: self._rule.longest_list]
        return [int(row) for row in order if chance[row] > self._rule.likely]

    # ------------------------------------------------------------------------------------------------ quality
    def update_quality(self) -> None:
        """Quality, forecast and annotators as of the last fit, as far as there are votes enough."""
        learned = self._state.learned
        rng = np.random.default_rng(learned.n_votes)
        quality, gain = self._quality(learned, rng), self._gain(learned, rng)
        if learned.entries < self._judged:  # another thread has judged a later fit meanwhile
            return
        self._judged = learned.entries
        trend = self.quality["trend"]
        if quality is not None and quality["rmse"] is not None:
            trend = [*trend, {"votes": learned.n_votes, **quality["rmse"]}][-self._rule.timeline_points :]
        self.quality = {"quality": quality, "gain": gain, "verdict": verdict(quality, gain), "trend": trend}
        self.annotators = self._annotators(learned)

    def _quality(self, learned: AnyLearned, rng: np.random.Generator) -> dict[str, Any] | None:
        """The estimator's own; votes count by how probable it was that their items were asked about."""
        if not learned.n_votes:
            return None
        known = self._history.probabilities(learned.entries)
        answers, votes = self._history.answers, self._history.standing_votes(learned.entries)[0]
        each = [
            self._quality_of(one, known[answers.said(votes.columns, question) >= 0], rng)
            for question, one in enumerate(learned.each)
        ]
        found = each[0] if len(each) == 1 else quality_together(each, answers.classes)
        warning = on_neighbours(learned) if found["votes"] else None
        return found if warning is None else found | {"notes": [*found["notes"], warning]}

    def _quality_of(self, learned: Learned, known: AnyArray, rng: np.random.Generator) -> dict[str, Any]:
        """Of one question; ``known`` are the probabilities of the items of its votes."""
        brought = np.isnan(known)  # votes that the page did not ask for are taken to be on random items
        probabilities = np.where(brought, 1 / self._state.n_items, known)
        try:
            found = learned.labeler.quality(
                probabilities=None if brought.all() else probabilities,
                confidence_level=CONFIDENCE_LEVEL,
                random_state=rng,
            )
        except SoftspreadError as error:
            nothing = dict.fromkeys(("rmse", "accuracy", "agreement"))
            return nothing | {"votes": 0, "repeated": 0, "notes": [str(error)]}
        estimates = {name: plain(getattr(found, name)) for name in ("rmse", "accuracy", "agreement")}
        notes = [*found.notes]
        if brought.any() and not brought.all():
            votes = counted(int(brought.sum()), "vote")
            notes.append(f"{votes} not asked for by this page: taken as votes on random items.")
        return {**estimates, "votes": found.n_votes, "repeated": found.n_repeated, "notes": notes}

    def _gain(self, learned: AnyLearned, rng: np.random.Generator) -> dict[str, Any] | None:
        """The effect of a quarter more votes, by the estimator's own forecast."""
        if not learned.n_votes:
            return None
        more = max(1, round(self._rule.more_share * learned.n_votes))
        each = [self._gain_of(one, more, rng) for one in learned.each]
        return each[0] if len(each) == 1 else gain_together(each)

    def _gain_of(self, learned: Learned, more: int, rng: np.random.Generator) -> dict[str, Any] | None:
        """Of one question."""
        try:
            found = learned.labeler.forecast(more, confidence_level=CONFIDENCE_LEVEL, random_state=rng)
        except SoftspreadError as error:
            logger.info("no forecast: %s", error)
            return None
        return {
            "more": found.more,
            "now": plain(found.rmse_now),
            "then": plain(found.rmse_then),
            "gain": plain(found.gain),
            "worthwhile": found.worthwhile(self._rule.worthwhile),
        }

    def _annotators(self, learned: AnyLearned) -> list[dict[str, Any]]:
        """The estimator's own table, with the answers to gold items."""
        table = learned.labeler.annotators_ if learned.n_votes else None
        if table is None:
            return []
        if "class" in table:  # a row per class, then those over all classes
            table = table[table["class"] == OVERALL].drop(columns="class")
        right, total = self._gold_answers(self._history.standing_votes()[0])
        frame = table.astype(object).where(table.notna(), None)
        frame["gold_right"] = [right[name] for name in frame["annotator"]]
        frame["gold_total"] = [total[name] for name in frame["annotator"]]
        frame["verdict"] = [VERDICTS[flag].words for flag in frame["flag"]]
        frame["advice"] = [VERDICTS[flag].advice for flag in frame["flag"]]
        return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]

    def _gold_answers(self, table: VoteTable) -> tuple[Counter[str], Counter[str]]:
        """Right answers and answers to gold items, by annotator; of several classes each answer counts."""
        gold, answers = table.take(np.isin(table.rows, list(self._gold))), self._history.answers
        known = np.array([self._gold[row] for row in gold.rows.tolist()], dtype=np.int64)
        names = np.empty(0) if gold.annotators is None else gold.annotators
        right: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for question in range(answers.n_questions if len(names) else 0):
            said, true = (answers.said(numbers, question) for numbers in (gold.columns, known))
            both = (said >= 0) & (true >= 0)
            right.update(names[both & (said == true)].tolist())
            total.update(names[both].tolist())
        return right, total


def records(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """One dict per row of a table.

    Examples
    --------
    >>> records({"item": ["a", "b"], "votes": [1, 2]})
    [{'item': 'a', 'votes': 1}, {'item': 'b', 'votes': 2}]
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def verdict(quality: dict[str, Any] | None, gain: dict[str, Any] | None) -> str:
    """Whether to stop: "enough", "go on", or "unknown" where nobody can say that it is enough."""
    if quality is None or gain is None or gain["gain"] is None or quality["rmse"] is None:
        return "unknown"
    if gain["worthwhile"]:
        return "go on"
    return "enough" if REPEATS.are_enough(quality["repeated"]) else "unknown"


def timeline(history: History, most_points: int = RULE.timeline_points) -> dict[str, Any]:
    """Standing votes over time and by user."""
    kind, created, annotator = history.columns("kind", "created_at", "annotator")
    counted = np.isin(kind, COUNTED)
    change = np.where(kind[counted] == VOTE, 1, -1)
    total, times = np.cumsum(change), created[counted]
    shown = np.unique(np.linspace(0, len(times) - 1, min(most_points, len(times))).astype(np.int64))
    by_user = np.bincount(annotator[counted], weights=change, minlength=len(history.annotators))
    people = sorted(zip(history.annotators, by_user.tolist(), strict=False), key=lambda pair: -pair[1])
    return {
        "times": times[shown].tolist(),
        "votes": total[shown].tolist(),
        "people": [
            {"annotator": name, "votes": int(votes)}
            for name, votes in people
            if votes > 0 and name != DECIDED
        ],
    }


def latency(values: Sequence[float]) -> dict[str, float | None]:
    """Of the last updates, in milliseconds."""
    if not values:
        return {"last": None, "median": None, "p95": None}
    ordered = np.array(values) * 1000
    found = {"last": ordered[-1], "median": np.median(ordered), "p95": np.percentile(ordered, 95)}
    return {name: round(float(value), 2) for name, value in found.items()}
