"""The tables of docs/measurements-quality.md, from what was run.

quality.csv, forecast.csv and runs.log in DIR  ->  experiments/results/quality.json, which the page draws
"""

from pathlib import Path

import pandas as pd
from experiments.posterior import gains
from experiments.posterior.datasets import role_of
from experiments.posterior.page import Tables, number, runs
from experiments.posterior.store import read
from experiments.posterior.tables import ROLES, quality
from experiments.stored import store

MEASURES = {"rmse": "RMSE", "kl": "KL", "accuracy": "accuracy", "agreement": "agreement"}
SETS = {"judge": "Judging sets", "design": "Design sets", "extra": "A hundred made-up classes"}


def write_page(folder: Path) -> Path | None:
    """Store all tables whose results are there; None where nothing was run."""
    found = sections(folder)
    commands = [run for kind in ("quality", "forecast") for run in runs(folder, of=kind)]
    return store("quality", found, commands) if found else None


def sections(folder: Path) -> Tables:
    """Tables by title."""
    judged, forecasts = read(folder / "quality.csv"), read(folder / "forecast.csv")
    found: Tables = {}
    for role in ROLES:
        if len(judged):
            found |= _quality(judged, role)
        if len(forecasts):
            found |= _forecasts(forecasts, role)
    return found


def _quality(found: pd.DataFrame, role: str) -> Tables:
    mine = found[found["dataset"].map(role_of) == role]
    if not len(mine):
        return {}
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
    tables = {f"{SETS[role]}: intervals that held, bias and width, all runs": pd.DataFrame(rows)}
    telling = mine[mine["rmse_lower"] > 0]  # the others hold all that is possible
    if role != "design" and len(telling):
        tables[f"{SETS[role]}: every run with at least 40 second votes"] = _single(telling)
    return tables


def _single(found: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for _, run in found.iterrows():
        row = {"dataset": run["dataset"], "votes per item": f"{run['budget']:g}", "items": run["items"]}
        for measure, title in MEASURES.items():
            true, value, lower, upper = (
                number(float(run[f"{measure}_{part}"])) for part in ("true", "value", "lower", "upper")
            )
            row[f"{title}: true, estimate (interval)"] = f"{true}, {value} ({lower} to {upper})"
        rows.append(row)
    return pd.DataFrame(rows)


def _forecasts(found: pd.DataFrame, role: str) -> Tables:
    tables = {
        "gain of further votes as a share of the RMSE": gains.gains(found),
        "runs by what was asked, the real gain, and what worthwhile said": gains.stops(found),
    }
    mine = {f"{SETS[role]}: {title}": table[table["role"] == role] for title, table in tables.items()}
    return {title: table.drop(columns="role") for title, table in mine.items() if len(table)}
