"""The tables of docs/measurements-posterior.md: datasets by budgets, as Markdown.

table_*.csv in DIR  ->  DIR/page.md
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from experiments.posterior.store import read
from experiments.posterior.tables import LEVEL, MEASURES, VARIANTS

Text = Callable[[pd.Series], str]


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


def matrix(table: pd.DataFrame, columns: str, text: Text) -> str:
    """One line per dataset, one column per budget."""
    cells = table.assign(text=[text(row) for _, row in table.iterrows()])
    wide = cells.pivot_table(index="dataset", columns=columns, values="text", aggfunc="first", sort=False)
    wide = wide[sorted(wide.columns)]
    wide.columns = [f"{name:g}" for name in wide.columns]
    return markdown(wide.fillna("").reset_index())


def with_worst(mean: str, worst: str) -> Text:
    """A mean with the worst draw behind it."""
    return lambda row: "" if pd.isna(row[mean]) else f"{number(row[mean])} ({number(row[worst])})"


def labels(folder: Path, role: str) -> list[str]:
    """Soft labels against peers and against spreading alone."""
    groups, cells = (_of(read(folder / f"table_{name}.csv"), role) for name in ("groups", "cells"))
    parts = [markdown(groups)] if len(groups) else []
    for measure in MEASURES if len(cells) else ():
        some = cells[cells["measure"] == measure]
        name = measure.upper()
        parts += [
            f"{name}, mean over draws:",
            matrix(some, "budget", lambda row: number(row["labeler"])),
            f"{name} as a ratio to the best peer in hindsight (worst draw against that draw's best):",
            matrix(some, "budget", with_worst("of peer", "worst draw of peer")),
            f"{name} as a ratio to PLS auto (worst draw):",
            matrix(some, "budget", with_worst("of pls auto", "worst draw of pls auto")),
        ]
    return parts


def intervals(folder: Path, role: str) -> list[str]:
    """Coverage and width."""
    goals, cells = (_of(read(folder / f"table_{name}.csv"), role) for name in ("coverage_goals", "coverage"))
    if not len(goals):
        return []
    at = cells[cells["level"] == LEVEL]
    parts = [markdown(goals.drop(columns="method"))]
    for kind, words in (("all", "all entries"), ("large", "true p > .05"), ("small", "true p in (0, .05]")):
        parts += [
            f"Coverage at .9, {words}, mean (lowest draw):",
            matrix(at, "budget", with_worst(kind, f"{kind}_worst")),
        ]
    return [*parts, "Mean width at .9:", matrix(at, "budget", lambda row: number(row["width"]))]


def others(folder: Path, role: str) -> list[str]:
    """Second votes, widths against other intervals, quality."""
    parts = []
    variants = (f"{name}_goals" for name in VARIANTS)
    for name in ("widths", "pls_coverage_goals", *variants, "repeats", "quality"):
        table = _of(read(folder / f"table_{name}.csv"), role)
        if len(table):
            parts += [f"{name.replace('_', ' ')}:", markdown(table)]
    return parts


def _of(table: pd.DataFrame, role: str) -> pd.DataFrame:
    return table[table["role"] == role].drop(columns="role") if len(table) else table


def write_page(folder: Path) -> None:
    """Write all tables as Markdown."""
    parts = []
    for role in ("design", "judge"):
        parts += [f"## {role}", *labels(folder, role), *intervals(folder, role), *others(folder, role)]
    (folder / "page.md").write_text("\n\n".join(parts) + "\n")
