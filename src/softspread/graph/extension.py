"""Tie new items to a fitted graph without changing it: one more step of the diffusion.

    mass(x) = alpha * sum_j s_xj mass_j,   s_xj = a_xj / sqrt(d_x d_j)  or  a_xj / d_x     theory: [new items]

No item counts a new one as its neighbour yet, so a_xj = w_xj / 2, as for any pair of which only one counts
the other.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.graph.builders import gaussian_weights
from softspread.graph.graph import Graph
from softspread.graph.neighbors import nearest_items
from softspread.graph.places import place_items


def tie_newcomers(graph: Graph, X: AnyArray, workers: Workers) -> csr_array:
    """Rows s_x of the operator for new items, (q, n) over the graph's items in the user's order."""
    if graph.places is None:
        raise InputError("this graph was made from an affinity; it has no features to place new items by.")
    if graph.kind == "epsilon":
        rows, columns, weights = _within_radius(graph, X)
    else:
        placed = place_items(X, graph.metric)
        rows, columns, weights = _nearest(graph, graph.places, placed, workers)
    ties = csr_array((weights, (rows, columns)), shape=(len(X), graph.n_items))
    degrees = np.asarray(ties.sum(axis=1)).ravel()
    if graph.normalization == "random_walk":
        scale = degrees[rows]
    else:
        theirs = graph.degrees[columns]
        # An isolated item gains its first tie. Two roots, as the product of two tiny degrees would underflow.
        scale = np.sqrt(degrees[rows]) * np.sqrt(np.where(theirs > 0, theirs, weights))
    normalised = np.divide(weights, scale, out=np.zeros_like(weights), where=scale > 0)
    return csr_array((normalised, (rows, columns)), shape=ties.shape)


def _nearest(
    graph: Graph, items: AnyArray, X: AnyArray, workers: Workers
) -> tuple[IntArray, IntArray, FloatArray]:
    k = max(1, graph.n_neighbors or 1)
    found, squared = nearest_items(items, X, min(k, graph.n_items), workers)
    # With sigma = 0 all fitted items coincide with their neighbours: a new one is tied to those it coincides
    # with.
    weights = 0.5 * gaussian_weights(squared, graph.sigma2) if graph.sigma2 else 0.5 * (squared == 0)
    return np.repeat(np.arange(len(X)), found.shape[1]), found.ravel(), weights.ravel()


def _within_radius(graph: Graph, X: AnyArray) -> tuple[IntArray, IntArray, FloatArray]:
    lists = cKDTree(graph.features).query_ball_point(X, graph.details["radius"], return_sorted=True)
    sizes = np.array([len(found) for found in lists], dtype=np.int64)
    columns = (
        np.concatenate([np.asarray(found, dtype=np.int64) for found in lists])
        if sizes.sum()
        else np.empty(0, dtype=np.int64)
    )
    return np.repeat(np.arange(len(X)), sizes), columns, np.ones(len(columns))
