"""The datasets of the Data-Centric Image Classification benchmark, with all their annotations.

    dcic/raw_datasets/<Name>/fold1..fold5/*.png and annotations.json: sets of {image_path, class_label}

The order of the images is the benchmark's own: fold by fold, by name within a fold.
``load("dcic:Pig", data)`` loads one.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.datasets.dataset import Dataset, LackingError, Source, shares
from softspread.datasets.local_files import read_features
from softspread.errors import InputError, StoreError
from softspread.votes.votes import Votes

RAW = "raw_datasets"
N_FOLDS = 5  # the benchmark's own
NAMES = (
    *("Benthic", "CIFAR10H", "MiceBone", "Pig", "Plankton", "QualityMRI"),
    *("Synthetic", "Treeversity#1", "Treeversity#6", "Turkey"),
)
HELP = (
    "Download the datasets of the DCIC benchmark (https://doi.org/10.5281/zenodo.7152309) and unpack them as "
    "dcic/raw_datasets/<Name> below the data folder."
)


@dataclass(frozen=True, slots=True, eq=False)
class RawDataset:
    """All images of a dataset with all their annotations."""

    name: str
    paths: AnyArray  # (n,) below raw_datasets, as the benchmark writes them: <Name>/fold1/<file>.png
    folds: IntArray  # (n,) 0 to 4
    classes: tuple[str, ...]
    counts: FloatArray  # (n, n_classes) annotations

    @property
    def soft(self) -> FloatArray:
        """Complete soft labels."""
        return shares(self.counts)


def image_id(path: str) -> str:
    """File name without its ending.

    Examples
    --------
    >>> image_id("Pig/fold1/a-7.png")
    'a-7'
    """
    return Path(path).stem


def names_below(root: Path) -> list[str]:
    """Names of the datasets that lie below the benchmark's root folder."""
    return sorted(path.parent.name for path in (root / RAW).glob("*/annotations.json"))


def read_raw(root: Path, name: str) -> RawDataset:
    """Read the images and annotations of one dataset below the root."""
    home = root / RAW / name
    if not (home / "annotations.json").exists():
        raise LackingError(f"there is no {home / 'annotations.json'}. {HELP}")
    sets = read_json(home / "annotations.json")
    if not isinstance(sets, list):
        raise StoreError(f"{home / 'annotations.json'} is not a list of annotation sets. {HELP}")
    pairs = [
        (image_id(entry["image_path"]), entry["class_label"])
        for one in sets
        for entry in one.get("annotations", [])
        if entry.get("class_label") is not None
    ]
    classes = tuple(sorted({label for _, label in pairs}))
    columns = {label: column for column, label in enumerate(classes)}
    paths, folds = [], []
    for number in range(N_FOLDS):
        found = sorted((home / f"fold{number + 1}").glob("*.png"))
        paths += [path.relative_to(root / RAW).as_posix() for path in found]
        folds += [number] * len(found)
    rows = {image_id(path): row for row, path in enumerate(paths)}
    if len(rows) < len(paths):
        raise StoreError(f"{home} has images of the same name in several folds. {HELP}")
    counts = np.zeros((len(paths), len(classes)))
    for item, label in pairs:
        if item in rows:
            counts[rows[item], columns[label]] += 1
    annotated = counts.any(axis=1)
    if not annotated.any():
        raise StoreError(f"{home} has no annotated image. {HELP}")
    return RawDataset(
        name,
        np.array(paths)[annotated],
        np.array(folds, dtype=np.int64)[annotated],
        classes,
        counts[annotated],
    )


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise StoreError(f"{path} is not readable JSON ({error}).") from error


def load_dcic(folder: Path, features: str | None = None, part: str | None = None) -> Dataset:
    """One dataset of the benchmark; ``part`` is its name."""
    if part is None:
        there = ", ".join(names_below(folder)) or "none yet"
        if there == "none yet":
            raise StoreError(f"{folder} holds no dataset of the DCIC benchmark. {HELP}")
        raise InputError(f"name one of its datasets, as in dcic:Pig; {folder} holds {there}. {HELP}")
    raw = read_raw(folder, part)
    X, name = read_features(features_folder(folder, part), features, len(raw.paths))
    return Dataset(
        f"dcic:{part}",
        np.array(raw.classes),
        X,
        raw.soft,
        raw.counts.argmax(axis=1).astype(np.int64),
        Votes.from_counts(raw.counts, classes=list(raw.classes)),
        paths=np.array([str(folder / RAW / path) for path in raw.paths]),
        features=name,
        note="relative frequencies of human votes",
    )


def features_folder(root: Path, name: str) -> Path:
    """Where the features of one dataset lie."""
    return root / "features" / name


SOURCE = Source(load_dcic, "ten datasets of photographs with many annotations each", HELP)
