"""Figures from the tables of trials, drawn with matplotlib (the extra ``plots``).

Each drawing takes the plan and its trials and returns a figure; nothing is shown on a screen.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread.errors import InputError
from softspread.reproduce.measures import ENTROPY_BINS, Bench, first_votes
from softspread.reproduce.methods.methods import spread
from softspread.reproduce.plan import Plan
from softspread.reproduce.present.drawing import (
    draw_lines,
    finish,
    grid,
    logarithmic,
    panels,
    pyplot,
)
from softspread.reproduce.present.tables import labelled, paper_numbers, percent
from softspread.reproduce.run import each

DPI = 130
GREY = "0.35"
MANY_LINES = 6  # more lines have their legend beside the panels, not on them


def _per_dataset(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    frame = labelled(frame)
    return [(str(name), part) for name, part in frame.groupby("dataset_label", sort=False)]


def trajectories(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE over the budget, one line per method; dotted: the paper's on CIFAR-10-H."""
    parts = _per_dataset(frame)
    many = any(part["method_label"].nunique() > MANY_LINES for _, part in parts)
    figure, places = panels(len(parts), 6.4 if many else 5.8, 4.4)
    for axes, (name, part) in zip(places, parts, strict=True):
        draw_lines(axes, part, "budget", "rmse", "method_label")
        if name == "cifar10h" and plan.reference:
            for method, numbers in paper_numbers(plan.reference).items():
                if method in set(part["paper_key"]):
                    budgets = [float(budget) for budget in numbers]
                    axes.plot(budgets, [value[0] for value in numbers.values()], ":", color=GREY, linewidth=1)
            axes.plot([], [], ":", color=GREY, label="paper (CLIP features)")
        logarithmic(axes, "xy")
        finish(axes, name, "votes per item", "RMSE", legend=not many)
    if many:
        handles, labels = places[-1].get_legend_handles_labels()
        figure.legend(handles, labels, fontsize=8, loc="outside right center")
    return figure


def train_test(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE of items with (solid) and without votes (dashed)."""
    parts = _per_dataset(frame)
    figure, places = panels(len(parts), 5.8, 4.4)
    for axes, (name, part) in zip(places, parts, strict=True):
        draw_lines(axes, part, "budget", "rmse_train", "method_label")
        draw_lines(
            axes,
            part.assign(method_label=part["method_label"] + ", no votes"),
            "budget",
            "rmse_test",
            "method_label",
            linestyle="--",
            marker="",
        )
        logarithmic(axes)
        finish(axes, name, "votes per item", "RMSE")
    return figure


def evidence(plan: Plan, frame: pd.DataFrame) -> Any:
    """Mean evidence over 1 / (1 - alpha)."""
    figure, (axes,) = panels(1)
    frame = labelled(frame)
    frame["spread"] = 1 / (1 - each(frame, "parameters", "alpha").astype(float))
    draw_lines(axes, frame, "spread", "mean_evidence", "dataset_label")
    xs = np.array([frame["spread"].min(), frame["spread"].max()])
    axes.plot(xs, 0.1 * xs, ":", color=GREY, label="0.1 / (1 - alpha)")
    logarithmic(axes, "xy")
    finish(axes, "", "1 / (1 - alpha)", "mean evidence (votes)")
    return figure


def _heat(axes: Any, table: pd.DataFrame, x: str, y: str, title: str) -> None:
    """A coloured table with its numbers; the lowest of each column has a frame."""
    plt = pyplot()
    axes.imshow(table.to_numpy(), aspect="auto", cmap="viridis_r", origin="lower")
    axes.set_xticks(range(table.shape[1]), [str(value) for value in table.columns], rotation=45)
    axes.set_yticks(range(table.shape[0]), [f"{value:g}" for value in table.index])
    values = table.to_numpy()
    middle = np.nanmean([np.nanmin(values), np.nanmax(values)])
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if value > middle else "black"
        axes.text(column, row, f"{value:.3f}", ha="center", va="center", fontsize=7, color=colour)
    for column, row in enumerate(np.nanargmin(values, axis=0)):
        axes.add_patch(
            plt.Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="crimson", linewidth=1.8)
        )
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def heat_budget(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE by alpha and budget."""
    parts = _per_dataset(frame)
    figure, places = panels(len(parts), 6.2, 4.6)
    for axes, (name, trials) in zip(places, parts, strict=True):
        part = trials.assign(alpha=each(trials, "parameters", "alpha").astype(float))
        table: Any = part.pivot_table(index="alpha", columns="budget", values="rmse")
        table.columns = pd.Index([percent(budget) for budget in table.columns])
        _heat(axes, table, "budget", "alpha", f"{name}: RMSE, lowest of each budget framed")
    return figure


def heat_neighbors(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE by alpha and number of neighbours, one map per budget, one row of maps per dataset."""
    parts = _per_dataset(frame)
    budgets = sorted(frame["budget"].unique())
    figure, lines = grid(len(parts), len(budgets), 5.2, 3.9)
    for line, (name, trials) in zip(lines, parts, strict=True):
        part = trials.assign(
            alpha=each(trials, "parameters", "alpha").astype(float),
            k=each(trials, "parameters", "n_neighbors").astype(int),
        )
        for axes, budget in zip(line, budgets, strict=True):
            table = part[part["budget"] == budget].pivot_table(index="k", columns="alpha", values="rmse")
            _heat(axes, table, "alpha", "neighbours", f"{name}, budget {percent(budget)}")
    return figure


def neighbors(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE over the number of neighbours."""
    return _rmse_over(frame, each(frame, "parameters", "n_neighbors").astype(int), "neighbours")


def concentrate(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE over the share of items that the votes are placed on."""
    shares = each(frame, "design", "subset_share").astype(float)
    budget = f", budget {percent(float(frame['budget'].iloc[0]))}"
    return _rmse_over(frame, shares, "share of items that get votes", budget)


def _rmse_over(frame: pd.DataFrame, setting: Any, text: str, suffix: str = "") -> Any:
    parts = _per_dataset(frame.assign(setting=setting))
    figure, places = panels(len(parts))
    for axes, (name, part) in zip(places, parts, strict=True):
        draw_lines(axes, part, "setting", "rmse", "method_label")
        logarithmic(axes)
        finish(axes, name + suffix, text, "RMSE")
    return figure


def growing(plan: Plan, frame: pd.DataFrame) -> Any:
    """RMSE and mean evidence over the number of items, votes fixed."""
    parts = _per_dataset(frame)
    figure, lines = grid(len(parts), 2)
    for (left, right), (name, trials) in zip(lines, parts, strict=True):
        part = trials.assign(
            label=trials["method_label"] + ", " + trials["votes"].astype(int).astype(str) + " votes"
        )
        for axes, column, text in ((left, "rmse", "RMSE"), (right, "mean_evidence", "mean evidence (votes)")):
            draw_lines(axes, part, "n_items", column, "label")
            logarithmic(axes)
            finish(axes, name, "items", text)
        logarithmic(right, "y")
    return figure


def estimated_rmse(plan: Plan, frame: pd.DataFrame) -> Any:
    """Estimated RMSE over votes spent: by histograms (left), with their noise removed (right)."""
    parts = _per_dataset(frame)
    figure, lines = grid(len(parts), 2, sharey="row")
    for line, (name, trials) in zip(lines, parts, strict=True):
        part = trials.assign(label=trials["votes_per_item"].astype(str) + " votes per item")
        for axes, column, text in (
            (line[0], "estimate", "histograms, as the paper"),
            (line[1], "corrected", "corrected for the votes' noise"),
        ):
            draw_lines(axes, part.dropna(subset=[column]), "votes", column, "label")
            axes.axhline(part["rmse"].mean(), color="crimson", linewidth=1, label="true RMSE")
            logarithmic(axes)
            finish(axes, f"{name}: {text}", "votes in the annotated set", "estimated RMSE")
    return figure


def dimensions(plan: Plan, frame: pd.DataFrame) -> Any:
    """Silhouette and RMSE over the dimension, and RMSE over the silhouette."""
    figure, places = panels(3)
    frame = frame.assign(technique=frame["features"].str.rstrip("0123456789"))
    frame["line"] = frame["dataset"] + ", " + frame["technique"]
    titles = {"dimension": "dimensions", "silhouette": "silhouette", "rmse": "RMSE"}
    shown = (("dimension", "silhouette"), ("dimension", "rmse"), ("silhouette", "rmse"))
    for axes, (x, y) in zip(places, shown, strict=True):
        draw_lines(axes, frame, x, y, "line", **({"linestyle": ""} if x == "silhouette" else {}))
        if x == "dimension":
            logarithmic(axes)
        finish(axes, "", titles[x], titles[y])
    return figure


def moons(plan: Plan, frame: pd.DataFrame) -> Any:
    """Soft labels after more and more votes, and the truth."""
    trial = plan.trials(int(frame["seed"].iloc[0]))[0]
    task, _ = Bench().task(trial)
    steps = trial.options["steps"]
    n_columns = (len(steps) + 2) // 2
    figure, lines = grid(2, n_columns, 3.1, 2.7)
    places = list(lines.ravel())
    X = task.X
    scale = {"cmap": "coolwarm", "vmin": 0, "vmax": 1}

    def draw(axes: Any, p: Any, title: str, voted: Sequence[int] = ()) -> Any:
        points = axes.scatter(*X.T, c=p[:, 1], s=22, edgecolor="none", **scale)
        if len(voted):
            own = list(voted)
            axes.scatter(*X[own].T, c=p[own, 1], s=60, marker="^", edgecolor="black", **scale)
        axes.set_title(title, fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])
        return points

    for axes, step in zip(places, steps, strict=False):
        part = replace(task, votes=first_votes(task.votes, step))
        p = spread(part, **trial.parameters).p
        draw(axes, p, f"{step} vote{'s' if step > 1 else ''}", sorted(set(part.votes.items.tolist())))
    last = draw(places[len(steps)], task.p_true, "truth")
    for axes in places[len(steps) + 1 :]:
        axes.axis("off")
    figure.colorbar(last, ax=lines, label="probability of the second class", shrink=0.7)
    return figure


def sine(plan: Plan, frame: pd.DataFrame) -> Any:
    """Truth, estimate and intervals along the sine curve."""
    from softspread.reproduce.sine import SPARSE, sine_estimate

    titles = {
        "wilson": "Wilson",
        "wilson_floor": "Wilson on whole votes, as the paper",
        "hoeffding": "Hoeffding with bias bound",
        "hoeffding_no_bias": "Hoeffding without bias bound",
    }
    trials = [trial for trial in plan.trials(int(frame["seed"].iloc[0])) if trial.draw == 0]
    shown = [trial for trial in trials if trial.options["interval"] in ("wilson_floor", "hoeffding")]
    trials = shown or trials
    figure, places = panels(len(trials), 6.4, 3.8)
    for axes, trial in zip(places, trials, strict=True):
        found = sine_estimate(trial)
        axes.axvspan(*SPARSE, color="0.92", label="one vote for 20 items")
        axes.fill_between(
            found.x, found.lower, found.upper, alpha=0.3, color="tab:blue", linewidth=0, label="interval"
        )
        axes.plot(found.x, found.truth, color="black", linewidth=1.2, label="truth")
        axes.plot(found.x, found.estimate, color="tab:blue", linewidth=1.2, label="estimate")
        finish(axes, titles[trial.options["interval"]], "x", "P(Y = 1 | x)")
    return figure


def entropy(plan: Plan, frame: pd.DataFrame) -> Any:
    """Histograms of the normalised entropy, with the cumulative share as a line."""
    figure, places = panels(len(frame), 3.4, 3.0)
    edges = np.linspace(0, 1, ENTROPY_BINS + 1)
    for axes, (_, row) in zip(places, frame.iterrows(), strict=True):
        heights = np.asarray(row["histogram"])
        axes.bar(edges[:-1], heights, width=1 / ENTROPY_BINS, align="edge", color="tab:blue", alpha=0.7)
        other = axes.twinx()
        other.plot(edges, np.concatenate([[0], np.cumsum(heights)]), color="black", linewidth=1)
        other.set_ylim(0, 1.02)
        finish(
            axes,
            f"{row['dataset']}, mean {row['mean_entropy']:.3f}",
            "normalised entropy",
            "share",
            legend=False,
        )
    return figure


def runtime(plan: Plan, frame: pd.DataFrame) -> Any:
    """Milliseconds per vote over the number of items."""
    figure, (axes,) = panels(1)
    draw_lines(axes, frame.assign(way=each(frame, "options", "way")), "n_items", "ms_per_vote", "way")
    axes.plot([1_000, 1_000_000], [1, 260], "x", color="crimson", label="paper (GPU, one solve per vote)")
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
        neighbors,
        growing,
        concentrate,
        estimated_rmse,
        dimensions,
        moons,
        sine,
        entropy,
        runtime,
        consistency,
    )
}


def draw_figure(plan: Plan, frame: pd.DataFrame, path: Path) -> bool:
    """Draw a plan's figure into a PNG file; False where it asks for none or nothing was run."""
    if not plan.figure or frame.empty:
        return False
    if plan.figure not in FIGURES:
        raise InputError(f"figure {plan.figure!r} is unknown; there are {', '.join(FIGURES)}.")
    figure = FIGURES[plan.figure](plan, frame)
    figure.suptitle(plan.title, fontsize=11)
    figure.savefig(path, dpi=DPI)
    pyplot().close(figure)
    return True
