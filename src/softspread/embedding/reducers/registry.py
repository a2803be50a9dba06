"""The names of the reducers, the default first; other packages add theirs by entry point."""

from typing import TYPE_CHECKING

from softspread._common.registry import Registry

if TYPE_CHECKING:
    from softspread.embedding.reducers.reducer import Reducer

_HERE = "softspread.embedding.reducers"
REDUCERS: "Registry[type[Reducer]]" = Registry(
    "reduce",
    "softspread.reducers",
    {
        "auto": f"{_HERE}.auto:AutoReducer",
        "umap": f"{_HERE}.umap:UmapReducer",
        "pca": f"{_HERE}.pca:PcaReducer",
        "isomap": f"{_HERE}.isomap:IsomapReducer",
        "none": f"{_HERE}.unreduced:Unreduced",
    },
)
