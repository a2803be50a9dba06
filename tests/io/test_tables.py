"""Tables from every kind of file, with the same values and messages."""

import json

import numpy as np
import pandas as pd
import pytest

from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.io.tables import (
    is_missing,
    listed,
    numbers_if_whole,
    read_table,
    shown,
    table_of_frame,
)

FRAME = pd.DataFrame({"item": ["007", "010"], "n": [1, 2], "x": [0.5, 1.5]})


def write(folder, ending):
    path = folder / f"t{ending}"
    if ending == ".parquet":
        FRAME.to_parquet(path)
    elif ending == ".jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ";")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_every_format_has_the_same_ids_and_numbers(tmp_path, ending):
    """Leading zeros stay; a column of whole numbers may serve as ids."""
    table = read_table(write(tmp_path, ending))
    assert list(table.columns) == ["item", "n", "x"]
    assert table.n_rows == 2
    assert table.ids("item").tolist() == ["007", "010"]
    assert table.ids("n").tolist() == [1, 2]
    assert table.numbers("x").tolist() == [0.5, 1.5]
    assert table.find(None, ("no", "n", "x")) == "n"
    assert table.find(None, ("no",)) is None
    with pytest.raises(InputError, match="has no column 'q'; it has 'item', 'n', 'x'"):
        table.find("q", ())


def test_a_frame_is_a_table():
    """Its columns, with their types; the index does not count."""
    table = table_of_frame(FRAME.set_index("n"))
    assert list(table.columns) == ["item", "x"]
    assert table.ids("item").tolist() == ["007", "010"]


def test_gaps_are_named_or_kept(tmp_path):
    """Ids must be complete; known classes may have gaps, and count as numbers where they are some."""
    (tmp_path / "t.csv").write_text("item,label\na,1\n\n,-1\nb,\n")
    table = read_table(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"t\.csv, line 4: no value in 'item'; 1 rows lack one"):
        table.ids("item")
    assert table.with_gaps("label").tolist() == [1, -1, None]
    with pytest.raises(InputError, match="line 5: label '' is not a finite number"):
        table.numbers("label")


def test_values_for_messages():
    """Five distinct values, ten names."""
    assert shown([1, 1, 2, 3, 4, 5, 6]) == "1, 2, 3, 4, 5, ..."
    assert listed("abcdefghijkl").endswith("'j', ...")
    assert json.dumps(objects([[1], (2,)]).tolist()) == "[[1], [2]]"
    assert is_missing([None, np.nan, "", 0, "nan"]).tolist() == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("text", "whole"),
    [(["1", "-2"], True), (["01"], False), (["1", ""], False), (["1.0"], False), (["9" * 19], False)],
)
def test_text_counts_only_where_it_would_be_written_the_same(text, whole):
    """007 is a name."""
    found = numbers_if_whole(objects(text))
    assert (found.dtype.kind == "i") == whole
    assert [str(value) for value in found] == text
