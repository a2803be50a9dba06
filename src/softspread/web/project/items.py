"""The items as voters see them: ids, pictures and texts.

    folder | table | arrays  ->  ids (n,), picture(row), text(row)

A picture is found by its row in a list made at start, never by a path from a request; a file that a link
places outside the folder is not served. Texts travel as JSON and are shown as text, never as HTML.
"""

import io
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.columns import ITEM_NAMES, PATH_NAMES, TEXT_NAMES
from softspread._common.types import AnyArray, IntArray
from softspread._common.validation import objects
from softspread.errors import InputError, StoreError
from softspread.io.ids import as_text, rows_of_ids
from softspread.io.images import (
    BROWSER_TYPES,
    LARGEST_PICTURE,
    LONGEST_TEXT,
    MEDIA_TYPES,
    SHOWN_ENDINGS,
    SMALL_PICTURE,
    TEXT_ENDINGS,
    list_files,
    of_bearable_size,
    to_png,
)
from softspread.io.tables import Table, is_missing, read_table
from softspread.web.log.entry import LONGEST_ITEM

THUMBNAIL = 96  # pixels of the longer side
KEPT_ROWS = 10_000  # a page names the items it holds with every vote
KEPT_THUMBNAILS = 5_000  # about 15 MB


class ItemSource:
    """Ids and contents of all items; a subclass says where pictures and texts come from."""

    def __init__(self, ids: Sequence[Any] | AnyArray) -> None:
        self.ids: AnyArray = np.array([str(item) for item in ids], dtype=object)
        self.index: pd.Index[Any] = pd.Index(self.ids, dtype=object)
        if not len(self.ids):
            raise InputError("there are no items to vote on.")
        if not self.index.is_unique:
            twice = self.index[self.index.duplicated()][0]
            raise InputError(f"item ids must differ; {twice!r} appears more than once.")
        if max(map(len, self.ids)) > LONGEST_ITEM:
            raise InputError(f"item ids may have at most {LONGEST_ITEM} characters.")
        self._thumbnail = lru_cache(maxsize=KEPT_THUMBNAILS)(self._make_thumbnail)
        self._row = lru_cache(maxsize=KEPT_ROWS)(self._find_row)

    def __len__(self) -> int:
        return len(self.ids)

    def row_of(self, item: str) -> int | None:
        """The row of an id, or None."""
        return self._row(item)

    def _find_row(self, item: str) -> int | None:
        try:
            return int(self.index.get_loc(item))  # type: ignore[arg-type]  # ids are unique
        except KeyError:
            return None

    def has_picture(self, row: int) -> bool:
        """Whether there is something to see."""
        return False

    def text(self, row: int) -> str | None:
        """Something to read, or None."""
        return None

    def media(self, row: int) -> tuple[Path, str] | None:
        """A file with sound or a film, and its media type; None where there is none."""
        return None

    def media_kind(self, row: int) -> str | None:
        """Whether a row is "audio" or "video", as far as its name says; None for neither."""
        return None

    def picture(self, row: int) -> tuple[bytes, str] | None:
        """Bytes and media type as a browser shows them.

        None where there is nothing or it cannot be read.
        """
        return None

    def thumbnail(self, row: int) -> bytes | None:
        """A small PNG, or None."""
        return self._thumbnail(row)

    def _make_thumbnail(self, row: int) -> bytes | None:
        found = self.picture(row)
        return None if found is None else to_png(found[0], THUMBNAIL)


class ArrayItems(ItemSource):
    """Small grey pictures in memory, ink from 0 to 1; enlarged smoothly, dark on white."""

    def __init__(self, ids: Sequence[Any], images: AnyArray) -> None:
        super().__init__(ids)
        self._images = images

    def has_picture(self, row: int) -> bool:
        return True

    def picture(self, row: int) -> tuple[bytes, str] | None:
        from PIL import Image

        pixels = np.uint8(255 * (1 - np.clip(self._images[row], 0, 1)))
        times = max(1, SMALL_PICTURE // max(pixels.shape))
        image = Image.fromarray(pixels)
        stream = io.BytesIO()
        image.resize((times * image.width, times * image.height), Image.Resampling.BICUBIC).save(
            stream, "PNG"
        )
        return stream.getvalue(), "image/png"


class BareItems(ItemSource):
    """Nothing but ids; the id itself is what people read."""

    def text(self, row: int) -> str | None:
        return str(self.ids[row])


class FileItems(ItemSource):
    """Pictures below a folder and texts, either of them for each item."""

    def __init__(
        self,
        ids: Sequence[Any] | AnyArray,
        folder: Path,
        paths: Sequence[str | None],
        texts: Sequence[str | None] | None = None,
    ) -> None:
        super().__init__(ids)
        self._folder, self._paths, self._texts = Path(os.path.realpath(folder)), paths, texts

    def has_picture(self, row: int) -> bool:
        path = self._paths[row]
        return path is not None and _ending(path) not in (*TEXT_ENDINGS, *MEDIA_TYPES)

    def media_kind(self, row: int) -> str | None:
        kind = MEDIA_TYPES.get(_ending(self._paths[row]))
        return None if kind is None else kind.partition("/")[0]

    def media(self, row: int) -> tuple[Path, str] | None:
        path = self._paths[row]
        kind, found = MEDIA_TYPES.get(_ending(path)), None if path is None else self._inside(path)
        return None if kind is None or found is None else (found, kind)

    def text(self, row: int) -> str | None:
        if self._texts is not None and self._texts[row] is not None:
            return str(self._texts[row])[:LONGEST_TEXT]
        path = self._paths[row]
        if path is not None and _ending(path) in TEXT_ENDINGS:
            content = self._read(path)
            return None if content is None else content.decode("utf-8", "replace")[:LONGEST_TEXT]
        return None

    def picture(self, row: int) -> tuple[bytes, str] | None:
        path = self._paths[row]
        if path is None or not self.has_picture(row):
            return None
        content = self._read(path)
        if content is None:
            return None
        kind = BROWSER_TYPES.get(_ending(path))
        if kind is not None:
            return of_bearable_size(content, kind)
        converted = to_png(content)
        return None if converted is None else (converted, "image/png")

    def _read(self, path: str) -> bytes | None:
        """The content of a file below the folder; a missing or a huge one is None."""
        target = self._inside(path)
        try:
            if target is None or target.stat().st_size > LARGEST_PICTURE:
                return None
            return target.read_bytes()
        except OSError:
            return None

    def _inside(self, path: str) -> Path | None:
        """A file below the folder; None where there is none, or a link leads elsewhere."""
        target = Path(os.path.realpath(self._folder / path))
        return target if target.is_relative_to(self._folder) and target.is_file() else None


def _ending(path: str | None) -> str:
    return "" if path is None else Path(path).suffix.lower()


# ---------------------------------------------------------------------------------------------------- reading
def read_items(source: str | Path | None, wanted: AnyArray | None, n_items: int) -> ItemSource:
    """Items from a folder or a table, in the order of the embeddings.

    Parameters
    ----------
    source : a folder with pictures or texts, a .csv, .tsv, .parquet or .jsonl table, or None: the ids alone
    wanted : (n_items,) ids that the embeddings name; None = the order of the source
    n_items : rows of the embeddings
    """
    if source is None:
        return BareItems(list(range(n_items)) if wanted is None else list(wanted))
    path = Path(source)
    if path.is_dir():
        return _from_folder(path, wanted, n_items)
    if not path.exists():
        raise InputError(
            f"no folder or table at {path}; --items names the folder with the pictures, or a table."
        )
    return _from_table(path, wanted, n_items)


def _from_folder(folder: Path, wanted: AnyArray | None, n_items: int) -> ItemSource:
    files = list_files(folder, SHOWN_ENDINGS)
    if not files:
        raise InputError(f"{folder} holds no pictures, texts, sounds or films ({', '.join(SHOWN_ENDINGS)}).")
    rows = _rows(folder, objects(files), wanted, n_items)
    paths = [files[row] for row in rows]
    return FileItems(paths, folder, paths)


def _from_table(path: Path, wanted: AnyArray | None, n_items: int) -> ItemSource:
    table = read_table(path, "items")
    id_name, text_name, image_name = (
        table.find(None, names) for names in (ITEM_NAMES, TEXT_NAMES, PATH_NAMES)
    )
    if text_name is None and image_name is None and id_name is None:
        raise InputError(
            f"{path} needs a column for what people see: {' or '.join((*TEXT_NAMES[:2], *PATH_NAMES[:2]))}; "
            f"it has {table.listed()}."
        )
    named = id_name or image_name  # a picture's path names it; texts without ids are called by their row
    ids = as_text(table.ids(named) if named else np.arange(table.n_rows))
    rows = _rows(path, ids, wanted, n_items)
    texts = None if text_name is None else _column(table, text_name, rows)
    paths = [None] * len(rows) if image_name is None else _column(table, image_name, rows)
    return FileItems(ids[rows], path.parent, paths, texts)


def _rows(source: Path, ids: AnyArray, wanted: AnyArray | None, n_items: int) -> IntArray:
    """The rows of a source in the order of the embeddings."""
    if wanted is None:
        _check_size(source, len(ids), n_items)
        return np.arange(n_items)
    rows = rows_of_ids(wanted, ids, len(ids))
    missing = as_text(wanted)[rows < 0].tolist()
    if missing:
        raise StoreError(
            f"{len(missing):,} of {len(rows):,} items of the embeddings are not in {source}: "
            f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}."
        )
    return rows


def _column(table: Table, name: str, rows: IntArray) -> list[str | None]:
    values = table.columns[name]
    missing = is_missing(values)
    return [None if missing[row] else str(values[row]) for row in rows]


def _check_size(source: Path, found: int, n_items: int) -> None:
    if found != n_items:
        raise InputError(
            f"{source} holds {found:,} items, the embeddings {n_items:,} rows; they must agree row by row. "
            "Embeddings with ids (.npz or .parquet with a column item) are matched by id instead."
        )
