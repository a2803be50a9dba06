"""Where the items come from: a folder, a table, an array or a list -> ids and contents, one at a time.

    folder (recursive) | CSV/Parquet/JSONL column | array | frame | list  ->  Items(ids, kind, contents)

Nothing is read here but names: the loader fetches each content when its turn comes.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.digests import DIGEST_BYTES, digest, digest_array
from softspread._common.types import AnyArray
from softspread.embedding.preparation import UnreadableImage
from softspread.errors import InputError, StoreError

IMAGE_ENDINGS = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"),
    *(".ppm", ".pgm", ".pbm", ".pnm", ".tga", ".jp2", ".j2k", ".avif", ".ico"),
)
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl")
PATH_COLUMNS = ("path", "image", "file", "filename", "image_path", "file_path", "filepath")
TEXT_COLUMNS = ("text", "sentence", "content", "document", "tweet", "comment")
ID_COLUMNS = ("item", "id", "item_id")
SHOWN = 5  # names that an error lists

Content = Any  # bytes of a file, an array, a Pillow image, or text


class Contents(Protocol):
    """What stands behind the ids."""

    def __len__(self) -> int: ...

    def read(self, row: int) -> Content:
        """The content of one item; raises UnreadableImage where it cannot be had."""

    def stamp(self, row: int) -> bytes | None:
        """Changes whenever the content may have changed, cheap to get; None where only reading tells."""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Ids and contents of all items, in order."""

    ids: AnyArray  # (n,)
    kind: str  # "image", "text" or "features"
    contents: Contents
    table: pd.DataFrame | None = None  # where the items came from a table
    source: str = ""  # in words

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class FileContents:
    """Files on disk."""

    paths: Sequence[Path]

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, row: int) -> Content:
        try:
            return self.paths[row].read_bytes()
        except OSError as error:
            raise UnreadableImage(error.strerror or str(error)) from error

    def stamp(self, row: int) -> bytes | None:
        path = self.paths[row]
        try:
            found = os.stat(path)
        except OSError:
            return None
        return digest([os.fsencode(f"{os.path.abspath(path)}\0{found.st_size}\0{found.st_mtime_ns}")])


@dataclass(frozen=True, slots=True, eq=False)
class HeldContents:
    """Contents that are in memory already: arrays, Pillow images, texts."""

    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def read(self, row: int) -> Content:
        return self.values[row]

    def stamp(self, row: int) -> bytes | None:
        del row
        return None


def content_digest(content: Content) -> bytes:
    """A digest of one content, the same in every process."""
    if isinstance(content, bytes | str):
        return digest([content])
    if hasattr(content, "getexif"):  # a Pillow image: what its bytes mean depends on mode, palette and turn
        about = (content.mode, content.size, content.getpalette(), sorted(content.getexif().items()))
        return digest([repr(about), content.tobytes()])
    return digest_array(np.asarray(content))


def stamp_bytes(stamp: bytes | None) -> AnyArray:
    """(16,) bytes of a stamp; zeros where there is none."""
    return np.zeros(DIGEST_BYTES, dtype=np.uint8) if stamp is None else np.frombuffer(stamp, dtype=np.uint8)


def find_items(
    source: Any,
    kinds: Sequence[str],
    *,
    column: str | None = None,
    id_column: str | None = None,
    root: str | Path | None = None,
    item_ids: Any = None,
) -> Items:
    """Items of any accepted form; ``kinds`` says what the encoder can take, the preferred kind first."""
    if "features" in kinds:
        return _features(source, item_ids, column, id_column)
    if isinstance(source, str | os.PathLike):
        items = _from_path(Path(source), kinds, column, id_column, root)
    elif isinstance(source, pd.DataFrame):
        items = _from_table(source, kinds, column, id_column, Path(root or "."), "a table")
    elif isinstance(source, np.ndarray) and source.dtype.kind in "biuf":
        items = _from_array(source, kinds)
    elif isinstance(source, pd.Series | np.ndarray | list | tuple):
        items = _from_list(list(source), kinds, Path(root or "."))
    else:
        raise InputError(
            f"items must be a folder, a table, an array of images or a list, got {type(source).__name__}."
        )
    if not len(items):
        raise InputError(f"there is nothing to embed in {items.source}.")
    ids = validation.item_ids(items.ids if item_ids is None else item_ids, len(items))
    return Items(ids, items.kind, items.contents, items.table, items.source)


def check_source(source: Any) -> None:
    """Refuse a path that leads nowhere before a model is loaded for it."""
    if isinstance(source, str | os.PathLike) and not Path(source).exists():
        raise InputError(f"there is nothing at {source}; give a folder of images, a table or a .npy file.")


def read_table(path: Path) -> pd.DataFrame:
    """A CSV, TSV, Parquet or JSON Lines file."""
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix == ".jsonl":
            return pd.read_json(path, lines=True)
        if path.suffix in (".csv", ".tsv"):
            return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, UnicodeError) as error:  # pandas' and pyarrow's errors of parsing are ValueErrors
        raise InputError(f"cannot read {path} as a {path.suffix} table: {error}.") from error
    raise InputError(f"a table must end in {', '.join(TABLE_ENDINGS)}, got {path.name!r}.")


def _from_path(
    path: Path, kinds: Sequence[str], column: str | None, id_column: str | None, root: Any
) -> Items:
    check_source(path)
    if path.is_dir():
        if "image" not in kinds:
            raise InputError(
                f"{path} is a folder, but the encoder takes text; give a table with a column of text."
            )
        return _from_folder(path)
    if path.suffix == ".npy":
        return _from_array(load_array(path), kinds)
    if path.suffix in TABLE_ENDINGS:
        return _from_table(
            read_table(path), kinds, column, id_column, path.parent if root is None else Path(root), str(path)
        )
    raise InputError(
        f"{path.name!r} is neither a folder, nor a table ({', '.join(TABLE_ENDINGS)}), nor a .npy array of "
        "images."
    )


def load_array(path: Path) -> AnyArray:
    """A .npy file, mapped rather than read."""
    try:
        return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} is no .npy array without pickles ({error}).") from error


def _from_folder(folder: Path) -> Items:
    paths = []
    for home, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [
            Path(home, name)
            for name in names
            if not name.startswith(".") and os.path.splitext(name)[1].lower() in IMAGE_ENDINGS
        ]
    if not paths:
        raise InputError(
            f"{folder} holds no image; files ending in {' '.join(IMAGE_ENDINGS)} are taken, also from "
            "folders inside."
        )
    named = sorted((path.relative_to(folder).as_posix(), path) for path in paths)
    return Items(
        np.array([name for name, _ in named], dtype=object),
        "image",
        FileContents([path for _, path in named]),
        source=f"the folder {folder}",
    )


def _from_table(
    frame: pd.DataFrame,
    kinds: Sequence[str],
    column: str | None,
    id_column: str | None,
    root: Path,
    source: str,
) -> Items:
    column, kind = _column(frame, kinds, column)
    values = frame[column]
    if values.isna().any():
        row = int(np.flatnonzero(values.isna())[0])
        raise InputError(
            f"column {column!r} of {source} is empty in row {row} (counted from 0); fill or remove it."
        )
    texts = [str(value) for value in values]
    if id_column is not None and id_column not in frame.columns:
        raise InputError(f"{source} has no column {id_column!r} for the ids; it has {list(frame.columns)}.")
    name = id_column or next((name for name in ID_COLUMNS if name in frame.columns and name != column), None)
    if name is not None:
        ids = validation.names(frame[name], "item id")
    else:
        unique = kind == "image" and len(set(texts)) == len(texts)
        ids = np.array(texts, dtype=object) if unique else np.arange(len(texts))
    contents: Contents = (
        HeldContents(texts) if kind == "text" else FileContents([root / text for text in texts])
    )
    return Items(ids, kind, contents, frame, f"column {column!r} of {source}")


def _column(frame: pd.DataFrame, kinds: Sequence[str], column: str | None) -> tuple[str, str]:
    """The column to embed and what it holds."""
    usual = {"image": PATH_COLUMNS, "text": TEXT_COLUMNS}
    if column is not None:
        if column not in frame.columns:
            raise InputError(f"the table has no column {column!r}; it has {list(frame.columns)}.")
        looks_like_text = column in TEXT_COLUMNS and "text" in kinds
        return column, "text" if looks_like_text else kinds[0]
    for kind in kinds:
        for name in usual[kind]:
            if name in frame.columns:
                return name, kind
    wanted = " or ".join(f"{kind}s ({', '.join(usual[kind][:4])}, ...)" for kind in kinds)
    raise InputError(
        f"no column of the table looks like {wanted}; it has {list(frame.columns)}. Name it with column / "
        "--column."
    )


def _from_array(array: AnyArray, kinds: Sequence[str]) -> Items:
    if "image" not in kinds:
        raise InputError(
            "the encoder takes text, but an array of numbers came; give a column or a list of texts."
        )
    if array.ndim not in (3, 4):
        raise InputError(
            "an array of images has shape (n, height, width) or (n, height, width, channels), got "
            f"{array.shape}; "
            "if these are features already, pass encoder='none'."
        )
    return Items(
        np.arange(len(array)), "image", HeldContents(array), source=f"an array of shape {array.shape}"
    )


def _from_list(values: list[Any], kinds: Sequence[str], root: Path) -> Items:
    """Paths, texts, arrays or Pillow images."""
    if all(isinstance(value, str | os.PathLike) for value in values):
        if kinds[0] == "text":
            return Items(
                np.arange(len(values)), "text", HeldContents([str(v) for v in values]), source="a list"
            )
        names = [os.fspath(value) for value in values]
        ids = np.array(names, dtype=object) if len(set(names)) == len(names) else np.arange(len(names))
        return Items(ids, "image", FileContents([root / name for name in names]), source="a list of paths")
    if "image" not in kinds:
        raise InputError("the encoder takes text; give a list of strings.")
    for row, value in enumerate(values):
        if not isinstance(value, np.ndarray) and not hasattr(value, "getexif"):
            raise InputError(
                f"entry {row} of the list is a {type(value).__name__}; "
                "a list holds paths, arrays of pixels or Pillow images."
            )
    return Items(np.arange(len(values)), "image", HeldContents(values), source="a list of images")


def _features(source: Any, item_ids: Any, column: str | None, id_column: str | None) -> Items:
    """Features that exist already: an array, a frame of numbers, a .npy or a Parquet file."""
    found: Any = None
    frame: pd.DataFrame | None = None
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        check_source(path)
        if path.is_dir():
            raise InputError(f"{path} is a folder; encoder 'none' takes features, a .npy or a .parquet file.")
        source = load_array(path) if path.suffix == ".npy" else read_table(path)
    if isinstance(source, pd.DataFrame):
        frame = source
        name = id_column or next((name for name in ID_COLUMNS if name in frame.columns), None)
        if name is not None:
            if name not in frame.columns:
                raise InputError(f"the table has no column {name!r}; it has {list(frame.columns)}.")
            found = validation.names(frame[name], "item id")
        source = feature_columns(frame, column, name)
    try:
        X = validation.features(np.asarray(source, dtype=np.float32))
    except (TypeError, ValueError) as error:
        raise InputError(f"encoder 'none' takes a table of numbers (n, d): {error}") from error
    ids = item_ids if item_ids is not None else found if found is not None else np.arange(len(X))
    return Items(
        validation.item_ids(ids, len(X)), "features", HeldContents(X), frame, f"features of shape {X.shape}"
    )


def feature_columns(frame: pd.DataFrame, column: str | None, id_column: str | None) -> AnyArray:
    """(n, d) numbers: one column of vectors, or every column of numbers but the ids."""
    names = [name for name in frame.columns if name != id_column]
    vectors = (
        [column]
        if column is not None
        else [n for n in names if frame[n].dtype == object and _is_vector(frame[n])]
    )
    if len(vectors) == 1:
        if vectors[0] not in frame.columns:
            raise InputError(f"the table has no column {vectors[0]!r}; it has {list(frame.columns)}.")
        return np.stack([np.asarray(vector, dtype=np.float32) for vector in frame[vectors[0]]])
    numbers = [name for name in names if pd.api.types.is_numeric_dtype(frame[name])]
    if not numbers or vectors:
        raise InputError(
            f"which columns are the features? The table has {list(frame.columns)}; name a vector column."
        )
    return frame[numbers].to_numpy(dtype=np.float32)


def _is_vector(values: "pd.Series[Any]") -> bool:
    return len(values) > 0 and isinstance(values.iloc[0], np.ndarray | list)
