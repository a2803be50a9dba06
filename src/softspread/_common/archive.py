"""The file format for everything we save: named arrays and a JSON header in one .npz, no pickle.

    header {"format": "softspread/graph", "version": 1, ...} + arrays  <->  file

Writing goes to a temporary neighbour and is renamed, so a reader sees the old file or the new one, never a
part.
"""

import json
import os
import struct
import threading
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.types import AnyArray
from softspread.errors import StoreError

_HEADER = "header"
_ZIP_MAGIC = b"PK"
# What numpy and zipfile raise on bytes that are not as they were written.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    KeyError,
    ValueError,
    TypeError,
    RuntimeError,
    OverflowError,
    MemoryError,
    SyntaxError,
)


def write_archive(
    path: str | Path, kind: str, version: int, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> None:
    """Write ``arrays`` and ``header`` to ``path`` in one step that either happens or does not."""
    target = Path(path)
    text = json.dumps({"format": f"softspread/{kind}", "version": version, **header})
    temporary = target.parent / f".softspread-{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        with temporary.open("wb") as file:
            content: dict[str, Any] = {_HEADER: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
            np.savez(file, **content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise StoreError(
            f"cannot write {target}: {error.strerror or error}. Check the folder and the free space."
        ) from error
    finally:
        with suppress(OSError):  # already renamed, or its folder cannot be used at all
            temporary.unlink()


def read_archive(path: str | Path, kind: str, version: int) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays of a file that :func:`write_archive` wrote.

    Anything else is refused with the reason.
    """
    target = Path(path)
    if not target.is_file():
        raise StoreError(f"no file at {target}.")
    try:
        with target.open("rb") as opened:
            is_zip = opened.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC
    except OSError as error:
        raise StoreError(f"cannot read {target}: {error.strerror or error}.") from error
    if not is_zip:
        raise StoreError(f"{target} was not written by softspread; expected a saved {kind}.")
    try:
        with np.load(target, allow_pickle=False) as file:
            header = _read_header(file)
            _check_header(target, header, kind, version)
            arrays = {name: file[name] for name in file.files if name != _HEADER}
    except StoreError:
        raise
    except _DAMAGE as error:
        raise StoreError(
            f"{target} is damaged or cut short ({error}); restore it from a copy or save again."
        ) from error
    return header, arrays


def _read_header(file: Any) -> Any:
    """The header, or None where there is none that could be ours."""
    if _HEADER not in file:
        return None
    packed = file[_HEADER]
    try:
        return json.loads(packed.tobytes().decode())
    except ValueError:  # the checksum was right, so another program wrote this header
        return None


def _check_header(path: Path, header: Any, kind: str, version: int) -> None:
    form = header.get("format") if isinstance(header, dict) else None
    if (
        not isinstance(form, str)
        or not form.startswith("softspread/")
        or not isinstance(header.get("version"), int)
    ):
        raise StoreError(f"{path} was not written by softspread; expected a saved {kind}.")
    if form != f"softspread/{kind}":
        raise StoreError(f"{path} holds {form!r}, expected a saved {kind} ('softspread/{kind}').")
    if header["version"] > version:
        raise StoreError(
            f"{path} has format version {header['version']}, this softspread reads up to {version}; upgrade "
            "softspread."
        )


# Ids and class names may be any plain values; arrays of Python objects travel as JSON text.


def pack_names(names: AnyArray, may_be_none: bool = False) -> AnyArray:
    """An array of names as an array that needs no pickle."""
    if names.dtype != object:
        return names
    plain = [value.item() if isinstance(value, np.generic) else value for value in names.tolist()]
    for value in plain:
        if not isinstance(value, str | int | float | bool) and not (value is None and may_be_none):
            raise StoreError(
                f"cannot save the name {value!r} of type {type(value).__name__}; use strings or numbers."
            )
    return np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)


def unpack_names(packed: AnyArray, was_object: bool) -> AnyArray:
    """The inverse of :func:`pack_names`."""
    if not was_object:
        return packed
    values = json.loads(packed.tobytes().decode())
    names = np.empty(len(values), dtype=object)
    names[:] = values
    return names
