"""The tables of docs/measurements-quality.md, as Markdown.

quality.csv, forecast.csv and runs.log in DIR  ->  DIR/quality.md
"""

from pathlib import Path

import pandas as pd
from experiments.posterior import gains
from experiments.posterior.datasets import role_of
from experiments.posterior.page import markdown, number
from experiments.posterior.store import read
from experiments.posterior.tables import ROLES, quality

MEASURES = {"rmse": "RMSE", "kl": "KL", "accuracy": "accuracy"}
SETS = {"judge": "Judging sets", "design": "Design sets", "extra": "A hundred made-up classes"}


def write_page(folder: Path) -> None:
    """Write all tables whose results are there, and the commands behind them."""
    parts = sections(folder)
    if (folder / "runs.log").exists():
        parts.append(f"```\n{(folder / 'runs.log').read_text().strip()}\n```")
    (folder / "quality.md").write_text("\n\n".join(parts) + "\n")


def sections(folder: Path) -> list[str]:
    """Titles and tables."""
    judged, forecasts = read(folder / "quality.csv"), read(folder / "forecast.csv")
    parts: list[str] = []
    for role in ROLES:
        if len(judged):
            parts += _quality(judged, role)
        if len(forecasts):
            parts += _forecasts(forecasts, role)
    return parts


def _quality(found: pd.DataFrame, role: str) -> list[str]:
    mine = found[found["dataset"].map(role_of) == role]
    if not len(mine):
        return []
    rows = []
    for (items, name), part in quality(mine).groupby(["items", "dataset"], sort=False):
        row = {"items": items, "dataset": name, "runs": int(part["runs"].iloc[0])}
        for measure, title in MEASURES.items():
            one = part[part["measure"] == measure].iloc[0]
            row |= {
                f"{title}: held": one["held"],
                f"{title}: bias": one["bias"],
                f"{title}: width": one["width"],
            }
        rows.append(row)
    parts = [f"{SETS[role]}, all runs:", markdown(pd.DataFrame(rows))]
    telling = mine[mine["rmse_lower"] > 0]  # the others hold all that is possible
    if role != "design" and len(telling):
        parts += [f"{SETS[role]}, every run with at least 40 second votes:", _single(telling)]
    return parts


def _single(found: pd.DataFrame) -> str:
    rows = []
    for _, run in found.iterrows():
        row = {"dataset": run["dataset"], "votes per item": f"{run['budget']:g}", "items": run["items"]}
        for measure, title in MEASURES.items():
            true, value, lower, upper = (
                number(float(run[f"{measure}_{part}"])) for part in ("true", "value", "lower", "upper")
            )
            row[f"{title}: true, estimate (interval)"] = f"{true}, {value} ({lower} to {upper})"
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def _forecasts(found: pd.DataFrame, role: str) -> list[str]:
    parts = []
    tables = {
        "gain of further votes as a share of the RMSE": gains.gains(found),
        "runs by what was asked, the real gain, and what `worthwhile` said": gains.stops(found),
    }
    for title, table in tables.items():
        mine = table[table["role"] == role].drop(columns="role")
        if len(mine):
            parts += [f"{SETS[role]}, {title}:", markdown(mine)]
    return parts
