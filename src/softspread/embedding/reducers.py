"""Features to few dimensions, with a way in for new items: UMAP, PCA, Isomap or nothing.

    fit(F (n, d)) -> X (n, dim);   transform(new F) -> X of new items, also after saving and loading

Each fitted reducer is a set of arrays, so it is saved without pickle and answers after loading exactly as
before:

* PCA:     (f - mean) components^T
* UMAP:    fitted by umap-learn; a new item gets the mean of its nearest items' places, weighted by UMAP's
memberships
           w_j = exp(-(d_j - d_1) / s), s with sum_j w_j = log2 k; umap-learn's own transform starts much like
           this
* Isomap:  geodesic distances g from the new item through its neighbours; -(g^2 centred)/2 projected on the
eigenvectors
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import eigsh

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError, MissingExtraError, StoreError

Features = NDArray[np.float32]

REDUCERS = ("umap", "pca", "isomap", "none")
AUTO_UMAP_ITEMS = 500_000  # beyond, UMAP takes hours and PCA seconds
UMAP_NEIGHBORS, UMAP_MIN_DIST = 15, 0.1  # umap-learn's defaults, which the paper uses
ISOMAP_NEIGHBORS = 5  # scikit-learn's default, which the paper uses
ISOMAP_ITEMS = 20_000  # its matrix of distances between all items has then 3 GB
SPARE = 5  # candidates looked at more than asked, as quick distances are rounded
BLOCK_ENTRIES = 20_000_000  # distances in memory at once: 160 MB
BISECTIONS = 64  # halvings of the interval for a membership's width: to the last bit
SMALLEST_WIDTH = 1e-3  # ... as a share of the mean distance, as in UMAP


class Reducer(Protocol):
    """A fitted map from features to the space."""

    name: ClassVar[str]

    def transform(self, F: AnyArray) -> Features:
        """(m, d) features of new items to (m, dim)."""

    def facts(self) -> dict[str, Any]:
        """Settings, as JSON can hold them."""

    def arrays(self) -> dict[str, AnyArray]:
        """All that was learnt."""


@dataclass(frozen=True, slots=True, eq=False)
class NoReducer:
    """Features as they are."""

    n_features: int
    name: ClassVar[str] = "none"

    def transform(self, F: AnyArray) -> Features:
        return _checked(F, self.n_features)

    def facts(self) -> dict[str, Any]:
        return {"n_features": self.n_features}

    def arrays(self) -> dict[str, AnyArray]:
        return {}


@dataclass(frozen=True, slots=True, eq=False)
class PcaReducer:
    """Projection on the directions of largest variance."""

    mean: AnyArray  # (d,)
    components: AnyArray  # (dim, d)
    explained: AnyArray  # (dim,) share of the variance
    name: ClassVar[str] = "pca"

    def transform(self, F: AnyArray) -> Features:
        checked = _checked(F, len(self.mean))
        return np.asarray((checked - self.mean) @ self.components.T, dtype=np.float32)

    def facts(self) -> dict[str, Any]:
        return {"explained_variance": float(self.explained.sum())}

    def arrays(self) -> dict[str, AnyArray]:
        return {"mean": self.mean, "components": self.components, "explained": self.explained}


@dataclass(frozen=True, slots=True, eq=False)
class UmapReducer:
    """UMAP's places of the fitted items, and their features to find neighbours by."""

    features: Features  # (n, d)
    places: Features  # (n, dim)
    n_neighbors: int
    name: ClassVar[str] = "umap"

    def transform(self, F: AnyArray) -> Features:
        checked = _checked(F, self.features.shape[1])
        indices, distances = nearest(self.features, checked, min(self.n_neighbors, len(self.features)))
        weights = memberships(distances)
        return np.asarray(np.einsum("mk,mkd->md", weights, self.places[indices]), dtype=np.float32)

    def facts(self) -> dict[str, Any]:
        return {"n_neighbors": self.n_neighbors, "min_dist": UMAP_MIN_DIST, "metric": "euclidean"}

    def arrays(self) -> dict[str, AnyArray]:
        return {"features": self.features, "places": self.places}


@dataclass(frozen=True, slots=True, eq=False)
class IsomapReducer:
    """Geodesic distances along the graph of nearest items, scaled to few dimensions."""

    features: Features  # (n, d)
    edges: csr_array  # (n, n) lengths between neighbours, both ways
    row_means: FloatArray  # (n,) of -g^2 / 2
    directions: FloatArray  # (n, dim) eigenvectors over the roots of their eigenvalues
    n_neighbors: int
    name: ClassVar[str] = "isomap"

    def transform(self, F: AnyArray) -> Features:
        checked = _checked(F, self.features.shape[1])
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
        return {"n_neighbors": self.n_neighbors}

    def arrays(self) -> dict[str, AnyArray]:
        return {
            "features": self.features,
            "edges.data": self.edges.data,
            "edges.indices": self.edges.indices,
            "edges.indptr": self.edges.indptr,
            "row_means": self.row_means,
            "directions": self.directions,
        }


def fit_reducer(F: Features, reduce: str, dim: int, seed: int) -> tuple[Reducer, Features]:
    """A fitted reducer and the items' places (n, dim).

    Parameters
    ----------
    F : (n, d) features
    reduce : "umap", "pca", "isomap", "none", or "auto": UMAP up to 500,000 items, PCA beyond
    """
    validation.choice("reduce", reduce, (*REDUCERS, "auto"))
    n, d = F.shape
    chosen = reduce if reduce != "auto" else ("umap" if n <= AUTO_UMAP_ITEMS else "pca")
    if chosen == "none":
        return NoReducer(d), F
    dim = validation.count("dim", dim, 1)
    if chosen == "pca":
        return _fit_pca(F, dim, seed)
    if n < dim + 2:
        raise InputError(f"{chosen} to {dim} dimensions needs at least {dim + 2} items, got {n}; lower dim.")
    return _fit_umap(F, dim, seed) if chosen == "umap" else _fit_isomap(F, dim)


def reducer_from(name: str, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Reducer:
    """The reducer whose ``facts`` and ``arrays`` were saved."""
    try:
        if name == "none":
            return NoReducer(int(facts["n_features"]))
        if name == "pca":
            return PcaReducer(arrays["mean"], arrays["components"], arrays["explained"])
        if name == "umap":
            return UmapReducer(arrays["features"], arrays["places"], int(facts["n_neighbors"]))
        if name == "isomap":
            n = len(arrays["features"])
            parts = (arrays["edges.data"], arrays["edges.indices"], arrays["edges.indptr"])
            edges = csr_array(parts, shape=(n, n))
            return IsomapReducer(
                arrays["features"],
                edges,
                arrays["row_means"],
                arrays["directions"],
                int(facts["n_neighbors"]),
            )
    except KeyError as error:
        raise StoreError(f"the saved reducer {name!r} lacks {error}; embed again.") from error
    raise StoreError(
        f"the saved reducer {name!r} is unknown to this version; known are {', '.join(REDUCERS)}."
    )


# -------------------------------------------------------------------------------------------------------- fit
def _fit_pca(F: Features, dim: int, seed: int) -> tuple[Reducer, Features]:
    from sklearn.decomposition import PCA

    largest = min(F.shape)
    if dim > largest:
        raise InputError(
            f"PCA of {F.shape[0]} items with {F.shape[1]} features has at most {largest} dimensions, got "
            f"dim={dim}."
        )
    pca = PCA(dim, svd_solver="randomized" if dim < largest else "full", random_state=seed).fit(F)
    reducer = PcaReducer(
        np.asarray(pca.mean_, dtype=np.float32),
        np.asarray(pca.components_, dtype=np.float32),
        np.asarray(pca.explained_variance_ratio_, dtype=np.float64),
    )
    return reducer, reducer.transform(F)


def _fit_umap(F: Features, dim: int, seed: int) -> tuple[Reducer, Features]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it announces that tensorflow is absent
            import umap
    except ImportError as error:
        raise MissingExtraError(
            "UMAP needs umap-learn: pip install 'softspread[embed]', or choose reduce='pca'."
        ) from error
    k = min(UMAP_NEIGHBORS, len(F) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # that a seed means one thread, and how it copes with several components
        fitted = umap.UMAP(
            n_neighbors=k, min_dist=UMAP_MIN_DIST, n_components=dim, random_state=seed, n_jobs=1
        ).fit(F)
    places = np.asarray(fitted.embedding_, dtype=np.float32)
    lost = np.flatnonzero(~np.isfinite(places).all(axis=1))
    if len(lost):
        raise InputError(
            f"UMAP found no place for {len(lost)} items, the first in row {lost[0]}; try reduce='pca'."
        )
    return UmapReducer(F, places, k), places


def _fit_isomap(F: Features, dim: int) -> tuple[Reducer, Features]:
    n = len(F)
    if n > ISOMAP_ITEMS:
        raise InputError(
            f"Isomap keeps distances between all items, so it takes up to {ISOMAP_ITEMS} of them, got {n}; "
            "use 'umap'."
        )
    k = min(ISOMAP_NEIGHBORS, n - 1)
    edges = _joined(F, _neighbor_edges(F, k))
    kernel = dijkstra(edges, directed=False)
    np.square(kernel, out=kernel)
    kernel *= -0.5
    row_means = kernel.mean(axis=1)
    kernel -= row_means[:, None]
    kernel -= row_means
    kernel += row_means.mean()
    values, vectors = eigsh(kernel, k=dim, which="LA", v0=np.full(n, n**-0.5) + np.linspace(0, 1e-3, n))
    order = np.argsort(values)[::-1]
    values, vectors = np.maximum(values[order], 0.0), vectors[:, order]
    vectors *= np.sign(
        vectors[np.abs(vectors).argmax(axis=0), np.arange(dim)]
    )  # the sign is arbitrary: fix it
    roots = np.sqrt(values)
    directions = np.divide(vectors, roots, out=np.zeros_like(vectors), where=roots > 0)
    places = np.asarray(vectors * roots, dtype=np.float32)
    return IsomapReducer(F, edges, row_means, directions, k), places


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


# -------------------------------------------------------------------------------------------------- new items
def nearest(fitted: AnyArray, new: AnyArray, k: int) -> tuple[IntArray, FloatArray]:
    """(m, k) rows and distances of the nearest fitted items, nearest first, exact."""
    squared_norms = np.einsum("ij,ij->i", fitted, fitted, dtype=np.float64)
    indices = np.empty((len(new), k), dtype=np.int64)
    distances = np.empty((len(new), k))
    step = max(1, BLOCK_ENTRIES // len(fitted))
    for start in range(0, len(new), step):
        block = new[start : start + step]
        rough = squared_norms - 2.0 * (block @ fitted.T)
        near = np.argpartition(rough, min(k + SPARE, len(fitted)) - 1, axis=1)[:, : k + SPARE]
        exact = np.sqrt(
            np.square(fitted[near].astype(np.float64) - block[:, None]).sum(axis=2)
        )  # no cancellation
        order = np.lexsort((near, exact), axis=1)[:, :k]
        indices[start : start + step] = np.take_along_axis(near, order, axis=1)
        distances[start : start + step] = np.take_along_axis(exact, order, axis=1)
    return indices, distances


def memberships(distances: FloatArray) -> FloatArray:
    """(m, k) weights with sum 1, by UMAP's fuzzy memberships; an item on top of fitted ones gets their mean
    place.
    """
    k = distances.shape[1]
    beyond = distances - distances[:, :1]
    low, high = np.zeros(len(distances)), np.full(len(distances), np.inf)
    width = np.ones(len(distances))
    target = np.log2(max(k, 2))
    for _ in range(BISECTIONS):
        too_wide = np.exp(-beyond / width[:, None]).sum(axis=1) > target
        high = np.where(too_wide, width, high)
        low = np.where(too_wide, low, width)
        width = np.where(np.isinf(high), 2 * width, (low + high) / 2)
    width = np.maximum(width, SMALLEST_WIDTH * distances.mean(axis=1))
    weights = np.exp(-beyond / np.maximum(width, np.finfo(np.float64).tiny)[:, None])
    there = distances[:, 0] == 0
    weights[there] = distances[there] == 0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _checked(F: AnyArray, n_features: int) -> Features:
    checked = np.asarray(validation.features(F), dtype=np.float32)
    if checked.shape[1] != n_features:
        raise InputError(f"the reducer was fitted on {n_features} features, got {checked.shape[1]}.")
    return checked
