"""CIFAR-10's Python version, read without running anything that a pickle could ask for.

    data_batch_1 ...: a pickled dict with data (n, 3072) bytes, labels, filenames

A pickle is a program: loading one calls whatever it names. The unpickler here knows three names, all of which
stand for plain containers of our own that hold numbers and bytes. It refuses every other name.
"""

import pickle
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from softspread._common.types import AnyArray, IntArray
from softspread.errors import StoreError

LARGEST = 200_000_000  # bytes; a batch of CIFAR-10 has 31 million
BYTE_TYPES = ("u1", b"u1", "|u1", b"|u1")
ENCODINGS = ("latin1", b"latin1")


class _Dtype:
    """The type of an array in a pickle."""

    __slots__ = ("code",)

    def __init__(self, code: Any) -> None:
        self.code = code

    def __setstate__(self, state: Any) -> None:
        """Byte order and the like: of no meaning for bytes."""


class _Array:
    """An array in a pickle: its shape, its type and its bytes."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def to_numpy(self) -> AnyArray:
        """The array; only bytes in row order are taken."""
        if not isinstance(self.state, tuple) or len(self.state) != 5:
            raise ValueError("an array without content")
        _, shape, dtype, by_column, raw = self.state
        if not isinstance(dtype, _Dtype) or dtype.code not in BYTE_TYPES or by_column:
            raise ValueError("an array that does not hold bytes in row order")
        content = raw.encode("latin1") if isinstance(raw, str) else raw
        return np.frombuffer(content, dtype=np.uint8).reshape(shape)


class _Maker:
    """One of the names that a batch may use; it has no attribute that a pickle could set."""

    __slots__ = ("_make",)
    _make: Any

    def __init__(self, make: Any) -> None:
        object.__setattr__(self, "_make", make)

    def __call__(self, *arguments: Any) -> Any:
        return self._make(*arguments)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise pickle.UnpicklingError("the pickle tries to change what it was given")

    def __setstate__(self, state: Any) -> NoReturn:
        raise pickle.UnpicklingError("the pickle tries to change what it was given")


def _latin(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding not in ENCODINGS:
        raise pickle.UnpicklingError("text in an unexpected encoding")
    return text.encode("latin1")


MAKERS = {
    ("numpy.core.multiarray", "_reconstruct"): lambda *_: _Array(),
    ("numpy._core.multiarray", "_reconstruct"): lambda *_: _Array(),
    ("numpy", "ndarray"): lambda *_: _Array(),  # only ever an argument of _reconstruct
    ("numpy", "dtype"): lambda code, *_: _Dtype(code),
    ("_codecs", "encode"): _latin,  # how Python 3 writes bytes into old pickles
}


class BatchUnpickler(pickle.Unpickler):
    """Reads a batch of CIFAR-10; any name but the few it needs is refused, and nothing is imported."""

    def find_class(self, module: str, name: str) -> Any:
        """A maker of our own containers, never what the pickle names."""
        make = MAKERS.get((module, name))
        if make is None:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no batch of CIFAR-10 needs")
        return _Maker(make)


def read_pickled_batch(path: Path, help_text: str) -> tuple[AnyArray, IntArray]:
    """Rows of bytes (n, 3072) and classes (n,) of one batch of the Python version."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        with path.open("rb") as file:
            found = BatchUnpickler(file, encoding="bytes").load()
        if not isinstance(found, dict):
            raise ValueError("it holds no dict")
        entries = {key.decode() if isinstance(key, bytes) else key: value for key, value in found.items()}
        rows = entries["data"].to_numpy()
        labels = np.array([int(label) for label in entries["labels"]], dtype=np.int64)
    except KeyError as error:
        raise StoreError(f"{path} has no entry {error}: not a batch of CIFAR-10. {help_text}") from error
    except Exception as error:  # a damaged pickle raises almost anything
        raise StoreError(f"{path} is refused as a batch of CIFAR-10: {error}. {help_text}") from error
    if rows.ndim != 2 or rows.shape != (len(labels), rows.shape[1]):
        raise StoreError(f"{path} has images of shape {rows.shape} and {len(labels)} labels. {help_text}")
    return rows, labels
