"""Small drawings: how values are spread, and how a score depends on a setting."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from softspread._common.types import FloatArray
from softspread.errors import InputError
from softspread.report.markup import escape

LEAST_EVIDENCE = 1e-3  # less than a thousandth of a vote is drawn as that
HISTOGRAM_BINS = 32  # bars
MOST_TICKS = 10  # names of values below a curve that do not run into each other


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """Where bars stand, and how a place on the axis reads."""

    edges: FloatArray
    ticks: Sequence[float]
    read: Callable[[float], float]


def histograms(series: Mapping[str, FloatArray], unit: str) -> str:
    """Show how values are distributed, one small chart per series.

    All share one logarithmic scale, with the median marked.

    Parameters
    ----------
    series : name -> (n,) values; below 0.001 they count as that
    unit : what the values are
    """
    _check_series(series)
    logs = {name: np.log10(np.maximum(values, LEAST_EVIDENCE)) for name, values in series.items()}
    low = np.floor(min(values.min() for values in logs.values()))
    high = max(np.ceil(max(values.max() for values in logs.values())), low + 1)
    axis = _Axis(
        np.linspace(low, high, HISTOGRAM_BINS + 1), range(int(low), int(high) + 1), lambda x: 10.0**x
    )
    return _side_by_side([_histogram(name, values, axis, unit) for name, values in logs.items()])


def share_histograms(series: Mapping[str, FloatArray], unit: str) -> str:
    """The same for values between 0 and 1, on a plain scale."""
    _check_series(series)
    axis = _Axis(np.linspace(0.0, 1.0, HISTOGRAM_BINS + 1), (0.0, 0.25, 0.5, 0.75, 1.0), lambda x: x)
    return _side_by_side(
        [_histogram(name, np.clip(values, 0, 1), axis, unit) for name, values in series.items()]
    )


def _check_series(series: Mapping[str, FloatArray]) -> None:
    if not series or any(len(values) == 0 for values in series.values()):
        raise InputError("histograms need at least one series, each with at least one value.")


def _side_by_side(charts: Sequence[str]) -> str:
    return f"<div class='charts'>{''.join(charts)}</div>"


def _histogram(name: str, values: FloatArray, axis: _Axis, unit: str) -> str:
    width, height, base = 320.0, 150.0, 122.0  # of the drawing; bars stand on ``base``, tick labels below it
    left, top = 8.0, 40.0
    edges, read = axis.edges, axis.read
    counts = np.histogram(values, bins=edges)[0]
    step = (width - 2 * left) / len(counts)

    def across(value: float) -> float:
        return float(left + (value - edges[0]) / (edges[-1] - edges[0]) * (width - 2 * left))

    bars = []
    for column, count in enumerate(counts.tolist()):
        size = (base - top) * count / max(1, counts.max())
        text = f"{read(edges[column]):.3g} to {read(edges[column + 1]):.3g} {unit}: {count} items"
        bars.append(
            f"<rect class='bar' x='{left + column * step + 0.5:.1f}' y='{base - size:.1f}' "
            f"width='{step - 1:.1f}' height='{size:.1f}'><title>{escape(text)}</title></rect>"
        )
    ticks = []
    for value in axis.ticks:
        x = across(value)
        anchor = "start" if value == edges[0] else "end" if value == edges[-1] else "middle"
        ticks.append(f"<line class='axis' x1='{x:.1f}' x2='{x:.1f}' y1='{base}' y2='{base + 4}'/>")
        ticks.append(
            f"<text class='tick' x='{x:.1f}' y='{base + 17}' text-anchor='{anchor}'>{read(value):g}</text>"
        )
    median = float(np.median(values))
    x = across(median)
    anchor = "end" if x > width / 2 else "start"
    line = (
        f"<line class='median' x1='{x:.1f}' x2='{x:.1f}' y1='{top - 16}' y2='{base}'/><text class='tick' "
        f"x='{x + (-5 if anchor == 'end' else 5):.1f}' y='{top - 8}' text-anchor='{anchor}'>median "
        f"{read(median):.2g}</text>"
    )
    return (
        f"<svg class='chart' viewBox='0 0 {width:g} {height:g}' role='img' aria-label='{escape(name)}: "
        f"{escape(unit)}'><text class='chart-title' x='{left}' "
        f"y='12'>{escape(name)}</text>{''.join(bars)}<line class='axis' x1='{left}' x2='{width - left}' "
        f"y1='{base}' y2='{base}'/>{''.join(ticks)}{line}</svg>"
    )


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One setting and its score."""

    setting: float
    score: float
    error: float = 0.0  # half the length of its whisker
    best: bool = False

    @property
    def whisker(self) -> float:
        """The error where it is known, else 0."""
        return self.error if np.isfinite(self.error) else 0.0


def curve(series: Mapping[str, Sequence[CurvePoint]], across_text: str, up_text: str) -> str:
    """Scores over settings, one line per series.

    Settings are evenly spaced, whatever their values.

    Parameters
    ----------
    series : name -> points; the name is shown where there are several
    across_text, up_text : what the settings and the scores are
    """
    points = [point for line in series.values() for point in line]
    if not points:
        raise InputError("a curve needs at least one point.")
    width, height, left, right, top, base = 640.0, 270.0, 62.0, 16.0, 36.0, 216.0
    settings = sorted({point.setting for point in points})
    low = min(point.score - point.whisker for point in points)
    high = max(point.score + point.whisker for point in points)
    span = (high - low) or 1.0

    def x_of(setting: float) -> float:
        return left + 12 + settings.index(setting) / max(1, len(settings) - 1) * (width - left - right - 24)

    def y_of(score: float) -> float:
        return base - (score - low) / span * (base - top)

    parts = [
        f"<line class='axis' x1='{left}' x2='{width - right}' y1='{base + 6}' y2='{base + 6}'/>",
        f"<line class='axis' x1='{left}' x2='{left}' y1='{top}' y2='{base + 6}'/>",
    ]
    for share in (0.0, 0.5, 1.0):
        y = y_of(low + share * span)
        parts.append(
            f"<text class='tick' x='{left - 6}' y='{y + 4:.1f}' "
            f"text-anchor='end'>{low + share * span:.3g}</text>"
        )
    for setting in settings[:: -(-len(settings) // MOST_TICKS)]:
        x = x_of(setting)
        parts.append(
            f"<text class='tick' x='{x:.1f}' y='{base + 22}' text-anchor='middle'>{setting:g}</text>"
        )
    for name, line in series.items():
        ordered = sorted(line, key=lambda point: point.setting)
        path = " ".join(f"{x_of(point.setting):.1f},{y_of(point.score):.1f}" for point in ordered)
        parts.append(f"<polyline class='line' points='{path}'/>")
        for point in ordered:
            x, error = x_of(point.setting), point.whisker
            title = f"{across_text} {point.setting:g}: {point.score:.4f} ± {error:.4f}"
            parts.append(
                f"<line class='whisker' x1='{x:.1f}' x2='{x:.1f}' y1='{y_of(point.score - error):.1f}' "
                f"y2='{y_of(point.score + error):.1f}'/><circle class='dot{' best' if point.best else ''}' "
                f"cx='{x:.1f}' cy='{y_of(point.score):.1f}' "
                f"r='{6 if point.best else 4}'><title>{escape(title)}</title></circle>"
            )
        if len(series) > 1 and ordered:
            last = ordered[-1]
            parts.append(
                f"<text class='tick' x='{x_of(last.setting) - 6:.1f}' y='{y_of(last.score) - 10:.1f}' "
                f"text-anchor='end'>{escape(name)}</text>"
            )
    middle = (left + width - right) / 2
    parts.append(
        f"<text class='tick' x='{middle:.1f}' y='{height - 12}' "
        f"text-anchor='middle'>{escape(across_text)}</text>"
    )
    parts.append(f"<text class='chart-title' x='8' y='12'>{escape(up_text)}</text>")
    return (
        f"<svg class='chart wide' viewBox='0 0 {width:g} {height:g}' role='img' "
        f"aria-label='{escape(up_text)} by {escape(across_text)}'>{''.join(parts)}</svg>"
    )
