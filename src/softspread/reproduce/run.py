"""Run the trials of plans: resumable, parallel, seeded; every result is written as soon as it is there.

    <out>/<experiment>/trials.jsonl   one row a result, appended;   trials.csv: the same as a tidy table

A trial that any experiment in the same folder has already run with the same versions is not run again. Results do not
depend on the number of processes.
"""

import json
import math
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from softspread import datasets
from softspread.datasets.core import LackingError
from softspread.errors import InputError, MissingExtraError, StoreError
from softspread.parallel import Advance
from softspread.reproduce.measures import Bench, Row, measure
from softspread.reproduce.plan import Plan, Trial, fingerprint


def no_progress(steps: int) -> None:
    """Nobody watches."""


ROWS = "trials.jsonl"
TABLE = "trials.csv"
CHUNK = 12  # trials handed to a process at once: enough to share a dataset and its graphs
LIBRARIES = ("softspread", "numpy", "scipy", "scikit-learn", "numba")
EXTRA_LIBRARIES = {
    "dawid_skene": "crowd-kit",
    "crowdlab": "cleanlab",
    "laplace": "graphlearning",
    "poisson": "graphlearning",
}
FIRST_COLUMNS = (
    "experiment",
    "dataset",
    "features",
    "method",
    "parameters",
    "budget",
    "votes",
    "n_items",
    "design",
    "options",
    "draw",
    "seed",
    "rmse",
    "mae",
    "kl",
    "total_variation",
    "accuracy",
    "mean_evidence",
    "seconds",
)


@dataclass(slots=True)
class Progress:
    """What happened while plans ran."""

    n_run: int = 0
    n_kept: int = 0
    skipped: dict[str, int] = field(default_factory=dict)  # why, and how many trials

    def skip(self, reason: str, number: int = 1) -> None:
        """Remember trials that cannot be run here."""
        self.skipped[reason] = self.skipped.get(reason, 0) + number


def versions(method: str = "") -> dict[str, str]:
    """Of Python and of the libraries that a result depends on."""
    names = [*LIBRARIES, *([EXTRA_LIBRARIES[method]] if method in EXTRA_LIBRARIES else [])]
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def run_plan(
    plan: Plan,
    out: Path,
    *,
    data: Path | None = None,
    processes: "Processes | None" = None,
    seed: int = 0,
    advance: Advance = no_progress,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Run what is missing of a plan and return its whole table.

    Parameters
    ----------
    out : folder for all results; the plan gets a folder of its own in it
    data : folder with local copies of datasets; datasets that are not there are left out, and ``progress`` says so
    processes : to share the work; None computes here
    seed : of all draws
    advance : called with the number of trials that are done
    """
    progress = Progress() if progress is None else progress
    home = out / plan.name
    make_folder(home)
    trials = list(_possible(plan.trials(seed), data, progress, advance))
    known = {key: rows for path in sorted(out.glob(f"*/{ROWS}")) for key, rows in read_rows(path).items()}
    own = read_rows(home / ROWS)
    with (home / ROWS).open("a", encoding="utf-8") as file:
        if _ends_torn(home / ROWS):
            file.write("\n")

        def keep(key: str, rows: Sequence[Row]) -> None:
            for row in rows:
                file.write(json.dumps(row | {"experiment": plan.name, "key": key}, allow_nan=False) + "\n")
            file.flush()
            own[key] = list(rows)
            advance(1)

        missing = []
        for trial in trials:
            key = stamped_key(trial)
            if key in own:
                progress.n_kept += 1
                advance(1)
            elif key in known:
                progress.n_kept += 1
                keep(key, known[key])
            else:
                missing.append((key, trial))
        for key, rows, reason in _execute(missing, data, processes):
            if reason:
                progress.skip(reason)
                advance(1)
            else:
                progress.n_run += 1
                keep(key, rows)
    wanted = [stamped_key(trial) for trial in trials]
    frame = tidy([row | {"experiment": plan.name} for key in wanted for row in own.get(key, [])])
    frame.to_csv(home / TABLE, index=False)
    return frame


def _possible(trials: Sequence[Trial], data: Path | None, progress: Progress, advance: Advance) -> Iterator[Trial]:
    """Trials whose dataset is here."""
    for trial in trials:
        name = str(trial.dataset["name"])
        if trial.measure in ("runtime", "consistency", "dcic") or datasets.available(name, data):
            yield trial
        else:
            progress.skip(f"{name} is not in the data folder. {datasets.describe(name)}")
            advance(1)


def stamped_key(trial: Trial) -> str:
    """The trial's fingerprint together with the version of this package, which may change results."""
    return fingerprint([trial.key, versions()["softspread"]])


# ----------------------------------------------------------------------------------------------------------- executing
Result = tuple[str, list[Row], str]


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

    def submit(self, chunk: list[tuple[str, Trial]], data: Path | None) -> "Future[list[Result]]":
        """Hand over some trials."""
        with _single_threads():  # processes start while work is handed over
            if self._pool is None:
                self._pool = ProcessPoolExecutor(self.jobs, mp_context=get_context("spawn"))
            return self._pool.submit(_run_chunk, chunk, data)


def _execute(missing: Sequence[tuple[str, Trial]], data: Path | None, processes: Processes | None) -> Iterator[Result]:
    """Results as they come; a trial that needs a library that is not installed comes with the reason instead."""
    if processes is None or processes.jobs == 1:
        bench = Bench(data)
        for key, trial in missing:
            yield _one(key, trial, bench)
        return
    waiting = {processes.submit(chunk, data) for chunk in _chunks(missing)}
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
    finally:
        for future in waiting:
            future.cancel()


def _chunks(missing: Sequence[tuple[str, Trial]]) -> Iterator[list[tuple[str, Trial]]]:
    """Pieces of the work that share a dataset."""
    groups: dict[str, list[tuple[str, Trial]]] = {}
    for key, trial in missing:
        groups.setdefault(fingerprint([dict(trial.dataset), trial.design.get("n_items")]), []).append((key, trial))
    for group in groups.values():
        for first in range(0, len(group), CHUNK):
            yield group[first : first + CHUNK]


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


def _run_chunk(chunk: Sequence[tuple[str, Trial]], data: Path | None) -> list[Result]:
    if _Kept.bench is None:
        _Kept.bench = Bench(data)
    return [_one(key, trial, _Kept.bench) for key, trial in chunk]


def _one(key: str, trial: Trial, bench: Bench) -> Result:
    import warnings

    from softspread.errors import SoftspreadWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)  # trials with very few votes are meant to have them
            rows = measure(trial, bench)
    except (MissingExtraError, LackingError) as error:
        return key, [], str(error)
    about = trial.describe()
    shared = {
        "dataset": about["dataset"]["name"],
        "dataset_options": {name: value for name, value in about["dataset"].items() if name != "name"},
        "method": trial.method,
        "parameters": about["parameters"],
        "budget": trial.budget,
        "design": about["design"],
        "options": {k: v for k, v in about["options"].items() if not isinstance(v, list)},
        "draw": trial.draw,
        "seed": trial.seed,
        "versions": versions(trial.method),
    }
    return key, [plain(shared | row) for row in rows], ""


def plain(value: Any) -> Any:
    """Values that JSON can hold: NumPy numbers become Python's, NaN and infinity become None."""
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -------------------------------------------------------------------------------------------------------------- tables
def read_rows(path: Path) -> dict[str, list[Row]]:
    """Rows of a file by the key of their trial; a last line that was cut off by an interruption is left out."""
    found: dict[str, list[Row]] = {}
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
            found.setdefault(row["key"], []).append(row)
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
    return found


def _ends_torn(path: Path) -> bool:
    raw = path.read_bytes()
    return bool(raw) and not raw.endswith(b"\n")


def tidy(rows: Sequence[Row]) -> pd.DataFrame:
    """One row a result; settings as short text, known columns first."""
    if not rows:
        return pd.DataFrame(columns=list(FIRST_COLUMNS))
    flat = []
    for row in rows:
        new = {name: value for name, value in row.items() if name not in ("key", "dataset_options")}
        new["features"] = row.get("features") or row.get("dataset_options", {}).get("features", "")
        rest = {k: v for k, v in row.get("dataset_options", {}).items() if k != "features"}
        new["dataset_options"] = _text(rest)
        for name in ("parameters", "design", "options", "versions", "chosen"):
            if name in new:
                new[name] = _text(new[name])
        flat.append(new)
    frame = pd.DataFrame(flat)
    columns = [name for name in FIRST_COLUMNS if name in frame] + [c for c in frame if c not in FIRST_COLUMNS]
    return frame[columns]


def _text(settings: Any) -> str:
    return json.dumps(settings, sort_keys=True)


def setting(text: str, name: str, default: Any = None) -> Any:
    """One value out of a column of settings."""
    return json.loads(text).get(name, default)


def make_folder(path: Path) -> None:
    """A folder to write into."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path}: {error.strerror}.") from error


def each(frame: pd.DataFrame, column: str, name: str) -> "pd.Series[Any]":
    """A setting of every row."""
    read: Callable[[str], Any] = lambda text: setting(text, name)  # noqa: E731
    return frame[column].map(read)
