"""Figures from the tables of trials, drawn with matplotlib (the extra ``plots``).

Each drawing takes the plan and its trials and returns a figure; nothing is shown on a screen. Where the
authors published runs, these have a panel of their own, with the same vertical axis.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread.errors import InputError
from softspread.reproduce.measures import ENTROPY_BINS
from softspread.reproduce.plan import Plan
from softspread.reproduce.present.drawing import (
    GREY,
    LINE,
    OURS,
    Curve,
    curves_of,
    draw_curves,
    draw_lines,
    finish,
    grid,
    logarithmic,
    panels,
    save,
)
from softspread.reproduce.present.heatmaps import AUTHORS, heat_budget, heat_neighbors, sweeps
from softspread.reproduce.present.illustrations import moons, overview, sine, teaser
from softspread.reproduce.present.tables import labelled, percent
from softspread.reproduce.quoted import ITEMS, authors_runs
from softspread.reproduce.run import each

Panel = tuple[str, list[Curve]]


def _per_dataset(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    frame = labelled(frame)
    frame["name"] = curve_names(frame)
    return [(str(name), part) for name, part in frame.groupby("dataset_label", sort=False)]


def curve_names(frame: pd.DataFrame) -> list[str]:
    """Names of curves: "alpha 0.9" where all are spreading, else "PLS, alpha 0.9" beside other methods."""
    parameter = {"pls": "alpha", "gkr": "gamma", "knn": "k"}
    alone = frame["method"].nunique() == 1
    names = []
    for method, label in zip(frame["method"], frame["method_label"], strict=True):
        title, _, rest = str(label).partition(" (")
        if method not in parameter or not rest:
            names.append(str(label))
            continue
        setting = f"{parameter[method]} {rest.removesuffix(')')}"
        names.append(setting if alone else f"{title}, {setting}")
    return names


def _authors_curves(
    study: str, names: dict[str, str], dataset: str = "cifar10h", measure: str = "rmse", **where: float
) -> list[Curve]:
    """The authors' runs over the budget, one curve per method that we have too, under our names."""
    runs = authors_runs()
    part = runs[
        runs["study"].str.startswith(study) & (runs["dataset"] == dataset) & (runs["measure"] == measure)
    ]
    for column, value in where.items():
        part = part[part[column].isin([value, -1])]
    part = part[part["key"].isin(list(names))].sort_values("votes")
    curves = []
    for (key, method), one in part.groupby(["key", "method"], sort=False):
        name = names[str(key)]
        budget = one["votes"].to_numpy(dtype=float) / ITEMS[dataset]
        curves.append(
            Curve(name, str(method), budget, one["average"].to_numpy(), one["spread"].fillna(0.0).to_numpy())
        )
    return curves


def _names_by_key(parts: list[tuple[str, pd.DataFrame]]) -> dict[str, str]:
    """Our names of the methods, by their key in the authors' runs."""
    return {
        str(key): str(name)
        for _, part in parts
        for key, name in zip(part["paper_key"], part["name"], strict=True)
    }


def _draw_panels(
    shown: list[Panel], x: str, y: str = "RMSE", log: str = "x", width: float = 5.2, height: float = 3.8
) -> Any:
    """Panels side by side with one vertical axis."""
    figure, places = panels(len(shown), width, height, sharey=True)
    everything = [curve for _, curves in shown for curve in curves]
    for axes, (_, curves) in zip(places, shown, strict=True):
        draw_curves(axes, curves, everything)
    for axes in places:
        logarithmic(axes, log)
    for axes, (name, _) in zip(places, shown, strict=True):
        finish(axes, name, x, y if axes is places[0] else "")
    return figure


def trajectories(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE over the budget, one line per method."""
    parts = _per_dataset(frame)
    shown = [(name, curves_of(part, "budget", "rmse", "name")) for name, part in parts]
    names = _names_by_key(parts)
    theirs = _authors_curves("alpha_k", names, graph_k=20) + _authors_curves("sweep", names)
    if theirs and plan.paper.startswith("Figure"):
        shown.append((AUTHORS, theirs))
    return _draw_panels(shown, "votes per item", log="xy")


def train_test(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE of items with and without votes, side by side."""
    parts = _per_dataset(frame)
    names = _names_by_key(parts)
    rows = [
        (name, [curves_of(part, "budget", column, "name") for column in ("rmse_train", "rmse_test")])
        for name, part in parts
    ]
    theirs = [
        _authors_curves("train_test", names, measure=measure) for measure in ("rmse_train", "rmse_test")
    ]
    if all(theirs):
        rows.append(("authors, cifar10h", theirs))
    everything = [curve for _, both in rows for curves in both for curve in curves]
    figure, lines = grid(len(rows), 2, 5.2, 3.4, sharey="row")
    for line, (name, both) in zip(lines, rows, strict=True):
        for axes, curves in zip(line, both, strict=True):
            draw_curves(axes, curves, everything)
        for axes, kind in zip(line, ("items that may be voted on", "items without votes"), strict=True):
            logarithmic(axes)
            finish(axes, f"{name}: {kind}", "votes per item", "RMSE" if axes is line[0] else "")
    return figure


def evidence(plan: Plan, frame: pd.DataFrame) -> Any:
    """Mean evidence over 1 / (1 - alpha)."""
    figure, (axes,) = panels(1, 5.4, 3.6)
    frame = labelled(frame)
    frame["spread"] = 1 / (1 - each(frame, "parameters", "alpha").astype(float))
    draw_lines(axes, frame, "spread", "mean_evidence", "dataset_label")
    xs = np.array([frame["spread"].min(), frame["spread"].max()])
    axes.errorbar(xs, 0.1 * xs, fmt=":", color=GREY, label="0.1 / (1 - alpha)")
    logarithmic(axes, "xy")
    finish(axes, "", "1 / (1 - alpha)", "mean evidence (votes)")
    return figure


def neighbors(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE over the number of neighbours, a panel for each dataset and budget; the authors' runs."""
    frame = frame.assign(setting=each(frame, "parameters", "n_neighbors").astype(int) + 1)
    shown = []
    for name, part in _per_dataset(frame):
        for budget, one in part.groupby("budget"):
            title = f"{name}, budget {percent(float(str(budget)))}"
            shown.append((title, curves_of(one, "setting", "rmse", "name")))
    runs = authors_runs()
    theirs = runs[runs["study"] == "neighbors"].sort_values("graph_k")
    curves = [
        Curve(
            f"alpha {value:g}",
            "pls",
            one["graph_k"].to_numpy(dtype=float),
            one["average"].to_numpy(),
            one["spread"].to_numpy(),
        )
        for value, one in theirs.groupby("value")
    ]
    shown.append(("authors' runs, cifar10, CLIP and UMAP, budget 1 %", curves))
    return _draw_panels(shown, "k (with the item itself)", width=4.6)


def concentrate(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE over the share of items that the votes are placed on."""
    frame = frame.assign(setting=each(frame, "design", "subset_share").astype(float))
    budget = f", budget {percent(float(frame['budget'].iloc[0]))}"
    parts = _per_dataset(frame)
    shown = [(name + budget, curves_of(part, "setting", "rmse", "name")) for name, part in parts]
    return _draw_panels(shown, "share of items that get votes")


def growing(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE and mean evidence over the number of items, votes fixed."""
    parts = _per_dataset(frame)
    figure, lines = grid(len(parts), 2, 5.2, 3.2)
    for (left, right), (name, trials) in zip(lines, parts, strict=True):
        votes = trials["votes"].astype(int).astype(str)
        part = trials.assign(label=trials["name"] + ", " + votes + " votes")
        for axes, column in ((left, "rmse"), (right, "mean_evidence")):
            draw_lines(axes, part, "n_items", column, "label")
        logarithmic(left)
        logarithmic(right, "xy")
        finish(left, name, "items", "RMSE")
        finish(right, name, "items", "mean evidence (votes)")
    return figure


def estimated_rmse(plan: Plan, frame: pd.DataFrame) -> Any:
    """Estimated RMSE over votes spent: by histograms (left), with their noise removed (right)."""
    parts = _per_dataset(frame)
    figure, lines = grid(len(parts), 2, 5.2, 3.4, sharey="row")
    for line, (name, trials) in zip(lines, parts, strict=True):
        label = trials["votes_per_item"].map(lambda m: f"{m} vote{'s' if m > 1 else ''} per item")
        part = trials.assign(label=label)
        for axes, column in zip(line, ("estimate", "corrected"), strict=True):
            draw_lines(axes, part.dropna(subset=[column]), "votes", column, "label", linestyle="-")
        for axes, text in zip(
            line, ("histograms, as the paper", "corrected for the votes' noise"), strict=True
        ):
            xs = np.array([part["votes"].min(), part["votes"].max()], dtype=float)
            axes.errorbar(xs, np.full(2, part["rmse"].mean()), fmt="--", color=OURS[0], label="true RMSE")
            logarithmic(axes)
            finish(
                axes,
                f"{name}: {text}",
                "votes in the annotated set",
                "estimated RMSE" if axes is line[0] else "",
            )
    return figure


def dimensions(plan: Plan, frame: pd.DataFrame) -> Any:
    """Silhouette and RMSE over the dimension, RMSE over the silhouette; the authors' RMSE."""
    figure, places = panels(4, 4.4, 3.6)
    technique = frame["features"].str.replace(r"(?<=pca|map)\d+$", "", regex=True)
    frame = frame.assign(line=frame["dataset"] + ", " + technique.str.replace("_l2_f16", ""))
    titles = {"dimension": "dimensions", "silhouette": "mean silhouette", "rmse": "RMSE"}
    shown = (("dimension", "silhouette"), ("dimension", "rmse"), ("silhouette", "rmse"))
    for axes, (x, y) in zip(places, shown, strict=False):
        means = frame.groupby(["line", "method", "features"], sort=False)[["dimension", "silhouette", "rmse"]]
        points = means.mean().reset_index()
        draw_lines(axes, points, x, y, "line", **({"linestyle": ""} if x == "silhouette" else {}))
        if x == "dimension":
            logarithmic(axes)
        last = (x, y) == ("silhouette", "rmse")
        axes.set_xlabel(titles[x])
        axes.set_ylabel(titles[y])
        axes.grid(alpha=0.25)
        if last:
            axes.legend(fontsize=6.5, frameon=False)
    _authors_dimensions(places[3])
    low, high = (f(axes.get_ylim()[k] for axes in places[1:]) for f, k in ((min, 0), (max, 1)))
    for axes in places[1:]:
        axes.set_ylim(low, high)
    finish(places[3], "authors' runs, cifar10h", "dimensions", "RMSE")
    return figure


def _authors_dimensions(axes: Any) -> None:
    runs = authors_runs()
    part = runs[runs["study"] == "dimensions"]
    part = part.assign(
        line=part["features"].str.rstrip("0123456789"),
        dimension=part["features"].str.extract(r"(\d+)$")[0].astype(int),
    )
    draw_lines(axes, part, "dimension", "average", "line")
    logarithmic(axes)


def entropy(plan: Plan, frame: pd.DataFrame) -> Any:
    """Histograms of the normalised entropy, with the cumulative share as a line."""
    figure, places = panels(len(frame), 3.2, 2.8)
    edges = np.linspace(0, 1, ENTROPY_BINS + 1)
    for axes, (_, row) in zip(places, frame.iterrows(), strict=True):
        heights = np.asarray(row["histogram"])
        axes.bar(edges[:-1], heights, width=1 / ENTROPY_BINS, align="edge", color=LINE, alpha=0.75)
        axes.plot(edges, np.concatenate([[0], np.cumsum(heights)]), color="black", linewidth=1)
        axes.set_ylim(0, 1.02)
        axes.set_title(f"{row['dataset']}, mean {row['mean_entropy']:.3f}")
        axes.set_xlabel("normalised entropy")
        axes.set_ylabel("share; line: cumulative" if axes is places[0] else "")
        axes.grid(alpha=0.25)
    return figure


def runtime(plan: Plan, frame: pd.DataFrame) -> Any:
    """Milliseconds per vote over the number of items."""
    figure, (axes,) = panels(1, 5.6, 3.6)
    names = {"batch": "all votes together", "live": "live, one by one", "literal": "one solve per vote"}
    way = each(frame, "options", "way").map(lambda word: names.get(word, word))
    draw_lines(axes, frame.assign(way=way), "n_items", "ms_per_vote", "way")
    axes.errorbar([1_000, 1_000_000], [1, 260], fmt="x", color=OURS[0], label="paper: one solve, GPU")
    logarithmic(axes, "xy")
    finish(axes, "one core, graph excluded", "items", "ms per vote")
    return figure


def consistency(plan: Plan, frame: pd.DataFrame) -> Any:
    """Largest error and RMSE over the number of items, with the votes per item."""
    figure, places = panels(3)
    line = each(frame, "options", "graph") + ", " + each(frame, "options", "dimension").astype(str) + " d"
    frame = frame.assign(line=line)
    for axes, column, text in zip(
        places,
        ("largest_error", "rmse", "votes_per_item"),
        ("largest error", "RMSE", "votes per item"),
        strict=True,
    ):
        draw_lines(axes, frame, "n_items", column, "line")
        logarithmic(axes, "xy")
        finish(axes, "", "items", text)
    return figure


FIGURES: dict[str, Callable[[Plan, pd.DataFrame], Any]] = {
    draw.__name__: draw
    for draw in (
        trajectories,
        train_test,
        evidence,
        heat_budget,
        heat_neighbors,
        sweeps,
        neighbors,
        growing,
        concentrate,
        estimated_rmse,
        dimensions,
        moons,
        teaser,
        overview,
        sine,
        entropy,
        runtime,
        consistency,
    )
}


def draw_figure(plan: Plan, frame: pd.DataFrame, path: Path) -> bool:
    """Draw a plan's figure into a PNG file, with PDF and SVG beside it.

    False where it asks for none or nothing was run.
    """
    if not plan.figure or frame.empty:
        return False
    if plan.figure not in FIGURES:
        raise InputError(f"figure {plan.figure!r} is unknown; there are {', '.join(FIGURES)}.")
    save(FIGURES[plan.figure](plan, frame), path)
    return True
