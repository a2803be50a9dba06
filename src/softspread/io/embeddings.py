"""Embeddings from a file: an array of numbers and, where the file has them, the items' ids.

.npy (n, d)   .npz arrays by name   .parquet a vector column, or one column a dimension   ->  X (n, d), ids
(n,)
"""

import fnmatch
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray
from softspread.errors import InputError
from softspread.io.tables import (
    EMBEDDING_ENDINGS,
    SHOWN,
    check_source,
    numbers_if_whole,
    objects,
    read_delimited,
    read_json_lines,
    shown,
)

ID_ENDINGS = (".txt", ".csv", ".tsv", ".npy", ".npz", ".parquet", ".jsonl")
ARRAY_NAMES = ("embeddings", "embedding", "features", "X", "x", "vectors")
_CLEAR_NAMES = ("item", "item_id", "id", "ids", "item_ids", "items", "task")
ID_NAMES = (
    *_CLEAR_NAMES,
    "path",
    "file",
    "filename",
    "file_name",
    "image",
)  # less clear, so only where none of the others is there


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """Items as points."""

    X: AnyArray  # (n, d) float32 or float64, finite
    item_ids: AnyArray | None  # (n,), None = positions
    source: str  # in words: which arrays or columns were read


@dataclass(frozen=True, slots=True)
class EmbeddingShape:
    """What can be told without reading the numbers."""

    n_items: int
    n_dimensions: int
    itemsize: int
    has_ids: bool


def read_embeddings(
    path: str | Path,
    *,
    id_column: str | None = None,
    vector_column: str | None = None,
    ids: str | Path | None = None,
) -> Embeddings:
    """Read items from a .npy, .npz or .parquet file.

    Parameters
    ----------
    id_column : array or column with the ids; None looks for item, item_id, id, path, ...
    vector_column : array or column with the vectors, or a pattern such as ``emb_*`` for one column a
    dimension
    ids : another file with the ids, one per item in the same order, see :func:`read_ids`

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/e.npz", X=[[0.0, 1.0], [2.0, 3.0]], ids=["a", "b"])
    ...     found = read_embeddings(f"{folder}/e.npz")
    >>> found.X.shape, found.item_ids.tolist()
    ((2, 2), ['a', 'b'])
    """
    source = check_source(path, EMBEDDING_ENDINGS, "embeddings")
    reader = {".npy": _from_npy, ".npz": _from_npz, ".parquet": _from_parquet}[source.suffix.lower()]
    found = reader(source, id_column, vector_column)
    X = _checked_numbers(source, found.X)
    item_ids = found.item_ids if ids is None else read_ids(ids)
    where = source if ids is None else ids
    if item_ids is not None:
        if len(item_ids) != len(X):
            raise InputError(
                f"{where} names {len(item_ids):,} items, but {source} holds {len(X):,}; they must agree, row "
                "by row."
            )
        twice = validation.lookup(item_ids).duplicated()
        if twice.any():
            raise InputError(
                f"{where}: {int(twice.sum()):,} ids appear more than once: {shown(item_ids[twice])}. "
                "Each item needs an id of its own; remove the copies."
            )
    _check_finite(source, X, item_ids)
    validation.not_too_large(X)
    return Embeddings(X, item_ids, found.source)


def look_at_embeddings(path: str | Path, vector_column: str | None = None) -> EmbeddingShape:
    """Shape and precision from the file's header, without reading the numbers where the format allows it."""
    source = check_source(path, EMBEDDING_ENDINGS, "embeddings")
    ending = source.suffix.lower()
    if ending == ".npy":
        array = _mapped(source)
        _check_shape(source, array)
        return EmbeddingShape(len(array), array.shape[1], _itemsize(array.dtype), False)
    if ending == ".parquet":
        return _look_at_parquet(source, vector_column)
    found = _from_npz(source, None, vector_column)
    return EmbeddingShape(
        len(found.X), found.X.shape[1], _itemsize(found.X.dtype), found.item_ids is not None
    )


def read_ids(path: str | Path) -> AnyArray:
    """Ids from a file: one a line (.txt), an array, or the id column of a table; whole numbers become
    numbers.
    """
    source = check_source(path, ID_ENDINGS, "ids")
    ending = source.suffix.lower()
    if ending == ".txt":
        try:
            lines = source.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise InputError(f"{source} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error
        values: Any = numbers_if_whole(objects([line.strip() for line in lines]))
    elif ending in (".csv", ".tsv"):
        table = read_delimited(source)
        values = numbers_if_whole(objects(table.columns[_id_name(source, list(table.columns))]))
    elif ending == ".jsonl":
        table = read_json_lines(source)
        values = table.columns[_id_name(source, list(table.columns))]
    elif ending == ".parquet":
        schema = _parquet_schema(source)
        values = _parquet_columns(source, [_id_name(source, schema.names)])[0]
    else:
        arrays = {"ids": _mapped(source)} if ending == ".npy" else _npz_arrays(source)
        values = arrays[_id_name(source, list(arrays))]
    return validation.names(values, f"{source}: id")


def _id_name(source: Path, names: Sequence[str]) -> str:
    found = next((name for name in ID_NAMES if name in names), names[0] if len(names) == 1 else None)
    if found is None:
        raise InputError(
            f"{source} has no column of ids; call it item or id. It has {', '.join(names[:10])}."
        )
    return found


# ------------------------------------------------------------------------------------------------------ numpy
def _from_npy(source: Path, id_column: str | None, vector_column: str | None) -> Embeddings:
    if id_column is not None or vector_column is not None:
        raise InputError(f"{source} holds one array without names; give the ids in a file of their own.")
    return Embeddings(np.array(_mapped(source)), None, "one array")


def _mapped(source: Path) -> AnyArray:
    try:
        return np.asarray(np.load(source, mmap_mode="r", allow_pickle=False))
    except (ValueError, OSError, EOFError) as error:
        if "Object arrays" in str(error) or "Python objects" in str(error):
            raise InputError(
                f"{source} holds Python objects, not numbers; save it from an array of floats."
            ) from error
        raise InputError(f"{source} is damaged or no .npy file ({str(error)[:100]}).") from error


def _npz_arrays(source: Path) -> dict[str, AnyArray]:
    try:
        with np.load(source, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, KeyError) as error:
        if "Object arrays" in str(error):
            raise InputError(
                f"{source} holds Python objects; save ids as text (numpy's 'U' type) and vectors as floats."
            ) from error
        raise InputError(f"{source} is damaged or no .npz file ({str(error)[:100]}).") from error


def _from_npz(source: Path, id_column: str | None, vector_column: str | None) -> Embeddings:
    arrays = _npz_arrays(source)
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    vector = vector_column or next((name for name in ARRAY_NAMES if name in tables), None)
    if vector is None and len(tables) == 1:
        vector = tables[0]
    if vector is None or vector not in arrays:
        raise InputError(
            f"{source} holds the arrays {', '.join(arrays)}; name the one with the vectors by "
            "--vector-column."
        )
    named = id_column or next((name for name in ID_NAMES if name in arrays and name != vector), None)
    if named is not None and named not in arrays:
        raise InputError(f"{source} has no array {named!r}; it holds {', '.join(arrays)}.")
    item_ids = None if named is None else validation.names(arrays[named], f"{source}: id")
    return Embeddings(arrays[vector], item_ids, f"array {vector!r}" + (f", ids {named!r}" if named else ""))


# ---------------------------------------------------------------------------------------------------- parquet
def _parquet_schema(source: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(source)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source} is not a readable Parquet file ({str(error)[:150]}).") from error


def _parquet_columns(source: Path, names: list[str]) -> list[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(source, columns=names)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source} is not a readable Parquet file ({str(error)[:150]}).") from error
    return [_ids_of(table.column(name)) for name in names]


def _ids_of(column: Any) -> Any:
    import pyarrow.types as kinds

    if column.null_count == 0 and kinds.is_integer(column.type):
        return column.to_numpy()
    return objects(column.to_pylist())


@dataclass(frozen=True, slots=True)
class _Choice:
    id_name: str | None
    vectors: list[str]
    is_list: bool


def _choose_columns(source: Path, schema: Any, id_column: str | None, vector_column: str | None) -> _Choice:
    import pyarrow.types as kinds

    names = list(schema.names)
    if id_column is not None and id_column not in names:
        raise InputError(f"{source} has no column {id_column!r}; it has {', '.join(names[:10])}.")
    id_name = id_column or next((name for name in ID_NAMES if name in names), None)

    def is_list(name: str) -> bool:
        kind = schema.field(name).type
        return bool(kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind))

    if vector_column is not None:
        vectors = [name for name in names if fnmatch.fnmatchcase(name, vector_column) and name != id_column]
        if not vectors:
            raise InputError(f"{source} has no column {vector_column!r}; it has {', '.join(names[:10])}.")
    else:
        lists = [name for name in names if is_list(name) and name != id_name]
        named = next((name for name in ARRAY_NAMES if name in lists), lists[0] if len(lists) == 1 else None)
        if lists and named is None:
            raise InputError(
                f"{source} has several vector columns ({', '.join(lists)}); choose by --vector-column."
            )
        vectors = (
            [named]
            if named
            else [name for name in names if name != id_name and not name.startswith("__index")]
        )
    if id_name in vectors:
        id_name = None
    if len(vectors) == 1 and is_list(vectors[0]):
        return _Choice(id_name, vectors, True)
    wrong = [
        name
        for name in vectors
        if not (kinds.is_floating(schema.field(name).type) or kinds.is_integer(schema.field(name).type))
    ]
    if wrong or not vectors:
        raise InputError(
            f"{source}: embeddings must be numbers, but {shown(wrong) if wrong else 'no column'} "
            f"{'is' if len(wrong) < 2 else 'are'} not. Name the columns by --vector-column, such as 'emb_*', "
            "and the ids by --id-column."
            if wrong
            else f"{source} has no column of numbers; embeddings need a vector column or one per dimension."
        )
    return _Choice(id_name, vectors, False)


def _from_parquet(source: Path, id_column: str | None, vector_column: str | None) -> Embeddings:
    import pyarrow as pa
    import pyarrow.parquet as pq

    choice = _choose_columns(source, _parquet_schema(source), id_column, vector_column)
    wanted = choice.vectors + ([choice.id_name] if choice.id_name else [])
    try:
        table = pq.read_table(source, columns=wanted)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source} is not a readable Parquet file ({str(error)[:150]}).") from error
    if choice.is_list:
        X = _stacked_lists(source, choice.vectors[0], table.column(choice.vectors[0]))
        source_text = f"vector column {choice.vectors[0]!r}"
    else:
        X = np.column_stack([table.column(name).to_numpy(zero_copy_only=False) for name in choice.vectors])
        source_text = f"{len(choice.vectors)} columns, {choice.vectors[0]!r} to {choice.vectors[-1]!r}"
    item_ids = None
    if choice.id_name:
        item_ids = validation.names(_ids_of(table.column(choice.id_name)), f"{source}: {choice.id_name}")
        source_text += f", ids {choice.id_name!r}"
    return Embeddings(X, item_ids, source_text)


def _stacked_lists(source: Path, name: str, column: Any) -> AnyArray:
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    if len(lengths) == 0:
        raise InputError(f"{source} holds no items.")
    odd = np.flatnonzero(lengths != lengths[0])
    if lengths[0] == 0 or len(odd):
        row = int(odd[0]) if len(odd) else 0
        raise InputError(
            f"{source}, row {row}: the vector in {name!r} has {lengths[row]} numbers, that of row 0 has "
            f"{lengths[0]}; "
            "all must have the same, and at least one."
        )
    flat = pc.list_flatten(column).to_numpy(zero_copy_only=False)
    if flat.dtype.kind not in "iuf":
        raise InputError(
            f"{source}: embeddings must be numbers, but {name!r} holds {column.type.value_type}."
        )
    return np.asarray(flat.reshape(len(lengths), -1))


def _look_at_parquet(source: Path, vector_column: str | None) -> EmbeddingShape:
    import pyarrow.parquet as pq

    schema = _parquet_schema(source)
    choice = _choose_columns(source, schema, None, vector_column)
    with pq.ParquetFile(source) as file:
        n = file.metadata.num_rows
        d = len(choice.vectors)
        if choice.is_list:
            first = next(file.iter_batches(batch_size=1, columns=choice.vectors), None)
            d = 0 if first is None or first.num_rows == 0 else len(first.column(0)[0])
    kind = schema.field(choice.vectors[0]).type
    width = (kind.value_type if choice.is_list else kind).bit_width // 8
    return EmbeddingShape(n, d, 4 if width <= 4 else 8, choice.id_name is not None)


# ----------------------------------------------------------------------------------------------------- checks
def _checked_numbers(source: Path, X: AnyArray) -> AnyArray:
    if X.dtype.kind not in "iuf":
        raise InputError(f"{source}: embeddings must be numbers, got {_kind_in_words(X.dtype)}.")
    _check_shape(source, X)
    return np.ascontiguousarray(X, dtype=np.float32 if _itemsize(X.dtype) == 4 else np.float64)


def _check_shape(source: Path, X: AnyArray) -> None:
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


def _check_finite(source: Path, X: AnyArray, item_ids: AnyArray | None) -> None:
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
        "counted from 0. "
        "Embed these items again or leave them out."
    )
