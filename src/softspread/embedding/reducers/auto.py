"""The default reducer: UMAP, or PCA where there are too many items for it."""

from collections.abc import Mapping
from typing import Any

from softspread._common.types import AnyArray
from softspread.embedding.reducers.pca import PcaReducer
from softspread.embedding.reducers.reducer import Features, Reducer
from softspread.embedding.reducers.umap import UmapReducer

UMAP_ITEMS = 500_000  # beyond, UMAP takes hours and PCA seconds


class AutoReducer:
    """Chooses; what it fits is one of the others, and is saved under that one's name."""

    @classmethod
    def fit(cls, F: Features, dim: int, seed: int, umap_up_to: int = UMAP_ITEMS) -> tuple[Reducer, Features]:
        """By UMAP up to 500,000 items, by PCA beyond."""
        chosen: type[Reducer] = UmapReducer if len(F) <= umap_up_to else PcaReducer
        return chosen.fit(F, dim, seed)

    @classmethod
    def restore(cls, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Reducer:
        """Nothing is saved under this name."""
        del facts, arrays
        raise KeyError("the name of the reducer that was chosen")
