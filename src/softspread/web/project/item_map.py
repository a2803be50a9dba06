"""A map of the items for the eye: neighbours in embedding space lie together.

X (n, d)  ->  up to 4,000 landmarks laid out by their graph  ->  every shown item between its nearest
landmarks
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, IntArray
from softspread.graph import knn_graph
from softspread.graph.neighbors import nearest_items
from softspread.report.layout import lay_out

MOST_SHOWN = 100_000  # items on the map; more are sampled
LANDMARKS = 4_000  # laid out with forces: about 10 s of work
NEAREST = 3  # landmarks that place an item
LANDMARK_NEIGHBORS = 15
JITTER = 0.15  # of the distance to the landmarks, so that items do not hide each other


@dataclass(frozen=True, slots=True, eq=False)
class ItemMap:
    """Where the shown items lie."""

    rows: IntArray  # (shown,) sorted
    places: NDArray[np.float32]  # (shown, 2) in [0, 1]


def map_items(X: AnyArray, seed: int = 0) -> ItemMap:
    """Place all items, or a random sample of 100,000."""
    rng = np.random.default_rng(seed)
    n = len(X)
    rows = np.arange(n) if n <= MOST_SHOWN else np.sort(rng.choice(n, MOST_SHOWN, replace=False))
    if n <= 2:
        return ItemMap(rows, np.linspace(0.25, 0.75, 2 * n, dtype=np.float32).reshape(n, 2))
    landmarks = rows if len(rows) <= LANDMARKS else np.sort(rng.choice(rows, LANDMARKS, replace=False))
    points = np.asarray(X[landmarks], dtype=np.float64)
    graph = knn_graph(points, min(LANDMARK_NEIGHBORS, len(points) - 1))
    marks = lay_out(graph, principal_components(points, 2), rng)
    places = marks if len(rows) == len(landmarks) else _between(X, rows, points, marks, rng)
    low, high = places.min(axis=0), places.max(axis=0)
    return ItemMap(rows, ((places - low) / np.where(high > low, high - low, 1.0)).astype(np.float32))


def principal_components(X: AnyArray, n_components: int) -> AnyArray:
    """The directions in which items differ most, (n, n_components); zeros where there are fewer."""
    centred = X - X.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    found = centred @ vectors[:, ::-1][:, :n_components]
    return np.pad(found, ((0, 0), (0, n_components - found.shape[1])))


def _between(
    X: AnyArray, rows: IntArray, points: AnyArray, marks: AnyArray, rng: np.random.Generator
) -> AnyArray:
    """Each item at the weighted mean of its nearest landmarks' places."""
    near, squared = nearest_items(points, np.asarray(X[rows], dtype=np.float64), NEAREST, Workers(1))
    weight = 1 / (squared + np.maximum(squared.mean(axis=1, keepdims=True), np.finfo(np.float64).tiny))
    weight /= weight.sum(axis=1, keepdims=True)
    places = np.einsum("ij,ijk->ik", weight, marks[near])
    spread = np.linalg.norm(marks[near] - places[:, None], axis=2).mean(axis=1)
    return np.asarray(
        places + JITTER * np.minimum(spread, 3 * np.median(spread))[:, None] * rng.normal(size=(len(rows), 2))
    )
