"""What the dashboard shows, computed beside the voting and never more than a share of the time.

    refined copy of the live state  ->  quality, gain, annotators (`quality`, `annotators`), histograms, lists

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
from softspread.annotators.fit import fit_annotators
from softspread.errors import SoftspreadError
from softspread.quality.estimate import held_out_quality
from softspread.quality.forecast import predict_gain
from softspread.quality.result import Estimate
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable
from softspread.web.log.entry import SKIP, VOTE
from softspread.web.log.history import History
from softspread.web.project.alpha import AlphaTuner
from softspread.web.project.live_state import CONFIDENCE_LEVEL, LiveState
from softspread.web.project.thread_priority import lower_priority

EVIDENCE_EDGES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, math.inf)
ANNOTATOR_KAPPA = 0.1  # strength of the prior that annotators are compared by
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AnalystRule:
    """How often statistics are made, and how much of them."""

    shortest_pause: float = 1.0  # seconds between two updates ...
    pause_per_work: float = 12.0  # ... and this many times as long as the last one took
    calm_seconds: float = 1.0  # heavy work waits while more than ``calm_votes`` arrive in this time ...
    calm_votes: int = 20
    longest_wait: float = 600.0  # ... but no longer than this
    patience: float = 30.0  # seconds to wait for unfinished work when the server stops
    longest_list: int = 12
    width_bins: int = 20
    timeline_points: int = 200
    more_share: float = 0.25  # "the next votes" are a quarter of those so far
    gain_items: int = 300_000  # a forecast costs 13 solves: none for more items
    worthwhile: float = 0.02  # stop when a quarter more votes lower the RMSE by less than this share
    block: int = 100_000  # items whose intervals are computed at once


RULE = AnalystRule()


class Analyst:
    """Threads that keep the statistics of the dashboard up to date."""

    def __init__(
        self,
        state: LiveState,
        history: History,
        tuner: AlphaTuner,
        gold: dict[int, int],
        on_update: Callable[[], None],
        rule: AnalystRule = RULE,
    ) -> None:
        self._state, self._history, self._gold = state, history, gold
        self._on_update, self._rule = on_update, rule
        self.overview: dict[str, Any] = {}
        self.quality: dict[str, Any] = {"quality": None, "gain": None, "verdict": "unknown", "trend": []}
        self.annotators: list[dict[str, Any]] = []
        self.p: AnyArray = np.empty((0, 0))  # (n, n_classes) as the overview saw it, float32
        self.evidence: AnyArray = np.empty(0)
        self.width: AnyArray = np.empty(0)  # (n,) of the leading class's interval
        self._ending = threading.Event()
        works = ((self.update_overview, False), (self.update_quality, True), (tuner.choose_if_due, True))
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

    def _repeat(self, work: Callable[[], None], heavy: bool) -> None:
        """Do the work whenever votes or alpha have changed, with pauses in proportion to its cost."""
        lower_priority()
        seen: tuple[int, float] | None = None
        while not self._ending.is_set():
            if heavy:
                self._wait_for_calm()
            begin, now = time.monotonic(), (len(self._history), self._state.choice.alpha)
            try:
                if seen != now:
                    work()
                    seen = now
                    self._on_update()
            except Exception:  # statistics that fail must not end the server
                logger.exception("the dashboard could not be brought up to date")
            pause = self._rule.pause_per_work * (time.monotonic() - begin)
            self._ending.wait(max(self._rule.shortest_pause, pause))

    def _wait_for_calm(self) -> None:
        """While many people vote, the cores are theirs."""
        begin = time.monotonic()
        while not self._ending.is_set() and time.monotonic() - begin < self._rule.longest_wait:
            before = len(self._history)
            self._ending.wait(self._rule.calm_seconds)
            if len(self._history) - before <= self._rule.calm_votes:
                return

    # ----------------------------------------------------------------------------------------------- overview
    def update_overview(self) -> None:
        """Histograms, lists and counts of the refined state."""
        state, rule = self._state, self._rule
        copy = state.refined_copy()
        n = copy.diffusion.n_items
        p, evidence = np.empty((n, copy.n_classes), dtype=np.float32), np.empty(n)
        width = np.empty(n, dtype=np.float32)
        for start in range(0, n, rule.block):
            rows = np.arange(start, min(start + rule.block, n))
            labels = state.labels_of(copy.mass(rows), rows)
            p[rows], evidence[rows] = labels.p, labels.evidence
            top = labels.p.argmax(axis=1)[:, None]
            width[rows] = np.take_along_axis(labels.width, top, axis=1)[:, 0]
        self.p, self.evidence, self.width = p, evidence.astype(np.float32), width
        self.overview = {
            "evidence": {
                "edges": list(EVIDENCE_EDGES[:-1]),
                "counts": np.histogram(evidence, bins=np.array(EVIDENCE_EDGES))[0].tolist(),
            },
            "uncertainty": np.histogram(width, bins=rule.width_bins, range=(0, 1))[0].tolist(),
            "class_share": p.mean(axis=0, dtype=np.float64).tolist(),
            "known_share": float((evidence >= 1).mean()),
            "mean_uncertainty": float(width.mean(dtype=np.float64)),
            "ambiguous": self._most_ambiguous(evidence),
            "least_known": np.argsort(evidence, kind="stable")[: rule.longest_list].tolist(),
        }

    def _most_ambiguous(self, evidence: AnyArray) -> list[int]:
        """Rows of highest entropy among those with the evidence of a vote or more."""
        known = np.flatnonzero(evidence >= 1)
        p = self.p[known].astype(np.float64)
        entropy = -np.sum(p * np.log(np.maximum(p, np.finfo(np.float64).tiny)), axis=1)
        best = known[np.argsort(-entropy, kind="stable")[: self._rule.longest_list]]
        return [int(row) for row in best]

    # ------------------------------------------------------------------------------------------------ quality
    def update_quality(self) -> None:
        """Quality, forecast and annotators, as far as there are votes enough."""
        rng = np.random.default_rng(len(self._history))
        copy = self._state.refined_copy()
        quality, gain = self._quality(copy, rng), self._gain(copy, rng)
        trend = self.quality["trend"]
        if quality is not None and quality["rmse"] is not None:
            trend = [*trend, {"votes": len(copy.votes), **quality["rmse"]}][-self._rule.timeline_points :]
        self.quality = {"quality": quality, "gain": gain, "verdict": verdict(quality, gain), "trend": trend}
        self.annotators = self._annotators()

    def _quality(self, copy: SpreadState, rng: np.random.Generator) -> dict[str, Any] | None:
        if not len(copy.votes):
            return None
        state = self._state
        prior = np.broadcast_to(state.prior, (copy.diffusion.n_items, copy.n_classes))
        try:
            found = held_out_quality(
                copy, prior, state.prior_strength, confidence_level=CONFIDENCE_LEVEL, rng=rng
            )
        except SoftspreadError as error:
            return {"rmse": None, "accuracy": None, "agreement": None, "notes": [str(error)]}
        estimates = {name: _plain(getattr(found, name)) for name in ("rmse", "accuracy", "agreement")}
        return {**estimates, "repeated": found.n_repeated, "notes": list(found.notes)}

    def _gain(self, copy: SpreadState, rng: np.random.Generator) -> dict[str, Any] | None:
        whole = copy.votes.weights == np.round(copy.votes.weights)  # a learning curve counts whole votes
        votes = copy.votes.take(whole)
        total = float(votes.weights.sum())
        if copy.diffusion.n_items > self._rule.gain_items or total < 1:
            return None
        try:
            found = predict_gain(
                [copy.diffusion],
                votes,
                copy.n_classes,
                max(1, round(self._rule.more_share * total)),
                prior_strength=self._state.prior_strength,
                confidence_level=CONFIDENCE_LEVEL,
                rng=rng,
            )
        except SoftspreadError:  # too few votes to thin
            return None
        return {
            "more": found.more,
            "now": _plain(found.rmse_now),
            "then": _plain(found.rmse_then),
            "gain": _plain(found.gain),
            "worthwhile": found.worthwhile(self._rule.worthwhile),
        }

    def _annotators(self) -> list[dict[str, Any]]:
        table, _ = self._history.standing_votes()
        if not len(table):
            return []
        diffusion = self._state.diffusion
        try:
            report = fit_annotators(diffusion, table, self._state.n_classes, kappas=[ANNOTATOR_KAPPA]).report
        except SoftspreadError as error:
            logger.info("no annotator report: %s", error)
            return []
        right, total = self._gold_answers(table)
        frame = report.to_frame().astype(object).where(lambda values: values.notna(), None)
        frame["gold_right"] = [right[name] for name in report.annotator]
        frame["gold_total"] = [total[name] for name in report.annotator]
        return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]

    def _gold_answers(self, table: VoteTable) -> tuple[Counter[str], Counter[str]]:
        """Right answers and answers to gold items, by annotator."""
        gold = table.take(np.isin(table.rows, list(self._gold)))
        names = gold.annotators.tolist() if gold.annotators is not None else []
        given = zip(gold.rows.tolist(), gold.columns.tolist(), names, strict=True)
        right = [name for row, column, name in given if self._gold[row] == column]
        return Counter(right), Counter(names)


def records(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """One dict per row of a table.

    Examples
    --------
    >>> records({"item": ["a", "b"], "votes": [1, 2]})
    [{'item': 'a', 'votes': 1}, {'item': 'b', 'votes': 2}]
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def verdict(quality: dict[str, Any] | None, gain: dict[str, Any] | None) -> str:
    """Whether to stop: "enough", "go on", or "unknown" where there are too few votes to say."""
    if quality is None or gain is None or gain["gain"] is None or quality["rmse"] is None:
        return "unknown"
    return "go on" if gain["worthwhile"] else "enough"


def timeline(history: History, most_points: int = RULE.timeline_points) -> dict[str, Any]:
    """Standing votes over time and by user."""
    kind, created, annotator = history.columns("kind", "created_at", "annotator")
    counted = kind != SKIP
    change = np.where(kind[counted] == VOTE, 1, -1)
    total, times = np.cumsum(change), created[counted]
    shown = np.unique(np.linspace(0, len(times) - 1, min(most_points, len(times))).astype(np.int64))
    by_user = np.bincount(annotator[counted], weights=change, minlength=len(history.annotators))
    people = sorted(zip(history.annotators, by_user.tolist(), strict=False), key=lambda pair: -pair[1])
    return {
        "times": times[shown].tolist(),
        "votes": total[shown].tolist(),
        "people": [{"annotator": name, "votes": int(votes)} for name, votes in people if votes > 0],
    }


def latency(values: Sequence[float]) -> dict[str, float | None]:
    """Of the last updates, in milliseconds."""
    if not values:
        return {"last": None, "median": None, "p95": None}
    ordered = np.array(values) * 1000
    found = {"last": ordered[-1], "median": np.median(ordered), "p95": np.percentile(ordered, 95)}
    return {name: round(float(value), 2) for name, value in found.items()}


def _plain(estimate: Estimate) -> dict[str, float] | None:
    if not math.isfinite(estimate.value):
        return None
    return {"value": float(estimate.value), "lower": float(estimate.lower), "upper": float(estimate.upper)}
