"""What embedding gives: ids, places, how they were made, and the fitted reducer for new items.

X.parquet: item, x (list of float32), how it was made in the schema's metadata
X.parquet.reducer.npz: the arrays of the fitted reducer, beside it
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from softspread._common import validation
from softspread._common.archive import read_archive, write_archive
from softspread._common.atomic import replaced_file
from softspread._common.digests import digest_array
from softspread._common.types import AnyArray
from softspread.embedding.loader import Skipped
from softspread.embedding.reducers.by_name import reducer_from
from softspread.embedding.reducers.reducer import Reducer
from softspread.errors import InputError, StoreError

FORMAT_VERSION = 1
METADATA_KEY = b"softspread"
REDUCER_ENDING = ".reducer.npz"


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Items in a space where neighbours mean something.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread.embedding.embed import embed
    >>> images = np.random.default_rng(0).integers(0, 256, size=(30, 8, 8), dtype=np.uint8)
    >>> space = embed(images, encoder="pixels:8", reduce="pca", dim=3)
    >>> space.X.shape, space.how["encoder"], space.to_frame().columns.tolist()
    ((30, 3), 'pixels:8', ['item', 'x'])
    """

    item_ids: AnyArray  # (n,)
    X: NDArray[np.float32]  # (n, d)
    how: Mapping[str, Any]  # encoder, weights, preparation, reducer, seed, versions
    reducer: Reducer | None = None  # None where it was not kept
    skipped: tuple[Skipped, ...] = field(default=())  # items that could not be read

    def __len__(self) -> int:
        return len(self.item_ids)

    def transform(self, features: Any) -> NDArray[np.float32]:
        """(m, n_features) features of new items, by the same encoder, to (m, d)."""
        if self.reducer is None:
            raise InputError(
                "the fitted reducer was not saved with this embedding; embed again and keep both files."
            )
        return self.reducer.transform(features)

    def to_frame(self) -> pd.DataFrame:
        """Columns item and x, one vector a row."""
        return pd.DataFrame({"item": self.item_ids, "x": list(self.X)})

    def save(self, path: str | Path) -> None:
        """Write ``path`` (Parquet) and, beside it, the fitted reducer; each file appears whole or not at
        all.
        """
        target = Path(path)
        if target.suffix != ".parquet":
            raise InputError(f"an embedding is saved as .parquet, got {target.name!r}.")
        beside = Path(f"{target}{REDUCER_ENDING}")
        mark = digest_array(self.X).hex()
        if self.reducer is not None:
            header = {"name": self.reducer.name, "facts": self.reducer.facts(), "embedding": mark}
            write_archive(beside, "reducer", FORMAT_VERSION, header, self.reducer.arrays())
        write_vectors(
            target, self.item_ids, self.X, {"version": FORMAT_VERSION, "embedding": mark, **self.how}
        )
        if self.reducer is None:
            with suppress(OSError):  # of an embedding that stood here before
                beside.unlink()

    @classmethod
    def load(cls, path: str | Path) -> "Embedding":
        """Read what :meth:`save` wrote."""
        target = Path(path)
        item_ids, X, how = read_vectors(target)
        if not how:
            raise StoreError(f"{target} was not written by softspread embed; use it as X itself.")
        if how.get("version", 0) > FORMAT_VERSION:
            raise StoreError(f"{target} has format version {how['version']}; upgrade softspread.")
        beside = Path(f"{target}{REDUCER_ENDING}")
        reducer = None
        if beside.is_file():
            header, arrays = read_archive(beside, "reducer", FORMAT_VERSION)
            if header.get("embedding") != how.get("embedding"):
                raise StoreError(f"{beside} belongs to another embedding than {target.name}; embed again.")
            reducer = reducer_from(header["name"], header["facts"], arrays)
        return cls(item_ids, X, {k: v for k, v in how.items() if k not in ("version", "embedding")}, reducer)


def write_vectors(path: Path, item_ids: AnyArray, X: NDArray[np.float32], how: Mapping[str, Any]) -> None:
    """Parquet with the columns item and x, and ``how`` in the metadata of its schema."""
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(X, dtype=np.float32).ravel())
    vectors = pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    write_parquet(path, {"item": item_ids, "x": vectors}, how)


def write_parquet(path: Path, columns: Mapping[str, Any], how: Mapping[str, Any]) -> None:
    """A Parquet file that appears whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        arrays = {
            name: pa.array(values.tolist())
            if isinstance(values, np.ndarray) and values.dtype == object
            else values
            for name, values in columns.items()
        }
        table = pa.table(arrays)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"ids of mixed types cannot be saved ({error}); use strings or numbers.") from error
    table = table.replace_schema_metadata({METADATA_KEY: json.dumps(how, default=str).encode()})
    with replaced_file(path) as temporary:
        pq.write_table(table, temporary)


def read_vectors(path: Path) -> tuple[AnyArray, NDArray[np.float32], dict[str, Any]]:
    """Ids, vectors and metadata of such a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise StoreError(f"no file at {path}.")
    try:
        table = pq.read_table(path)
        how = json.loads((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
        ids = validation.names(table["item"].to_pandas(), "item id")
        column = table["x"].combine_chunks()
        width = column.type.list_size
        X = np.asarray(column.flatten().to_numpy(zero_copy_only=False), dtype=np.float32).reshape(
            len(ids), width
        )
    except (OSError, ValueError, KeyError, AttributeError, pa.ArrowException) as error:
        raise StoreError(
            f"cannot read {path} as an embedding with the columns item and x ({error})."
        ) from error
    return ids, X, how
