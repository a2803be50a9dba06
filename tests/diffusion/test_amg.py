"""The multigrid solver and its extra."""

import sys

import pytest

from softspread import MissingExtraError
from softspread._common.threads import Workers
from softspread.diffusion import amg
from systems import two_blobs


def test_missing_multigrid_names_the_extra(monkeypatch):
    """Without pyamg the error says what to install, and "auto" does not need it."""
    monkeypatch.setitem(sys.modules, "pyamg", None)
    with Workers(1) as workers, pytest.raises(MissingExtraError, match=r"softspread\[amg\]"):
        amg.MultigridSolver(two_blobs(), 0.9, workers)
