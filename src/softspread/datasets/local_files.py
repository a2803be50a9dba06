"""Files of a local copy: found, read and checked, with what to download where they are missing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.atomic import replaced_file
from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.datasets.dataset import LackingError
from softspread.errors import InputError, StoreError
from softspread.io import arrays

PAPER_FEATURES = "clip_umap20"  # taken where nothing else is asked for


def find_file(folder: Path, names: Sequence[str], what: str, help_text: str) -> Path:
    """The first of several possible files below a folder; else an error that says what to download."""
    for name in names:
        path = folder / name
        if path.exists():
            return path
    raise StoreError(f"{folder} holds no {what}: none of {', '.join(names)}. {help_text}")


def first_folder(folder: Path, names: Sequence[str]) -> Path:
    """The first of several folders below a folder that exists and is not empty, else the folder itself."""
    below = (folder / name for name in names)
    return next((path for path in below if path.is_dir() and any(path.iterdir())), folder)


def read_array(path: Path, *, mapped: bool = False) -> AnyArray:
    """A NumPy file without objects; ``mapped`` leaves it on disk until it is used."""
    try:
        return arrays.read_array(path, mapped=mapped)
    except InputError as error:
        raise StoreError(f"{error} Download or make it again.") from error


def write_array(path: Path, array: AnyArray) -> None:
    """Write a NumPy file that appears whole or not at all."""
    with replaced_file(path) as temporary, temporary.open("wb") as file:
        np.save(file, array, allow_pickle=False)


def check_length(array: AnyArray, n: int, path: Path) -> AnyArray:
    """The array, if it has one row for each item."""
    if len(array) != n:
        raise StoreError(
            f"{path} has {len(array)} rows, but there are {n} items; the files do not belong together."
        )
    return array


def read_features(folder: Path, wanted: str | None, n: int) -> tuple[FloatArray | None, str]:
    """Features from ``features_<name>.npy`` beside the data, and their name; None where there are none.

    Parameters
    ----------
    wanted : name of the features; None takes the paper's, ``clip_umap20``, else those of the fewest
        dimensions, the first by name of several
    n : number of items
    """
    found = {path.stem.removeprefix("features_"): path for path in sorted(folder.glob("features_*.npy"))}
    if wanted is not None and wanted not in found:
        listed = ", ".join(found) or "none"
        raise LackingError(
            f"{folder} has no features_{wanted}.npy; it has {listed}. `softspread reproduce prepare "
            f"{folder.name} --data {folder.parent}` makes features."
        )
    if not found:
        return None, ""
    name = wanted or (PAPER_FEATURES if PAPER_FEATURES in found else None)
    name = name or min(found, key=lambda word: (_n_columns(found[word]), word))
    X = check_length(read_array(found[name]), n, found[name])
    return np.asarray(X.reshape(n, -1), dtype=np.float64), name


def _n_columns(path: Path) -> int:
    return int(np.prod(read_array(path, mapped=True).shape[1:]))


def read_images(paths: Any, side: int, boxes: IntArray | None = None) -> AnyArray:
    """Images, or the parts of them in ``boxes``, as bytes (n, side, side, 3), squeezed to a square."""
    with needs_extra("images", "reading images needs Pillow"):
        from PIL import Image
    found = np.empty((len(paths), side, side, 3), dtype=np.uint8)
    for row, path in enumerate(paths):
        try:
            with Image.open(path) as image:
                part = image if boxes is None else image.crop(tuple(boxes[row].tolist()))
                found[row] = np.asarray(part.convert("RGB").resize((side, side)))
        except OSError as error:
            raise StoreError(f"{path} is not a readable image ({error}).") from error
    return found
