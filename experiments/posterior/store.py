"""A results file that can be continued: one row per dataset, budget, draw and method.

Rows are appended as they are finished; a run that is started again skips them.
"""

import csv
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
from experiments.stored import this_commit, without_folders


class Store:
    """Rows of one kind in one CSV file, each known by its key columns."""

    def __init__(self, path: Path, key: Sequence[str], values: Sequence[str]) -> None:
        self.path, self.key, self.columns = path, tuple(key), [*key, *values]
        self.done: set[tuple[str, ...]] = set()
        if path.exists():
            with path.open(newline="") as file:
                self.done = {tuple(row[name] for name in self.key) for row in csv.DictReader(file)}
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(",".join(self.columns) + "\n")

    def has(self, *key: object) -> bool:
        """Whether a row with this key is there."""
        return tuple(map(str, key)) in self.done

    def add(self, key: Sequence[object], values: Mapping[str, object]) -> None:
        """Append one row at once."""
        row = dict(zip(self.key, key, strict=True)) | dict(values)
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, self.columns).writerow(row)
        self.done.add(tuple(map(str, key)))


def read(path: Path) -> pd.DataFrame:
    """All rows of a file; an empty table where there is none."""
    return pd.read_csv(path) if path.exists() else pd.DataFrame()


def log_run(out: Path) -> str:
    """Note what was run, when, and on which commit, beside the results."""
    words = " ".join(without_folders(sys.argv[1:]))
    line = f"{datetime.now(UTC):%Y-%m-%d} {this_commit()}: {words}"
    out.mkdir(parents=True, exist_ok=True)
    with (out / "runs.log").open("a") as file:
        file.write(line + "\n")
    return line
