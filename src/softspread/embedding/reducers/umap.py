"""UMAP, fitted by umap-learn.

A new item gets the mean of its nearest items' places, weighted by UMAP's memberships

    w_j = exp(-(d_j - d_1) / s),   s with sum_j w_j = log2 k

which is where umap-learn's own transform starts.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray, FloatArray
from softspread.embedding.reducers.reducer import Features, check_features, check_item_count, nearest
from softspread.errors import InputError

NEIGHBORS, MIN_DIST = 15, 0.1  # umap-learn's defaults, which the paper uses
BISECTIONS = 64  # halvings of the interval for a membership's width: to the last bit
SMALLEST_WIDTH = 1e-3  # of a membership, as a share of the mean distance; as in UMAP


@dataclass(frozen=True, slots=True, eq=False)
class UmapReducer:
    """UMAP's places of the fitted items, and their features to find neighbours by."""

    features: Features  # (n, d)
    places: Features  # (n, dim)
    n_neighbors: int
    name: ClassVar[str] = "umap"

    @classmethod
    def fit(cls, F: Features, dim: int, seed: int) -> "tuple[UmapReducer, Features]":
        """By umap-learn on one thread, so that the same seed gives the same places."""
        check_item_count(cls.name, len(F), dim)
        with warnings.catch_warnings():
            # it says that tensorflow is absent, that a seed means one thread, and how it joins components
            warnings.simplefilter("ignore")
            with needs_extra("umap", "UMAP needs umap-learn; choose reduce='pca', or install it"):
                import umap
            k = min(NEIGHBORS, len(F) - 1)
            fitted = umap.UMAP(
                n_neighbors=k, min_dist=MIN_DIST, n_components=dim, random_state=seed, n_jobs=1
            ).fit(F)
        places = np.asarray(fitted.embedding_, dtype=np.float32)
        lost = np.flatnonzero(~np.isfinite(places).all(axis=1))
        if len(lost):
            raise InputError(
                f"UMAP found no place for {len(lost)} items, the first in row {lost[0]}; try reduce='pca'."
            )
        return cls(F, places, k), places

    @classmethod
    def restore(cls, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "UmapReducer":
        """From what was saved."""
        return cls(arrays["features"], arrays["places"], int(facts["n_neighbors"]))

    def transform(self, F: AnyArray) -> Features:
        """Place new items among their nearest fitted ones."""
        checked = check_features(F, self.features.shape[1])
        indices, distances = nearest(self.features, checked, min(self.n_neighbors, len(self.features)))
        weights = memberships(distances)
        return np.asarray(np.einsum("mk,mkd->md", weights, self.places[indices]), dtype=np.float32)

    def facts(self) -> dict[str, Any]:
        """UMAP's settings."""
        return {"n_neighbors": self.n_neighbors, "min_dist": MIN_DIST, "metric": "euclidean"}

    def arrays(self) -> dict[str, AnyArray]:
        """Features and places of the fitted items."""
        return {"features": self.features, "places": self.places}


def memberships(distances: FloatArray) -> FloatArray:
    """(m, k) weights with sum 1, by UMAP's memberships; an item equal to fitted ones gets their mean."""
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
