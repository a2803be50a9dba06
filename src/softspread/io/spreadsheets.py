"""Text that spreadsheets would take for a formula: written so that they do not, read back as it was.

    =HYPERLINK(...)  ->  '=HYPERLINK(...)  ->  =HYPERLINK(...)        numbers such as -1.5 stay as they are

A cell that begins with = + - @ (or a tab or a line end) is run by a spreadsheet that opens the file, whoever
wrote it: an annotator's name is enough. One apostrophe in front makes it text. A cell that already looks so
gets one more, so that taking one away gives back exactly what was there.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MARK = "'"
RISKY = re.compile(r"'*[=+\-@\t\r]")
MARKED = re.compile(r"'+[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def defused(cell: str) -> str:
    """A cell as it is written.

    Examples
    --------
    >>> [defused(cell) for cell in ("=1+1", "-1.5", "@ann", "cat", "'=x")]
    ["'=1+1", '-1.5', "'@ann", 'cat', "''=x"]
    """
    return MARK + cell if RISKY.match(cell) and not NUMBER.fullmatch(cell) else cell


def restored(cell: str) -> str:
    """A cell as it was before :func:`defused`.

    Examples
    --------
    >>> [restored(cell) for cell in ("'=1+1", "-1.5", "''=x", "'tis")]
    ['=1+1', '-1.5', "'=x", "'tis"]
    """
    return cell[1:] if cell.startswith(MARK) and MARKED.match(cell) else cell


def frame_for_csv(frame: "pd.DataFrame") -> "pd.DataFrame":
    """A frame whose text cells and column names are written safely; numbers and times stay what they are."""
    made = frame.rename(columns=lambda name: defused(name) if isinstance(name, str) else name)
    for place, kind in enumerate(made.dtypes):
        if kind.kind in ("O", "T", "U") or str(kind) in ("string", "str", "category"):
            made.isetitem(place, [_safe(value) for value in made.iloc[:, place]])
    return made


def restored_all(cells: Iterable[str]) -> list[str]:
    """A line of a file as it was written."""
    return [restored(cell) for cell in cells]


def _safe(value: Any) -> Any:
    return defused(value) if isinstance(value, str) else value
