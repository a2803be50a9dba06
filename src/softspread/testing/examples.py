"""Small inputs on which parts are checked: clusters of items, one item far from all others, some votes."""

import warnings

import numpy as np

from softspread._common.types import FloatArray
from softspread.errors import SoftspreadWarning
from softspread.graph.builders import affinity_graph, knn_graph
from softspread.graph.graph import Graph

N_ITEMS = 121
N_CLASSES = 3
FAR_AWAY = 1e3  # so far that the item's weights underflow and it has no neighbours


def clustered_items() -> FloatArray:
    """(121, 2) places: three clusters, two items on the same spot, and the last item far from all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ITEMS, 2)) + 4.0 * (np.arange(N_ITEMS) % N_CLASSES)[:, None]
    X[1], X[-1] = X[0], FAR_AWAY
    return X


def clustered_graph(*, features: bool = True) -> Graph:
    """The graph of these items; without features where it comes from an affinity."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)  # of the isolated item, which is here on purpose
        graph = knn_graph(clustered_items(), 6, bandwidth=1.0, n_jobs=1)
        return graph if features else affinity_graph(graph.S)


def vote_counts(n_votes: int, n_classes: int = N_CLASSES) -> FloatArray:
    """(121, n_classes) votes on random items but the last, four of five for their cluster's class."""
    rng = np.random.default_rng(1)
    rows = rng.integers(N_ITEMS - 1, size=n_votes)
    followed = rng.random(n_votes) < 0.8
    columns = np.where(followed, rows % N_CLASSES, rng.integers(N_CLASSES, size=n_votes)) % n_classes
    counts = np.zeros((N_ITEMS, n_classes))
    np.add.at(counts, (rows, columns), 1.0)
    return counts
