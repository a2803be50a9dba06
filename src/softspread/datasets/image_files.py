"""Datasets of image files with hard labels; the images stay on disk, the dataset names their paths."""

from pathlib import Path

import numpy as np

from softspread._common.types import AnyArray
from softspread.datasets.dataset import Dataset
from softspread.datasets.local_files import read_features
from softspread.errors import StoreError
from softspread.io.images import list_files


def list_images(folder: Path) -> list[Path]:
    """All images below a folder, in the order of their relative paths."""
    return [folder / name for name in list_files(folder)]


def dataset_of_files(
    name: str, folder: Path, paths: list[Path], labels: AnyArray, classes: list[str], features: str | None
) -> Dataset:
    """Images and their classes, with features where the folder has some."""
    if not paths:
        raise StoreError(f"{folder} holds no images.")
    X, found = read_features(folder, features, len(paths))
    return Dataset(
        name, np.array(classes), X, labels=labels, paths=np.array(list(map(str, paths))), features=found
    )
