"""Messages of failed checks."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from softspread.errors import SoftspreadError

Answer = TypeVar("Answer")


def require(holds: Any, claim: str) -> None:
    """Raise an AssertionError with the claim unless it holds."""
    if not holds:
        raise AssertionError(claim)


def require_close(found: Any, expected: Any, atol: float, claim: str) -> None:
    """Raise an AssertionError unless two arrays agree in shape and, within ``atol``, in every entry."""
    found, expected = np.asarray(found), np.asarray(expected)
    require(found.shape == expected.shape, f"{claim}: shape {found.shape} instead of {expected.shape}")
    if found.size:
        difference = float(np.abs(found - expected).max())
        require(difference <= atol, f"{claim}: off by {difference:.1e}, allowed {atol:.1e}")


def answer_of(ask: Callable[[], Answer], claim: str) -> Answer:
    """The result of ``ask``; one of our own errors becomes an AssertionError with the claim."""
    try:
        return ask()
    except SoftspreadError as error:
        raise AssertionError(f"{claim}: {error}") from error
