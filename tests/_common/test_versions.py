"""Versions beside results."""

import platform

import numpy as np

import softspread
from softspread._common.versions import NUMERIC, version_of, versions


def test_versions_are_those_that_run():
    """Python first, then the libraries behind the numbers."""
    found = versions()
    assert list(found) == ["python", *NUMERIC]
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["softspread"] == softspread.__version__


def test_more_libraries_can_be_named():
    """One that is not installed is unknown, not an error."""
    assert versions("pandas", "no-such-library") == {
        **versions(),
        "pandas": version_of("pandas"),
        "no-such-library": "unknown",
    }
