"""The default solver."""

import pytest

from softspread._common.threads import Workers
from softspread.diffusion.default_solver import choose_solver, prepare_default
from voted_graph import four_clusters


@pytest.mark.parametrize(("n", "expected"), [(100, "dense"), (50_000, "cg")])
def test_auto_chooses_by_size(n, expected):
    """Small: dense; else conjugate gradients."""
    assert choose_solver(n) == expected


@pytest.mark.parametrize(("dense_items", "expected"), [(1_000, "dense"), (10, "cg")])
def test_the_chosen_solver_is_prepared(dense_items, expected):
    """Its name tells which one it was."""
    assert prepare_default(four_clusters(), 0.5, Workers(1), dense_items).name == expected
