"""The names of metrics and searches, the default first; other packages add searches by entry point."""

from typing import TYPE_CHECKING

from softspread._common.registry import Registry

if TYPE_CHECKING:
    from softspread.graph.neighbors import Search

COSINE, INNER_PRODUCT = "cosine", "inner_product"
METRICS = ("euclidean", COSINE, INNER_PRODUCT)

SEARCHES: "Registry[Search]" = Registry(
    "index",
    "softspread.neighbor_searches",
    {
        name: f"softspread.graph.{module}:search_{name}"
        for name, module in (
            ("auto", "default_search"),
            ("exact", "neighbors"),
            ("tree", "neighbors"),
            ("brute", "neighbors"),
            ("cells", "cells"),
            ("faiss", "library_searches"),
            ("pynndescent", "library_searches"),
            ("cuvs", "library_searches"),
        )
    },
)
