"""Where the items come from: a folder, a table, an array or a list -> ids and contents.

    folder (recursive) | column of a table | array | frame | list  ->  Items(ids, kind, contents)

Nothing is read here but names: the loader fetches each content when its turn comes.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.columns import ITEM_NAMES, PATH_NAMES, TEXT_NAMES, first_of
from softspread._common.frames import as_frame
from softspread._common.types import AnyArray
from softspread._common.validation import objects
from softspread.embedding.contents import Contents, FileContents, HeldContents
from softspread.errors import InputError
from softspread.io.arrays import read_array
from softspread.io.embeddings import embeddings_of, read_embeddings
from softspread.io.formats import TABLE_ENDINGS, ending_of
from softspread.io.images import IMAGE_ENDINGS, list_files
from softspread.io.tables import Table, read_table, table_of_frame

USUAL_COLUMNS = {"image": PATH_NAMES, "text": TEXT_NAMES}


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Ids and contents of all items, in order."""

    ids: AnyArray  # (n,)
    kind: str  # "image", "text" or "features"
    contents: Contents
    table: Table | None = None  # where the items came from a table
    source: str = ""  # in words

    def __len__(self) -> int:
        return len(self.ids)


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
    source = as_frame(source)
    if "features" in kinds:
        items = _features(source, column, id_column)
    elif isinstance(source, str | os.PathLike):
        items = _from_path(Path(source), kinds, column, id_column, root)
    elif isinstance(source, pd.DataFrame):
        items = _from_table(table_of_frame(source), kinds, column, id_column, Path(root or "."))
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
    return replace(items, ids=validation.item_ids(items.ids if item_ids is None else item_ids, len(items)))


def check_source(source: Any) -> None:
    """Refuse a path that leads nowhere before a model is loaded for it."""
    if isinstance(source, str | os.PathLike) and not Path(source).exists():
        raise InputError(f"there is nothing at {source}; give a folder of images, a table or a .npy file.")


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
    ending = ending_of(path)
    if ending == ".npy":
        return _from_array(read_array(path, mapped=True), kinds)
    if ending in TABLE_ENDINGS:
        place = path.parent if root is None else Path(root)
        return _from_table(read_table(path, "items"), kinds, column, id_column, place)
    raise InputError(
        f"{path.name!r} is neither a folder, nor a table ({', '.join(TABLE_ENDINGS)}), nor a .npy array of "
        "images."
    )


def _from_folder(folder: Path) -> Items:
    names = list_files(folder)
    if not names:
        raise InputError(
            f"{folder} holds no image; files ending in {' '.join(IMAGE_ENDINGS)} are taken, also from "
            "folders inside."
        )
    return _files(None, names, folder, f"the folder {folder}")


def _files(ids: Any, names: Sequence[str], root: Path, source: str, table: Table | None = None) -> Items:
    """Image files by their paths below ``root``; ids None: the paths where they differ, else positions."""
    if ids is None:
        ids = objects(names) if len(set(names)) == len(names) else np.arange(len(names))
    return Items(ids, "image", FileContents([root / name for name in names]), table, source)


def _from_table(
    table: Table, kinds: Sequence[str], column: str | None, id_column: str | None, root: Path
) -> Items:
    name, kind = _content_column(table, kinds, column)
    texts = [str(value) for value in table.complete(name)]
    id_name = table.find(id_column, [usual for usual in ITEM_NAMES if usual != name])
    ids = None if id_name is None else table.ids(id_name)
    source = f"column {name!r} of {table.source}"
    if kind == "image":
        return _files(ids, texts, root, source, table)
    return Items(np.arange(len(texts)) if ids is None else ids, kind, HeldContents(texts), table, source)


def _content_column(table: Table, kinds: Sequence[str], asked: str | None) -> tuple[str, str]:
    """The column to embed and what it holds."""
    if asked is not None:
        is_text = asked in TEXT_NAMES and "text" in kinds
        return str(table.find(asked, ())), "text" if is_text else kinds[0]
    for kind in kinds:
        name = first_of(USUAL_COLUMNS[kind], table.columns)
        if name is not None:
            return name, kind
    wanted = " or ".join(f"{kind}s ({', '.join(USUAL_COLUMNS[kind][:4])}, ...)" for kind in kinds)
    raise InputError(
        f"no column of {table.source} looks like {wanted}; it has {table.listed()}. Name it with column / "
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
            f"{array.shape}; if these are features already, pass encoder='none'."
        )
    return _held(array, "image", f"an array of shape {array.shape}")


def _held(values: Any, kind: str, source: str) -> Items:
    return Items(np.arange(len(values)), kind, HeldContents(values), source=source)


def _from_list(values: list[Any], kinds: Sequence[str], root: Path) -> Items:
    """Paths, texts, arrays or Pillow images."""
    if all(isinstance(value, str | os.PathLike) for value in values):
        if kinds[0] == "text":
            return _held([str(value) for value in values], "text", "a list")
        return _files(None, [os.fspath(value) for value in values], root, "a list of paths")
    if "image" not in kinds:
        raise InputError("the encoder takes text; give a list of strings.")
    for row, value in enumerate(values):
        if not isinstance(value, np.ndarray) and not hasattr(value, "getexif"):
            raise InputError(
                f"entry {row} of the list is a {type(value).__name__}; "
                "a list holds paths, arrays of pixels or Pillow images."
            )
    return _held(values, "image", "a list of images")


def _features(source: Any, column: str | None, id_column: str | None) -> Items:
    """Features that exist already: an array, a frame, a NumPy file or a table of numbers."""
    table = found = None
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        check_source(path)
        if path.is_dir():
            raise InputError(f"{path} is a folder; encoder 'none' takes features, a .npy or a .parquet file.")
        if ending_of(path) in TABLE_ENDINGS:
            table = read_table(path, "features")
        else:
            found = read_embeddings(path, id_column=id_column, vector_column=column)
    elif isinstance(source, pd.DataFrame):
        table = table_of_frame(source)
    if table is not None:
        found = embeddings_of(table, id_column, column, skip_text=True)
    try:
        X = validation.features(np.asarray(source if found is None else found.X, dtype=np.float32))
    except (TypeError, ValueError) as error:
        raise InputError(f"encoder 'none' takes a table of numbers (n, d): {error}") from error
    ids = np.arange(len(X)) if found is None or found.item_ids is None else found.item_ids
    return Items(ids, "features", HeldContents(X), table, f"features of shape {X.shape}")
