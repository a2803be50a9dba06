"""Ids of items: read from a file, checked, and matched as text.

007 and 7 are two ids, in every file; 7 of a Parquet file and 7 of a CSV file are one
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.columns import ID_NAMES, first_of
from softspread._common.types import AnyArray, BoolArray, IntArray
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.io.arrays import read_array, read_arrays
from softspread.io.formats import ID_ENDINGS, check_source, ending_of
from softspread.io.tables import (
    WHOLE_NUMBER,
    Table,
    read_table,
    shown,
)
from softspread.io.text import read_text


def read_ids(path: str | Path) -> AnyArray:
    """Ids from a file: one per line (.txt), an array, or the id column of a table."""
    source = check_source(path, ID_ENDINGS, "ids")
    table = _id_table(source)
    only = next(iter(table.columns)) if len(table.columns) == 1 else None
    name = first_of(ID_NAMES, table.columns) or only
    if name is None:
        raise InputError(f"{source} has no column of ids; call it item or id. It has {table.listed()}.")
    return table.ids(name)


def _id_table(source: Path) -> Table:
    ending = ending_of(source)
    if ending == ".txt":
        lines = [line.strip() for line in read_text(source).splitlines()]
        return Table({"ids": lines}, len(lines), source, True, range(1, len(lines) + 1))
    if ending in (".npy", ".npz"):
        arrays: dict[str, Any] = {"ids": read_array(source)} if ending == ".npy" else read_arrays(source)
        return Table(arrays, 0, source)
    return read_table(source, "ids")


def rows_of_ids(wanted: AnyArray, item_ids: AnyArray | None, n_items: int) -> IntArray:
    """The row of each wanted id, -1 where there is none; without ``item_ids`` positions are wanted.

    Examples
    --------
    >>> rows_of_ids(np.array(["007", "7", "x"]), np.array([7, 8]), 2).tolist()
    [-1, 0, -1]
    """
    values, rows = as_text(wanted), np.full(len(wanted), -1)
    by_number = item_ids is None or item_ids.dtype.kind in "iu"
    matchable = are_positions(values) if by_number else np.ones(len(values), dtype=bool)
    values = values[matchable].astype(np.int64) if by_number else values
    if item_ids is None:
        rows[matchable] = np.where((values >= 0) & (values < n_items), values, -1)
        return rows
    ids = validation.lookup(item_ids if by_number else as_text(item_ids))
    if not ids.is_unique:
        raise InputError(f"ids must differ; {shown(ids[ids.duplicated()])} appear more than once.")
    rows[matchable] = ids.get_indexer(validation.lookup(values))
    return rows


def are_positions(text: AnyArray) -> BoolArray:
    """Which ids, written as text, are whole numbers, so that they could be positions."""
    return pd.Series(text, dtype="str").str.fullmatch(WHOLE_NUMBER).to_numpy(dtype=bool)


def as_text(ids: AnyArray) -> AnyArray:
    """Ids as text; a whole number that passed through a float is written without decimals."""
    if ids.dtype.kind in "iuU":
        return ids.astype(str)
    return objects([value if isinstance(value, str) else str(_whole(value)) for value in ids.tolist()])


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
