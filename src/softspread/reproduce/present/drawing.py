"""What all figures share: panels, lines with error bars, plain axes, colours (extra ``plots``)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.extras import needs_extra

WIDTH, HEIGHT = 5.2, 3.7  # of one panel, inches
MARKERS = "osD^vP*X<>hd"
MANY_DECADES = 2.2
COOL = (0, 2, 4, 5, 7, 8, 9, 6)  # of the ten usual colours those that are no red


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
    figure, axes = pyplot().subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options
    )
    return figure, axes


def panels(n: int, width: float = WIDTH, height: float = HEIGHT) -> tuple[Any, list[Any]]:
    """Make a figure with panels side by side."""
    figure, axes = grid(1, n, width, height)
    return figure, list(axes[0])


def draw_lines(axes: Any, frame: pd.DataFrame, x: str, y: str, line: str, **style: Any) -> None:
    """Draw one line per label: the mean over the draws, with bars of one standard deviation."""
    colours = _colours(list(dict.fromkeys(zip(frame[line], frame["method"], strict=True))))
    for number, (label, colour) in enumerate(colours.items()):
        groups = frame[frame[line] == label].groupby(x)[y]
        mean, spread_ = groups.mean(), groups.std(ddof=1).fillna(0.0)
        options = {
            "color": colour,
            "marker": MARKERS[number % len(MARKERS)],
            "markersize": 4,
            "capsize": 2,
        } | style
        axes.errorbar(mean.index, mean, yerr=spread_, label=str(label), linewidth=1.4, **options)


def _colours(lines: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Shades of one scale for settings of one method; beside other methods, ours stand out in red tones."""
    plt = pyplot()
    labels = [label for label, _ in lines]
    ours = [label for label, method in lines if method == "pls"]
    others = [label for label in labels if label not in ours]
    if not ours or not others or len(others) > len(COOL):
        shades = plt.get_cmap("viridis")
        return {label: shades(0.92 * number / max(1, len(labels) - 1)) for number, label in enumerate(labels)}
    reds, rest = plt.get_cmap("autumn"), plt.get_cmap("tab10")
    found = {label: reds(0.7 * number / len(ours)) for number, label in enumerate(ours)}
    found |= {label: rest(COOL[number]) for number, label in enumerate(others)}
    return {label: found[label] for label in labels}


def finish(axes: Any, title: str, x: str, y: str, legend: bool = True) -> None:
    """Add title, axis labels, grid and legend."""
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.25)
    if legend:
        axes.legend(fontsize=7)


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
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
