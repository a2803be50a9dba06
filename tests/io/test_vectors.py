"""Columns of Python values are told from one another as those of a Parquet file are."""

import numpy as np
import pandas as pd
import pytest

from softspread.errors import InputError
from softspread.io.parquet import ParquetColumns
from softspread.io.vectors import PlainColumns

VALUES = {
    "words": ["a", "b"],
    "flags": [True, False],
    "whole": [1, 2],
    "gaps": [1.5, None],
    "mixed": [1, "b"],
    "lists": [[1.0, 2.0], [3.0, 4.0]],
}


def test_a_parquet_file_says_the_same(tmp_path):
    """Lists are lists, numbers are numbers, truth values and words are neither."""
    frame = pd.DataFrame({name: values for name, values in VALUES.items() if name != "mixed"})
    frame.to_parquet(tmp_path / "t.parquet")
    filed, plain = ParquetColumns(tmp_path / "t.parquet"), PlainColumns("t", VALUES, is_text=False)
    for name in frame:
        assert filed.kinds[name] == plain.kinds[name], name
    assert not any(plain.kinds["mixed"])
    assert filed.width("lists") == plain.width("lists") == 2
    for names in (["lists"], ["whole", "gaps"]):
        np.testing.assert_array_equal(filed.vectors(names), plain.vectors(names))


def test_text_of_numbers_is_numbers():
    """As a CSV file has them; an empty cell is a gap."""
    columns = PlainColumns("t.csv", {"a": ["1", ""], "b": ["x", "2"]}, is_text=True)
    assert [columns.kinds[name].is_number for name in "ab"] == [True, False]
    np.testing.assert_array_equal(columns.vectors(["a"]), [[1.0], [np.nan]])


def test_single_precision_is_known():
    """So that it is kept."""
    columns = PlainColumns("t", {"a": np.zeros(1, np.float32), "b": np.zeros(1)}, is_text=False)
    assert [columns.kinds[name].is_single for name in "ab"] == [True, False]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[1.0, 2.0], [1.0]], "t, row 1: the vector in 'v' has 1 numbers, that of row 0 has 2"),
        ([[1.0], None], "row 1: the vector in 'v' has 0 numbers"),
        ([["x"], ["y"]], r"embeddings must be numbers, but 'v' holds \['x'\]"),
        ([[], []], "at least one"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(lists, message):
    """With the row that differs."""
    with pytest.raises(InputError, match=message):
        PlainColumns("t", {"v": lists}, is_text=False).vectors(["v"])
