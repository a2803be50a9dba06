"""Solvers that keep a factor."""

import pytest

from softspread import InputError
from softspread._common.threads import Workers
from softspread.diffusion.direct import DenseSolver
from softspread.diffusion.lazy_solver import prepare
from systems import two_blobs


class TinyDenseSolver(DenseSolver):
    """Refuses more than ten items."""

    most_items = 10


def test_dense_refuses_what_would_not_fit():
    """A dense factor of a large graph is refused before memory runs out."""
    with Workers(1) as workers, pytest.raises(InputError, match=r"up to 10 items.*use solver='cg'"):
        prepare(TinyDenseSolver, two_blobs(), 0.5, workers)
