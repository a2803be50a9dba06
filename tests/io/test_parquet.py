"""Parquet files are read by the column, and written whole with the facts of their making."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softspread.errors import InputError
from softspread.io.parquet import ParquetColumns, arrow_names, write_parquet
from softspread.io.tables import read_table


def test_a_parquet_file_is_read_by_the_column(tmp_path):
    """Facts of its making come along; a null does not make floats of whole numbers."""
    made = pa.table({"item": [1, None], "x": [[1.0], [2.0]]})
    write_parquet(tmp_path / "t.parquet", made, {"seed": 3})
    table = read_table(tmp_path / "t.parquet")
    assert table.metadata == {"seed": 3}
    assert list(table.columns["item"]) == [1, None]
    assert table.columns.width("x") == 1
    with pytest.raises(KeyError):
        table.columns["y"]
    with pytest.raises(InputError, match=r"row 1 \(counted from 0\): no value in 'item'"):
        table.ids("item")


def test_damaged_facts_are_an_error(tmp_path):
    """Rather than forgotten."""
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({"softspread": "{"}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="damaged facts"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("names", [["v"], ["a", "b"]])
def test_a_range_of_rows_is_that_of_the_whole(tmp_path, names):
    """Across the edges of row groups, for lists and for one column per dimension."""
    a, b = np.arange(10.0), np.arange(10.0) ** 2
    table = pa.table({"a": a, "b": b, "v": list(np.stack([a, b], axis=1))})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    columns = ParquetColumns(tmp_path / "t.parquet")
    whole = columns.vectors(names)
    assert whole.tolist() == np.stack([a, b], axis=1).tolist()
    for first in range(10):
        for last in range(first + 1, 11):
            found = columns.vectors_of_rows(names, first, last)
            assert found.tolist() == whole[first:last].tolist(), (first, last)


def test_names_are_of_one_kind():
    """Mixed names become text."""
    assert arrow_names(np.array([1, "a"], dtype=object)).to_pylist() == ["1", "a"]
    assert arrow_names(np.array([1, 2])).to_pylist() == [1, 2]
