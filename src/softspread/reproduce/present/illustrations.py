"""Figures that show single fits: two moons, the sine curve, the way from images to soft labels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.types import FloatArray
from softspread.errors import InputError
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.reproduce.measures import Bench, answer, first_votes
from softspread.reproduce.methods.methods import Task, spread
from softspread.reproduce.plan import Plan
from softspread.reproduce.present.drawing import LINE, OURS, finish, grid, panels, pyplot
from softspread.votes.votes import Votes

SOFT = {"cmap": "coolwarm", "vmin": 0.0, "vmax": 1.0}  # blue to red: colour-blind safe
OPEN = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0}
MANY_VOTES = 20  # beyond, numbers are smaller


def _task(plan: Plan, frame: pd.DataFrame) -> tuple[Task, Any]:
    trial = plan.trials(int(frame["seed"].iloc[0]))[0]
    task, _ = Bench().task(trial)
    return task, trial


def _bare(axes: Any, title: str) -> None:
    axes.set_title(title)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)


def _show_votes(axes: Any, task: Task, votes: Votes, *, numbered: bool = True) -> None:
    """Triangles on the voted items, coloured by the vote, numbered in the order of the votes."""
    classes = task.data.classes.tolist()
    items = np.asarray(votes.items, dtype=np.int64)
    colours = np.array([classes.index(label) for label in votes.labels.tolist()], dtype=float)
    place = task.X[items]
    axes.scatter(
        *place.T[:2], c=colours, s=46, marker="^", edgecolor="black", linewidth=0.8, zorder=3, **SOFT
    )
    if not numbered:
        return
    size = 7.0 if len(items) <= MANY_VOTES else 5.0
    seen: dict[int, int] = {}
    for number, item in enumerate(items.tolist(), start=1):
        again = seen.get(item, 0)
        seen[item] = again + 1
        axes.annotate(
            str(number),
            task.X[item][:2],
            xytext=(3, 3 + 0.9 * size * again),
            textcoords="offset points",
            fontsize=size,
            zorder=4,
        )


def moons(plan: Plan, frame: pd.DataFrame) -> Any:
    """The soft truth, then soft labels after more and more votes; votes coloured by class and numbered."""
    task, trial = _task(plan, frame)
    steps: Sequence[int] = trial.options["steps"]
    n_columns = -(-(len(steps) + 1) // 2)
    figure, lines = grid(2, n_columns, 2.9, 2.4)
    places = list(lines.ravel())
    last = places[0].scatter(*task.X.T[:2], c=task.p_true[:, 1], s=20, edgecolor="none", **SOFT)
    _bare(places[0], "soft truth")
    for axes, step in zip(places[1:], steps, strict=False):
        part = replace(task, votes=first_votes(task.votes, step))
        p = answer(spread(part, **trial.parameters), part)
        axes.scatter(*task.X.T[:2], c=p[:, 1], s=20, edgecolor="none", **SOFT)
        _show_votes(axes, task, part.votes)
        _bare(axes, f"{step} vote{'s' if step > 1 else ''}")
    for axes in places[len(steps) + 1 :]:
        axes.axis("off")
    figure.colorbar(last, ax=lines, label="probability of the second class", shrink=0.75)
    return figure


def teaser(plan: Plan, frame: pd.DataFrame) -> Any:
    """Estimated soft labels, and how wide their intervals are."""
    task, trial = _task(plan, frame)
    estimator = ProbabilisticLabelSpreading(**trial.parameters, annotator_model="none", n_jobs=1)
    estimator.fit(task.X, task.votes, classes=task.data.classes)
    lower, upper = estimator.predict_interval(confidence_level=0.9, method="wilson")
    figure, (left, right) = panels(2, 4.0, 3.0)
    shown = left.scatter(*task.X.T[:2], c=estimator.predict_proba()[:, 1], s=9, edgecolor="none", **SOFT)
    _show_votes(left, task, task.votes, numbered=False)
    _bare(left, "(a) estimated soft labels")
    figure.colorbar(shown, ax=left, label="probability of the second class", shrink=0.8)
    width = (upper - lower)[:, 1]
    shown = right.scatter(*task.X.T[:2], c=width, s=9, edgecolor="none", **OPEN)
    _show_votes(right, task, task.votes, numbered=False)
    _bare(right, "(b) epistemic uncertainty")
    figure.colorbar(shown, ax=right, label="width of the 90 % interval", shrink=0.8)
    return figure


def overview(plan: Plan, frame: pd.DataFrame) -> Any:
    """Images, their embedding, the graph with votes, soft labels of all items."""
    task, trial = _task(plan, frame)
    images = task.data.images
    if images is None:
        raise InputError("the overview shows images, and this dataset has none.")
    estimator = ProbabilisticLabelSpreading(**trial.parameters, annotator_model="none", n_jobs=1)
    estimator.fit(task.X, task.votes, classes=task.data.classes)
    p = estimator.predict_proba()
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure, (first, second, third, fourth) = panels(4, 3.1, 3.0)
    first.imshow(_sheet(images[:36]), cmap="gray_r")
    _bare(first, "1  images")
    _thumbnails(second, task.X, images)
    _bare(second, "2  embedding")
    starts, ends = estimator.graph_.edges()
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        third.plot(*task.X[[start, end]].T, color="0.85", linewidth=0.3, zorder=1)
    third.scatter(*task.X.T, s=3, color="0.6", zorder=2)
    items = np.asarray(task.votes.items, dtype=np.int64)
    third.scatter(*task.X[items].T, s=70, marker="^", facecolor="white", edgecolor=OURS[0], zorder=3)
    for item, label in zip(items.tolist(), task.votes.labels.tolist(), strict=True):
        third.text(*task.X[item], str(label), fontsize=5.5, ha="center", va="center", zorder=4)
    _bare(third, f"3  graph and {len(items)} votes")
    fourth.scatter(*task.X.T, s=0)
    shades = pyplot().get_cmap("cividis_r")
    for row, soft in enumerate(p):
        label, sure = str(task.data.classes[soft.argmax()]), float(soft.max())
        fourth.text(*task.X[row], label, fontsize=6, ha="center", va="center", color=shades(sure))
    _bare(fourth, "4  soft labels of all items")
    scale = ScalarMappable(Normalize(0.0, 1.0), shades)
    figure.colorbar(scale, ax=fourth, label="probability of the class shown", shrink=0.8)
    return figure


def _sheet(images: Any) -> FloatArray:
    """36 images as one."""
    side = images.shape[1]
    tiles = np.pad(images, ((0, 0), (1, 1), (1, 1))).reshape(6, 6, side + 2, side + 2)
    return np.asarray(tiles.transpose(0, 2, 1, 3).reshape(6 * (side + 2), -1))


def _thumbnails(axes: Any, X: FloatArray, images: Any) -> None:
    """Items as points, some of them as small images."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    axes.scatter(*X.T, s=3, color="0.6")
    for row in range(0, len(X), max(1, len(X) // 40)):
        small = OffsetImage(images[row], zoom=1.4, cmap="gray_r")
        axes.add_artist(AnnotationBbox(small, X[row], frameon=True, pad=0.1, bboxprops={"linewidth": 0.3}))


def sine(plan: Plan, frame: pd.DataFrame) -> Any:
    """Truth, estimate and intervals along the sine curve."""
    from softspread.reproduce.sine import SPARSE, sine_estimate

    titles = {
        "wilson_floor": "Wilson on whole votes, as the paper",
        "sison_glaz": "Sison and Glaz",
        "dirichlet": "Dirichlet",
        "hoeffding": "Hoeffding with bias bound",
    }
    trials = [trial for trial in plan.trials(int(frame["seed"].iloc[0])) if trial.draw == 0]
    shown = [trial for trial in trials if trial.options["interval"] in titles] or trials
    figure, places = panels(len(shown), 4.2, 3.2, sharey=True)
    for axes, trial in zip(places, shown, strict=True):
        found = sine_estimate(trial)
        axes.axvspan(*SPARSE, color="0.92", label="one vote for 20 items")
        axes.fill_between(
            found.x, found.lower, found.upper, alpha=0.35, color="#56B4E9", linewidth=0, label="interval"
        )
        axes.plot(found.x, found.truth, color="black", linewidth=1.2, label="truth")
        axes.plot(found.x, found.estimate, color=LINE, linewidth=1.2, label="estimate")
        kind = str(trial.options["interval"])
        first = axes is places[0]
        finish(axes, titles.get(kind, kind), "x", "P(Y = 1 | x)" if first else "", legend=first)
    return figure
