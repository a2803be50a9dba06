"""Embeddings read a range of rows at a time: .npy files stay on disk, Parquet files give their row groups.

open_stream(paths)  ->  EmbeddingStream: n_items, n_dimensions  ->  read(first, last) -> (rows, d)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np

from softspread._common import validation
from softspread._common.digests import hash_values
from softspread._common.types import AnyArray
from softspread.errors import InputError
from softspread.io.arrays import read_array
from softspread.io.embeddings import ids_of, look_at_embeddings, vector_columns
from softspread.io.formats import check_sources
from softspread.io.ids import read_ids
from softspread.io.parquet import ParquetColumns
from softspread.votes.table import joined

STREAMED = (".npy", ".parquet")


@dataclass(frozen=True, slots=True)
class EmbeddingStream:
    """Rows of one or several files that follow one another; what travels to a worker is only their paths."""

    paths: tuple[Path, ...]
    starts: tuple[int, ...]  # first row of each file, and the number of all rows
    n_dimensions: int
    itemsize: int
    vector_column: str | None = None

    @property
    def n_items(self) -> int:
        """How many rows there are."""
        return self.starts[-1]

    @property
    def key(self) -> str:
        """Changes when a file does: its size and the time of its last change count, not its content."""
        facts = [(str(path.absolute()), path.stat().st_size, path.stat().st_mtime_ns) for path in self.paths]
        return hash_values(*facts, self.vector_column)

    def read(self, first: int, last: int) -> AnyArray:
        """Rows ``first`` to ``last`` (not included), in single or double precision, all finite."""
        parts = []
        for path, start, end in zip(self.paths, self.starts[:-1], self.starts[1:], strict=True):
            if first < end and last > start:
                parts.append(self._read_file(path, max(first - start, 0), min(last, end) - start))
        X = parts[0] if len(parts) == 1 else np.concatenate(parts)
        kind = np.float32 if self.itemsize == 4 else np.float64
        return np.ascontiguousarray(validation.features(X, f"{self.paths[0]}: X"), dtype=kind)

    def _read_file(self, path: Path, first: int, last: int) -> AnyArray:
        if path.suffix.lower() == ".npy":
            return np.array(read_array(path, mapped=True)[first:last])
        names = vector_columns(path, self.vector_column)
        return ParquetColumns(path).vectors_of_rows(names, first, last)


def read_stream_ids(
    stream: EmbeddingStream, id_column: str | None = None, ids: str | Path | None = None
) -> AnyArray | None:
    """Ids of all rows: of a file of their own, or of the files' columns; None where there are none.

    Unlike vectors they are held in memory, about 150 bytes each.
    """
    if ids is not None:
        return read_ids(ids)
    tables = [path for path in stream.paths if path.suffix.lower() != ".npy"]
    found = [ids_of(path, id_column, stream.vector_column) for path in tables]
    named = [part for part in found if part is not None]
    if not named:
        return None
    if len(named) < len(stream.paths):
        raise InputError(
            "some files of embeddings have ids and others have not; give all of them ids, or none."
        )
    return reduce(joined, named)


def open_stream(paths: Sequence[str | Path], vector_column: str | None = None) -> EmbeddingStream:
    """Files of embeddings for reading in parts; their headers are read now, their numbers later."""
    sources = check_sources(paths, STREAMED, "embeddings that are read in parts")
    shapes = [look_at_embeddings(source, vector_column) for source in sources]
    for source, shape in zip(sources, shapes, strict=True):
        if shape.n_dimensions != shapes[0].n_dimensions:
            raise InputError(
                f"{source} has {shape.n_dimensions} dimensions, {sources[0]} has {shapes[0].n_dimensions}; "
                "files that are taken together must have the same."
            )
    starts = np.concatenate([[0], np.cumsum([shape.n_items for shape in shapes])])
    itemsize = max(shape.itemsize for shape in shapes)
    return EmbeddingStream(
        tuple(sources), tuple(starts.tolist()), shapes[0].n_dimensions, itemsize, vector_column
    )
