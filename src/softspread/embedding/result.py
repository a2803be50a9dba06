"""The result of embedding: ids, places, how they were made, and the fitted reducer for new items.

X.parquet: item, x (list of float32), how it was made in the schema's metadata
X.parquet.reducer.npz: the arrays of the fitted reducer, beside it
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from softspread._common.archive import read_archive, write_archive
from softspread._common.arrow import arrow
from softspread._common.digests import digest_array
from softspread._common.types import AnyArray
from softspread.embedding.loader import Skipped
from softspread.embedding.reducers.by_name import reducer_from
from softspread.embedding.reducers.reducer import Reducer
from softspread.errors import InputError, StoreError
from softspread.io.embeddings import embeddings_of
from softspread.io.parquet import arrow_names, single_precision, write_parquet
from softspread.io.tables import read_table

FORMAT_VERSION = 1  # of saved reducers; raised when older code could misread them
REDUCER_ENDING = ".reducer.npz"


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Items in a space where neighbours mean something.

    Attributes
    ----------
    item_ids : (n,) array
        Ids of the items.
    X : (n, d) array, float32
        Places of the items.
    how : dict
        How they were made: encoder, weights, preparation, reducer, seed, versions.
    reducer : Reducer or None
        The fitted reducer, for new items; None where it was not kept.
    skipped : tuple
        Items that could not be read, with the reason of each.

    See Also
    --------
    embed : Makes one.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread.embedding.embed import embed
    >>> images = np.random.default_rng(0).integers(0, 256, size=(30, 8, 8), dtype=np.uint8)
    >>> space = embed(images, encoder="pixels:8", reduce="pca", dim=3)
    >>> space.X.shape, space.how["encoder"], space.to_frame().columns.tolist()
    ((30, 3), 'pixels:8', ['item', 'x'])
    """

    item_ids: AnyArray
    X: NDArray[np.float32]
    how: Mapping[str, Any]
    reducer: Reducer | None = None
    skipped: tuple[Skipped, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.item_ids)

    def transform(self, features: ArrayLike) -> NDArray[np.float32]:
        """Place new items by their features.

        Parameters
        ----------
        features : (m, n_features) array-like
            Features of new items, from the same encoder.

        Returns
        -------
        (m, d) array, float32
            Their places in this space.

        Raises
        ------
        InputError
            If the fitted reducer was not saved with this embedding.

        See Also
        --------
        embed : With ``like=`` it encodes new items, too.

        Examples
        --------
        >>> import numpy as np
        >>> from softspread import embed
        >>> F = np.random.default_rng(0).normal(size=(30, 6))
        >>> embed(F, encoder="none", reduce="pca", dim=2).transform(F[:3]).shape
        (3, 2)
        """
        if self.reducer is None:
            raise InputError(
                "the fitted reducer was not saved with this embedding; embed again and keep both files."
            )
        return self.reducer.transform(np.asarray(features))

    def to_frame(self) -> pd.DataFrame:
        """One row per item.

        Returns
        -------
        pandas.DataFrame
            Columns item and x; each x is a vector.

        Examples
        --------
        >>> import numpy as np
        >>> from softspread import embed
        >>> F = np.random.default_rng(0).normal(size=(30, 6))
        >>> embed(F, encoder="none", reduce="pca", dim=2).to_frame().shape
        (30, 2)
        """
        return pd.DataFrame({"item": self.item_ids, "x": list(self.X)})

    def save(self, path: str | Path) -> None:
        """Write ``path`` (Parquet) and, beside it, the fitted reducer.

        Each file appears whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; must end in .parquet.

        See Also
        --------
        Embedding.load : Reads it.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from softspread import Embedding, embed
        >>> F = np.random.default_rng(0).normal(size=(30, 6))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     embed(F, encoder="none", reduce="pca", dim=2).save(f"{folder}/X.parquet")
        ...     Embedding.load(f"{folder}/X.parquet").X.shape
        (30, 2)
        """
        target = Path(path)
        pa = arrow(what=str(target))
        if self.item_ids.dtype == object and not all(isinstance(item, str) for item in self.item_ids):
            raise InputError("ids of mixed types cannot be saved; use strings or numbers.")
        if target.suffix != ".parquet":
            raise InputError(f"an embedding is saved as .parquet, got {target.name!r}.")
        beside = Path(f"{target}{REDUCER_ENDING}")
        mark = digest_array(self.X).hex()
        if self.reducer is not None:
            header = {"name": self.reducer.name, "facts": self.reducer.facts(), "embedding": mark}
            write_archive(beside, "reducer", FORMAT_VERSION, header, self.reducer.arrays())
        flat = single_precision(self.X.ravel())
        vectors = pa.FixedSizeListArray.from_arrays(flat, self.X.shape[1])
        table = pa.table({"item": arrow_names(self.item_ids), "x": vectors})
        write_parquet(target, table, {"version": FORMAT_VERSION, "embedding": mark, **self.how})
        if self.reducer is None:
            with suppress(OSError):  # of an embedding that stood here before
                beside.unlink()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
            The Parquet file.

        Returns
        -------
        Embedding
            With its reducer where that file lies beside it.

        Raises
        ------
        StoreError
            If a file is missing, damaged, newer than this version, or belongs to another embedding.

        See Also
        --------
        Embedding.save : Writes it.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from softspread import Embedding, embed
        >>> F = np.random.default_rng(0).normal(size=(30, 6))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     embed(F, encoder="none", reduce="pca", dim=2).save(f"{folder}/X.parquet")
        ...     Embedding.load(f"{folder}/X.parquet").how["reducer"]
        'pca'
        """
        target = Path(path)
        if not target.is_file():
            raise StoreError(f"no file at {target}.")
        try:
            table = read_table(target, "an embedding", (".parquet",))
            found = embeddings_of(table, "item", "x")
        except InputError as error:
            raise StoreError(
                f"cannot read {target} as an embedding with the columns item and x ({error})."
            ) from error
        how = table.metadata
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
        about = {name: fact for name, fact in how.items() if name not in ("version", "embedding")}
        return cls(np.asarray(found.item_ids), found.X, about, reducer)
