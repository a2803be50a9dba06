"""A map of the items for the eye: neighbours in embedding space lie together.

    X (n, d)  ->  up to 4,000 landmarks laid out by their graph  ->  every item between its nearest landmarks

Drawn once per set of items and saved in the data folder.
"""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softspread._common.archive import read_archive, write_archive
from softspread._common.threads import Workers
from softspread._common.types import AnyArray, IntArray
from softspread.errors import StoreError
from softspread.graph.builders import knn_graph
from softspread.graph.neighbors import nearest_items
from softspread.report.layout import lay_out

VERSION = 1  # of the file
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MapRule:
    """How large a map is, and how items find their places."""

    most_shown: int = 100_000  # more items are sampled: a browser moves no more dots smoothly
    landmarks: int = 4_000  # laid out with forces: about 10 s of work
    nearest: int = 3  # landmarks that place an item
    landmark_neighbors: int = 15
    jitter: float = 0.15  # of the distance to the landmarks, so that items do not hide each other


RULE = MapRule()


@dataclass(frozen=True, slots=True, eq=False)
class ItemMap:
    """Where the shown items lie."""

    rows: IntArray  # (shown,) sorted
    places: NDArray[np.float32]  # (shown, 2) in [0, 1]


def map_items(X: AnyArray, seed: int = 0, rule: MapRule = RULE) -> ItemMap:
    """Place all items, or a random sample of them."""
    rng = np.random.default_rng(seed)
    n = len(X)
    rows = np.arange(n) if n <= rule.most_shown else np.sort(rng.choice(n, rule.most_shown, replace=False))
    if n <= 2:
        return ItemMap(rows, np.linspace(0.25, 0.75, 2 * n, dtype=np.float32).reshape(n, 2))
    some = rule.landmarks
    landmarks = rows if len(rows) <= some else np.sort(rng.choice(rows, some, replace=False))
    points = np.asarray(X[landmarks], dtype=np.float64)
    graph = knn_graph(points, min(rule.landmark_neighbors, len(points) - 1))
    marks = lay_out(graph, principal_components(points, 2), rng)
    places = marks if len(rows) == len(landmarks) else _between(X, rows, points, marks, rng, rule)
    low, high = places.min(axis=0), places.max(axis=0)
    return ItemMap(rows, ((places - low) / np.where(high > low, high - low, 1.0)).astype(np.float32))


def principal_components(X: AnyArray, n_components: int) -> AnyArray:
    """The directions in which items differ most, (n, n_components); zeros where there are fewer."""
    centred = X - X.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    found = centred @ vectors[:, ::-1][:, :n_components]
    return np.pad(found, ((0, 0), (0, n_components - found.shape[1])))


def _between(
    X: AnyArray, rows: IntArray, points: AnyArray, marks: AnyArray, rng: np.random.Generator, rule: MapRule
) -> AnyArray:
    """Each item at the weighted mean of its nearest landmarks' places."""
    near, squared = nearest_items(points, np.asarray(X[rows], dtype=np.float64), rule.nearest, Workers(1))
    weight = 1 / (squared + np.maximum(squared.mean(axis=1, keepdims=True), np.finfo(np.float64).tiny))
    weight /= weight.sum(axis=1, keepdims=True)
    places = np.einsum("ij,ijk->ik", weight, marks[near])
    spread = np.linalg.norm(marks[near] - places[:, None], axis=2).mean(axis=1)
    width = rule.jitter * np.minimum(spread, 3 * np.median(spread))[:, None]
    return np.asarray(places + width * rng.normal(size=places.shape))


def load_or_map(path: Path, X: AnyArray, mark: str) -> ItemMap:
    """The map from its file, or drawn and saved now."""
    if path.is_file():
        try:
            header, arrays = read_archive(path, "web-map", VERSION)
            if header.get("items") == mark:
                return ItemMap(arrays["rows"], arrays["places"])
        except (StoreError, KeyError) as error:
            logger.warning("the saved map cannot be used (%s); it is drawn again", error)
    found = map_items(X)
    write_archive(path, "web-map", VERSION, {"items": mark}, {"rows": found.rows, "places": found.places})
    return found
