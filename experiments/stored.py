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


def this_run() -> dict[str, str]:
    """The command that is running, its date and commit."""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    commit = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    program = Path(sys.argv[0])
    name = program.relative_to(ROOT) if program.is_relative_to(ROOT) else program.name
    command = " ".join(["python", str(name), *without_folders(sys.argv[1:])])
    return {"command": command, "date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit}


def without_folders(words: Sequence[str]) -> list[str]:
    """Arguments without the places of files, which differ from machine to machine."""
    kept, left = [], iter(words)
    for word in left:
        if word in ("--data", "--out", "--jsonl"):
            next(left, None)
        else:
            kept.append(word)
    return kept


def store(name: str, tables: Mapping[str, pd.DataFrame], runs: Sequence[Mapping[str, str]] = ()) -> Path:
    """Write the tables by title, each with its rows as numbers, and what was run."""
    drawn = [
        {"title": title, "columns": [str(column) for column in table.columns], "rows": rows(table)}
        for title, table in tables.items()
    ]
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"runs": list(runs) or [this_run()], "tables": drawn}, indent=1) + "\n")
    return path


def rows(table: pd.DataFrame) -> list[list[Any]]:
    """Plain numbers and text; None where there is nothing."""
    return [
        [None if pd.isna(cell) else getattr(cell, "item", lambda cell=cell: cell)() for cell in row]
        for row in table.astype(object).to_numpy().tolist()
    ]
