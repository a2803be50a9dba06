"""Embeddings from a file: an array of numbers and, where the file has them, the items' ids.

.npy (n, d)   .npz arrays by name   a table: one vector column, or one column per dimension  ->  X, ids
"""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.archive import pack_names, read_archive, unpack_names, write_archive
from softspread._common.columns import ID_NAMES, INDEX_NAMES, VECTOR_NAMES, first_of
from softspread._common.types import AnyArray
from softspread.errors import InputError
from softspread.io.arrays import read_array, read_arrays
from softspread.io.formats import EMBEDDING_ENDINGS, check_source, check_sources
from softspread.io.ids import as_text, read_ids
from softspread.io.parquet import ParquetColumns
from softspread.io.tables import SHOWN, Table, read_table, shown
from softspread.io.vectors import PlainColumns, VectorColumns
from softspread.votes.table import joined

FILE_VERSION = 1  # of what :meth:`Embeddings.save` writes
NAME_THEM = "name the columns by --vector-column (embed: --column), such as 'emb_*'"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Embeddings:
    """Items as points, as they were read.

    Attributes
    ----------
    X : (n, d) array
        Numbers in single or double precision, one row per item.
    item_ids : (n,) array or None
        Ids of the items; None where the file has none, and items are named by position.
    source : str
        In words: which arrays or columns were read.

    See Also
    --------
    read_embeddings : Reads them.

    Examples
    --------
    >>> Embeddings(np.zeros((3, 2)), np.array(["a", "b", "c"]), "one array")
    Embeddings(3 items in 2 dimensions, ids 'a', 'b', 'c')
    """

    X: AnyArray  # (n, d) float32 or float64, finite
    item_ids: AnyArray | None  # (n,), None = positions
    source: str  # in words: which arrays or columns were read

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        ids = "no ids" if self.item_ids is None else f"ids {shown(self.item_ids)}"
        return f"Embeddings({len(self):,} items in {self.X.shape[1]} dimensions, {ids})"

    def save(self, path: str | Path) -> None:
        """Keep them for :meth:`load`, which decodes nothing.

        Parameters
        ----------
        path : str or Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Embeddings(np.zeros((2, 1)), None, "one array").save(f"{folder}/X.softspread")
        ...     Embeddings.load(f"{folder}/X.softspread")
        Embeddings(2 items in 1 dimensions, no ids)
        """
        facts = {
            "source": self.source,
            "objects": self.item_ids is not None and self.item_ids.dtype == object,
        }
        ids = {} if self.item_ids is None else {"item_ids": pack_names(self.item_ids)}
        write_archive(path, "embeddings", FILE_VERSION, facts, {"X": self.X, **ids})

    @classmethod
    def load(cls, path: str | Path) -> "Embeddings":
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Embeddings
            The same items.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Embeddings(np.zeros((2, 1)), np.array([7, 8]), "one array").save(f"{folder}/X.softspread")
        ...     Embeddings.load(f"{folder}/X.softspread").item_ids.tolist()
        [7, 8]
        """
        facts, arrays = read_archive(path, "embeddings", FILE_VERSION)
        ids = unpack_names(arrays["item_ids"], facts["objects"]) if "item_ids" in arrays else None
        return cls(arrays["X"], ids, facts["source"])


@dataclass(frozen=True, slots=True)
class EmbeddingShape:
    """Facts that need no reading of the numbers."""

    n_items: int
    n_dimensions: int
    itemsize: int
    has_ids: bool


def read_embeddings(
    *paths: str | Path,
    id_column: str | None = None,
    vector_column: str | None = None,
    ids: str | Path | None = None,
) -> Embeddings:
    """Read items from one or several .npy, .npz or .parquet files, taken together.

    Parameters
    ----------
    *paths : str or Path
        Files. Several follow one another: all of them with ids, each id in one file only, or none, and then
        positions run on.
    id_column : str, optional
        Array or column with the ids; by default item, task, id, path or the like, where there is one.
    vector_column : str, optional
        Array or column with the vectors, or a pattern such as ``emb_*`` for one column per dimension.
    ids : str or Path, optional
        Another file with the ids of all items, in the same order: .txt, an array or a table.

    Returns
    -------
    Embeddings
        With ``X`` and ``item_ids``.

    See Also
    --------
    read_votes : The votes on them.
    embed : From images or text to vectors.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/e.npz", X=[[0.0, 1.0], [2.0, 3.0]], ids=["a", "b"])
    ...     found = read_embeddings(f"{folder}/e.npz")
    >>> found.X.shape, found.item_ids.tolist()
    ((2, 2), ['a', 'b'])
    """
    sources = check_sources(paths, EMBEDDING_ENDINGS, "embeddings")
    parts = [_read_file(source, id_column, vector_column, own_ids=ids is None) for source in sources]
    found = parts[0] if len(parts) == 1 else _joined(parts, sources, own_ids=ids is None)
    if ids is None:
        return found
    return _checked(", ".join(map(str, sources)), replace(found, item_ids=read_ids(ids)), ids)


def _read_file(
    source: Path, id_column: str | None, vector_column: str | None, *, own_ids: bool
) -> Embeddings:
    ending = source.suffix.lower()
    if ending in (".npy", ".npz"):
        found = (_from_npy if ending == ".npy" else _from_npz)(source, id_column, vector_column)
    else:
        found = _from_table(read_table(source), id_column, vector_column)
    return _checked(source, found if own_ids else replace(found, item_ids=None), source)


def _joined(parts: Sequence[Embeddings], sources: Sequence[Path], *, own_ids: bool) -> Embeddings:
    """Several files as one."""
    widths = [part.X.shape[1] for part in parts]
    for width, source in zip(widths, sources, strict=True):
        if width != widths[0]:
            raise InputError(
                f"{source} has {width} dimensions, {sources[0]} has {widths[0]}; files that are taken "
                "together must have the same, made by the same encoder and reducer."
            )
    X = np.concatenate([part.X for part in parts])
    words = f"{len(parts)} files, the first: {parts[0].source}"
    named = [part.item_ids for part in parts if part.item_ids is not None]
    if own_ids and 0 < len(named) < len(parts):
        bare = next(source for part, source in zip(parts, sources, strict=True) if part.item_ids is None)
        raise InputError(f"{bare} has no ids, but another file has; give all of them ids, or none.")
    if not named:
        return Embeddings(X, None, words)
    origin = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    ids = named[0]
    for more in named[1:]:
        ids = joined(ids, more)
    twice = np.flatnonzero(validation.lookup(as_text(ids)).duplicated())
    if len(twice):
        same = np.flatnonzero(as_text(ids) == as_text(ids[twice[:1]])[0])[:2]
        first, second = (sources[origin[row]] for row in same)
        raise InputError(
            f"{len(twice):,} ids are in more than one file: {shown(ids[twice])}, in {first} and {second}. "
            "Each item needs an id of its own; remove the copies."
        )
    return Embeddings(X, ids, words)


def embeddings_of(
    table: Table, id_column: str | None = None, vector_column: str | None = None, *, skip_text: bool = False
) -> Embeddings:
    """The vectors and ids of a table; ``skip_text`` leaves out columns that hold no numbers."""
    return _checked(table.source, _from_table(table, id_column, vector_column, skip_text), table.source)


def look_at_embeddings(path: str | Path, vector_column: str | None = None) -> EmbeddingShape:
    """Shape and precision from the file's header, without reading the numbers where the format allows it."""
    source = check_source(path, EMBEDDING_ENDINGS, "embeddings")
    ending = source.suffix.lower()
    if ending not in (".npy", ".npz"):
        return _look_at(_choose(read_table(source), None, vector_column))
    if ending == ".npy":
        found = Embeddings(read_array(source, mapped=True), None, "")
    else:
        found = _from_npz(source, None, vector_column)
    _check_shape(source, found.X)
    n, d = found.X.shape
    return EmbeddingShape(n, d, _itemsize(found.X.dtype), found.item_ids is not None)


def vector_columns(path: Path, vector_column: str | None = None) -> list[str]:
    """The columns of a table that hold the vectors."""
    return _choose(read_table(path), None, vector_column).vectors


def ids_of(path: Path, id_column: str | None = None, vector_column: str | None = None) -> AnyArray | None:
    """The ids of a table, without reading its vectors; None where it has none."""
    chosen = _choose(read_table(path), id_column, vector_column)
    return None if chosen.id_name is None else chosen.table.ids(chosen.id_name)


# ------------------------------------------------------------------------------------------------------ numpy
def _from_npy(source: Path, id_column: str | None, vector_column: str | None) -> Embeddings:
    if id_column is not None or vector_column is not None:
        raise InputError(f"{source} holds one array without names; give the ids in a file of their own.")
    return Embeddings(read_array(source), None, "one array")


def _from_npz(source: Path, id_column: str | None, vector_column: str | None) -> Embeddings:
    arrays = read_arrays(source)
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    vector = vector_column or first_of(VECTOR_NAMES, tables) or (tables[0] if len(tables) == 1 else None)
    if vector is None or vector not in arrays:
        raise InputError(
            f"{source} holds the arrays {', '.join(arrays)}; name the one with the vectors by "
            "--vector-column."
        )
    named = id_column or first_of(ID_NAMES, set(arrays) - {vector})
    if named is not None and named not in arrays:
        raise InputError(f"{source} has no array {named!r}; it holds {', '.join(arrays)}.")
    item_ids = None if named is None else validation.names(arrays[named], f"{source}: id")
    return Embeddings(arrays[vector], item_ids, f"array {vector!r}" + (f", ids {named!r}" if named else ""))


# ----------------------------------------------------------------------------------------------------- tables
@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """A table, and which of its columns are ids and vectors."""

    table: Table
    columns: VectorColumns
    id_name: str | None
    vectors: list[str]

    @property
    def is_list(self) -> bool:
        """One column of vectors, rather than one column per dimension."""
        return len(self.vectors) == 1 and self.columns.kinds[self.vectors[0]].is_list


def _from_table(
    table: Table, id_column: str | None, vector_column: str | None, skip_text: bool = False
) -> Embeddings:
    chosen = _choose(table, id_column, vector_column, skip_text)
    first, last = chosen.vectors[0], chosen.vectors[-1]
    X, words = chosen.columns.vectors(chosen.vectors), f"vector column {first!r}"
    if not chosen.is_list:
        words = f"{len(chosen.vectors)} columns, {first!r} to {last!r}"
    if chosen.id_name is None:
        return Embeddings(X, None, words)
    return Embeddings(X, table.ids(chosen.id_name), f"{words}, ids {chosen.id_name!r}")


def _choose(
    table: Table, id_column: str | None, vector_column: str | None, skip_text: bool = False
) -> _Choice:
    id_name = table.find(id_column, ID_NAMES)
    columns = _columns_of(table)
    kinds = columns.kinds
    others = [name for name in kinds if name != id_name and name not in INDEX_NAMES]
    if vector_column is not None:
        vectors = [name for name in kinds if fnmatch.fnmatchcase(name, vector_column) and name != id_column]
        if not vectors:
            raise InputError(f"{table.source} has no column {vector_column!r}; it has {table.listed()}.")
    else:
        lists = [name for name in others if kinds[name].is_list]
        vectors = lists if len(lists) == 1 else [name for name in VECTOR_NAMES if name in lists][:1]
        if lists and not vectors:
            raise InputError(f"{table.source} has several vector columns ({', '.join(lists)}); {NAME_THEM}.")
        vectors = vectors or [name for name in others if kinds[name].is_number or not skip_text]
    chosen = _Choice(table, columns, None if id_name in vectors else id_name, vectors)
    wrong = [] if chosen.is_list else [name for name in vectors if not kinds[name].is_number]
    if wrong:
        raise InputError(
            f"{table.source}: embeddings must be numbers, but {shown(wrong)} "
            f"{'is' if len(wrong) < 2 else 'are'} not; {NAME_THEM}, and the ids by --id-column."
        )
    if not vectors:
        raise InputError(
            f"{table.source} has no column of numbers; embeddings need a vector column or one per dimension."
        )
    return chosen


def _columns_of(table: Table) -> VectorColumns:
    if isinstance(table.columns, ParquetColumns):
        return table.columns
    return PlainColumns(table.source, table.columns, is_text=table.is_text)


def _look_at(chosen: _Choice) -> EmbeddingShape:
    first = chosen.vectors[0]
    d = chosen.columns.width(first) if chosen.is_list else len(chosen.vectors)
    itemsize = 4 if chosen.columns.kinds[first].is_single else 8
    return EmbeddingShape(chosen.table.n_rows, d, itemsize, chosen.id_name is not None)


# ----------------------------------------------------------------------------------------------------- checks
def _checked(source: str | Path, found: Embeddings, ids_from: str | Path) -> Embeddings:
    """Finite numbers in single or double precision, and as many distinct ids."""
    if found.X.dtype.kind not in "iuf":
        raise InputError(f"{source}: embeddings must be numbers, got {_kind_in_words(found.X.dtype)}.")
    _check_shape(source, found.X)
    X = np.ascontiguousarray(found.X, dtype=np.float32 if _itemsize(found.X.dtype) == 4 else np.float64)
    ids = found.item_ids
    if ids is not None:
        if len(ids) != len(X):
            raise InputError(
                f"{ids_from} names {len(ids):,} items, but {source} holds {len(X):,}; they must agree, row "
                "by row."
            )
        twice = validation.lookup(ids).duplicated()
        if twice.any():
            raise InputError(
                f"{ids_from}: {int(twice.sum()):,} ids appear more than once: {shown(ids[twice])}. "
                "Each item needs an id of its own; remove the copies."
            )
    _check_finite(source, X, ids)
    validation.not_too_large(X)
    return replace(found, X=X)


def _check_shape(source: str | Path, X: AnyArray) -> None:
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(
            f"{source}: embeddings must be a table, items by dimensions, with at least one of each; "
            f"got shape {X.shape}."
        )


def _itemsize(dtype: "np.dtype[Any]") -> int:
    """Single precision stays single, half becomes single, everything else double."""
    return 4 if dtype.kind == "f" and dtype.itemsize <= 4 else 8


def _kind_in_words(dtype: "np.dtype[Any]") -> str:
    return {
        "U": "text",
        "S": "bytes",
        "O": "Python objects",
        "b": "true and false",
        "c": "complex numbers",
    }.get(dtype.kind, str(dtype))


def _check_finite(source: str | Path, X: AnyArray, item_ids: AnyArray | None) -> None:
    # a sum is finite only if all its terms are, and reads X once without a mask of its size
    with np.errstate(over="ignore"):
        total = X.sum(dtype=np.float64)
    if np.isfinite(total):
        return
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad) == 0:
        return  # finite values whose sum overflows
    rows = ", ".join(str(row) for row in bad[:SHOWN]) + (", ..." if len(bad) > SHOWN else "")
    names = "" if item_ids is None else f" (ids {shown(item_ids[bad])})"
    raise InputError(
        f"{source}: {len(bad):,} of {len(X):,} rows hold NaN or infinite numbers: rows {rows}{names}, "
        "counted from 0. Embed these items again or leave them out."
    )
