"""Each picture from plain numbers, drawn on axes that are there already.

The report draws the same numbers in the same colours, without matplotlib.
"""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from softspread._common.types import BoolArray, FloatArray
from softspread.annotators.verdict import CHECK, FOLLOWS, STRAYS, UNKNOWN, VERDICTS
from softspread.quality.result import GainForecast
from softspread.report.charts import HISTOGRAM_BINS, LEAST_EVIDENCE
from softspread.report.maps import class_colors
from softspread.spreading.evidence import SoftLabels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLAG_COLORS = {FOLLOWS: "#3ca951", CHECK: "#efb118", STRAYS: "#ff725c", UNKNOWN: "#9498a0"}
INK, ACCENT = "#1f2430", "#3457b2"
MOST_LEGEND = 12  # classes named beside a map
MOST_EXPERTS = 12  # bars with room for their names
PALEST = 0.2  # how faint a dot is where all classes are equally probable
FEW_DOTS = 1_000  # drawn large; a thousand times as many are drawn a thousand times smaller
LARGE_DOT, SMALL_DOT = 22.0, 0.5  # square points


def draw_map(axes: "Axes", places: FloatArray, labels: SoftLabels, voted: BoolArray, color: str) -> None:
    """Items in the plane by class, evidence or uncertainty.

    Parameters
    ----------
    places : (n, 2)
    voted : (n,) bool; these get a ring in the map of classes
    color : "class", "evidence" or "uncertainty"
    """
    size = float(np.clip(LARGE_DOT * FEW_DOTS / len(places), SMALL_DOT, LARGE_DOT))
    if color == "class":
        _draw_classes(axes, places, labels, voted, size)
    else:
        from matplotlib.colors import LogNorm
        from matplotlib.ticker import StrMethodFormatter

        values = np.maximum(labels.evidence, LEAST_EVIDENCE)
        norm = LogNorm() if color == "evidence" else None
        if color == "uncertainty":
            values = labels.width.max(axis=1)
        dots = axes.scatter(
            places[:, 0], places[:, 1], c=values, s=size, cmap="viridis", norm=norm, linewidths=0
        )
        text = "evidence, in votes" if color == "evidence" else "width of the widest interval"
        plain = StrMethodFormatter("{x:g}")
        axes.figure.colorbar(dots, ax=axes, label=text, format=plain).minorformatter = plain
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(f"{len(places):,} items by {color}", fontsize="medium")


def _draw_classes(
    axes: "Axes", places: FloatArray, labels: SoftLabels, voted: BoolArray, size: float
) -> None:
    from matplotlib.colors import to_rgba_array

    n_classes = len(labels.classes)
    colors = class_colors(n_classes)
    best = labels.p.argmax(axis=1)
    least = 1 / n_classes
    sure = (labels.p.max(axis=1) - least) / ((1 - least) or 1.0)
    rgba = to_rgba_array(colors)[best]
    rgba[:, 3] = PALEST + (1 - PALEST) * np.clip(sure, 0, 1)
    axes.scatter(places[:, 0], places[:, 1], c=rgba, s=size, linewidths=0)
    if voted.any():
        x, y = places[voted].T
        axes.scatter(x, y, s=1.6 * size, facecolors="none", edgecolors=INK, linewidths=0.6)
    for c in range(min(n_classes, MOST_LEGEND)):
        axes.scatter([], [], c=colors[c], s=LARGE_DOT, label=str(labels.classes[c]))
    more = f" (of {n_classes})" if n_classes > MOST_LEGEND else ""
    axes.legend(title=f"class{more}; rings: votes", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def draw_evidence(axes: "Axes", evidence: FloatArray) -> None:
    """How much evidence items have, on a logarithmic scale, with the median."""
    values = np.maximum(evidence, LEAST_EVIDENCE)
    low = np.floor(np.log10(values.min()))
    high = max(np.ceil(np.log10(values.max())), low + 1)
    axes.hist(values, bins=np.logspace(low, high, HISTOGRAM_BINS + 1).tolist(), color=ACCENT)
    middle = float(np.median(values))
    axes.axvline(middle, color=INK, linestyle="--", linewidth=1, label=f"median {middle:.2g}")
    axes.set_xscale("log")
    axes.set_xlabel("evidence, in votes")
    axes.set_ylabel("items")
    axes.legend(frameon=False)


def draw_annotators(axes: "Axes", frame: pd.DataFrame, n_all: int) -> None:
    """Consistency of annotators with 90 % intervals, coloured by verdict.

    Parameters
    ----------
    frame : the annotators to draw, the first at the top
    n_all : how many there are
    """
    frame = frame.iloc[::-1].reset_index(drop=True)
    for flag, part in frame.groupby("flag", sort=False):
        ends = np.array([part["consistency"] - part["lower"], part["upper"] - part["consistency"]])
        axes.errorbar(
            part["consistency"],
            part.index,
            xerr=np.maximum(ends, 0),
            fmt="o",
            color=FLAG_COLORS[str(flag)],
            label=VERDICTS[str(flag)].words,
        )
    axes.set_yticks(range(len(frame)), [f"{row.annotator} ({row.votes:,.0f})" for row in frame.itertuples()])
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("consistency: 0 guesses blindly, 1 votes as the others would")
    shown = f", {len(frame)} of {n_all:,}" if len(frame) < n_all else ""
    axes.set_title(f"Annotators (votes){shown}", fontsize="medium")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def draw_experts(axes: "Axes", weights: pd.Series) -> None:
    """Share of each expert in a blend; those with an alpha spread votes."""
    shown = weights[weights > 0].sort_values(ascending=False, kind="stable")
    rest = float(shown.iloc[MOST_EXPERTS:].sum())
    bars = dict(shown.iloc[:MOST_EXPERTS].items())
    if rest > 0:
        bars[f"{len(shown) - MOST_EXPERTS} others"] = rest
    names = [str(name) for name in bars]
    spreading = [name.startswith("alpha") for name in names]
    axes.barh(names, list(bars.values()), color=[ACCENT if yes else "#9498a0" for yes in spreading])
    axes.invert_yaxis()
    axes.set_xlabel("share in the blend")
    axes.set_title("Experts: spreading (blue) and others", fontsize="medium")


def draw_forecast(axes: "Axes", forecast: GainForecast) -> None:
    """Measured and predicted RMSE against the number of votes."""
    for kind, style, front in (("measured", "o", 3), ("predicted", "--.", 2)):
        part = forecast.points[forecast.points["kind"] == kind]
        (line,) = axes.plot(part["votes"], part["rmse"], style, label=kind, zorder=front)
        if kind == "predicted":
            axes.fill_between(
                part["votes"], part["lower"], part["upper"], color=line.get_color(), alpha=0.2, linewidth=0
            )
    axes.axvline(forecast.n_votes, color="grey", linewidth=0.8)
    title = "{:,} more votes: RMSE {:.4f} to {:.4f}, a gain of {:.4f}"
    numbers = (part.value for part in (forecast.rmse_now, forecast.rmse_then, forecast.gain))
    axes.set_title(title.format(forecast.more, *numbers), fontsize="medium")
    axes.set_xlabel("votes")
    axes.set_ylabel("estimated RMSE")
    axes.legend(frameon=False)


def draw_coverage(axes: "Axes", frame: pd.DataFrame, of_truth: bool) -> None:
    """Promised against measured coverage."""
    axes.plot([0, 1], [0, 1], color="#9498a0", linestyle=":", label="as promised")
    ends = np.array([frame["covered"] - frame["lower"], frame["upper"] - frame["covered"]])
    axes.errorbar(frame["level"], frame["covered"], yerr=ends, fmt="o-", color=ACCENT, label="measured")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("confidence level")
    axes.set_ylabel(
        "true soft labels inside their interval" if of_truth else "held-out votes inside their set"
    )
    axes.legend(frameon=False)
