"""From a name to a reducer."""

from collections.abc import Mapping
from typing import Any

from softspread._common import validation
from softspread._common.types import AnyArray
from softspread.embedding.reducers.isomap import IsomapReducer
from softspread.embedding.reducers.pca import PcaReducer
from softspread.embedding.reducers.reducer import Features, Reducer
from softspread.embedding.reducers.umap import UmapReducer
from softspread.embedding.reducers.unreduced import Unreduced
from softspread.errors import StoreError

AUTO_UMAP_ITEMS = 500_000  # beyond, UMAP takes hours and PCA seconds
REDUCERS: dict[str, type[Reducer]] = {
    kind.name: kind for kind in (UmapReducer, PcaReducer, IsomapReducer, Unreduced)
}


def fit_reducer(
    F: Features, reduce: str, dim: int, seed: int, umap_up_to: int = AUTO_UMAP_ITEMS
) -> tuple[Reducer, Features]:
    """A fitted reducer and the items' places (n, dim).

    Parameters
    ----------
    F : (n, d) features
    reduce : "umap", "pca", "isomap", "none", or "auto": UMAP up to 500,000 items, PCA beyond
    """
    validation.choice("reduce", reduce, (*REDUCERS, "auto"))
    chosen = reduce if reduce != "auto" else ("umap" if len(F) <= umap_up_to else "pca")
    return REDUCERS[chosen].fit(F, validation.count("dim", dim, 1), seed)


def reducer_from(name: str, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Reducer:
    """The reducer whose ``facts`` and ``arrays`` were saved."""
    if name not in REDUCERS:
        raise StoreError(
            f"the saved reducer {name!r} is unknown to this version; known are {', '.join(REDUCERS)}."
        )
    try:
        return REDUCERS[name].restore(facts, arrays)
    except KeyError as error:
        raise StoreError(f"the saved reducer {name!r} lacks {error}; embed again.") from error
