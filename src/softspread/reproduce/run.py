"""Run the trials of plans: resumable, parallel, seeded; every result is written as soon as it is there.

    <out>/<experiment>/trials.jsonl   one row per result, appended;   trials.csv: the same as a tidy table

A trial that any experiment in the same folder has already run with the same versions is not run again, and
one that several experiments ask for is run once. Results do not depend on the number of processes.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from softspread import datasets
from softspread._common.plain import plain
from softspread._common.progress import Advance
from softspread._common.versions import version_of, versions
from softspread.datasets.registry import prepared_stamps
from softspread.errors import StoreError
from softspread.io.spreadsheets import frame_for_csv
from softspread.reproduce.dcic.benchmark import reason_against
from softspread.reproduce.measures import Row
from softspread.reproduce.plan import Plan, Trial, fingerprint
from softspread.reproduce.pool import Processes, execute


def no_progress(steps: int) -> None:
    """Report to nobody."""


NO_DATASET = ("runtime", "consistency", "dcic", "quoted")  # measures that find or make their own items
ROWS = "trials.jsonl"
TABLE = "trials.csv"
EXTRA_LIBRARIES = {
    "dawid_skene": ("crowd-kit",),
    "crowdlab": ("cleanlab",),
    "laplace": ("graphlearning",),
    "poisson": ("graphlearning",),
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
    "cpu_seconds",
)


@dataclass(slots=True)
class Progress:
    """Events of a run of plans."""

    n_run: int = 0
    n_kept: int = 0
    skipped: dict[str, int] = field(default_factory=dict)  # why, and how many trials

    def skip(self, reason: str, number: int = 1) -> None:
        """Remember trials that cannot be run here."""
        self.skipped[reason] = self.skipped.get(reason, 0) + number


Finished = Callable[[Plan, pd.DataFrame], None]


def run_plans(
    plans: Sequence[Plan],
    out: Path,
    *,
    data: Path | None = None,
    processes: Processes | None = None,
    seed: int = 0,
    advance: Advance = no_progress,
    progress: Progress | None = None,
    finished: Finished = lambda plan, frame: None,
) -> dict[str, pd.DataFrame]:
    """Run what is missing of several plans together and return their whole tables, by name.

    Parameters
    ----------
    out : folder for all results; every plan gets a folder of its own in it
    data : folder with local copies of datasets; datasets that are not there are left out, and ``progress``
        says so
    processes : to share the work; None computes here
    seed : of all draws
    advance : called with the number of trials that are done, counting a trial once for each plan that asks
        for it
    finished : called with a plan and its table as soon as its last trial is there
    """
    progress = Progress() if progress is None else progress
    tables: dict[str, pd.DataFrame] = {}
    with ExitStack() as stack:
        books = [stack.enter_context(_Book(plan, out, seed, data, progress, advance)) for plan in plans]
        known = {key: rows for path in sorted(out.glob(f"*/{ROWS}")) for key, rows in read_rows(path).items()}
        for book in books:
            book.take_known(known)
        missing = {key: trial for book in books for key, trial in book.missing.items()}

        def close_finished() -> None:
            for book in books:
                if not book.missing and book.plan.name not in tables:
                    tables[book.plan.name] = frame = book.table()
                    finished(book.plan, frame)

        close_finished()
        for key, rows, reason in execute(list(missing.items()), data, processes):
            done = [] if reason else [plain(_about(missing[key]) | row) for row in rows]
            progress.n_run += not reason
            asking = [book for book in books if key in book.missing]
            for number, book in enumerate(asking):
                book.take(key, done, reason)
                progress.n_kept += number > 0 and not reason
            close_finished()
    return {plan.name: tables[plan.name] for plan in plans}


class _Book:
    """One plan's trials: which are there, which are missing, and the file that results are written to."""

    def __init__(
        self, plan: Plan, out: Path, seed: int, data: Path | None, progress: Progress, advance: Advance
    ) -> None:
        self.plan, self.home, self.progress, self.advance = plan, out / plan.name, progress, advance
        make_folder(self.home)
        trials = list(_possible(plan.trials(seed), data, progress, advance))
        self.wanted = [stamped_key(trial, data) for trial in trials]
        self.rows = read_rows(self.home / ROWS)
        self.missing: dict[str, Trial] = {}
        for key, trial in zip(self.wanted, trials, strict=True):
            if key in self.rows:
                progress.n_kept += 1
                advance(1)
            else:
                self.missing[key] = trial
        path = self.home / ROWS
        self._file: TextIO = path.open("a", encoding="utf-8")
        if _ends_torn(path):
            self._file.write("\n")

    def __enter__(self) -> "_Book":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def take_known(self, known: Mapping[str, list[Row]]) -> None:
        """Copy what another experiment has run."""
        for key in [key for key in self.missing if key in known]:
            self.progress.n_kept += 1
            self.take(key, known[key])

    def take(self, key: str, rows: Sequence[Row], reason: str = "") -> None:
        """Write down a result, or why there is none."""
        if reason:
            self.progress.skip(reason)
        else:
            for row in rows:
                text = json.dumps(row | {"experiment": self.plan.name, "key": key}, allow_nan=False)
                self._file.write(text + "\n")
            self._file.flush()
            self.rows[key] = list(rows)
        del self.missing[key]
        self.advance(1)

    def table(self) -> pd.DataFrame:
        """All rows in the order of the plan, also written as a tidy table."""
        rows = [row | {"experiment": self.plan.name} for key in self.wanted for row in self.rows.get(key, [])]
        frame = tidy(rows)
        frame_for_csv(frame).to_csv(self.home / TABLE, index=False)
        return frame


def _possible(
    trials: Sequence[Trial], data: Path | None, progress: Progress, advance: Advance
) -> Iterator[Trial]:
    """Leave out trials whose dataset is not in the data folder."""
    for trial in trials:
        name = str(trial.dataset["name"])
        if trial.measure == "dcic" and (reason := reason_against(name, data)):
            progress.skip(reason)
            advance(1)
        elif trial.measure in NO_DATASET or datasets.available(name, data):
            yield trial
        else:
            progress.skip(f"{name} is not in the data folder. {datasets.describe(name)}")
            advance(1)


def stamped_key(trial: Trial, data: Path | None = None) -> str:
    """The trial's fingerprint with what else may change results: our version, files beside the dataset."""
    return fingerprint([trial.key, version_of("softspread"), *_files_of(trial, data)])


def _files_of(trial: Trial, data: Path | None) -> list[dict[str, str]]:
    """Marks of features, predictions and soft labels of a trial's dataset; empty where it has none."""
    name = str(trial.dataset["name"])
    if data is None or (trial.measure in NO_DATASET and trial.measure != "dcic"):
        return []
    name = f"dcic:{name}" if trial.measure == "dcic" else name
    features = trial.dataset.get("features")
    found = prepared_stamps(name, data, None if features is None else str(features))
    return [found] if found else []


def _about(trial: Trial) -> Row:
    """Columns that the rows of a trial share."""
    about = trial.describe()
    return {
        "dataset": about["dataset"]["name"],
        "dataset_options": {name: value for name, value in about["dataset"].items() if name != "name"},
        "method": trial.method,
        "parameters": about["parameters"],
        "budget": trial.budget,
        "design": about["design"],
        "options": {k: v for k, v in about["options"].items() if not isinstance(v, list)},
        "draw": trial.draw,
        "seed": trial.seed,
        "versions": versions(*EXTRA_LIBRARIES.get(trial.method, ())),
    }


# ----------------------------------------------------------------------------------------------------- tables
def read_rows(path: Path) -> dict[str, list[Row]]:
    """Read the rows of a file, by the key of their trial.

    A last line cut off by an interruption is left out.
    """
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
    """One row per result; settings as short text, known columns first."""
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
    """Read one value of an entry of settings."""
    return json.loads(text).get(name, default)


def make_folder(path: Path) -> None:
    """Make a folder to write into."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path}: {error.strerror}.") from error


def each(frame: pd.DataFrame, column: str, name: str) -> "pd.Series[Any]":
    """Read one setting of every row."""
    read: Callable[[str], Any] = lambda text: setting(text, name)  # noqa: E731
    return frame[column].map(read)
