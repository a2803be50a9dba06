"""IDX, the format in which MNIST and EMNIST are distributed, packed with gzip or not.

two zero bytes, type (8 = unsigned byte), number of dimensions, each dimension (4 bytes, big-endian), data
"""

import gzip
import math
from pathlib import Path

import numpy as np

from softspread._common.types import AnyArray
from softspread.datasets.local_files import check_length, find_file
from softspread.errors import StoreError

UNSIGNED_BYTE = 8


def read_idx(path: Path) -> AnyArray:
    """The array in an IDX file of bytes."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        raise StoreError(f"{path} cannot be unpacked ({error}); download it again.") from error
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != UNSIGNED_BYTE:
        raise StoreError(f"{path} is no IDX file of unsigned bytes; download it again.")
    n_dimensions = raw[3]
    start = 4 + 4 * n_dimensions
    shape = tuple(np.frombuffer(raw[4:start], dtype=">u4").astype(int).tolist())
    if len(shape) != n_dimensions or len(raw) - start != math.prod(shape):
        raise StoreError(
            f"{path} promises shape {shape} and holds {len(raw) - start} values; download it again."
        )
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


def read_pair(folder: Path, images: str, labels: str, help_text: str) -> tuple[AnyArray, AnyArray]:
    """Images and labels of one part; dots and dashes occur in both places of the names."""

    def file(name: str) -> Path:
        spellings = (f"{name}.gz", name, f"{name.replace('-idx', '.idx')}.gz", name.replace("-idx", ".idx"))
        return find_file(folder, spellings, "IDX file", help_text)

    pictures, path = read_idx(file(images)), file(labels)
    return pictures, check_length(read_idx(path), len(pictures), path).astype(np.int64)
