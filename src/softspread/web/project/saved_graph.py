"""What is worked out once per set of items and kept in the data folder: the graph and the map.

items  ->  fingerprint  ->  file of that fingerprint, or made again
"""

import logging
from dataclasses import replace
from pathlib import Path

from softspread._common.archive import read_archive, write_archive
from softspread._common.types import AnyArray
from softspread.errors import StoreError
from softspread.graph import Graph, knn_graph
from softspread.web.project.item_map import ItemMap, map_items

MAP_VERSION = 1
logger = logging.getLogger(__name__)


def load_or_build(path: Path, X: AnyArray, mark: str, n_neighbors: int, *, keep_features: bool) -> Graph:
    """The graph from its file, or built now and kept there; embeddings are left out unless they are
    needed.
    """
    if path.is_file():
        try:
            graph = Graph.load(path)
            has_features = graph.features is not None
            wanted = {"items": mark, "asked": n_neighbors}
            if {name: graph.details.get(name) for name in wanted} == wanted and has_features >= keep_features:
                return graph
        except StoreError as error:
            logger.warning("the kept graph cannot be used (%s); it is built anew", error)
    graph = knn_graph(X, n_neighbors)
    details = {**graph.details, "items": mark, "asked": n_neighbors}
    graph = replace(graph, features=graph.features if keep_features else None, details=details)
    graph.save(path)
    return graph


def load_or_map(path: Path, X: AnyArray, mark: str) -> ItemMap:
    """The map from its file, or made now and kept there."""
    if path.is_file():
        try:
            header, arrays = read_archive(path, "web-map", MAP_VERSION)
            if header.get("items") == mark:
                return ItemMap(arrays["rows"], arrays["places"])
        except (StoreError, KeyError) as error:
            logger.warning("the kept map cannot be used (%s); it is made anew", error)
    found = map_items(X)
    write_archive(path, "web-map", MAP_VERSION, {"items": mark}, {"rows": found.rows, "places": found.places})
    return found
