"""The tables of docs/measurements-quality.md, as Markdown.

quality.csv, forecast.csv and runs.log in DIR  ->  DIR/quality.md
"""

from pathlib import Path

import pandas as pd
from experiments.posterior import gains
from experiments.posterior.page import markdown
from experiments.posterior.store import read
from experiments.posterior.tables import ROLES, quality

MEASURES = {"rmse": "RMSE", "kl": "KL", "accuracy": "Accuracy"}


def write_page(folder: Path) -> None:
    """Write all tables whose results are there."""
    parts = []
    judged, forecasts = read(folder / "quality.csv"), read(folder / "forecast.csv")
    for role in ROLES:
        if len(judged):
            parts += _quality(quality(judged), role)
        if len(forecasts):
            parts += _forecasts(forecasts, role)
    if (folder / "runs.log").exists():
        parts += ["## Commands and commits", "```", (folder / "runs.log").read_text().strip(), "```"]
    (folder / "quality.md").write_text("\n\n".join(parts) + "\n")


def _quality(table: pd.DataFrame, role: str) -> list[str]:
    parts = []
    for measure, title in MEASURES.items():
        mine = table[(table["role"] == role) & (table["measure"] == measure)]
        if len(mine):
            parts += [f"### {title} ({role})", markdown(mine.drop(columns=["role", "measure"]))]
    return parts


def _forecasts(found: pd.DataFrame, role: str) -> list[str]:
    parts = []
    for title, table in (
        ("Gain of further votes", gains.gains(found)),
        ("Stop or go on", gains.stops(found)),
    ):
        mine = table[table["role"] == role].drop(columns="role")
        if len(mine):
            parts += [f"### {title} ({role})", markdown(mine)]
    return parts
