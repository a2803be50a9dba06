"""Errors of optional libraries."""

import pytest

from softspread._common.extras import needs_extra
from softspread.errors import MissingExtraError


def test_a_missing_library_names_the_extra():
    """The reason is kept as the cause."""
    with (
        pytest.raises(
            MissingExtraError, match=r"maps need cartography: pip install 'softspread\[maps\]'\."
        ) as caught,
        needs_extra("maps", "maps need cartography"),
    ):
        import no_such_library  # noqa: F401
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_other_errors_pass():
    """Only a failed import is about the library."""
    with pytest.raises(ZeroDivisionError), needs_extra("maps", "maps"):
        raise ZeroDivisionError
