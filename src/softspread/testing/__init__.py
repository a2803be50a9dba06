"""Checks for parts that other packages add: one suite per seam, which the built-in parts pass too.

    check_solver  check_neighbor_search  check_strategy  check_interval_method

Each takes a registered name, or what would be registered, and raises an AssertionError that names the first
broken promise. How to write and register a part is in docs/extending.md.
"""

from softspread.testing.intervals import check_interval_method
from softspread.testing.neighbors import check_neighbor_search
from softspread.testing.solvers import check_solver
from softspread.testing.strategies import check_strategy

__all__ = ["check_interval_method", "check_neighbor_search", "check_solver", "check_strategy"]
