"""A graph that follows its items: new ones join it, others leave, and only what changes is searched.

    Graph  ->  neighbour lists  ->  lists with more or fewer items  ->  Graph          theory: [operator]

The k nearest of an item's edges are its neighbours, so lists are read off the edges and no graph stores
them. One pass over all pairs of an old and a new item finds the neighbours of the new ones and the old ones
to which a new one is nearer than their k-th neighbour. The kernel's width follows. The edges are those of a
new build from exact lists; where several items are equally far, the one that came first is the neighbour.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray, Neighbors
from softspread._kernels.growing import near_pairs, nearest_edges
from softspread._kernels.neighbors import squared_distances
from softspread.errors import InputError, SoftspreadWarning
from softspread.graph.builders import epsilon_graph, kernel_width, knn_graph, symmetric_affinity
from softspread.graph.graph import Graph, operator_from_affinity
from softspread.graph.neighbors import nearest_items
from softspread.graph.places import place_items

ROUNDING = 1e-9  # of a distance that only says where to look


@dataclass(frozen=True, slots=True)
class GrowthRule:
    """How the pass over pairs is cut, and when another build is cheaper."""

    most_pairs: float = 4e9  # of an old and a new item: 4,000 new among a million
    block_pairs: int = 1_000_000  # 8 MB of products at once, which stay in the cache
    sample: int = 4_096  # of the items: the walk along edges to those near a new item starts at the nearest
    steps: int = 4  # of that walk, each to neighbours of neighbours: what it finds bounds how far to look
    listed_rows: int = 16_384  # rows of a piece of work


RULE = GrowthRule()


def with_items(
    graph: Graph, new: AnyArray, n_neighbors: int | None, workers: Workers, rule: GrowthRule = RULE
) -> Graph:
    """The graph of its items and ``new`` (m, d), whose rows follow.

    Parameters
    ----------
    n_neighbors : neighbours asked for; None = as many as the items have
    """
    features = _features_of(graph)
    X = np.concatenate([features, new.astype(features.dtype)])
    n, k = len(X), graph.n_neighbors or 0
    wanted = min(k if n_neighbors is None else n_neighbors, n - 1)
    if graph.kind == "epsilon" or wanted != k or n * len(new) > rule.most_pairs:
        return _built(graph, X, wanted, workers)
    order = np.concatenate([graph.order, np.arange(len(features), n)])
    found, squared = neighbor_lists(graph, workers, rule)
    found, squared = _joined_lists(place_items(X, graph.metric)[order], found, squared, order, workers, rule)
    return _renumbered(graph, X, found, squared, order, _places(found, len(features)), workers)


def without_items(graph: Graph, keep: BoolArray, workers: Workers, rule: GrowthRule = RULE) -> Graph:
    """The graph of the items that stay, a mask over the user's rows; their order stays."""
    X = _features_of(graph)[keep]
    k = min(graph.n_neighbors or 0, len(X) - 1)
    if graph.kind == "epsilon":
        return _built(graph, X, k, workers)
    found, squared = neighbor_lists(graph, workers, rule)
    stays = keep[graph.order]
    place = np.where(stays, np.cumsum(stays) - 1, -1)
    found, squared = place[found[stays, :k]], squared[stays, :k]
    user = np.cumsum(keep) - 1
    order = user[graph.order[stays]]
    lacking = np.flatnonzero((found < 0).any(axis=1))
    places = place_items(X[order], graph.metric)
    found[lacking], squared[lacking] = _nearest_others(places, lacking, k, workers)
    return _renumbered(graph, X, found, squared, order, np.arange(len(X)), workers)


def neighbor_lists(graph: Graph, workers: Workers, rule: GrowthRule = RULE) -> tuple[IntArray, FloatArray]:
    """Neighbours of every item and their squared distances, (n, k) each, in the inner numbering."""
    X, k = place_items(_features_of(graph)[graph.order], graph.metric), graph.n_neighbors or 0
    found, squared = np.full((len(X), k), -1), np.full((len(X), k), np.inf)
    if k == 0:
        return found, squared

    def work(first: int) -> None:
        last = min(first + rule.listed_rows, len(X))
        nearest_edges(graph.indptr, graph.indices, X, graph.order, first, last, found, squared)

    workers.run(work, range(0, len(X), rule.listed_rows))
    # Weights of far items underflow, and their edges are gone.
    short = np.flatnonzero(found[:, -1] < 0)
    found[short], squared[short] = _nearest_others(X, short, k, workers)
    return found, squared


def distances_to_neighbors(graph: Graph, workers: Workers) -> FloatArray:
    """(n,) distance of each item to its farthest neighbour, in the user's order."""
    return np.asarray(graph.to_user_order(np.sqrt(neighbor_lists(graph, workers)[1][:, -1])))


def _features_of(graph: Graph) -> AnyArray:
    if graph.features is None:
        raise InputError(
            "this graph was made from an affinity; it has no features to place items by. Make the affinity "
            "of all items and fit again."
        )
    return graph.features


def _built(graph: Graph, X: AnyArray, n_neighbors: int, workers: Workers) -> Graph:
    """A new build with the settings of an earlier one."""
    how: dict[str, Any] = {"normalization": graph.normalization, "n_jobs": workers.n_threads}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)  # of isolated items, which `far` items are
        if graph.kind == "epsilon":
            return epsilon_graph(X, graph.details["radius"], **how)
        return knn_graph(X, n_neighbors, _bandwidth(graph), metric=graph.metric, random_state=0, **how)


def _bandwidth(graph: Graph) -> str | float:
    """The bandwidth that the graph was asked for."""
    asked: str | float = graph.details.get("bandwidth", "kth")
    return asked


def _renumbered(
    graph: Graph,
    X: AnyArray,
    found: IntArray,
    squared: FloatArray,
    order: IntArray,
    places: IntArray,
    workers: Workers,
) -> Graph:
    """The graph of lists whose rows move to ``places``."""
    back = np.argsort(places)
    lists = Neighbors(places[found[back]], squared[back], graph.index, graph.recall_)
    sigma2 = kernel_width(lists, _bandwidth(graph))
    kept = ("kind", "normalization", "recall_", "index", "details", "metric")
    facts = {name: getattr(graph, name) for name in kept}
    affinity = symmetric_affinity(lists, sigma2, workers)
    return operator_from_affinity(
        affinity, order[back], n_neighbors=found.shape[1], sigma2=sigma2, features=X, **facts
    )


def _places(found: IntArray, n_old: int) -> IntArray:
    """(n,) inner numbers that put each new item behind its nearest old one."""
    nearest = found[n_old:]
    old = nearest < n_old
    first = nearest[np.arange(len(nearest)), old.argmax(axis=1)]
    keys = np.concatenate([np.arange(n_old), np.where(old.any(axis=1), first, n_old) + 0.5])
    places = np.empty(len(found), dtype=np.int64)
    places[np.argsort(keys, kind="stable")] = np.arange(len(found))
    return places


def _nearest_others(X: AnyArray, rows: IntArray, k: int, workers: Workers) -> tuple[IntArray, FloatArray]:
    """The k nearest other items of some rows, searched exactly."""
    if not len(rows) or k == 0:
        return np.empty((len(rows), k), dtype=np.int64), np.empty((len(rows), k))
    found, squared = nearest_items(X, X[rows], k + 1, workers)
    others = found != rows[:, None]
    others[others.all(axis=1), -1] = False  # an item may miss itself among those that coincide with it
    return found[others].reshape(-1, k), squared[others].reshape(-1, k)


def _joined_lists(
    X: AnyArray, found: IntArray, squared: FloatArray, ranks: IntArray, workers: Workers, rule: GrowthRule
) -> tuple[IntArray, FloatArray]:
    """The lists of old items brought up to date, followed by those of the new ones, which end X."""
    n_old, k = found.shape
    rows, columns = _near(X, found, squared[:, -1], workers, rule)
    new = n_old + columns
    apart = rows != new
    rows, new = rows[apart], new[apart]
    gaps = np.empty((len(rows), 1))
    squared_distances(X, X[rows], new[:, None], gaps)
    gap = gaps[:, 0]
    nearer = np.flatnonzero((rows < n_old) & (gap < np.append(squared[:, -1], 0.0)[np.minimum(rows, n_old)]))
    moved = np.unique(rows[nearer])
    owners = np.concatenate([new, rows[nearer], np.repeat(moved, k)])
    others = np.concatenate([rows, new[nearer], found[moved].ravel()])
    gap = np.concatenate([gap, gap[nearer], squared[moved].ravel()])
    best = np.lexsort((ranks[others], gap, owners))
    changed, first = np.unique(owners[best], return_index=True)
    best = best[first[:, None] + np.arange(k)]
    more = len(X) - n_old
    found = np.concatenate([found, np.empty((more, k), dtype=np.int64)])
    squared = np.concatenate([squared, np.empty((more, k))])
    found[changed], squared[changed] = others[best], gap[best]
    return found, squared


def _near(
    X: AnyArray, found: IntArray, farthest: FloatArray, workers: Workers, rule: GrowthRule
) -> tuple[IntArray, IntArray]:
    """Pairs (row of X, number of a new item) that may change a list, and few others.

    Products lose digits where items lie far from the centre; what they can have lost is granted to each pair.
    """
    points = X - X.mean(axis=0, dtype=np.float64)
    new = np.ascontiguousarray(points[len(farthest) :])
    lost = 4 * (X.shape[1] + 4) * np.finfo(np.float64).eps
    norms = np.einsum("ij,ij->i", points, points)
    n, m = len(X), len(new)
    reach = _reach(points[:-m], new, found, rule)
    norms *= 1 - lost
    limits = np.concatenate([farthest, np.full(m, -np.inf)])
    pairs: list[tuple[IntArray, IntArray]] = []
    size = max(1, rule.block_pairs // m)

    def work(first: int) -> None:
        some = slice(first, first + size)
        close = _close(points[some], limits[some], new, reach)
        products = points[some] @ new[close].T
        room, needed = 0, 16 * size
        while needed > room:
            room = needed
            rows, columns = np.empty((2, room), dtype=np.int64)
            sizes = norms[some], norms[n - m :][close]
            needed = near_pairs(products, *sizes, limits[some], reach[close], rows, columns)
        pairs.append((rows[:needed] + first, close[columns[:needed]]))

    workers.run(work, range(0, n, size))
    pairs.sort(key=lambda pair: int(pair[0][0]) if len(pair[0]) else -1)
    return np.concatenate([rows for rows, _ in pairs]), np.concatenate([columns for _, columns in pairs])


def _close(points: FloatArray, limits: FloatArray, new: FloatArray, reach: FloatArray) -> IntArray:
    """The new items that may be near one of some points, by the ball around these: most are not."""
    centre = points.mean(axis=0)
    radius = np.sqrt(((points - centre) ** 2).sum(axis=1).max())
    far = np.sqrt(((new - centre) ** 2).sum(axis=1))
    allowed = np.sqrt(np.maximum(np.maximum(limits.max(), reach), 0.0))
    return np.flatnonzero(far <= (radius + allowed) * (1 + ROUNDING))


def _reach(points: FloatArray, new: FloatArray, found: IntArray, rule: GrowthRule) -> FloatArray:
    """(m,) squared distance within which each new item surely has k others.

    A walk from list to list, to the nearest item each time; theirs and their neighbours' lists bound it.
    """
    k = found.shape[1]
    if k == 0:
        return np.full(len(new), -np.inf)
    sample = np.arange(0, len(points), -(-len(points) // rule.sample))
    sizes = np.einsum("ij,ij->i", points[sample], points[sample])
    here = sample[np.argmin(sizes - 2 * (new @ points[sample].T), axis=1)]
    squared = np.empty((len(new), k + k * k))
    for _ in range(rule.steps):
        listed = np.concatenate([found[here], found[found[here]].reshape(len(new), -1)], axis=1)
        listed.sort(axis=1)
        squared_distances(points, new, listed, squared)
        here = listed[np.arange(len(new)), squared.argmin(axis=1)]
    squared[:, 1:][listed[:, 1:] == listed[:, :-1]] = np.inf  # an item counts once
    reach: FloatArray = np.partition(squared, k - 1, axis=1)[:, k - 1] * (1 + ROUNDING)
    return reach
