"""Items that a lead adds while the server runs, kept beside the log.

    embeddings with ids, contents  ->  <data folder>/added/0001, 0002, ...  ->  items and embeddings, joined

Rows of items that were there before stay what they were: new ones come after them. An addition is checked
first, then appears in one step; a restart reads all of them again.
"""

import os
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path, PurePosixPath

import numpy as np

from softspread._common.types import AnyArray
from softspread.errors import InputError, StoreError
from softspread.io.embeddings import read_embeddings
from softspread.io.formats import EMBEDDING_ENDINGS
from softspread.io.images import SHOWN_ENDINGS
from softspread.web.project.items import ItemSource, read_items

FOLDER, CONTENTS, EMBEDDINGS = "added", "contents", "embeddings"
TABLE_ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
MOST_UNPACKED = 2**31  # bytes of all files in a .zip


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """Items and their embeddings, row by row."""

    items: ItemSource
    X: AnyArray

    def __post_init__(self) -> None:
        if len(self.items) != len(self.X):
            raise InputError(f"there are {len(self.items)} items but {len(self.X)} embeddings.")

    def joined(self, more: "Contents", source: str) -> "Contents":
        """With further items after these."""
        if self.X.shape[1] != more.X.shape[1]:
            raise InputError(
                f"{source} has {more.X.shape[1]} dimensions, the items so far have {self.X.shape[1]}; use "
                "the same encoder and reducer."
            )
        twice = more.items.index.intersection(self.items.index)
        if len(twice):
            raise InputError(
                f"{source} names {len(twice):,} items that are there already, such as {twice[0]!r}."
            )
        X = np.concatenate([self.X, more.X.astype(self.X.dtype, copy=False)])
        return Contents(JoinedItems([self.items, more.items]), X)


class JoinedItems(ItemSource):
    """Several sources, one after the other."""

    def __init__(self, parts: Sequence[ItemSource]) -> None:
        super().__init__(np.concatenate([part.ids for part in parts]))
        self._parts = list(parts)
        self._starts = np.array([0, *accumulate(len(part) for part in parts)])

    def _at(self, row: int) -> tuple[ItemSource, int]:
        place = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._parts[place], row - int(self._starts[place])

    def has_picture(self, row: int) -> bool:
        part, place = self._at(row)
        return part.has_picture(place)

    def text(self, row: int) -> str | None:
        part, place = self._at(row)
        return part.text(place)

    def media(self, row: int) -> tuple[Path, str] | None:
        part, place = self._at(row)
        return part.media(place)

    def media_kind(self, row: int) -> str | None:
        part, place = self._at(row)
        return part.media_kind(place)

    def picture(self, row: int) -> tuple[bytes, str] | None:
        part, place = self._at(row)
        return part.picture(place)


def with_additions(data_dir: Path, base: Contents) -> Contents:
    """The items that the server was started with, and all that were added since."""
    found = base
    for folder in sorted((data_dir / FOLDER).glob("[0-9]*")):
        try:
            found = found.joined(_read(folder), str(folder))
        except InputError as error:
            raise StoreError(
                f"{error} {folder} was added on the page; start with the same items and embeddings as then, "
                "or move that folder away."
            ) from error
    return found


def keep(data_dir: Path, present: Contents, embeddings: Path, contents: Path | None = None) -> Contents:
    """Check an addition, then keep it; all items from now on.

    Parameters
    ----------
    present : all items so far
    embeddings : .npy, .npz or .parquet with ids, as many dimensions as so far
    contents : a .zip with pictures, texts, sounds or films named by the ids, or a table with item and text
    """
    home = data_dir / FOLDER
    home.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".new-", dir=home))
    try:
        _check_ending("embeddings", embeddings, EMBEDDING_ENDINGS)
        shutil.copyfile(embeddings, staging / f"{EMBEDDINGS}{embeddings.suffix.lower()}")
        if contents is not None:
            _check_ending("contents", contents, (".zip", *TABLE_ENDINGS))
            if contents.suffix.lower() == ".zip":
                _unpack(contents, staging / CONTENTS)
            else:
                shutil.copyfile(contents, staging / f"{CONTENTS}{contents.suffix.lower()}")
        present.joined(_read(staging), "the addition")
        number = 1 + max((int(path.name) for path in home.glob("[0-9]*")), default=0)
        target = home / f"{number:04d}"
        os.rename(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return present.joined(_read(target), str(target))  # files are found where they stay


def _read(folder: Path) -> Contents:
    """One addition."""
    files = {path.stem: path for path in folder.iterdir()}
    if EMBEDDINGS not in files:
        raise StoreError(f"{folder} holds no embeddings; move it away, or bring its files back.")
    found = read_embeddings(files[EMBEDDINGS])
    if found.item_ids is None:
        raise InputError(
            "embeddings of new items need ids: .npz with an array of ids, or .parquet with a column item."
        )
    return Contents(read_items(files.get(CONTENTS), found.item_ids, len(found.X)), found.X)


def _check_ending(what: str, path: Path, endings: Sequence[str]) -> None:
    if path.suffix.lower() not in endings:
        raise InputError(f"{what} must be a file ending in {', '.join(endings)}; got {path.name!r}.")


def _unpack(path: Path, folder: Path) -> None:
    """Files that a page can show, below the folder and nowhere else."""
    folder.mkdir()
    try:
        with zipfile.ZipFile(path) as archive:
            members = [one for one in archive.infolist() if _is_shown(one)]
            if sum(one.file_size for one in members) > MOST_UNPACKED:
                raise InputError(
                    f"{path.name} unpacks to more than {MOST_UNPACKED / 2**30:g} GiB; send it in parts."
                )
            for one in members:
                archive.extract(one, folder)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise InputError(f"{path.name} cannot be unpacked ({error}).") from error


def _is_shown(member: zipfile.ZipInfo) -> bool:
    """Whether a page can show it; a name that leads out of the archive is an error."""
    name = PurePosixPath(member.filename)
    if name.is_absolute() or ".." in name.parts or "\\" in member.filename:
        raise InputError(f"the archive names a file outside of itself: {member.filename!r}.")
    return not member.is_dir() and name.suffix.lower() in SHOWN_ENDINGS
