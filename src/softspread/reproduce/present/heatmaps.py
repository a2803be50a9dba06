"""Figures as coloured tables: RMSE over two settings, one colour scale for all maps of a figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from softspread.reproduce.plan import Plan
from softspread.reproduce.present.drawing import grid, pyplot
from softspread.reproduce.present.tables import labelled, percent
from softspread.reproduce.quoted import ITEMS, authors_runs
from softspread.reproduce.run import each

AUTHORS = "authors' runs, cifar10h, CLIP and UMAP"
MAP = "viridis_r"


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """A table of numbers with what its axes are."""

    title: str
    table: pd.DataFrame
    x: str
    y: str


def draw_maps(rows: Sequence[Sequence[HeatMap]], width: float = 4.6, height: float = 3.6) -> Any:
    """Draw maps in rows, all with the same colours, and one colour bar."""
    n_columns = max(len(row) for row in rows)
    figure, lines = grid(len(rows), n_columns, width, height)
    values = np.concatenate([one.table.to_numpy(dtype=float).ravel() for row in rows for one in row])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    image = None
    for line, row in zip(lines, rows, strict=True):
        for axes, one in zip(line, row, strict=False):
            image = _heat(axes, one, low, high)
        for axes in line[len(row) :]:
            axes.axis("off")
    figure.colorbar(image, ax=lines, label="RMSE", shrink=0.8, pad=0.015)
    return figure


def _heat(axes: Any, one: HeatMap, low: float, high: float) -> Any:
    """A coloured table with its numbers; the lowest of each column has a frame."""
    plt = pyplot()
    table = one.table
    values = table.to_numpy(dtype=float)
    image = axes.imshow(values, aspect="auto", cmap=MAP, origin="lower", vmin=low, vmax=high)
    axes.set_xticks(range(table.shape[1]), [_text(value) for value in table.columns], rotation=45)
    axes.set_yticks(range(table.shape[0]), [_text(value) for value in table.index])
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            colour = "white" if value > (low + high) / 2 else "black"
            axes.text(column, row, f"{value:.3f}"[1:], ha="center", va="center", fontsize=6.5, color=colour)
    for column in range(values.shape[1]):
        if np.isfinite(values[:, column]).any():
            row = int(np.nanargmin(values[:, column]))
            for edge, thickness in (("white", 2.4), ("black", 1.2)):
                axes.add_patch(
                    plt.Rectangle(
                        (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=edge, linewidth=thickness
                    )
                )
    axes.set_title(one.title)
    axes.set_xlabel(one.x)
    axes.set_ylabel(one.y)
    return image


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _parts(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    frame = labelled(frame)
    return [(str(name), part) for name, part in frame.groupby("dataset_label", sort=False)]


def _authors(study: str, budgets: Sequence[float], **where: float) -> pd.DataFrame:
    """The authors' runs at these budgets."""
    runs = authors_runs()
    part = runs[(runs["study"] == study) & (runs["dataset"] == "cifar10h")]
    for column, value in where.items():
        part = part[part[column] == value]
    part = part.assign(budget=part["votes"] / ITEMS["cifar10h"])
    return part[part["budget"].map(lambda share: any(np.isclose(share, budget) for budget in budgets))]


def _over_budgets(table: pd.DataFrame) -> pd.DataFrame:
    table.columns = pd.Index([percent(float(budget)) for budget in table.columns])
    return table


def heat_budget(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE by alpha and budget."""
    maps = []
    for name, trials in _parts(frame):
        part = trials.assign(alpha=each(trials, "parameters", "alpha").astype(float))
        table = _over_budgets(part.pivot_table(index="alpha", columns="budget", values="rmse"))
        maps.append(HeatMap(name, table, "budget", "alpha"))
    alphas = sorted({alpha for one in maps for alpha in one.table.index})
    theirs = _authors("alpha_k", sorted(frame["budget"].unique()), graph_k=20)
    theirs = theirs[theirs["value"].isin(alphas)]
    if len(theirs):
        table = _over_budgets(theirs.pivot_table(index="value", columns="budget", values="average"))
        maps.append(HeatMap(AUTHORS, table, "budget", "alpha"))
    return draw_maps([maps], 4.8, 4.2)


def heat_neighbors(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE by alpha and number of neighbours, one map per budget, one row of maps per dataset."""
    budgets = sorted(frame["budget"].unique())
    rows = []
    for name, trials in _parts(frame):
        part = trials.assign(
            alpha=each(trials, "parameters", "alpha").astype(float),
            k=each(trials, "parameters", "n_neighbors").astype(int) + 1,
        )
        rows.append(_by_budget(part, budgets, name, "alpha", "rmse", "k"))
    ks = sorted({k for row in rows for one in row for k in one.table.index})
    alphas = sorted({alpha for row in rows for one in row for alpha in one.table.columns})
    theirs = _authors("alpha_k", budgets)
    theirs = theirs[theirs["value"].isin(alphas) & theirs["graph_k"].isin(ks)]
    if len(theirs):
        rows.append(_by_budget(theirs, budgets, "authors' runs, cifar10h", "value", "average", "graph_k"))
    return draw_maps(rows)


def _by_budget(
    part: pd.DataFrame, budgets: Sequence[float], name: str, alpha: str, value: str, k: str
) -> list[HeatMap]:
    maps = []
    for budget in budgets:
        table = part[np.isclose(part["budget"], budget)].pivot_table(index=k, columns=alpha, values=value)
        if len(table):
            maps.append(
                HeatMap(f"{name}, budget {percent(budget)}", table, "alpha", "k (with the item itself)")
            )
    return maps


def sweeps(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE of the baselines by budget and parameter: as the authors run them, as printed, and their runs."""
    frame = frame.assign(average=each(frame, "parameters", "average").fillna("votes"))
    frame["printed"] = each(frame, "parameters", "prior_strength").map(lambda value: value == 0)
    rows = []
    for name, part in _parts(frame):
        kernel, nearest = part[part["method"] == "gkr"], part[part["method"] == "knn"]
        row = [
            _sweep(kernel[~kernel["printed"]], "gamma", f"{name}: GKR, 1e-8 added"),
            _sweep(kernel[kernel["printed"]], "gamma", f"{name}: GKR as printed"),
            _sweep(nearest[nearest["average"] == "votes"], "n_neighbors", f"{name}: kNN, votes together"),
            _sweep(
                nearest[nearest["average"] == "items"], "n_neighbors", f"{name}: kNN, histograms averaged"
            ),
        ]
        rows.append([one for one in row if len(one.table)])
    budgets = sorted(frame["budget"].unique())
    theirs = []
    for study, title in (("sweep_gkr", "GKR"), ("sweep_knn", "kNN")):
        part = _authors(study, budgets)
        table = _over_budgets(part.pivot_table(index="value", columns="budget", values="average"))
        if len(table):
            theirs.append(HeatMap(f"authors' runs, cifar10h: {title}", table, "budget", _axis(study)))
    return draw_maps([*rows, *([theirs] if theirs else [])], 3.9, 3.4)


def _axis(study: str) -> str:
    return "gamma" if study == "sweep_gkr" else "k"


def _sweep(part: pd.DataFrame, parameter: str, title: str) -> HeatMap:
    values = each(part, "parameters", parameter).astype(float) if len(part) else pd.Series(dtype=float)
    table = part.assign(value=values).pivot_table(index="value", columns="budget", values="rmse")
    return HeatMap(title, _over_budgets(table), "budget", "gamma" if parameter == "gamma" else "k")
