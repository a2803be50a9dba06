"""Which columns of a table can hold vectors, and the vectors themselves.

    one column of lists, or one column per dimension  ->  (n, d)

:class:`PlainColumns` are Python values; those of a Parquet file answer the same questions
(:class:`softspread.io.parquet.ParquetColumns`).
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from softspread._common.types import AnyArray, IntArray
from softspread._common.validation import objects
from softspread.errors import InputError


class ColumnKind(NamedTuple):
    """What a column holds."""

    is_list: bool
    is_number: bool
    is_single: bool  # floats of at most 32 bits; of a list, those in it


class VectorColumns(Protocol):
    """Columns by name, of a Parquet file or of Python values."""

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """What each column holds."""

    def width(self, name: str) -> int:
        """How long the first list of a column is."""

    def vectors(self, names: Sequence[str]) -> AnyArray:
        """(n, d) numbers of one column of lists, or of one column per dimension."""


class PlainColumns:
    """Columns of Python values, such as those of a CSV file; text of nothing but numbers becomes numbers."""

    def __init__(self, source: str | Path, columns: Mapping[str, Sequence[Any]], *, is_text: bool) -> None:
        self.source = source
        self.arrays = {name: _as_array(values, is_text) for name, values in columns.items()}

    @cached_property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """What each column holds."""
        return {name: _kind(values) for name, values in self.arrays.items()}

    def width(self, name: str) -> int:
        """How long the first list of a column is."""
        return len(self.arrays[name][0])

    def vectors(self, names: Sequence[str]) -> AnyArray:
        """(n, d) numbers of one column of lists, or of one column per dimension."""
        if len(names) > 1 or not self.kinds[names[0]].is_list:
            return np.column_stack([self.arrays[name] for name in names])
        lists = self.arrays[names[0]]
        check_lengths(self.source, names[0], np.array([0 if row is None else len(row) for row in lists]))
        found = np.array(lists.tolist())
        if found.dtype.kind not in "iuf":
            raise InputError(
                f"{self.source}: embeddings must be numbers, but {names[0]!r} holds {str(lists[0])[:60]}."
            )
        return found


def check_lengths(source: str | Path, name: str, lengths: IntArray) -> None:
    """All vectors of a column must have the same length, and at least one number."""
    if len(lengths) == 0:
        raise InputError(f"{source} holds no items.")
    odd = np.flatnonzero(lengths != lengths[0])
    if lengths[0] == 0 or len(odd):
        row = int(odd[0]) if len(odd) else 0
        raise InputError(
            f"{source}, row {row}: the vector in {name!r} has {lengths[row]} numbers, that of row 0 has "
            f"{lengths[0]}; all must have the same, and at least one."
        )


def _as_array(values: Sequence[Any], is_text: bool) -> AnyArray:
    """Numbers where all values are, with NaN for gaps, else the values as objects."""
    import pandas as pd

    found = values if isinstance(values, np.ndarray) else objects(values)
    if found.dtype.kind in "iuf":
        return found
    if is_text:
        found = pd.Series(found, dtype=object).replace("", np.nan).to_numpy()
    elif any(isinstance(value, str | bool | np.bool_ | list | tuple | np.ndarray) for value in found):
        return found
    try:
        return np.asarray(pd.to_numeric(found))
    except (TypeError, ValueError):
        return found  # no numbers


def _kind(values: AnyArray) -> ColumnKind:
    if values.dtype.kind in "iuf":
        return ColumnKind(False, True, values.dtype.kind == "f" and values.dtype.itemsize <= 4)
    is_list = [isinstance(value, list | tuple | np.ndarray) or value is None for value in values]
    return ColumnKind(all(is_list) and any(value is not None for value in values), False, False)
