"""Checks for parts that other packages add: one suite per seam, which the built-in parts pass too.

Each takes a registered name, or what would be registered, and raises an AssertionError that names the first
broken promise. How to write and register a part is in docs/extending.md.
"""

from softspread.testing.datasets import check_dataset
from softspread.testing.encoders import check_encoder
from softspread.testing.intervals import check_interval_method
from softspread.testing.neighbors import check_neighbor_search
from softspread.testing.reducers import check_reducer
from softspread.testing.solvers import check_solver
from softspread.testing.strategies import check_strategy

__all__ = [
    "check_dataset",
    "check_encoder",
    "check_interval_method",
    "check_neighbor_search",
    "check_reducer",
    "check_solver",
    "check_strategy",
]
