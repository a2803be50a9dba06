"""Isomap: geodesic distances g along the graph of nearest items, scaled to few dimensions.

-(g^2 centred) / 2  ->  its largest eigenvectors;   a new item: g through its neighbours, projected on them
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import eigsh

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.embedding.reducers.reducer import (
    BLOCK_ENTRIES,
    Features,
    check_features,
    check_item_count,
    nearest,
)
from softspread.errors import InputError

NEIGHBORS = 5  # scikit-learn's default, which the paper uses
MOST_ITEMS = 20_000  # the matrix of distances between all items then has 3 GB


@dataclass(frozen=True, slots=True, eq=False)
class IsomapReducer:
    """Geodesic distances along the graph of nearest items, scaled to few dimensions."""

    features: Features  # (n, d)
    edges: csr_array  # (n, n) lengths between neighbours, both ways
    row_means: FloatArray  # (n,) of -g^2 / 2
    directions: FloatArray  # (n, dim) eigenvectors over the roots of their eigenvalues
    n_neighbors: int
    name: ClassVar[str] = "isomap"

    @classmethod
    def fit(
        cls, F: Features, dim: int, seed: int, most_items: int = MOST_ITEMS
    ) -> "tuple[IsomapReducer, Features]":
        """By the eigenvectors of the centred kernel; ``seed`` changes nothing."""
        del seed
        n = len(F)
        check_item_count(cls.name, n, dim)
        if n > most_items:
            raise InputError(
                f"Isomap keeps distances between all items, so it takes up to {most_items} of them, got {n}; "
                "use 'umap'."
            )
        k = min(NEIGHBORS, n - 1)
        edges = _joined(F, _neighbor_edges(F, k))
        kernel = dijkstra(edges, directed=False)
        np.square(kernel, out=kernel)
        kernel *= -0.5
        row_means = kernel.mean(axis=1)
        kernel -= row_means[:, None]
        kernel -= row_means
        kernel += row_means.mean()
        start = np.full(n, n**-0.5) + np.linspace(0, 1e-3, n)  # any vector but an eigenvector
        values, vectors = eigsh(kernel, k=dim, which="LA", v0=start)
        order = np.argsort(values)[::-1]
        values, vectors = np.maximum(values[order], 0.0), vectors[:, order]
        # an eigenvector's sign is arbitrary: make its largest entry positive
        vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(dim)])
        roots = np.sqrt(values)
        directions = np.divide(vectors, roots, out=np.zeros_like(vectors), where=roots > 0)
        places = np.asarray(vectors * roots, dtype=np.float32)
        return cls(F, edges, row_means, directions, k), places

    @classmethod
    def restore(cls, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "IsomapReducer":
        """From what was saved."""
        n = len(arrays["features"])
        parts = (arrays["edges.data"], arrays["edges.indices"], arrays["edges.indptr"])
        edges = csr_array(parts, shape=(n, n))
        return cls(
            arrays["features"], edges, arrays["row_means"], arrays["directions"], int(facts["n_neighbors"])
        )

    def transform(self, F: AnyArray) -> Features:
        """Place new items by their geodesic distances to the fitted ones."""
        checked = check_features(F, self.features.shape[1])
        n = len(self.features)
        indices, distances = nearest(self.features, checked, min(self.n_neighbors, n))
        out = np.empty((len(checked), self.directions.shape[1]), dtype=np.float32)
        block = max(1, BLOCK_ENTRIES // n)
        for start in range(0, len(checked), block):
            rows = slice(start, start + block)
            out[rows] = self._place(self._geodesics(indices[rows], distances[rows]))
        return out

    def _geodesics(self, indices: IntArray, distances: FloatArray) -> FloatArray:
        """(b, n) from each new item through its neighbours: min over j of d_j + g_j."""
        distinct, place = np.unique(indices, return_inverse=True)
        from_neighbors = dijkstra(self.edges, directed=False, indices=distinct)
        place = place.reshape(indices.shape)
        g = np.full((len(indices), len(self.features)), np.inf)
        for column in range(indices.shape[1]):
            np.minimum(g, distances[:, column, None] + from_neighbors[place[:, column]], out=g)
        return g

    def _place(self, g: FloatArray) -> FloatArray:
        kernel = -0.5 * g**2
        centred = kernel - kernel.mean(axis=1, keepdims=True) - self.row_means + self.row_means.mean()
        return np.asarray(centred @ self.directions)

    def facts(self) -> dict[str, Any]:
        """Isomap's settings."""
        return {"n_neighbors": self.n_neighbors}

    def arrays(self) -> dict[str, AnyArray]:
        """Everything that placing a new item needs."""
        return {
            "features": self.features,
            "edges.data": self.edges.data,
            "edges.indices": self.edges.indices,
            "edges.indptr": self.edges.indptr,
            "row_means": self.row_means,
            "directions": self.directions,
        }


def _neighbor_edges(F: Features, k: int) -> csr_array:
    """(n, n) distances to the k nearest other items, in both directions."""
    n = len(F)
    indices, distances = nearest(F, F, k + 1)
    others = indices != np.arange(n)[:, None]
    others &= (
        np.cumsum(others, axis=1) <= k
    )  # where an item is not in its own list, one neighbour is too many
    rows = np.repeat(np.arange(n), others.sum(axis=1))
    lengths = np.maximum(distances[others], np.finfo(np.float64).tiny)  # a stored zero would be no edge
    edges = csr_array((lengths, (rows, indices[others])), shape=(n, n))
    return edges.maximum(edges.T).tocsr()


def _joined(F: Features, edges: csr_array) -> csr_array:
    """Tie components together by their closest pairs of items."""
    n_components, component = connected_components(edges, directed=False)
    rows, columns, lengths = [], [], []
    for number in range(1, n_components):  # each to the closest of those before it: a tree over all
        inside, before = np.flatnonzero(component == number), np.flatnonzero(component < number)
        indices, distances = nearest(F[before], F[inside], 1)
        closest = int(distances[:, 0].argmin())
        rows.append(inside[closest])
        columns.append(before[indices[closest, 0]])
        lengths.append(max(float(distances[closest, 0]), np.finfo(np.float64).tiny))
    if not rows:
        return edges
    ties = csr_array((lengths, (rows, columns)), shape=edges.shape)
    return edges.maximum(ties.maximum(ties.T)).tocsr()
