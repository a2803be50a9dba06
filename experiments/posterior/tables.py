"""Tables of what has been run, design and judging sets apart, as text and CSV.

    results in DIR  ->  DIR/tables.txt, DIR/table_*.csv

Peers are taken at their best setting *in hindsight*: by the mean over the draws of a cell ("by cell") and in
every single draw ("by draw"). Nobody could choose that well; a ratio of 1 is a strong result.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from experiments.posterior.datasets import HUMAN, MADE_UP, role_of
from experiments.posterior.peers import REFERENCES
from experiments.posterior.store import read

GROUPS = {"<= 2 %": 0.02, "10-30 %": 0.3, ">= 100 %": np.inf}  # upper ends, votes per item
GOALS = {"<= 2 %": 1.05, "10-30 %": 1.00, ">= 100 %": 0.97}
NEVER_ABOVE, NEVER_ABOVE_FROM_ONE = 1.02, 1.00  # of PLS auto; from one vote per item on
LEVEL = 0.9
ROLES = ("design", "judge", "extra")
CELL_MEAN, SINGLE_DRAW, LARGE, SMALL = 0.86, 0.82, 0.82, 0.75  # coverage at .9
HELD = 0.85  # share of runs in which an interval of quality holds
MEASURES = ("rmse", "kl")
CELL = ["dataset", "budget"]
VARIANTS = {
    "prior": "with a classifier as prior",
    "named": "of honest votes with names",
    "spammers": "where 4 of 20 people vote at random",
}


def group_of(budget: float) -> str:
    """The budget group of a budget."""
    return next(name for name, end in GROUPS.items() if budget <= end)


def geometric(values: pd.Series) -> float:
    """Geometric mean."""
    return float(np.exp(np.log(values).mean()))


# --------------------------------------------------------------------------------------------- against peers
def compare(labeler: pd.DataFrame, peers: pd.DataFrame, measure: str) -> pd.DataFrame:
    """One row per dataset, budget and draw: SoftLabeler, and every rival to compare it with."""
    family = peers["method"].str.split(":").str[0]
    rivals = peers[~family.isin(REFERENCES)]
    key = [*CELL, "draw"]
    table = labeler.set_index(key)[[measure]].rename(columns={measure: "labeler"})
    draws = table.index
    table["peer by draw"] = rivals.groupby(key)[measure].min()
    met = rivals[rivals.set_index(key).index.isin(draws)]  # the best by mean is judged on the same draws
    means = met.groupby([*CELL, "method"])[measure].mean().reset_index()
    best = means.loc[means.groupby(CELL)[measure].idxmin()].set_index(CELL)
    cells = pd.MultiIndex.from_arrays([draws.get_level_values(name) for name in CELL])
    table["peer"] = best["method"].reindex(cells).to_numpy()
    table["peer by cell"] = best[measure].reindex(cells).to_numpy()
    for name in REFERENCES:
        table[name] = peers[family == name].groupby(key)[measure].min()
    return table.dropna().reset_index()


def by_cell(labeler: pd.DataFrame, peers: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset, budget and measure: means over draws and ratios."""
    rows = []
    for measure in MEASURES:
        for (name, budget), part in compare(labeler, peers, measure).groupby(CELL):
            auto = part["labeler"] / part["pls_auto"]
            rows.append(
                {
                    "role": role_of(name),
                    "dataset": name,
                    "budget": budget,
                    "measure": measure,
                    "draws": len(part),
                    "labeler": part["labeler"].mean(),
                    "peer": part["peer"].iloc[0],
                    "of peer": part["labeler"].mean() / part["peer by cell"].iloc[0],
                    "of peer by draw": geometric(part["labeler"] / part["peer by draw"]),
                    "worst draw of peer": (part["labeler"] / part["peer by draw"]).max(),
                    "of pls auto": part["labeler"].mean() / part["pls_auto"].mean(),
                    "se": float(auto.std(ddof=1) / np.sqrt(len(auto))) if len(auto) > 1 else np.nan,
                    "worst draw of pls auto": auto.max(),
                    "of pls + classifier": part["labeler"].mean() / part["pls_classifier"].mean(),
                }
            )
    return pd.DataFrame(rows)


def by_group(cells: pd.DataFrame) -> pd.DataFrame:
    """Geometric means over cells, with the goals: all datasets, those of real items, those of a formula."""
    cells = cells.assign(group=cells["budget"].map(group_of), sets="all")
    kinds = cells.assign(sets=np.where(cells["dataset"].isin(MADE_UP), "made up", "real items"))
    both = pd.concat([cells, kinds[kinds["role"] == "design"]])
    rows = []
    for (role, sets, measure, group), part in both.groupby(["role", "sets", "measure", "group"], sort=False):
        ratio = geometric(part["of peer"])
        rows.append(
            {
                "role": role,
                "sets": sets,
                "measure": measure,
                "votes": group,
                "cells": len(part),
                "of peer by cell": ratio,
                "goal": GOALS[group],
                "reached": "yes" if ratio <= GOALS[group] else "NO",
                "of peer by draw": geometric(part["of peer by draw"]),
                "of pls auto": geometric(part["of pls auto"]),
                "worst cell": part["of pls auto"].max(),
                "of pls + classifier": geometric(part["of pls + classifier"]),
            }
        )
    return pd.DataFrame(rows)


def above_auto(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells that lose more to PLS auto than is allowed, worst first."""
    allowed = np.where(cells["budget"] >= 1, NEVER_ABOVE_FROM_ONE, NEVER_ABOVE)
    columns = ["role", "dataset", "budget", "measure", "of pls auto", "se", "worst draw of pls auto"]
    return cells[cells["of pls auto"] > allowed][columns].sort_values("of pls auto", ascending=False)


# ------------------------------------------------------------------------------------------------- intervals
def coverage(intervals: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset, budget, method and level: mean coverage, the worst draw, the mean width."""
    grouped = intervals.groupby([*CELL, "method", "level"])
    table = grouped.agg(
        draws=("all", "size"),
        all=("all", "mean"),
        all_worst=("all", "min"),
        large=("large", "mean"),
        large_worst=("large", "min"),
        small=("small", "mean"),
        small_worst=("small", "min"),
        width=("width", "mean"),
    ).reset_index()
    table.insert(0, "role", table["dataset"].map(role_of))
    return table


def coverage_goals(table: pd.DataFrame) -> pd.DataFrame:
    """How many cells and draws miss the goals, by role and level."""
    rows = []
    for (role, method, level), part in table.groupby(["role", "method", "level"]):
        loss = (1 - level) / (1 - LEVEL)  # goals of other levels: the same share of the level's own miss
        cell, single = 1 - (1 - CELL_MEAN) * loss, 1 - (1 - SINGLE_DRAW) * loss
        large, small = 1 - (1 - LARGE) * loss, 1 - (1 - SMALL) * loss
        rows.append(
            {
                "role": role,
                "method": method,
                "level": level,
                "cells": len(part),
                "all": part["all"].mean(),
                "lowest cell": part["all"].min(),
                "lowest draw": part["all_worst"].min(),
                "large": part["large"].mean(),
                "lowest large": part["large"].min(),
                "small": part["small"].mean(),
                "lowest small": part["small"].min(),
                "width": part["width"].mean(),
                "cells below": int((part["all"] < cell).sum()),
                "cells with a draw below": int((part["all_worst"] < single).sum()),
                "large below": int((part["large"] < large).sum()),
                "small below": int((part["small"] < small).sum()),
            }
        )
    return pd.DataFrame(rows)


def widths(ours: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Mean width at .9 as a share of that of spreading alone, by cell, for every other method."""
    if others.empty:
        return pd.DataFrame()
    mine = ours[ours["level"] == LEVEL].set_index(CELL)["width"]
    rows = []
    for method, part in others[others["level"] == LEVEL].groupby("method"):
        both = pd.concat([mine.rename("a"), part.set_index(CELL)["width"].rename("b")], axis=1).dropna()
        for role, some in both.groupby(both.index.get_level_values("dataset").map(role_of)):
            mean = {"ratio of mean widths": some["a"].mean() / some["b"].mean()}
            rows.append({"role": role, "to": method, "cells": len(some), **mean})
    return pd.DataFrame(rows)


# --------------------------------------------------------------------------------------------------- quality
def quality(found: pd.DataFrame) -> pd.DataFrame:
    """Share of runs in which an interval holds, bias and width, by role, dataset and measure."""
    rows = []
    for measure in ("rmse", "kl", "accuracy", "agreement"):
        real, lower, upper = (found[f"{measure}_{part}"] for part in ("true", "lower", "upper"))
        table = pd.DataFrame(
            {
                "dataset": found["dataset"],
                "items": found["items"],
                "held": (lower <= real) & (real <= upper),
                "bias": found[f"{measure}_value"] - real,
                "width": upper - lower,
                "true": real,
            }
        )
        everything = table.assign(dataset="all " + table["dataset"].map(role_of))
        for (items, name), part in pd.concat([table, everything]).groupby(["items", "dataset"]):
            role = name.removeprefix("all ") if name.startswith("all ") else role_of(name)
            means = part[["held", "bias", "width", "true"]].mean().to_dict()
            row = {"role": role, "items": items, "measure": measure, "dataset": name, "runs": len(part)}
            rows.append(row | means)
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------------------------------- second votes
def repeats(labels: pd.DataFrame, intervals: pd.DataFrame, spread: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset and number of second votes: coverage at .9 and RMSE against spreading alone."""
    rows = []
    at = intervals[intervals["level"] == LEVEL]
    spread = spread.assign(family=spread["method"].str.split(":").str[0])
    rivals = spread.groupby([*CELL, "draw", "family"])["rmse"].min().unstack()
    for (name, second), part in at.groupby(CELL):
        mine = labels[(labels["dataset"] == name) & (labels["budget"] == second)].set_index([*CELL, "draw"])
        both = mine.join(rivals, how="inner")
        rows.append(
            {
                "role": role_of(name),
                "dataset": name,
                "people": "yes" if name in HUMAN else "no",
                "second votes": int(second),
                "draws": len(part),
                "all": part["all"].mean(),
                "lowest draw": part["all"].min(),
                "draws below .82": int((part["all"] < SINGLE_DRAW).sum()),
                "large": part["large"].mean(),
                "lowest large": part["large"].min(),
                "small": part["small"].mean(),
                "width": part["width"].mean(),
                "rmse": mine["rmse"].mean(),
                "of pls auto": both["rmse"].mean() / both["pls_auto"].mean(),
                "of pls + classifier": both["rmse"].mean() / both["pls_classifier"].mean(),
            }
        )
    return pd.DataFrame(rows)


# --------------------------------------------------------------------------------------------------- writing
def write_all(out: Path, peers_folder: Path) -> None:
    """Write and print every table whose results are there."""
    parts: list[str] = []

    def show(title: str, name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        table = make()
        if len(table):
            table.to_csv(out / f"table_{name}.csv", index=False, float_format="%.4f")
            for role in ROLES:
                some = table[table["role"] == role].drop(columns="role")
                if len(some):
                    text = some.to_string(index=False, float_format="%.3f", na_rep="")
                    parts.append(f"{title} ({role} sets)\n{text}\n")
        return table

    labeler, rivals = read(out / "labeler.csv"), read(peers_folder / "peers.csv")
    if len(labeler) and len(rivals):
        cells = by_cell(labeler, rivals)
        show("Ratio to the best peer in hindsight and to PLS auto", "groups", lambda: by_group(cells))
        show("Cells above PLS auto by more than is allowed", "above_auto", lambda: above_auto(cells))
        show("Every cell", "cells", lambda: cells)
    if len(intervals := read(out / "labeler_intervals.csv")):
        table = coverage(intervals)
        show("Coverage, summary", "coverage_goals", lambda: coverage_goals(table))
        show("Coverage by cell", "coverage", lambda: table.sort_values(["level", *CELL]))
        if len(others := read(peers_folder / "pls_intervals.csv")):
            other = coverage(others)
            show("Width against intervals of spreading alone", "widths", lambda: widths(table, other))
            show("Intervals of spreading alone, summary", "pls_coverage_goals", lambda: coverage_goals(other))
    for name, words in VARIANTS.items():
        if len(some := read(out / f"{name}_intervals.csv")):
            varied = coverage(some)
            show(f"Coverage {words}, summary", f"{name}_goals", partial(coverage_goals, varied))
            show(f"Coverage {words}, by cell", name, partial(varied.sort_values, ["level", *CELL]))
    if len(found := read(out / "quality.csv")):
        title = f"Quality (goal: intervals of .9 hold in {HELD:.0%} of the runs)"
        show(title, "quality", lambda: quality(found))
    if len(again := read(out / "repeats.csv")):
        folder = read(out / "repeats_intervals.csv"), read(out / "repeats_pls.csv")
        show("One vote on each item and second votes", "repeats", lambda: repeats(again, *folder))
    text = "\n".join(parts) or "nothing has been run yet\n"
    (out / "tables.txt").write_text(text)
    print(text)
