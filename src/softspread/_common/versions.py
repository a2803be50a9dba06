"""The versions that a result was made with."""

import platform
from importlib.metadata import PackageNotFoundError, version

NUMERIC = ("softspread", "numpy", "scipy", "scikit-learn", "numba")  # every number depends on these


def versions(*more: str) -> dict[str, str]:
    """Of Python, of the libraries behind every number, and of ``more``, by name.

    Examples
    --------
    >>> list(versions("no-such-library"))
    ['python', 'softspread', 'numpy', 'scipy', 'scikit-learn', 'numba', 'no-such-library']
    """
    return {"python": platform.python_version()} | {name: version_of(name) for name in (*NUMERIC, *more)}


def version_of(library: str) -> str:
    """Version of one library, or "unknown" where it is not installed."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "unknown"
