"""A table from a file, with errors that name the file and the line.

.csv .tsv (all values stay text)   .parquet .jsonl .json (values keep their types)   ->  columns by name
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, BoolArray
from softspread.errors import InputError

SHOWN = 5  # how many offending values an error names
WHOLE_NUMBER = r"-?(?:0|[1-9][0-9]{0,17})"  # as Python would write it back: 007 is a name, not a number
EMBEDDING_ENDINGS = (".npy", ".npz", ".parquet")
VOTE_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".json")
DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """Columns as they stand in the file."""

    columns: Mapping[str, Sequence[Any]]
    path: Path
    is_text: bool  # every value is text, and an empty one is missing
    lines: Sequence[int] | None = None  # of each row, for messages; None = rows counted from 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def where(self, row: int) -> str:
        """Where a row stands, for a message."""
        return f"row {row} (counted from 0)" if self.lines is None else f"line {self.lines[row]}"


def check_source(path: str | Path, allowed: Sequence[str], what: str) -> Path:
    """A file that exists, is not empty and has one of the endings."""
    source = Path(path)
    ending = source.suffix.lower()
    if not source.exists():
        raise InputError(f"no file at {source}; check the path of the {what}.")
    if source.is_dir():
        raise InputError(f"{source} is a folder; name the file with the {what}.")
    if ending not in allowed:
        raise InputError(f"{source} ends in {ending or 'nothing'!r}; {what} may be {', '.join(allowed)}.")
    try:
        empty = source.stat().st_size == 0
        with source.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}.") from error
    if empty:
        raise InputError(f"{source} is empty; it should hold {what}.")
    return source


def read_delimited(path: Path) -> RawTable:
    """A .csv or .tsv; byte order mark and both kinds of line ends are fine, ragged rows are not."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            start = file.readline()
            file.seek(0)
            reader = csv.reader(file, delimiter=_delimiter(path, start), strict=True)
            header = [name.strip() for name in next(reader, [])]
            _check_header(path, header)
            rows: list[list[str]] = []
            lines: list[int] = []
            for row in reader:
                if not row:  # an empty line
                    continue
                if len(row) != len(header):
                    raise InputError(
                        f"{path}, line {reader.line_num}: {len(row)} values, but the header names "
                        f"{len(header)} "
                        f"columns ({', '.join(header[:SHOWN])}). Quote values that hold the delimiter."
                    )
                rows.append(row)
                lines.append(reader.line_num)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from error
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return RawTable(dict(zip(header, columns, strict=True)), path, True, lines)


def _delimiter(path: Path, header: str) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    return max(DELIMITERS, key=header.count)  # the comma where none appears


def _check_header(path: Path, header: Sequence[str]) -> None:
    if not any(header):
        raise InputError(f"{path} has no header; its first line must name the columns.")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"{path} names columns twice: {', '.join(map(repr, twice[:SHOWN]))}. Rename them.")


def read_parquet(path: Path) -> RawTable:
    """A .parquet file, all columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is not a readable Parquet file ({_first_line(error)}).") from error
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return RawTable(columns, path, False)


def read_json_lines(path: Path) -> RawTable:
    """A .jsonl file: one object per line."""
    records, lines = [], []
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    records.append(json.loads(line))
                    lines.append(number)
                    if not isinstance(records[-1], dict):
                        raise InputError(
                            f"{path}, line {number}: expected an object like {{...}}, got {line[:40]!r}."
                        )
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {number}: not JSON ({error.msg}).") from error
    return RawTable(columns_of_records(records), path, False, lines)


def read_json(path: Path) -> Any:
    """Whatever a .json file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from error


def columns_of_records(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; None where a row lacks a key."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def is_missing(values: Sequence[Any] | AnyArray) -> BoolArray:
    """Where a value is None, NaN or empty text."""
    import pandas as pd

    array = objects(values)
    return np.asarray(pd.isna(array) | (array == ""), dtype=bool)


def objects(values: Sequence[Any] | AnyArray) -> AnyArray:
    """A flat array of objects, also where the values are lists."""
    array = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        array[position] = value
    return array


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


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
