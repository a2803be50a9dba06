"""Short keys of files, values and arrays, the same in every process and on every machine.

digest(parts) -> bytes        hash_file(path), hash_values(...) -> 16 hex digits, for names in a cache
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.types import AnyArray
from softspread.errors import InputError

DIGEST_BYTES = 16  # 128 bits: two contents never share a digest by chance
KEY_BYTES = 8  # 64 bits are enough for the few entries of a cache
READ_AT_ONCE = 1 << 22  # bytes: files of any size are digested in little memory


def digest(parts: Iterable[str | bytes | AnyArray], size: int = DIGEST_BYTES) -> bytes:
    """Digest of all parts, one after the other; of an array its numbers count, not its type or shape.

    Examples
    --------
    >>> digest(["ab", b"c"]) == digest(["abc"]) != digest(["acb"])
    True
    """
    mark = hashlib.blake2b(digest_size=size)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        mark.update(raw if isinstance(raw, bytes) else np.ascontiguousarray(raw).data)
    return mark.digest()


def digest_array(array: AnyArray) -> bytes:
    """Digest of an array's type, shape and numbers."""
    return digest([f"{array.dtype.str}{array.shape}", array])


def blocks(path: str | Path, size: int = READ_AT_ONCE) -> Iterator[bytes]:
    """The content of a file, in blocks of this many bytes."""
    try:
        with Path(path).open("rb") as file:
            while block := file.read(size):
                yield block
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def hash_file(path: str | Path) -> str:
    """Key of a file's content, or of all files in a folder with their names."""
    folder = Path(path)
    if not folder.is_dir():
        return digest(blocks(path), size=KEY_BYTES).hex()
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return hash_values(*((file.relative_to(folder).as_posix(), hash_file(file)) for file in files))


def hash_values(*values: Any) -> str:
    """Key of plain values.

    Examples
    --------
    >>> hash_values("graph", 20) == hash_values("graph", 20) != hash_values("graph", 21)
    True
    """
    return digest([json.dumps(values)], size=KEY_BYTES).hex()
