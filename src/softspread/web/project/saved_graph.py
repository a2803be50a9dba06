"""The graph, built once per set of items and saved in the data folder.

items  ->  fingerprint  ->  the file with that fingerprint, or built now
"""

import logging
from dataclasses import replace
from pathlib import Path

from softspread._common import validation
from softspread._common.types import AnyArray
from softspread.errors import StoreError
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph

logger = logging.getLogger(__name__)


def load_or_build(path: Path, X: AnyArray, mark: str, n_neighbors: int, seed: int | None) -> Graph:
    """The graph from its file, or built and saved now; embeddings are not part of the file.

    ``seed`` is that of the neighbour search, which is approximate on large sets.
    """
    features = validation.features(X)
    wanted = {"items": mark, "asked": n_neighbors, "seed": seed}
    if path.is_file():
        try:
            graph = Graph.load(path)
            if {name: graph.details.get(name) for name in wanted} == wanted:
                return replace(graph, features=features)
        except StoreError as error:
            logger.warning("the saved graph cannot be used (%s); it is built again", error)
    graph = knn_graph(X, n_neighbors, random_state=seed)
    details = graph.details | wanted
    replace(graph, features=None, details=details).save(path)
    return replace(graph, details=details)
