"""The tables of docs/measurements-posterior.md, from what was run.

DIR/table_*.csv, DIR/runs.log  ->  experiments/results/posterior.json, which the page draws
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from experiments.posterior.store import read
from experiments.posterior.tables import LEVEL, MEASURES
from experiments.stored import store

Text = Callable[[pd.Series], str]
Tables = dict[str, pd.DataFrame]  # by title
TITLES = {"design": "Design sets", "judge": "Judging sets"}
CAPTIONS = {
    "widths": "Mean width at .9 against intervals of spreading alone",
    "pls_coverage_goals": "Coverage of intervals of spreading alone",
    "prior_goals": "Coverage with a classifier as prior",
    "named_goals": "Coverage where the votes carry the names of 20 honest people",
    "spammers_goals": "Coverage where 4 of these 20 people vote at random",
    "repeats": "One vote on each item and second votes on a few",
    "quality": "Quality: share of runs in which the interval holds, bias and width",
}


def markdown(table: pd.DataFrame) -> str:
    """Rows with bars; numbers without a leading zero."""
    rows = [list(table.columns), ["---"] * len(table.columns), *table.astype(object).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(number(cell) for cell in row) + " |" for row in rows)


def number(value: object) -> str:
    """Three decimals: .912, 1.052; nothing where there is nothing."""
    if not isinstance(value, float):
        return str(value)
    if pd.isna(value):
        return ""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def matrix(table: pd.DataFrame, columns: str, text: Text) -> pd.DataFrame:
    """One line per dataset, one column per budget."""
    cells = table.assign(text=[text(row) for _, row in table.iterrows()])
    wide = cells.pivot_table(index="dataset", columns=columns, values="text", aggfunc="first", sort=False)
    wide = wide[sorted(wide.columns)]
    wide.columns = [f"{name:g}" for name in wide.columns]
    return wide.fillna("").reset_index()


def with_worst(mean: str, worst: str) -> Text:
    """A mean with the worst draw behind it."""
    return lambda row: "" if pd.isna(row[mean]) else f"{number(row[mean])} ({number(row[worst])})"


def labels(folder: Path, role: str) -> Tables:
    """Soft labels against peers and against spreading alone."""
    groups, cells = (_of(read(folder / f"table_{name}.csv"), role) for name in ("groups", "cells"))
    found = {"goals for soft labels": groups} if len(groups) else {}
    for measure in MEASURES if len(cells) else ():
        some = cells[cells["measure"] == measure]
        name = measure.upper()
        found |= {
            f"{name}, mean over draws": matrix(some, "budget", lambda row: number(row["labeler"])),
            f"{name} as a ratio to the best peer in hindsight (worst draw against that draw's best)": matrix(
                some, "budget", with_worst("of peer", "worst draw of peer")
            ),
            f"{name} as a ratio to PLS auto (worst draw)": matrix(
                some, "budget", with_worst("of pls auto", "worst draw of pls auto")
            ),
        }
    return found


def intervals(folder: Path, role: str) -> Tables:
    """Coverage and width."""
    goals, cells = (_of(read(folder / f"table_{name}.csv"), role) for name in ("coverage_goals", "coverage"))
    if not len(goals):
        return {}
    at = cells[cells["level"] == LEVEL]
    found = {"goals for coverage": goals.drop(columns="method")}
    for kind, words in (("all", "all entries"), ("large", "true p > .05"), ("small", "true p in (0, .05]")):
        title = f"coverage at .9, {words}, mean (lowest draw)"
        found[title] = matrix(at, "budget", with_worst(kind, f"{kind}_worst"))
    return found | {"mean width at .9": matrix(at, "budget", lambda row: number(row["width"]))}


def others(folder: Path, role: str) -> Tables:
    """Second votes, widths against other intervals, quality."""
    tables = {caption: _of(read(folder / f"table_{name}.csv"), role) for name, caption in CAPTIONS.items()}
    return {caption: table for caption, table in tables.items() if len(table)}


def _of(table: pd.DataFrame, role: str) -> pd.DataFrame:
    return table[table["role"] == role].drop(columns="role") if len(table) else table


def runs(folder: Path, module: str = "experiments.posterior", of: str = "") -> list[dict[str, str]]:
    """The commands in runs.log that begin with a word, with commit and date."""
    lines = [line.split(maxsplit=2) for line in (folder / "runs.log").read_text().splitlines()]
    return [
        {"date": date, "commit": commit.rstrip(":"), "command": f"python -m {module} {words}"}
        for date, commit, words in lines
        if words.startswith(of)
    ]


def write_page(folder: Path) -> Path:
    """Store all tables for the page, titles beginning with the kind of datasets."""
    tables = {
        f"{kind}: {title}": table
        for role, kind in TITLES.items()
        for part in (labels, intervals, others)
        for title, table in part(folder, role).items()
    }
    return store("posterior", tables, runs(folder))
