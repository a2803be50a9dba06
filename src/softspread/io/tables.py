"""The one reader of tables, with errors that name the file and the line.

    .csv .tsv .xlsx (values are text)   .parquet .jsonl .json (values keep their types)   frames   ->  Table

Ids are text: 007 stays 007. A column of text becomes numbers only where each value is a whole number that
would be written the same way.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softspread._common import validation
from softspread._common.columns import first_of
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.io.excel import read_sheet
from softspread.io.formats import TABLE_ENDINGS, check_source, ending_of
from softspread.io.parquet import ParquetColumns
from softspread.io.spreadsheets import MARK, restored_all
from softspread.io.text import delimiter_of, holds_byte, open_text, read_text

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 5  # offending values that an error names
LISTED = 10  # columns that an error names
WHOLE_NUMBER = r"-?(?:0|[1-9][0-9]{0,17})"  # as Python would write it back: 007 is a name, not a number


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns as they stand in the file."""

    columns: Mapping[str, Sequence[Any]]
    n_rows: int
    source: str | Path  # for messages
    is_text: bool = False  # every value is text, and an empty one is missing
    lines: Sequence[int] | None = None  # of each row, for messages; None = rows counted from 0
    metadata: Mapping[str, Any] = field(default_factory=dict)  # what write_parquet left in the file

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.source)

    def where(self, row: int) -> str:
        """Where a row stands, for a message."""
        return f"row {row} (counted from 0)" if self.lines is None else f"line {self.lines[row]}"

    def listed(self) -> str:
        """Names of the columns, for a message."""
        return listed(self.columns)

    def find(self, asked: str | None, usual: Sequence[str]) -> str | None:
        """The column that was asked for, else the first with a usual name, else None."""
        if asked is not None and asked not in self.columns:
            raise InputError(f"{self.source} has no column {asked!r}; it has {self.listed()}.")
        return asked or first_of(usual, tuple(self.columns))

    def complete(self, name: str) -> AnyArray:
        """(n,) plain values of a column without gaps."""
        values = objects(self.columns[name])
        missing = np.flatnonzero(is_missing(values))
        if len(missing):
            raise InputError(
                f"{self.source}, {self.where(int(missing[0]))}: no value in {name!r}; {len(missing):,} rows "
                "lack one. Remove these rows."
            )
        nested = next((row for row, value in enumerate(values) if isinstance(value, list | dict)), None)
        if nested is not None:
            raise InputError(
                f"{self.source}, {self.where(nested)}: {name!r} holds {str(values[nested])[:60]}; one plain "
                "value per row is needed, write one row for each."
            )
        return values

    def ids(self, name: str) -> AnyArray:
        """(n,) ids of a column."""
        given = self.columns[name]
        values = given if isinstance(given, np.ndarray) else self.complete(name)
        return validation.names(
            numbers_if_whole(values) if self.is_text else values, f"{self.source}: {name}"
        )

    def numbers(self, name: str) -> FloatArray:
        """(n,) finite numbers of a column."""
        numbers = np.empty(self.n_rows)
        for row, value in enumerate(self.columns[name]):
            try:
                numbers[row] = float(value) if not isinstance(value, bool) else np.nan
            except (TypeError, ValueError):
                numbers[row] = np.nan
            if not np.isfinite(numbers[row]):
                raise InputError(
                    f"{self.source}, {self.where(row)}: {name} {value!r} is not a finite number."
                )
        return numbers

    def take(self, rows: IntArray) -> "Table":
        """Some of the rows."""
        columns = {name: [values[row] for row in rows] for name, values in self.columns.items()}
        lines = None if self.lines is None else [self.lines[row] for row in rows]
        return replace(self, columns=columns, n_rows=len(rows), lines=lines)

    def with_gaps(self, name: str) -> AnyArray:
        """(n,) values of a column, None where there is none; text that counts becomes numbers."""
        values = objects(self.columns[name])
        missing = is_missing(values)
        if self.is_text:
            values[~missing] = numbers_if_whole(values[~missing])
        values[missing] = None
        return values


# ---------------------------------------------------------------------------------------------------- reading
def read_table(path: str | Path, what: str = "a table", allowed: Sequence[str] = TABLE_ENDINGS) -> Table:
    r"""Read a table from .csv, .tsv, .xlsx, .parquet or .jsonl; text may be compressed.

    Parameters
    ----------
    what : what the file should hold, for messages
    allowed : endings

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "items.csv").write_text("item,text\n007,good\n010,bad\n")
    ...     table = read_table(f"{folder}/items.csv")
    >>> list(table.columns), table.ids("item").tolist()
    (['item', 'text'], ['007', '010'])
    """
    source = check_source(path, allowed, what)
    return _READERS[ending_of(source).removesuffix(".gz")](source)


def table_of_frame(frame: "pd.DataFrame", source: str = "the table") -> Table:
    """A frame's columns, its index apart."""
    return Table({str(name): frame[name].tolist() for name in frame.columns}, len(frame), source)


def _read_delimited(path: Path) -> Table:
    """Byte order mark and both kinds of line ends are fine, ragged rows are not."""
    marked = holds_byte(path, MARK.encode())  # else no cell can have been defused
    rows: list[list[str]] = []
    lines: list[int] = []
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=delimiter_of(path, file), strict=True)
        try:
            header = restored_all(name.strip() for name in next(reader, []))
            _check_header(path, header)
            for row in reader:
                if not row:  # an empty line
                    continue
                if len(row) != len(header):
                    raise InputError(
                        f"{path}, line {reader.line_num}: {len(row)} values, but the header names "
                        f"{len(header)} columns ({', '.join(header[:SHOWN])}). Quote values that hold the "
                        "delimiter."
                    )
                rows.append(restored_all(row) if marked else row)
                lines.append(reader.line_num)
        except csv.Error as error:
            raise InputError(f"{path}, line {reader.line_num}: {error}.") from error
    return _table_of_text(path, header, rows, lines)


def _read_excel(path: Path) -> Table:
    header, rows, lines = read_sheet(path)
    header = [name.strip() for name in header]
    _check_header(path, header)
    return _table_of_text(path, header, rows, lines)


def _table_of_text(path: Path, header: list[str], rows: list[list[str]], lines: list[int]) -> Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return Table(dict(zip(header, columns, strict=True)), len(rows), path, True, lines)


def _check_header(path: Path, header: Sequence[str]) -> None:
    if not any(header):
        raise InputError(f"{path} has no header; its first line must name the columns.")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"{path} names columns twice: {', '.join(map(repr, twice[:SHOWN]))}. Rename them.")


def _read_parquet(path: Path) -> Table:
    columns = ParquetColumns(path)
    return Table(columns, columns.n_rows, path, metadata=columns.facts)


def _read_json_lines(path: Path) -> Table:
    """One object per line."""
    records, lines = [], []
    with open_text(path) as file:
        try:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    records.append(json.loads(line))
                    lines.append(number)
                    if not isinstance(records[-1], dict):
                        raise InputError(
                            f"{path}, line {number}: expected an object like {{...}}, got {line[:40]!r}."
                        )
        except json.JSONDecodeError as error:
            raise InputError(f"{path}, line {number}: not JSON ({error.msg}).") from error
    return table_of_records(records, path, lines)


_READERS = {
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".parquet": _read_parquet,
    ".jsonl": _read_json_lines,
    ".xlsx": _read_excel,
}


def table_of_records(
    records: Sequence[Mapping[str, Any]], source: Path, lines: Sequence[int] | None = None
) -> Table:
    """Rows as columns; None where a row lacks a key."""
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name) for record in records] for name in names}
    return Table(columns, len(records), source, lines=lines)


def read_json(path: Path) -> Any:
    """The content of a .json file."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from error


# ----------------------------------------------------------------------------------------------------- values
def is_missing(values: Sequence[Any] | AnyArray) -> BoolArray:
    """Where a value is None, NaN or empty text."""
    import pandas as pd

    array = objects(values)
    return np.asarray(pd.isna(array) | (array == ""), dtype=bool)


def numbers_if_whole(text: AnyArray) -> AnyArray:
    """Text as whole numbers where every value is one and would be written the same way, else unchanged."""
    import pandas as pd

    if len(text) and bool(pd.Series(text, dtype="str").str.fullmatch(WHOLE_NUMBER).all()):
        return text.astype(np.int64)
    return text


def shown(values: Any) -> str:
    """The first five distinct values, for a message."""
    distinct = list(dict.fromkeys(values.tolist() if isinstance(values, np.ndarray) else values))
    return ", ".join(map(repr, distinct[:SHOWN])) + (", ..." if len(distinct) > SHOWN else "")


def listed(names: Iterable[str]) -> str:
    """The first ten names, for a message."""
    some = list(names)
    return ", ".join(map(repr, some[:LISTED])) + (", ..." if len(some) > LISTED else "")
