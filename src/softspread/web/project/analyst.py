"""What the dashboard shows, computed beside the voting and never more than a share of the time.

    refined copy of the live state  ->  quality, gain, annotators (`quality`, `annotators`), histograms, lists

Everything is a plain dict, ready for JSON; None where the votes cannot tell yet.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.annotators.fit import fit_annotators
from softspread.errors import SoftspreadError
from softspread.quality.estimate import held_out_quality
from softspread.quality.forecast import predict_gain
from softspread.quality.result import Estimate
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable
from softspread.web.log.entry import SKIP, VOTE
from softspread.web.log.history import History
from softspread.web.project.live_state import LiveState
from softspread.web.project.thread_priority import lower_priority

LEVEL = 0.9  # of all intervals on the dashboard
SHORTEST_PAUSE = 1.0  # seconds between two looks
PAUSE_PER_WORK = 12.0  # and this many times as long as the look took
CALM_SECONDS, CALM_VOTES = (
    1.0,
    20,
)  # heavy looks wait while more votes than this arrive in so many seconds ...
LONGEST_WAIT = 600.0  # ... but not for ever
PATIENCE = 30.0  # seconds that a look at hand may take when the server stops
LONGEST_LIST = 12
EVIDENCE_EDGES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, math.inf)
WIDTH_BINS = 20
TIMELINE_POINTS = 200
MORE_SHARE = 0.25  # "the next votes" are a quarter of those so far
GAIN_ITEMS = 300_000  # a forecast costs 13 solves: not made beyond
WORTHWHILE = 0.02  # stop when a quarter more votes lower the RMSE by less than this share
BLOCK = 100_000  # items whose intervals are computed at once
logger = logging.getLogger(__name__)


class Analyst:
    """A thread that looks at the state now and then."""

    def __init__(
        self, state: LiveState, history: History, gold: dict[int, int], saw: Callable[[], None]
    ) -> None:
        self._state, self._history, self._gold, self._saw = state, history, gold, saw
        self.overview: dict[str, Any] = {}
        self.quality: dict[str, Any] = {"quality": None, "gain": None, "verdict": "unknown", "trend": []}
        self.annotators: list[dict[str, Any]] = []
        self.p: AnyArray = np.empty((0, 0))  # (n, n_classes) of the last look, float32
        self.evidence: AnyArray = np.empty(0)
        self.width: AnyArray = np.empty(0)
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._repeat, args=work, name=f"softspread-{work[0].__name__}", daemon=True
            )
            for work in ((self.look, False), (self.judge, True))
        ]

    def start(self) -> None:
        """A first look at once, then whenever something has changed."""
        self.look()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End after the looks at hand, or soon."""
        self._ending.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=PATIENCE)

    def _repeat(self, work: Callable[[], int], heavy: bool) -> None:
        """Do the work whenever the log has grown, with pauses in proportion to its cost."""
        lower_priority()
        done_at = -1
        while not self._ending.is_set():
            if heavy:
                self._wait_for_calm()
            begin = time.monotonic()
            try:
                if done_at != len(self._history):
                    done_at = work()
                    self._saw()
            except Exception:  # a look that fails must not end the server
                logger.exception("the dashboard could not be brought up to date")
            self._ending.wait(max(SHORTEST_PAUSE, PAUSE_PER_WORK * (time.monotonic() - begin)))

    def _wait_for_calm(self) -> None:
        """While many people vote, the cores are theirs."""
        begin = time.monotonic()
        while not self._ending.is_set() and time.monotonic() - begin < LONGEST_WAIT:
            before = len(self._history)
            self._ending.wait(CALM_SECONDS)
            if len(self._history) - before <= CALM_VOTES:
                return

    # -------------------------------------------------------------------------------------------- quick looks
    def look(self) -> int:
        """Histograms, lists and counts of the refined state; how many entries of the log it saw."""
        entries = len(self._history)
        state = self._state
        mass = state.refined_copy().mass()
        p = state.to_soft_labels(mass)
        evidence = mass.sum(axis=1)
        width = np.empty(len(mass), dtype=np.float32)
        for start in range(0, len(mass), BLOCK):
            part = slice(start, start + BLOCK)
            lower, upper = state.intervals(mass[part], LEVEL)
            top = p[part].argmax(axis=1)[:, None]
            width[part] = (np.take_along_axis(upper, top, 1) - np.take_along_axis(lower, top, 1))[:, 0]
        self.p, self.evidence, self.width = p.astype(np.float32), evidence.astype(np.float32), width
        self.overview = {
            "evidence": _evidence_histogram(evidence),
            "uncertainty": np.histogram(width, bins=WIDTH_BINS, range=(0, 1))[0].tolist(),
            "class_share": [float(share) for share in p.mean(axis=0)],
            "known_share": float((evidence >= 1).mean()),
            "mean_uncertainty": float(width.mean()),
            "ambiguous": self._most_ambiguous(p, evidence),
            "least_known": np.argsort(evidence, kind="stable")[:LONGEST_LIST].tolist(),
        }
        return entries

    @staticmethod
    def _most_ambiguous(p: FloatArray, evidence: FloatArray) -> list[int]:
        """Highest entropy where enough has arrived to believe it."""
        known = np.flatnonzero(evidence >= 1)
        if not len(known):
            return []
        part = p[known]
        entropy = -np.sum(part * np.log(np.maximum(part, np.finfo(np.float64).tiny)), axis=1)
        best = np.argsort(-entropy, kind="stable")[:LONGEST_LIST]
        return [int(row) for row in known[best]]

    # -------------------------------------------------------------------------------------------- heavy looks
    def judge(self) -> int:
        """Quality, forecast and annotators, as far as the votes can tell; how many entries of the log it
        saw.
        """
        entries = len(self._history)
        copy = self._state.refined_copy()
        rng = np.random.default_rng(entries)
        quality = self._quality(copy, rng)
        gain = self._gain(copy, rng)
        n_votes = len(copy.votes)
        trend = self.quality["trend"]
        if quality is not None and quality["rmse"] is not None:
            trend = [*trend, {"votes": n_votes, **quality["rmse"]}][-TIMELINE_POINTS:]
        self.quality = {"quality": quality, "gain": gain, "verdict": verdict(quality, gain), "trend": trend}
        self.annotators = self._annotators()
        return entries

    def _quality(self, copy: SpreadState, rng: np.random.Generator) -> dict[str, Any] | None:
        if not len(copy.votes):
            return None
        prior = np.broadcast_to(self._state.prior, (copy.diffusion.n_items, copy.n_classes))
        try:
            found = held_out_quality(copy, prior, self._state.prior_strength, confidence_level=LEVEL, rng=rng)
        except SoftspreadError as error:
            return {"rmse": None, "accuracy": None, "agreement": None, "notes": [str(error)]}
        return {
            "rmse": _plain(found.rmse),
            "accuracy": _plain(found.accuracy),
            "agreement": _plain(found.agreement),
            "repeated": found.n_repeated,
            "notes": list(found.notes),
        }

    def _gain(self, copy: SpreadState, rng: np.random.Generator) -> dict[str, Any] | None:
        n = copy.diffusion.graph.n_items
        whole = copy.votes.weights == np.round(
            copy.votes.weights
        )  # "unsure" votes have no place on a learning curve
        votes = VoteTable(copy.votes.rows[whole], copy.votes.columns[whole], copy.votes.weights[whole])
        total = float(votes.weights.sum())
        if n > GAIN_ITEMS or total < 1:
            return None
        more = max(1, round(MORE_SHARE * total))
        try:
            found = predict_gain(
                [copy.diffusion],
                votes,
                copy.n_classes,
                more,
                prior_strength=self._state.prior_strength,
                confidence_level=LEVEL,
                rng=rng,
            )
        except SoftspreadError:  # too few votes to thin
            return None
        return {
            "more": found.more,
            "now": _plain(found.rmse_now),
            "then": _plain(found.rmse_then),
            "gain": _plain(found.gain),
            "worthwhile": found.worthwhile(WORTHWHILE),
        }

    def _annotators(self) -> list[dict[str, Any]]:
        table, _ = self._history.standing_votes()
        if not len(table) or table.annotators is None:
            return []
        diffusion = self._state.diffusion
        right, total = self._gold_answers(table)
        try:
            report = fit_annotators(
                lambda alpha: diffusion, table, self._state.n_classes, alphas=[diffusion.alpha], kappas=[0.1]
            ).report
        except SoftspreadError as error:
            logger.info("no annotator report: %s", error)
            return []
        return [
            {
                "annotator": str(report.annotator[place]),
                "votes": float(report.votes[place]),
                "agreement": _number(report.agreement[place]),
                "consistency": _number(report.consistency[place]),
                "lower": _number(report.lower[place]),
                "upper": _number(report.upper[place]),
                "flag": str(report.flag[place]),
                "gold_right": right.get(str(report.annotator[place]), 0),
                "gold_total": total.get(str(report.annotator[place]), 0),
            }
            for place in range(len(report.annotator))
        ]

    def _gold_answers(self, table: VoteTable) -> tuple[dict[str, int], dict[str, int]]:
        right: dict[str, int] = {}
        total: dict[str, int] = {}
        if self._gold and table.annotators is not None:
            gold = np.isin(table.rows, list(self._gold))
            for row, column, name in zip(
                table.rows[gold].tolist(), table.columns[gold].tolist(), table.annotators[gold], strict=True
            ):
                total[name] = total.get(name, 0) + 1
                right[name] = right.get(name, 0) + (self._gold[row] == column)
        return right, total


def verdict(quality: dict[str, Any] | None, gain: dict[str, Any] | None) -> str:
    """Whether to stop: "enough", "go on", or "unknown" where the votes cannot tell."""
    if quality is None or gain is None or gain["gain"] is None or quality["rmse"] is None:
        return "unknown"
    return "go on" if gain["worthwhile"] else "enough"


def timeline(history: History) -> dict[str, Any]:
    """Votes over time and by user, undone ones left out of the count by user."""
    kind, created, annotator = history.columns("kind", "created_at", "annotator")
    counted = kind != SKIP
    change = np.where(kind[counted] == VOTE, 1, -1)
    total, times = np.cumsum(change), created[counted]
    places = np.linspace(0, len(times) - 1, min(TIMELINE_POINTS, len(times))).astype(np.int64)
    shown = np.unique(places).tolist()
    by_person = np.bincount(annotator[counted], weights=change, minlength=len(history.annotators))
    people = sorted(zip(history.annotators, by_person.tolist(), strict=False), key=lambda pair: -pair[1])
    return {
        "times": [float(times[place]) for place in shown],
        "votes": [int(total[place]) for place in shown],
        "people": [{"annotator": name, "votes": int(votes)} for name, votes in people if votes > 0],
    }


def latency(values: Sequence[float]) -> dict[str, float | None]:
    """Of the last updates, in milliseconds."""
    if not values:
        return {"last": None, "median": None, "p95": None}
    ordered = np.array(values) * 1000
    return {
        "last": round(float(ordered[-1]), 2),
        "median": round(float(np.median(ordered)), 2),
        "p95": round(float(np.percentile(ordered, 95)), 2),
    }


def _evidence_histogram(evidence: FloatArray) -> dict[str, Any]:
    counts = np.histogram(evidence, bins=np.array(EVIDENCE_EDGES))[0]
    return {"edges": [edge for edge in EVIDENCE_EDGES if math.isfinite(edge)], "counts": counts.tolist()}


def _plain(estimate: Estimate) -> dict[str, float] | None:
    if not math.isfinite(estimate.value):
        return None
    return {"value": float(estimate.value), "lower": float(estimate.lower), "upper": float(estimate.upper)}


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
