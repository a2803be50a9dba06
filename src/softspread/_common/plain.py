"""Values that JSON can hold."""

from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Convert to values that JSON can hold; NaN and infinity become null.

    Examples
    --------
    >>> from pathlib import Path
    >>> plain({"a": float("nan"), "b": (1, Path("x"))})
    {'a': None, 'b': [1, 'x']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return plain(value.tolist())
    if isinstance(value, float):
        return value if value - value == 0 else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)
