"""Sheets of Excel workbooks as the text that they would be in a CSV file.

.xlsx  ->  the one visible sheet that holds anything  ->  header, rows of text, line numbers

A cell is text, so ids follow the same rules as in a CSV file: 007 stays 007, also where Excel shows the
number 7 that way.
"""

import re
import zipfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from softspread._common.extras import needs_extra
from softspread.errors import InputError

SHOWN = 5  # sheets that an error names
ZEROS = re.compile(r"0{2,}")  # a number format such as 000, which shows 7 as 007
Row = list[str]


def read_sheet(path: Path) -> tuple[Row, list[Row], list[int]]:
    """Header, rows and the number of each row, of the only sheet that holds anything.

    Empty rows are left out. A cell without a value is empty text.
    """
    with needs_extra("excel", f"{path} is an Excel workbook, which takes openpyxl"):
        import openpyxl
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        formulas = openpyxl.load_workbook(path, read_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, EOFError) as error:
        raise InputError(
            f"{path} is not a readable Excel workbook ({error}); save it again as .xlsx, without a password."
        ) from error
    try:
        sheet = _only_sheet(path, book)
        rows = [(number, [_text(path, cell) for cell in cells]) for number, cells in _rows(sheet)]
        _check_formulas(path, rows, formulas[sheet.title])
    finally:
        book.close()
        formulas.close()
    filled = [(number, row) for number, row in rows if any(row)]
    if not filled:
        return [], [], []
    width = max(place + 1 for _, row in filled for place, cell in enumerate(row) if cell)
    header, *values = [[*row, *[""] * width][:width] for _, row in filled]
    return header, values, [number for number, _ in filled[1:]]


def _only_sheet(path: Path, book: Any) -> Any:
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    filled = [
        sheet
        for sheet in visible
        if any(cell.value is not None for _, cells in _rows(sheet) for cell in cells)
    ]
    if len(filled) > 1:
        names = ", ".join(repr(sheet.title) for sheet in filled[:SHOWN])
        raise InputError(
            f"{path} has {len(filled)} sheets with data ({names}); save the one to read as a file of its own."
        )
    if not filled:
        raise InputError(f"{path} holds no visible sheet with data.")
    return filled[0]


def _rows(sheet: Any) -> list[tuple[int, Sequence[Any]]]:
    sheet.reset_dimensions()  # other programs write wrong ones
    return list(enumerate(sheet.iter_rows(), start=1))


def _text(path: Path, cell: Any) -> str:
    """A cell as a CSV file would hold it."""
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "e":
        raise InputError(f"{path}, cell {cell.coordinate}: {value} is an error; correct the sheet.")
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, date):  # times of day as well
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    shown = cell.number_format if isinstance(value, int) else ""
    return str(value).zfill(len(shown)) if ZEROS.fullmatch(shown) else str(value)


def _check_formulas(path: Path, rows: Sequence[tuple[int, Row]], sheet: Any) -> None:
    """Refuse formulas whose results the file does not hold: their cells would look empty."""
    gaps = {number for number, row in rows if not all(row)}
    for number, cells in _rows(sheet) if gaps else ():
        row = rows[number - 1][1]
        for place, cell in enumerate(cells):
            if cell.data_type == "f" and not row[place]:
                raise InputError(
                    f"{path}, cell {cell.coordinate}: the file does not hold the result of the formula; open "
                    "and save it in Excel or LibreOffice, or store values."
                )
