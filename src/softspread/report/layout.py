"""Place items in the plane for the eye: neighbours in the graph lie together."""

from dataclasses import dataclass

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class LayoutRule:
    """How items are moved about; found by looking at maps of the digits."""

    rounds: int = 150
    repellers: int = 4  # random items that push an item away, for each neighbour that pulls it
    step: float = 0.3
    start_width: float = 1.0  # a wider start leaves wider gaps between groups
    largest_push: float = 4.0  # coinciding items would be thrown out of the picture


def lay_out(
    graph: Graph, start: FloatArray, rng: np.random.Generator, rule: LayoutRule | None = None
) -> FloatArray:
    """Place items in the plane so that neighbours in the graph lie together, (n, 2).

    Neighbours pull each other with 2 d / (1 + |d|^2), as often as their edge is heavy, and random items push
    with 2 d / (|d|^2 (1 + |d|^2)); the steps shrink to 0. A picture, not a measurement.
    """
    rule = LayoutRule() if rule is None else rule
    edges = graph.S.tocoo()
    heads, tails, chance = edges.row, edges.col, edges.data / edges.data.max()
    n = graph.n_items
    places = rule.start_width * (start - start.mean(axis=0)) / (start.std() or 1.0)
    for turn in range(rule.rounds):
        drawn = rng.random(len(chance)) < chance
        first, second = heads[drawn], tails[drawn]
        d = places[first] - places[second]
        pull = d * (2 / (1 + np.einsum("ij,ij->i", d, d)))[:, None]
        other = np.repeat(first, rule.repellers)
        d = places[other] - places[rng.integers(n, size=len(other))]
        squared = np.einsum("ij,ij->i", d, d) + np.finfo(np.float32).eps
        push = np.clip(d * (2 / (squared * (1 + squared)))[:, None], -rule.largest_push, rule.largest_push)
        force = _sums(second, pull, n) - _sums(first, pull, n) + _sums(other, push, n)
        pulls = np.maximum(1, np.bincount(first, minlength=n))
        places = places + rule.step * (1 - turn / rule.rounds) * force / np.sqrt(pulls)[:, None]
    return np.asarray(places)


def _sums(rows: AnyArray, values: FloatArray, n: int) -> FloatArray:
    return np.stack([np.bincount(rows, values[:, column], n) for column in (0, 1)], axis=1)
