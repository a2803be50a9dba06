"""The neighbours of every item, by a search with a name, or by the user's own."""

from typing import TYPE_CHECKING

import numpy as np

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, Neighbors
from softspread.graph.registry import SEARCHES

if TYPE_CHECKING:
    from softspread.graph.neighbors import Search


def search_neighbors(
    X: AnyArray,
    n_neighbors: int,
    index: "str | Search",
    workers: Workers,
    rng: np.random.Generator,
    show: bool,
) -> Neighbors:
    """The nearest other items of each row of X, (n, n_neighbors); without any to find, an empty table."""
    search = SEARCHES.find(index)
    if n_neighbors == 0:
        return Neighbors(np.empty((len(X), 0), dtype=np.int64), np.empty((len(X), 0)), "none", 1.0)
    return search(X, n_neighbors, workers, rng, show)
