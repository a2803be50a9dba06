"""Parquet files: columns that are read when they are asked for, and tables written whole with their facts.

file  ->  ParquetColumns, facts          names, numbers, words  ->  Arrow table  ->  file
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.arrow import arrow
from softspread._common.atomic import replaced_file
from softspread._common.types import AnyArray
from softspread.errors import InputError
from softspread.io.vectors import ColumnKind, check_lengths

METADATA_KEY = "softspread"  # of a file's schema


class ParquetColumns(Mapping[str, Sequence[Any]]):
    """The columns of a Parquet file, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as file:
            self.schema, self.n_rows = file.schema_arrow, file.metadata.num_rows

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with readable_parquet(self.path), arrow("pyarrow.parquet").ParquetFile(self.path) as file:
            yield file

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What :func:`write_parquet` left in the file."""
        facts = (self.schema.metadata or {}).get(METADATA_KEY.encode(), b"{}")
        try:
            return dict(json.loads(facts))
        except ValueError as error:
            raise InputError(
                f"{self.path} has damaged facts of its making ({error}); write it again."
            ) from error

    @cached_property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """What each column holds."""
        return {name: _kind(self.schema.field(name).type) for name in self.schema.names}

    def width(self, name: str) -> int:
        """How long the first list of a column is; the other rows are not read."""
        with self._open() as file:
            first = next(file.iter_batches(batch_size=1, columns=[name])).column(0)[0].as_py()
        return len(first or ())

    def vectors(self, names: Sequence[str]) -> AnyArray:
        """(n, d) numbers of one column of lists, or of one column per dimension."""
        return self._stacked(self._read(names), names)

    def vectors_of_rows(self, names: Sequence[str], first: int, last: int) -> AnyArray:
        """The same of rows ``first`` to ``last`` (not included): their row groups are decoded whole."""
        with self._open() as file:
            ends = np.cumsum([file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)])
            starts = np.concatenate([[0], ends[:-1]])
            groups = np.flatnonzero((starts < last) & (ends > first))
            table = file.read_row_groups(groups.tolist(), columns=list(names))
        return self._stacked(table.slice(first - int(starts[groups[0]]), last - first), names)

    def _stacked(self, table: Any, names: Sequence[str]) -> AnyArray:
        if len(names) > 1 or not self.kinds[names[0]].is_list:
            return np.column_stack([table.column(name).to_numpy() for name in names])
        pc = arrow("pyarrow.compute")
        column = table.column(names[0])
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
        check_lengths(self.path, names[0], lengths)
        flat = pc.list_flatten(column).to_numpy(zero_copy_only=False)
        if flat.dtype.kind not in "iuf":
            raise InputError(
                f"{self.path}: embeddings must be numbers, but {names[0]!r} holds {column.type.value_type}."
            )
        return np.asarray(flat.reshape(len(lengths), -1))

    def _read(self, names: Sequence[str]) -> Any:
        with readable_parquet(self.path):
            return arrow("pyarrow.parquet").read_table(self.path, columns=list(names))

    def __getitem__(self, name: str) -> Sequence[Any]:
        if name not in self.schema.names:
            raise KeyError(name)
        column = self._read([name]).column(0)
        if self.kinds[name].is_number and column.null_count == 0:
            return column.to_numpy()  # type: ignore[no-any-return]  # a million numbers in no time
        return list(column.to_pylist())

    def __iter__(self) -> Iterator[str]:
        return iter(self.schema.names)

    def __len__(self) -> int:
        return len(self.schema.names)


def _kind(kind: Any) -> ColumnKind:
    """What a column of one of Arrow's types holds."""
    kinds = arrow("pyarrow.types")
    is_list = kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind)
    number = kind.value_type if is_list else kind
    is_single = kinds.is_floating(number) and number.bit_width <= 32
    return ColumnKind(is_list, kinds.is_floating(kind) or kinds.is_integer(kind), is_single)


@contextmanager
def readable_parquet(path: Path) -> Iterator[None]:
    """Turn Arrow's errors into one that names the file."""
    errors = arrow(what=str(path)).ArrowException, OSError
    try:
        yield
    except errors as error:
        reason = str(error).splitlines()[0][:150] if str(error) else type(error).__name__
        raise InputError(f"{path} is not a readable Parquet file ({reason}).") from error


# ---------------------------------------------------------------------------------------------------- writing
def write_parquet(path: Path, table: Any, metadata: Mapping[str, Any], **options: Any) -> None:
    """Write an Arrow table and the facts of its making; the file appears whole or not at all."""
    with replaced_file(path) as temporary:
        arrow("pyarrow.parquet").write_table(with_metadata(table, metadata), temporary, **options)


def with_metadata(table: Any, metadata: Mapping[str, Any]) -> Any:
    """An Arrow table with the facts of its making in its schema."""
    facts = {METADATA_KEY: json.dumps(metadata, default=str)} if metadata else None
    return table.replace_schema_metadata(facts)


def arrow_names(values: AnyArray) -> Any:
    """Ids or class names as an Arrow array; mixed kinds become text."""
    return arrow().array(plain_names(values))


def plain_names(values: AnyArray) -> AnyArray | list[Any]:
    """Ids or class names of one kind, as a file holds them: mixed kinds become text."""
    if values.dtype.kind not in "OU":
        return values
    plain = values.tolist()
    return plain if all(isinstance(value, str) for value in plain) else list(map(str, plain))


def single_precision(values: AnyArray) -> Any:
    """Numbers as an Arrow array of floats."""
    return arrow().array(np.ascontiguousarray(values, dtype=np.float32))
