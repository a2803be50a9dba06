"""Class names that are probably one class, written in two ways."""

import unicodedata
import warnings
from collections.abc import Iterable
from typing import Any

from softspread.errors import SoftspreadWarning

SHOWN = 3  # pairs that a warning names


def near_equal(classes: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Pairs of names that differ only in case, spaces, underscores, accents' encoding or type.

    Examples
    --------
    >>> near_equal(["Cat", "cat ", "dog", "hot dog", "hot_dog"])
    [('Cat', 'cat '), ('hot dog', 'hot_dog')]
    >>> near_equal([-1, 1]), near_equal(["a", "b"])
    ([], [])
    """
    first: dict[str, Any] = {}
    pairs = []
    for name in classes:
        key = " ".join(unicodedata.normalize("NFKC", str(name)).casefold().replace("_", " ").split())
        if key in first:
            pairs.append((first[key], name))
        else:
            first[key] = name
    return pairs


def warn_of_near_equal(classes: Iterable[Any], *, stacklevel: int = 3) -> None:
    """Warn of classes that are probably the same; they stay separate."""
    pairs = near_equal(classes)
    if not pairs:
        return
    shown = ", ".join(f"{one!r} and {other!r}" for one, other in pairs[:SHOWN])
    more = f" and {len(pairs) - SHOWN} more pairs" if len(pairs) > SHOWN else ""
    warnings.warn(
        f"the votes name classes that are almost the same: {shown}{more}. They count as different classes: "
        "correct the votes if they are one; to keep both, name all classes (classes=[...], --classes).",
        SoftspreadWarning,
        stacklevel=stacklevel,
    )
