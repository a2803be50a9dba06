"""The names of the neighbour searches, the default first; other packages add theirs by entry point."""

from typing import TYPE_CHECKING

from softspread._common.registry import Registry

if TYPE_CHECKING:
    from softspread.graph.neighbors import Search

SEARCHES: "Registry[Search]" = Registry(
    "index",
    "softspread.neighbor_searches",
    {
        name: f"softspread.graph.{module}:search_{name}"
        for name, module in (
            ("auto", "automatic"),
            ("exact", "neighbors"),
            ("tree", "neighbors"),
            ("brute", "neighbors"),
            ("cells", "cells"),
            ("faiss", "libraries"),
            ("pynndescent", "libraries"),
        )
    },
)
