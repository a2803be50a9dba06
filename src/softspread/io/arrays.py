"""Arrays from NumPy's files, without running what they hold."""

import zipfile
from pathlib import Path

import numpy as np

from softspread._common.types import AnyArray
from softspread.errors import InputError

_DAMAGE = (ValueError, OSError, EOFError, zipfile.BadZipFile, KeyError)  # what numpy raises on other bytes


def read_array(path: Path, *, mapped: bool = False) -> AnyArray:
    """The array of a .npy file; ``mapped`` leaves it on disk until it is used."""
    try:
        return np.asarray(np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False))
    except _DAMAGE as error:
        raise _refused(path, error) from error


def read_arrays(path: Path) -> dict[str, AnyArray]:
    """The arrays of a .npz file, by name."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except _DAMAGE as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: Exception) -> InputError:
    if "Object arrays" in str(error) or "Python objects" in str(error):
        return InputError(
            f"{path} holds Python objects, not numbers; save vectors as floats and ids as text (numpy's "
            "'U' type)."
        )
    return InputError(f"{path} is damaged or no {path.suffix} file ({str(error)[:100]}).")
