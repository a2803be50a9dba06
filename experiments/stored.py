"""Results as the documentation shows them: ``experiments/results/<name>.json``.

    tables and the commands behind them  ->  {"runs": [...], "tables": [{"title", "columns", "rows"}]}

The pages of the site draw their tables from these files, so that no figure is typed by hand.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"


def this_commit() -> str:
    """The commit that is checked out; with -dirty where code differs from it (stored results may)."""
    git = ["git", "-C", str(ROOT)]
    commit = subprocess.run(
        [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    )
    words = [*git, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!experiments/results"]
    changed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return commit.stdout.strip() + ("-dirty" if changed else "")


def this_run() -> dict[str, str]:
    """The command that is running, its date and commit."""
    module = ".".join(Path(sys.argv[0]).resolve().relative_to(ROOT).with_suffix("").parts)
    command = " ".join(["python -m", module.removesuffix(".__main__"), *without_folders(sys.argv[1:])])
    return {"command": command, "date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": this_commit()}


def without_folders(words: Sequence[str]) -> list[str]:
    """Arguments without the places of files, which differ from machine to machine."""
    kept, left = [], iter(words)
    for word in left:
        if word in ("--data", "--folder", "--out", "--jsonl"):
            next(left, None)
        else:
            kept.append(word)
    return kept


def store(name: str, tables: Mapping[str, pd.DataFrame], runs: Sequence[Mapping[str, str]] = ()) -> Path:
    """Write the tables by title, with what was run; tables of other titles stay as they are.

    Without ``runs`` it is the command that is running now.
    """
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text()) if path.exists() else {"runs": [], "tables": []}
    runs = list(runs) or [this_run()]
    commands = {run["command"] for run in runs}
    new = {
        title: {"title": title, "columns": [str(column) for column in table.columns], "rows": rows(table)}
        for title, table in tables.items()
    }
    drawn = {table["title"]: table for table in before["tables"]} | new
    kept = [run for run in before["runs"] if run["command"] not in commands]
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps({"runs": kept + runs, "tables": list(drawn.values())}, indent=1) + "\n")
    return path


class Sheet:
    """Tables that grow row by row: each row is printed as it comes, all are stored at the end.

    Parameters
    ----------
    name : of the stored file
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._tables: dict[str, list[Mapping[str, Any]]] = {}

    def add(self, title: str, row: Mapping[str, Any]) -> None:
        """Add a row to the table of that title."""
        if title not in self._tables:
            print(f"\n{title}\n{' | '.join(row)}")
        self._tables.setdefault(title, []).append(row)
        print(
            " | ".join(f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row.values()),
            flush=True,
        )

    def save(self) -> Path:
        """Store all tables."""
        return store(self.name, {title: pd.DataFrame(table) for title, table in self._tables.items()})


def rows(table: pd.DataFrame) -> list[list[Any]]:
    """Plain numbers and text; None where there is nothing."""
    return [
        [None if pd.isna(cell) else getattr(cell, "item", lambda cell=cell: cell)() for cell in row]
        for row in table.astype(object).to_numpy().tolist()
    ]
