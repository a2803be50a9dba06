"""The interface of reducers, and the exact neighbour search by which they place new items.

    fit(F (n, d)) -> reducer, X (n, dim);     reducer.transform(new F) -> X of new items

A fitted reducer is a set of arrays and settings, so it is saved without pickle and answers after loading
exactly as before.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError

Features = NDArray[np.float32]

BLOCK_ENTRIES = 20_000_000  # distances in memory at once: 160 MB
SPARE = 5  # candidates beyond those wanted, as quick distances are rounded


class Reducer(Protocol):
    """A fitted map from features to the space."""

    name: ClassVar[str]

    @classmethod
    def fit(cls, F: Features, dim: int, seed: int) -> "tuple[Reducer, Features]":
        """The reducer fitted to (n, d) features, and the items' places (n, dim)."""

    @classmethod
    def restore(cls, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "Reducer":
        """The reducer whose ``facts`` and ``arrays`` were saved; a KeyError where one is missing."""

    def transform(self, F: AnyArray) -> Features:
        """(m, d) features of new items to (m, dim)."""

    def facts(self) -> dict[str, Any]:
        """Settings, as JSON can hold them."""

    def arrays(self) -> dict[str, AnyArray]:
        """All that was learnt."""


def check_features(F: AnyArray, n_features: int) -> Features:
    """Finite features of as many columns as the reducer was fitted on."""
    checked = np.asarray(validation.features(F), dtype=np.float32)
    if checked.shape[1] != n_features:
        raise InputError(f"the reducer was fitted on {n_features} features, got {checked.shape[1]}.")
    return checked


def check_item_count(name: str, n: int, dim: int) -> None:
    """Refuse fewer items than a reducer by neighbours needs."""
    if n < dim + 2:
        raise InputError(f"{name} to {dim} dimensions needs at least {dim + 2} items, got {n}; lower dim.")


def nearest(
    fitted: AnyArray, new: AnyArray, k: int, block_entries: int = BLOCK_ENTRIES
) -> tuple[IntArray, FloatArray]:
    """(m, k) rows and distances of the nearest fitted items, nearest first, exact."""
    squared_norms = np.einsum("ij,ij->i", fitted, fitted, dtype=np.float64)
    indices = np.empty((len(new), k), dtype=np.int64)
    distances = np.empty((len(new), k))
    step = max(1, block_entries // len(fitted))
    for start in range(0, len(new), step):
        block = new[start : start + step]
        rough = squared_norms - 2.0 * (block @ fitted.T)
        near = np.argpartition(rough, min(k + SPARE, len(fitted)) - 1, axis=1)[:, : k + SPARE]
        difference = fitted[near].astype(np.float64) - block[:, None]  # exact, where ``rough`` cancels
        exact = np.sqrt(np.square(difference).sum(axis=2))
        order = np.lexsort((near, exact), axis=1)[:, :k]
        indices[start : start + step] = np.take_along_axis(near, order, axis=1)
        distances[start : start + step] = np.take_along_axis(exact, order, axis=1)
    return indices, distances
