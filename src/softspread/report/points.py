"""A map of many items: dots on a canvas, coloured by class, evidence or uncertainty.

X (n, d)  ->  two main directions  ->  a sample of at most 200,000 dots  ->  nine bytes each in the page
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.report.charts import LEAST_EVIDENCE
from softspread.report.maps import RAMP, class_colors, legend, packed
from softspread.report.markup import embed_json, escape

MOST_POINTS = 200_000  # beyond, dots cover each other and the page grows past 5 MB
MOST_NAME_LETTERS = 4_000_000  # ids beyond this in all are left out of the page, and rows are shown instead
PLANE = (1600, 1000)  # units of the map
MARGIN = 24  # units, so that dots at the rim are whole
CLIPPED = 0.001  # share of items on each side that may lie outside: a few outliers must not squeeze the rest
ROOM_FOR_RIM = 0.05  # beyond these quantiles, as a share of the width between them
MOST_RINGS = 60_000  # dots; beyond, rings would hide them
MOST_LEGEND = 30  # classes named below the map
LANDMARKS = 1_500  # items whose places are worked out one against the other
LANDMARK_NEIGHBORS = 10  # that pull a landmark
ROUNDS = 120  # of pulling and pushing; this and the step are chosen by eye, no figure depends on them
REPELLERS = 6  # random landmarks that push one away in each round
STEP = 0.4  # of the way at first, nothing in the last round
NEAREST_LANDMARKS = 4  # that decide where any other item goes
NEARLY_THERE = 1e-3  # squared distances this small, as a share of the usual, count as none


@dataclass(frozen=True, slots=True, eq=False)
class PointMap:
    """Items drawn as dots; all arrays have one entry per dot."""

    positions: FloatArray  # (m, 2)
    classes: Sequence[Any]
    best: IntArray  # (m,) column of the most probable class
    p: FloatArray  # (m,) its probability
    second: IntArray  # (m,) column of the next class
    p_second: FloatArray  # (m,)
    evidence: FloatArray  # (m,)
    uncertainty: FloatArray  # (m,) width of the widest interval
    n_votes: AnyArray  # (m,) votes on the item itself
    names: Sequence[Any]  # (m,) ids


def sample_rows(n: int, rng: np.random.Generator, most: int = MOST_POINTS) -> IntArray:
    """Rows to draw, in random order so that no class covers the others."""
    return np.asarray(rng.permutation(n)[:most], dtype=np.int64)


def plane_of(X: AnyArray, rng: np.random.Generator) -> FloatArray:
    """Place each item in the plane, (n, 2), near the items that are near in X. For the eye only.

    Some landmarks are laid out by attraction between neighbours and repulsion between the others, starting
    from the two main directions; every other item goes between its nearest landmarks.
    """
    from scipy.spatial import cKDTree

    n = len(X)
    flat = np.asarray(X, dtype=np.float64)
    if flat.shape[1] <= 2:
        return np.column_stack([flat, np.zeros((n, 2 - flat.shape[1]))])
    chosen = np.sort(rng.permutation(n)[:LANDMARKS])
    marks = flat[chosen]
    if len(marks) <= LANDMARK_NEIGHBORS + 1:
        return _main_directions(flat, flat)
    tree = cKDTree(marks)
    places = _lay_out(tree, marks, _main_directions(marks, marks), rng)
    distance, near = tree.query(flat, NEAREST_LANDMARKS, workers=-1)
    # the nearest landmark counts most, and an item that is one lies exactly there
    squared = np.square(distance)
    weight = 1.0 / (squared + NEARLY_THERE * (squared[:, -1:] + (squared.mean() or 1.0)))
    weight /= weight.sum(axis=1, keepdims=True)
    between: FloatArray = np.einsum("ij,ijk->ik", weight, places[near])
    own = np.sqrt(squared.mean()) or 1.0
    spread = np.linalg.norm(places[near[:, 0]] - places[near[:, 1]], axis=1, keepdims=True)
    scatter = rng.normal(size=(n, 2)) * np.minimum(spread, np.median(spread)) * (distance[:, :1] / own) * 0.4
    return np.asarray(between + scatter)  # without it, dots would gather on lines between landmarks


def _main_directions(X: FloatArray, sample: FloatArray) -> FloatArray:
    centre = sample.mean(axis=0)
    _, vectors = np.linalg.eigh(np.cov((sample - centre).T) if len(sample) > 1 else np.eye(X.shape[1]))
    return np.asarray((X - centre) @ vectors[:, : -3 if vectors.shape[1] > 2 else None : -1])


def _lay_out(tree: Any, marks: FloatArray, start: FloatArray, rng: np.random.Generator) -> FloatArray:
    m = len(marks)
    _, near = tree.query(marks, LANDMARK_NEIGHBORS + 1)
    heads = np.repeat(np.arange(m), LANDMARK_NEIGHBORS)
    tails = near[:, 1:].ravel()
    places = start / (start.std() or 1.0)
    for turn in range(ROUNDS):
        step = STEP * (1 - turn / ROUNDS)
        gap = places[tails] - places[heads]
        pull = gap / (1 + np.square(gap).sum(axis=1, keepdims=True)) * 2 / LANDMARK_NEIGHBORS
        move = np.stack(
            [np.bincount(heads, pull[:, k], m) + np.bincount(tails, -pull[:, k], m) for k in (0, 1)], 1
        )
        for _ in range(REPELLERS):
            gap = places - places[rng.integers(m, size=m)]
            square = np.square(gap).sum(axis=1, keepdims=True)
            move += 2.0 / REPELLERS * gap / ((0.01 + square) * (1 + square))
        places = places + step * np.clip(move, -4, 4)
    return places


def point_map(data: PointMap, name: str = "points") -> str:
    """Three drawings of the same dots.

    A screen shows one at a time, with buttons to switch; paper shows all side by side.
    """
    kinds = (("class", "Class"), ("evidence", "Evidence"), ("uncertainty", "Uncertainty"))
    buttons = "".join(
        f"<button type='button' data-kind='{kind}' "
        f"aria-pressed='{str(kind == 'class').lower()}'>{title}</button>"
        for kind, title in kinds
    )
    labels = legend(data.classes)
    more = f"<span>and {len(labels) - MOST_LEGEND} more</span>" if len(labels) > MOST_LEGEND else ""
    keys = {
        "class": f"<div class='legend'>{''.join(labels[:MOST_LEGEND])}{more}</div>",
        "evidence": RAMP,
        "uncertainty": RAMP,
    }
    captions = {
        "class": "Most probable class; paler is less certain"
        + (", rings are items with votes" if len(data.names) <= MOST_RINGS else ""),
        "evidence": "Evidence: how many votes' worth has reached each item",
        "uncertainty": "Uncertainty: width of the widest interval of an item",
    }
    figures = "".join(
        f"<figure data-kind='{kind}'{'' if kind == 'class' else ' class=other'}>"
        f"<figcaption>{escape(captions[kind])}</figcaption><canvas width='{PLANE[0]}' height='{PLANE[1]}' "
        f"role='img' aria-label='{escape(captions[kind])}'></canvas>{keys[kind]}</figure>"
        for kind, _ in kinds
    )
    return (
        f"<div class='point-map' data-source='{escape(name)}'>"
        f"<div class='switch' role='group' aria-label='colour by'>{buttons}</div>"
        f"<div class='planes'>{figures}</div><div class='tip' hidden></div>"
        "<noscript><p class='note'>The map is drawn by the page's own script; allow it.</p></noscript></div>"
        + embed_json(name, _point_data(data))
    )


def _point_data(data: PointMap) -> dict[str, Any]:
    places = _placed(data.positions)
    logs = np.log10(np.maximum(data.evidence, LEAST_EVIDENCE))
    low, high = (float(logs.min()), float(logs.max())) if len(logs) else (0.0, 0.0)
    kind = "<u1" if len(data.classes) <= 256 else "<u2"
    names = [str(name) for name in data.names]
    return {
        "classes": [str(label) for label in data.classes],
        "colors": class_colors(len(data.classes)),
        "plane": list(PLANE),
        "rings": len(data.names) <= MOST_RINGS,
        "xy": packed(places, "<u2"),
        "wide": kind == "<u2",
        "best": packed(data.best, kind),
        "second": packed(data.second, kind),
        "p": packed(np.round(255 * data.p), "<u1"),
        "p2": packed(np.round(255 * data.p_second), "<u1"),
        "evidence": packed(np.round(255 * (logs - low) / ((high - low) or 1.0)), "<u1"),
        "range": [low, high],
        "uncertainty": packed(np.round(255 * np.clip(data.uncertainty, 0, 1)), "<u1"),
        "votes": packed(np.minimum(data.n_votes, 255), "<u1"),
        "names": names if sum(map(len, names)) <= MOST_NAME_LETTERS else None,
    }


def _placed(positions: FloatArray) -> FloatArray:
    """Fit positions into the plane, each direction scaled on its own; outliers stop at the edge."""
    low, high = np.quantile(positions, [CLIPPED, 1 - CLIPPED], axis=0)
    some = ROOM_FOR_RIM * (high - low)
    low, high = np.maximum(low - some, positions.min(axis=0)), np.minimum(high + some, positions.max(axis=0))
    room = np.array(PLANE) - 2 * MARGIN
    share = np.clip((positions - low) / np.where(high > low, high - low, 1.0), 0, 1)
    share[:, high <= low] = 0.5
    share[:, 1] = 1 - share[:, 1]  # up is up
    return np.asarray(np.round(share * room + MARGIN))
