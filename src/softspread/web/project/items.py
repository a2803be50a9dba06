"""What people look at: ids, pictures and texts of the items.

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

from softspread._common.types import AnyArray
from softspread.errors import InputError, MissingExtraError, StoreError
from softspread.io.tables import (
    RawTable,
    check_source,
    is_missing,
    read_delimited,
    read_json_lines,
    read_parquet,
)
from softspread.web.log.entry import LONGEST_ITEM

SHOWN_AS_IS = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}
CONVERTED = (".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm", ".tga")  # browsers do not show these
TEXT_ENDINGS = (".txt", ".md")
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl")
ID_COLUMNS = ("item", "item_id", "id", "task")
TEXT_COLUMNS = ("text", "sentence", "content", "document", "tweet", "comment")
IMAGE_COLUMNS = ("image", "path", "file", "filename", "file_name", "image_path")
THUMBNAIL = 96  # pixels of the longer side
KEPT_ROWS = 10_000  # a page names the items it holds with every vote
KEPT_THUMBNAILS = 5_000  # about 15 MB
LONGEST_TEXT = 20_000  # characters shown
LARGEST_PICTURE = 64 * 2**20  # bytes of a file that is sent or opened
MOST_PIXELS = 50_000_000  # a picture that unpacks to more is refused, whatever its file size
SMALL_PICTURE = 320  # small arrays of pixels are enlarged to about this side


class ItemSource:
    """Ids and contents of all items; a subclass says where pictures and texts come from."""

    def __init__(self, ids: Sequence[Any]) -> None:
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

    def picture(self, row: int) -> tuple[bytes, str] | None:
        """Bytes and media type as a browser shows them, or None where there is nothing or it cannot be
        read.
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
        ids: Sequence[Any],
        folder: Path,
        paths: Sequence[str | None],
        texts: Sequence[str | None] | None = None,
    ) -> None:
        super().__init__(ids)
        self._folder, self._paths, self._texts = Path(os.path.realpath(folder)), paths, texts

    def has_picture(self, row: int) -> bool:
        path = self._paths[row]
        return path is not None and Path(path).suffix.lower() not in TEXT_ENDINGS

    def text(self, row: int) -> str | None:
        if self._texts is not None and self._texts[row] is not None:
            return str(self._texts[row])[:LONGEST_TEXT]
        path = self._paths[row]
        if path is not None and Path(path).suffix.lower() in TEXT_ENDINGS:
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
        kind = SHOWN_AS_IS.get(Path(path).suffix.lower())
        if kind is not None:
            return content, kind
        converted = to_png(content)
        return None if converted is None else (converted, "image/png")

    def _read(self, path: str) -> bytes | None:
        """A file below the folder; a link that leads elsewhere, a missing or a huge file is None."""
        target = Path(os.path.realpath(self._folder / path))
        if not target.is_relative_to(self._folder):
            return None
        try:
            if not target.is_file() or target.stat().st_size > LARGEST_PICTURE:
                return None
            return target.read_bytes()
        except OSError:
            return None


def to_png(content: bytes, longest_side: int | None = None) -> bytes | None:
    """Any picture that Pillow reads as PNG, made smaller on demand; None where it cannot be read."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise MissingExtraError("small pictures need Pillow: pip install 'softspread[web]'.") from error
    try:
        with Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            if longest_side is not None:
                image.thumbnail((longest_side, longest_side))
            stream = io.BytesIO()
            image.convert("RGB").save(stream, "PNG")
            return stream.getvalue()
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


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


def list_files(folder: Path) -> list[str]:
    """Pictures and texts below a folder, as paths relative to it, sorted; hidden ones are left out."""
    found = []
    for home, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and Path(name).suffix.lower() in (
                *SHOWN_AS_IS,
                *CONVERTED,
                *TEXT_ENDINGS,
            ):
                found.append((Path(home) / name).relative_to(folder).as_posix())
    return sorted(found)


def _from_folder(folder: Path, wanted: AnyArray | None, n_items: int) -> ItemSource:
    files = list_files(folder)
    if not files:
        raise InputError(
            f"{folder} holds no pictures and no texts ({', '.join([*SHOWN_AS_IS, *TEXT_ENDINGS])})."
        )
    if wanted is None:
        _check_size(folder, len(files), n_items)
        return FileItems(files, folder, files)
    known = set(files)
    ids = [str(item) for item in wanted]
    paths = [item if item in known else None for item in ids]
    _check_found(folder, ids, [path is not None for path in paths])
    return FileItems(ids, folder, paths)


def _from_table(path: Path, wanted: AnyArray | None, n_items: int) -> ItemSource:
    source = check_source(path, TABLE_ENDINGS, "items")
    readers = {
        ".csv": read_delimited,
        ".tsv": read_delimited,
        ".parquet": read_parquet,
        ".jsonl": read_json_lines,
    }
    table = readers[source.suffix.lower()](source)
    id_name, text_name, image_name = (
        _find(table, names) for names in (ID_COLUMNS, TEXT_COLUMNS, IMAGE_COLUMNS)
    )
    if text_name is None and image_name is None and id_name is None:
        raise InputError(
            f"{path} needs a column for what people see: "
            f"{' or '.join((*TEXT_COLUMNS[:2], *IMAGE_COLUMNS[:2]))}; "
            f"it has {', '.join(table.columns)}."
        )
    ids = [str(value) for value in (table.columns[id_name] if id_name else _numbered(table, image_name))]
    order = list(range(len(ids)))
    if wanted is None:
        _check_size(path, len(ids), n_items)
    else:
        places = {item: row for row, item in enumerate(ids)}
        found = [places.get(str(item), -1) for item in wanted]
        _check_found(path, [str(item) for item in wanted], [row >= 0 for row in found])
        order = found
    texts = None if text_name is None else _column(table, text_name, order)
    paths = [None] * len(order) if image_name is None else _column(table, image_name, order)
    return FileItems([ids[row] for row in order], path.parent, paths, texts)


def _numbered(table: RawTable, image_name: str | None) -> Sequence[Any]:
    """A picture's path names it; texts without ids are called by their row."""
    return table.columns[image_name] if image_name else range(table.n_rows)


def _column(table: RawTable, name: str, order: Sequence[int]) -> list[str | None]:
    values = table.columns[name]
    missing = is_missing(values)
    return [None if missing[row] else str(values[row]) for row in order]


def _find(table: RawTable, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in table.columns), None)


def _check_size(source: Path, found: int, n_items: int) -> None:
    if found != n_items:
        raise InputError(
            f"{source} holds {found:,} items, the embeddings {n_items:,} rows; they must agree row by row. "
            "Embeddings "
            "with ids (.npz or .parquet with a column item) are matched by id instead."
        )


def _check_found(source: Path, ids: Sequence[str], found: Sequence[bool]) -> None:
    missing = [item for item, there in zip(ids, found, strict=True) if not there]
    if missing:
        raise StoreError(
            f"{len(missing):,} of {len(ids):,} items of the embeddings are not in {source}: "
            f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}."
        )
