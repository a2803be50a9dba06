"""Sheets of Excel workbooks are read as their CSV files would be."""

import sys
from datetime import datetime

import pandas as pd
import pytest

from softspread.errors import InputError, MissingExtraError
from softspread.io.tables import read_table
from softspread.io.votes import read_votes

openpyxl = pytest.importorskip("openpyxl")


def workbook(path, *rows, title="votes", **more):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    for name, others in more.items():
        other = book.create_sheet(name)
        for row in others:
            other.append(row)
    book.save(path)
    return path


def test_a_sheet_is_read_as_its_csv_file(tmp_path):
    """The same votes, whole numbers among them."""
    frame = pd.DataFrame(
        {"item": [7, 8, 8], "label": ["cat", "dog", "cat"], "annotator": ["ann", "bob", None]}
    )
    frame.to_csv(tmp_path / "v.csv", index=False)
    frame.to_excel(tmp_path / "v.xlsx", index=False)
    expected, found = read_votes(tmp_path / "v.csv"), read_votes(tmp_path / "v.xlsx")
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


def test_ids_stay_text(tmp_path):
    """007 as text, and the number 7 that Excel shows as 007."""
    path = workbook(tmp_path / "v.xlsx", ["item", "label"], ["007", "x"], [8, "y"])
    book = openpyxl.load_workbook(path)
    book.active["A3"].number_format = "000"
    book.save(path)
    assert read_table(path).ids("item").tolist() == ["007", "008"]


def test_every_kind_of_cell_is_text(tmp_path):
    """As Excel writes it to a CSV file; times as ISO 8601."""
    path = workbook(
        tmp_path / "v.xlsx", ["item", "a", "b", "c", "d"], ["x", 1.5, 2.0, True, datetime(2026, 11, 3, 12)]
    )
    table = read_table(path)
    assert [table.columns[name][0] for name in "abcd"] == ["1.5", "2", "TRUE", "2026-11-03T12:00:00"]


def test_empty_rows_columns_and_sheets_do_not_count(tmp_path):
    """Messages name the row of the sheet."""
    path = workbook(
        tmp_path / "v.xlsx", ["item", "label", None], [], ["a", "cat", ""], ["b", None], title="x", empty=[]
    )
    table = read_table(path)
    assert list(table.columns) == ["item", "label"]
    with pytest.raises(InputError, match="line 4: no value in 'label'"):
        table.complete("label")


def test_sheets_that_are_not_clear_are_refused(tmp_path):
    """Several sheets, errors, formulas without results, and files that are no workbooks."""
    path = workbook(tmp_path / "v.xlsx", ["item", "label"], ["a", "b"], more=[["x"]])
    with pytest.raises(InputError, match=r"has 2 sheets with data \('votes', 'more'\); save the one"):
        read_table(path)
    path = workbook(tmp_path / "e.xlsx", ["item", "label"], ["a", "#N/A"])
    with pytest.raises(InputError, match="cell B2: #N/A is an error"):
        read_table(path)
    path = workbook(tmp_path / "f.xlsx", ["item", "label"], ["a", "=1+1"])
    with pytest.raises(InputError, match="cell B2: the file does not hold the result of the formula"):
        read_table(path)
    with pytest.raises(InputError, match="holds no visible sheet with data"):
        read_table(workbook(tmp_path / "n.xlsx"))
    (tmp_path / "z.xlsx").write_text("item,label\n")
    with pytest.raises(InputError, match="is not a readable Excel workbook"):
        read_table(tmp_path / "z.xlsx")
    (tmp_path / "old.xls").write_text("x")
    with pytest.raises(InputError, match=r"ends in '\.xls'; a table may be .*\.xlsx"):
        read_table(tmp_path / "old.xls")


def test_the_extra_is_named(tmp_path, monkeypatch):
    """Without openpyxl the message says what to install."""
    path = workbook(tmp_path / "v.xlsx", ["item"], ["a"])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"openpyxl: pip install 'softspread\[excel\]'"):
        read_table(path)
