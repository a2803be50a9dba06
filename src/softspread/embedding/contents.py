"""The contents behind the ids: files on disk or values in memory, each with a digest.

A digest identifies a content; a stamp shows, without reading, that a file may have changed.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from softspread._common.digests import DIGEST_BYTES, digest, digest_array
from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray
from softspread.embedding.preparation import UnreadableImage

Content = Any  # bytes of a file, an array, a Pillow image, or text


class Contents(Protocol):
    """The contents of items."""

    def __len__(self) -> int: ...

    def read(self, row: int) -> Content:
        """The content of one item; raises UnreadableImage where it cannot be had."""

    def stamp(self, row: int) -> bytes | None:
        """Changes whenever the content may have changed, cheap to get; None where only reading tells."""


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
class CroppedContents:
    """Parts of image files, such as single signs in photographs."""

    paths: Sequence[Path]
    boxes: AnyArray  # (n, 4)  left, top, right, bottom in pixels

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, row: int) -> Content:
        with needs_extra("images", "reading images needs Pillow"):
            from PIL import Image
        try:
            with Image.open(self.paths[row]) as image:
                return image.convert("RGB").crop(tuple(self.boxes[row].tolist()))
        except OSError as error:
            raise UnreadableImage(error.strerror or str(error)) from error

    def stamp(self, row: int) -> bytes | None:
        whole = FileContents(self.paths).stamp(row)
        return (
            None if whole is None else digest([whole, np.asarray(self.boxes[row], dtype=np.int64).tobytes()])
        )


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
