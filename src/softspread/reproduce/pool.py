"""Share trials between processes: pieces of a few seconds, the longest work first, one thread per process.

    trials  ->  groups that share a dataset  ->  pieces of about 8 s  ->  processes, each with its own bench

What a trial costs is guessed, see :func:`expected_seconds`: a wrong guess costs time, never a result.
"""

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from softspread.datasets.dataset import LackingError
from softspread.errors import InputError, MissingExtraError, SoftspreadWarning
from softspread.reproduce.measures import Bench, Row, measure
from softspread.reproduce.methods.methods import TRUTH, TRUTH_TRIALS
from softspread.reproduce.plan import Trial, fingerprint

Job = tuple[str, Trial]  # a trial and its key
Result = tuple[str, list[Row], str]  # key, rows without what they share, or why there are none
PIECE_SECONDS = 8.0  # handed to a process at once: enough to share a dataset and its graphs
USUAL_ITEMS = {"two_moons": 1_000, "sine_curve": 2_000, "digits": 1_797}
OTHER_ITEMS = 10_000  # in datasets that have to be downloaded, about
MEASURE_SECONDS = {"dcic": 2.5, "consistency": 0.3, "intervals": 0.3, "runtime": 2.0}
METHOD_SECONDS = {
    "dawid_skene": 6.0,
    "crowdlab": 1.0,
    "laplace": 0.5,
    "gkr": 0.05,
    "knn": 0.05,
}  # on 1,000 items
CHOICE_SECONDS = {"auto": 1.0, "truth": 0.1}  # of a word as parameter; "truth" for each trial of its search
SPREAD_SECONDS = 0.1  # of a method not listed above, on 1,000 items
FAR_SECONDS = {0.99: 0.2, 0.999: 0.4}  # such alpha and above


def expected_seconds(trial: Trial) -> float:
    """Guess how long a trial takes on one core.

    Examples
    --------
    >>> from softspread.reproduce.plan import load_plan
    >>> costs = [expected_seconds(trial) for trial in load_plan("moons_raw").trials()]
    >>> max(costs) > 10 * min(costs)
    True
    """
    if trial.measure in MEASURE_SECONDS:
        return MEASURE_SECONDS[trial.measure] * max(1.0, float(trial.design.get("n_items", 0)) / OTHER_ITEMS)
    usual = USUAL_ITEMS.get(str(trial.dataset["name"]), OTHER_ITEMS)
    n = int(trial.design.get("n_items") or trial.dataset.get("n_items") or usual)
    words = [value for value in trial.parameters.values() if isinstance(value, str)]
    seconds = METHOD_SECONDS.get(trial.method, SPREAD_SECONDS) + sum(
        CHOICE_SECONDS.get(word, 0.0) for word in words if word != TRUTH
    )
    if TRUTH in words and trial.draw == 0:  # the draws after the first find the search done
        seconds += CHOICE_SECONDS[TRUTH] * int(trial.options.get("truth_trials", TRUTH_TRIALS))
    alpha = trial.parameters.get("alpha", 0.0)
    if not isinstance(alpha, str):
        seconds += sum(extra for level, extra in FAR_SECONDS.items() if alpha >= level)
    return seconds * n / 1_000


class Processes:
    """Processes that plans share, started when first needed; one job runs in the caller."""

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise InputError(f"jobs must be at least 1, got {jobs}.")
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def submit(self, piece: list[Job], data: Path | None) -> "Future[list[Result]]":
        """Hand some trials to a process."""
        with _single_threads():  # processes start while work is handed over
            if self._pool is None:
                self._pool = ProcessPoolExecutor(self.jobs, mp_context=get_context("spawn"))
            return self._pool.submit(_run_piece, piece, data)


def execute(missing: Sequence[Job], data: Path | None, processes: Processes | None) -> Iterator[Result]:
    """Yield results as they come.

    A trial whose library is not installed yields the reason instead.
    """
    if processes is None or processes.jobs == 1:
        bench = Bench(data)
        for piece in pieces(missing):
            for key, trial in piece:
                yield _one(key, trial, bench)
        return
    waiting = {processes.submit(piece, data) for piece in pieces(missing)}
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
    finally:
        for future in waiting:
            future.cancel()


def pieces(missing: Sequence[Job]) -> Iterator[list[Job]]:
    """Split the work into pieces, each on one dataset.

    The dataset with the most work comes first, so that the last pieces are short. Draws that share a search
    for the best parameters, and features that share a reduction, stay in one piece.
    """
    groups: dict[str, dict[str, list[tuple[float, Job]]]] = {}
    for number, job in enumerate(missing):
        trial = job[1]
        shared = fingerprint([dict(trial.dataset), trial.design.get("n_items")])
        inseparable = str(number)
        features = str(trial.dataset.get("features", ""))
        if TRUTH in trial.parameters.values():
            inseparable = f"{trial.method}-{trial.tuning_key}"
        elif "+" in features:
            shared = inseparable = fingerprint([trial.dataset["name"], features.rstrip("0123456789")])
        groups.setdefault(shared, {}).setdefault(inseparable, []).append((expected_seconds(trial), job))
    for group in sorted(groups.values(), key=lambda group: -sum(map(_seconds, group.values()))):
        piece: list[Job] = []
        total = 0.0
        for part in sorted(group.values(), key=lambda part: -_seconds(part)):
            if piece and total + _seconds(part) > PIECE_SECONDS:
                yield piece
                piece, total = [], 0.0
            piece += [job for _, job in part]
            total += _seconds(part)
        yield piece


def _seconds(part: Sequence[tuple[float, Job]]) -> float:
    return sum(seconds for seconds, _ in part)


@contextmanager
def _single_threads() -> Iterator[None]:
    """Processes started inside use one thread of linear algebra each."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Kept:
    """The bench of this process: datasets survive from one piece of work to the next."""

    bench: Bench | None = None


def _run_piece(piece: Sequence[Job], data: Path | None) -> list[Result]:
    if _Kept.bench is None:
        _Kept.bench = Bench(data)
    return [_one(key, trial, _Kept.bench) for key, trial in piece]


def _one(key: str, trial: Trial, bench: Bench) -> Result:
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)  # trials with few votes are meant to have them
            rows = measure(trial, bench)
    except (MissingExtraError, LackingError) as error:
        return key, [], str(error)
    cost: dict[str, Any] = {"cpu_seconds": (time.process_time() - started) / max(1, len(rows))}
    return key, [row | cost for row in rows], ""
