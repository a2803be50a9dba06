"""Frames of other libraries, such as polars, as pandas frames."""

from typing import Any

import pandas as pd

from softspread._common.arrow import arrow
from softspread.errors import InputError


def as_frame(table: Any) -> Any:
    """A table of polars, Arrow or another library as a pandas frame; everything else as it came.

    Whole numbers with gaps stay whole numbers.

    Parameters
    ----------
    table : anything

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_frame(pa.table({"item": [1, None]}))["item"].tolist()
    [1, None]
    >>> as_frame([1, 2])
    [1, 2]
    """
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        raise InputError(
            f"{type(table).__module__.split('.')[0]}'s {type(table).__name__} is not computed yet; call its "
            ".collect() first."
        )
    if not hasattr(table, "columns") or not (
        hasattr(table, "__arrow_c_stream__") or hasattr(table, "to_arrow")
    ):
        return table
    pa = arrow(what=f"a table of {type(table).__module__.split('.')[0]}")
    found = table.to_arrow() if hasattr(table, "to_arrow") else pa.table(table)
    for place, field in enumerate(found.schema):
        kind = field.type
        if pa.types.is_dictionary(kind) and pa.types.is_unsigned_integer(kind.index_type):
            # categories of older polars, whose unsigned numbers pandas does not take
            found = found.set_column(place, field.name, found.column(place).cast(kind.value_type))
    return found.to_pandas(integer_object_nulls=True)
