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
WIDTH, HEIGHT = 640.0, 270.0  # of a curve's drawing, and where its axes end in it
LEFT, RIGHT, TOP, BASE = 62.0, 624.0, 36.0, 216.0


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


def _line(kind: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    (x1, x2), (y1, y2) = ((f"{end:.1f}" for end in ends) for ends in (x, y))
    return f"<line class='{kind}' x1='{x1}' x2='{x2}' y1='{y1}' y2='{y2}'/>"


def _tick(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f"<text class='tick' x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'>{text}</text>"


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
        ticks += [_line("axis", (x, x), (base, base + 4)), _tick(x, base + 17, f"{read(value):g}", anchor)]
    median = float(np.median(values))
    x = across(median)
    anchor = "end" if x > width / 2 else "start"
    beside = x - 5 if anchor == "end" else x + 5
    line = _line("median", (x, x), (top - 16, base))
    line += _tick(beside, top - 8, f"median {read(median):.2g}", anchor)
    return (
        f"<svg class='chart' viewBox='0 0 {width:g} {height:g}' role='img' aria-label='{escape(name)}: "
        f"{escape(unit)}'><text class='chart-title' x='{left}' "
        f"y='12'>{escape(name)}</text>{''.join(bars)}{_line('axis', (left, width - left), (base, base))}"
        f"{''.join(ticks)}{line}</svg>"
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
    plane = _Plane.of(points)
    low, high = plane.low, plane.low + plane.span
    parts = [_line("axis", (LEFT, RIGHT), (BASE + 6, BASE + 6)), _line("axis", (LEFT, LEFT), (TOP, BASE + 6))]
    for score in (low, (low + high) / 2, high):
        parts.append(_tick(LEFT - 6, plane.y(score) + 4, f"{score:.3g}", "end"))
    for setting in plane.settings[:: -(-len(plane.settings) // MOST_TICKS)]:
        parts.append(_tick(plane.x(setting), BASE + 22, f"{setting:g}"))
    for name, line in series.items():
        ordered = sorted(line, key=lambda point: point.setting)
        parts += _drawn(ordered, plane, across_text)
        if len(series) > 1 and ordered:
            last = ordered[-1]
            parts.append(_tick(plane.x(last.setting) - 6, plane.y(last.score) - 10, escape(name), "end"))
    parts.append(_tick((LEFT + RIGHT) / 2, HEIGHT - 12, escape(across_text)))
    parts.append(f"<text class='chart-title' x='8' y='12'>{escape(up_text)}</text>")
    return (
        f"<svg class='chart wide' viewBox='0 0 {WIDTH:g} {HEIGHT:g}' role='img' "
        f"aria-label='{escape(up_text)} by {escape(across_text)}'>{''.join(parts)}</svg>"
    )


@dataclass(frozen=True, slots=True)
class _Plane:
    """Where settings and scores stand in the drawing of a curve."""

    settings: list[float]
    low: float
    span: float

    @classmethod
    def of(cls, points: Sequence[CurvePoint]) -> "_Plane":
        low = min(point.score - point.whisker for point in points)
        high = max(point.score + point.whisker for point in points)
        return cls(sorted({point.setting for point in points}), low, (high - low) or 1.0)

    def x(self, setting: float) -> float:
        share = self.settings.index(setting) / max(1, len(self.settings) - 1)
        return LEFT + 12 + share * (RIGHT - LEFT - 24)

    def y(self, score: float) -> float:
        return BASE - (score - self.low) / self.span * (BASE - TOP)


def _drawn(ordered: Sequence[CurvePoint], plane: _Plane, across_text: str) -> list[str]:
    """A line through the points of one series, and each with its whisker."""
    path = " ".join(f"{plane.x(point.setting):.1f},{plane.y(point.score):.1f}" for point in ordered)
    parts = [f"<polyline class='line' points='{path}'/>"]
    for point in ordered:
        x, error = plane.x(point.setting), point.whisker
        title = escape(f"{across_text} {point.setting:g}: {point.score:.4f} ± {error:.4f}")
        kind, radius = ("dot best", 6) if point.best else ("dot", 4)
        parts.append(_line("whisker", (x, x), (plane.y(point.score - error), plane.y(point.score + error))))
        parts.append(
            f"<circle class='{kind}' cx='{x:.1f}' cy='{plane.y(point.score):.1f}' r='{radius}'>"
            f"<title>{title}</title></circle>"
        )
    return parts
