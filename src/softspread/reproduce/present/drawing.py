"""Shared by all figures: panels, curves named at their ends, plain axes, colours (extra ``plots``).

Colours are Okabe and Ito's, and viridis for settings in order: both can be read by the colour-blind and in
grey. Curves also differ by their markers, and are named beside their right end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.extras import needs_extra
from softspread._common.types import FloatArray

WIDTH, HEIGHT = 4.6, 3.4  # of one panel, inches
MARKERS = "osD^vP*X<>hd"
MANY_DECADES = 2.2  # on a logarithmic axis; with fewer, 2 and 5 are named beside 1
OURS = ("#D55E00", "#E69F00", "#8C2D04", "#F5B041")  # vermilion and its neighbours
OTHERS = ("#0072B2", "#009E73", "#56B4E9", "#CC79A7", "#000000", "#7F7F7F", "#332288", "#117733")
LINE = "#0072B2"
GREY = "0.35"
NAME_POINTS = 7.5  # size of the names beside curves, and about the room that each needs
FORMATS = ("pdf", "svg")  # beside the PNG
DPI = 150  # dots per inch of the PNG
STYLE = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "pdf.fonttype": 42,  # letters stay letters
    "svg.fonttype": "none",
    "svg.hashsalt": "softspread",  # the same figure is the same file
}


def pyplot() -> Any:
    """Load matplotlib, without a screen."""
    with needs_extra("plots", "figures need matplotlib"):
        import matplotlib as mpl
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def grid(
    n_rows: int, n_columns: int, width: float = WIDTH, height: float = HEIGHT, **options: Any
) -> tuple[Any, Any]:
    """Make a figure with panels in rows and columns, each of the given size."""
    size = (width * n_columns, height * n_rows)
    plt = pyplot()
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options
        )
    return figure, axes


def panels(n: int, width: float = WIDTH, height: float = HEIGHT, **options: Any) -> tuple[Any, list[Any]]:
    """Make a figure with panels side by side."""
    figure, axes = grid(1, n, width, height, **options)
    return figure, list(axes[0])


def save(figure: Any, path: Path) -> None:
    """Write a figure as PNG, and as PDF and SVG beside it for print."""
    plt = pyplot()
    with plt.rc_context(STYLE):
        figure.savefig(path, dpi=DPI)
        figure.savefig(path.with_suffix(".pdf"), metadata={"CreationDate": None})
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    plt.close(figure)


# ----------------------------------------------------------------------------------------------------- curves
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One line: where its points are, how far they scatter, and what it is called."""

    name: str
    method: str
    x: FloatArray
    mean: FloatArray
    spread: FloatArray


def curves_of(frame: pd.DataFrame, x: str, y: str, line: str) -> list[Curve]:
    """One curve per label: mean over the draws, and one standard deviation."""
    found = []
    for (label, method), part in frame.dropna(subset=[y]).groupby([line, "method"], sort=False):
        groups = part.groupby(x)[y]
        mean, spread = groups.mean(), groups.std(ddof=1).fillna(0.0)
        places = np.asarray(mean.index, dtype=np.float64)
        heights, bars = np.asarray(mean, dtype=np.float64), np.asarray(spread, dtype=np.float64)
        found.append(Curve(str(label), str(method), places, heights, bars))
    return found


def draw_curves(
    axes: Any, curves: Sequence[Curve], among: Sequence[Curve] | None = None, **style: Any
) -> None:
    """Draw curves with bars of one standard deviation, each with its colour and marker.

    ``among``: all curves of the figure, so that a name looks the same in every panel; None = these.
    """
    colours = colours_of([(curve.name, curve.method) for curve in among or curves])
    markers = {name: MARKERS[number % len(MARKERS)] for number, name in enumerate(colours)}
    for curve in curves:
        options = {
            "color": colours[curve.name],
            "marker": markers[curve.name],
            "markersize": 4,
            "capsize": 2,
            "linewidth": 1.3,
        } | style
        axes.errorbar(curve.x, curve.mean, yerr=curve.spread, label=curve.name, **options)


def draw_lines(axes: Any, frame: pd.DataFrame, x: str, y: str, line: str, **style: Any) -> None:
    """Draw one curve per label of a table of trials."""
    draw_curves(axes, curves_of(frame, x, y, line), **style)


def colours_of(lines: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Shades of one scale for settings of one method; beside other methods, ours stand out in warm tones."""
    plt = pyplot()
    labels = list(dict.fromkeys(label for label, _ in lines))
    ours = list(dict.fromkeys(label for label, method in lines if method == "pls"))
    others = [label for label in labels if label not in ours]
    if not ours or not others or len(others) > len(OTHERS) or len(ours) > len(OURS):
        shades = plt.get_cmap("viridis")
        return {label: shades(0.78 * number / max(1, len(labels) - 1)) for number, label in enumerate(labels)}
    found = dict(zip(ours, OURS, strict=False)) | dict(zip(others, OTHERS, strict=False))
    return {label: found[label] for label in labels}


def name_curves(axes: Any) -> None:
    """Write the name of every curve beside its right end, apart from each other; instead of a legend."""
    ends = []
    for container in axes.containers:
        line = container[0]
        heights = np.asarray(line.get_ydata(), dtype=float)
        known = np.flatnonzero(np.isfinite(heights))
        if len(known):
            ends.append((float(heights[known[-1]]), str(container.get_label()), line.get_color()))
    _write_names(axes, ends)


def _write_names(axes: Any, ends: Iterable[tuple[float, str, Any]]) -> None:
    """Names to the right of the axes at these heights, pushed apart where they would touch."""
    listed = sorted(ends, key=lambda end: end[0])
    if not listed:
        return
    figure = axes.figure
    panel = axes.get_window_extent().height * 72 / figure.dpi  # in points, before the final layout
    transform = axes.transData + axes.transAxes.inverted()
    wanted = np.array([transform.transform((axes.get_xlim()[1], height))[1] for height, _, _ in listed])
    places = spaced(np.clip(wanted, 0.0, 1.0), 1.25 * NAME_POINTS / max(panel, 1.0))
    for (_, name, colour), place, own in zip(listed, places, np.clip(wanted, 0.0, 1.0), strict=True):
        axes.annotate(
            name,
            xy=(1.0, own),
            xytext=(1.035, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            fontsize=NAME_POINTS,
            color=colour,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.5,
                "relpos": (0, 0.5),
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )


def spaced(places: FloatArray, gap: float) -> FloatArray:
    """Ascending places moved as little as needed to lie at least a gap apart.

    Examples
    --------
    >>> spaced(np.array([0.5, 0.5]), 0.25).tolist()
    [0.375, 0.625]
    """
    found = places.astype(float).copy()
    groups = [[place] for place in range(len(found))]
    while True:
        spans = [(np.mean(places[group]) - gap * (len(group) - 1) / 2, len(group)) for group in groups]
        touching = next(
            (
                number
                for number in range(len(groups) - 1)
                if spans[number][0] + gap * spans[number][1] > spans[number + 1][0] + 1e-12
            ),
            None,
        )
        if touching is None:
            break
        groups[touching : touching + 2] = [groups[touching] + groups[touching + 1]]
    for group, (first, _) in zip(groups, spans, strict=True):
        found[group] = first + gap * np.arange(len(group))
    return found


# ------------------------------------------------------------------------------------------------------- axes
def finish(axes: Any, title: str, x: str, y: str, legend: bool = False) -> None:
    """Add title, axis labels and grid; the curves' names at their ends, or a legend."""
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.25)
    if legend:
        axes.legend(fontsize=NAME_POINTS, frameon=False)
    elif axes.containers:
        name_curves(axes)


def logarithmic(axes: Any, which: str = "x") -> None:
    """Make an axis logarithmic, or both ("xy"), with plain numbers at 1, 2, 5, 10, ...

    Only 1 and 10 are labelled where it spans many decades.
    """
    for name in which:
        _logarithmic(axes, name)


def _logarithmic(axes: Any, which: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis = getattr(axes, f"{which}axis")
    getattr(axes, f"set_{which}scale")("log")
    low, high = getattr(axes, f"get_{which}lim")()
    steps = (1.0, 2.0, 5.0) if np.log10(high / low) < MANY_DECADES else (1.0,)
    axis.set_major_locator(LogLocator(subs=steps, numticks=20))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1_000 else f"{value:g}")
    )
