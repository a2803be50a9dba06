"""How results show themselves: one line of text, and in notebooks also the first rows of their table."""

from html import escape
from typing import Any

import pandas as pd

from softspread._common.wording import counted

SHOWN_ROWS = 10  # of a notebook's table


class ShownAsTable:
    """Notebooks show the text and the table of a result that has ``to_frame``."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        table: pd.DataFrame = self.to_frame()  # type: ignore[attr-defined]
        return as_html(self, table)


def as_html(result: Any, table: pd.DataFrame, n_rows: int | None = None, what: str = "row") -> str:
    """The text of a result, its first rows without their index, and how many there are besides.

    Parameters
    ----------
    result : its repr is the text
    table : all rows, or the first of them
    n_rows : how many there are in all; None = those of the table
    what : one of them

    Examples
    --------
    >>> as_html("a<b", pd.DataFrame({"x": range(12)}))[-22:]
    '<p>and 2 more rows</p>'
    """
    shown = table.head(SHOWN_ROWS).to_html(index=False, border=0, float_format="{:.3g}".format)
    rest = (len(table) if n_rows is None else n_rows) - min(len(table), SHOWN_ROWS)
    more = f"<p>and {counted(rest, f'more {what}')}</p>" if rest else ""
    return f"<p>{escape(repr(result))}</p>{shown}{more}"
