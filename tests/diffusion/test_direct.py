"""Solvers that keep a factor."""

import pytest

from softspread import InputError
from softspread._common.threads import Workers
from softspread.diffusion import direct
from softspread.diffusion.lazy_solver import prepare
from systems import two_blobs


def test_dense_refuses_what_would_not_fit(monkeypatch):
    """A dense factor of a large graph is refused before memory runs out."""
    monkeypatch.setattr(direct, "MOST_DENSE_ITEMS", 10)
    with Workers(1) as workers, pytest.raises(InputError, match="use solver='cg'"):
        prepare("dense", two_blobs(), 0.5, workers)
