"""The DCIC benchmark's JSON files: what an algorithm gets, and what it writes where the benchmark looks.

    input_datasets/<Name>/<Name>-slice<v>.json        splits only
    evaluate_datasets/<Name>/<Name>-slice<v>.json     complete soft labels
    output_datasets/<Name>-<method>-<annotations>-<share>/...-<v>.json        what a method made

Paths start at the dataset's name. Initial annotations are drawn as the benchmark draws them, from the same
generator with the same seeds, so that a method here starts from the same annotations as there.
"""

import json
from bisect import bisect
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from softspread import report
from softspread._common.types import FloatArray, IntArray
from softspread.datasets.dcic import N_FOLDS, RawDataset, read_json
from softspread.errors import InputError, StoreError

ORACLE_SEED = 49312  # of the benchmark's draws of annotations
SLICES = (1, 2, 3)  # that the benchmark evaluates
UNKNOWN = "unknown"
INPUT, EVALUATE, OUTPUT = "input_datasets", "evaluate_datasets", "output_datasets"
ENTRIES = ("name", "v_fold", "classes", "budget", "weighted_budget", "images")


class PythonRandom:
    """The draws of Python's own ``random.Random(seed)``: the same generator, read off NumPy's.

    Examples
    --------
    >>> PythonRandom(1).choices([0.0, 1.0], 3)
    [1, 1, 1]
    """

    def __init__(self, seed: int) -> None:
        self._numbers = np.random.RandomState([seed])

    def _below(self, n: int) -> int:
        """A whole number below n: as many leading bits as n has, drawn again while they are too large."""
        bits = n.bit_length()
        while True:
            found = int(self._numbers.randint(0, 1 << 32, dtype=np.uint32)) >> (32 - bits)
            if found < n:
                return found

    def shuffled(self, n: int) -> IntArray:
        """0 to n - 1 in the order of ``shuffle``."""
        order = np.arange(n)
        for place in range(n - 1, 0, -1):
            other = self._below(place + 1)
            order[[place, other]] = order[[other, place]]
        return order

    def choices(self, weights: Any, k: int) -> list[int]:
        """Columns drawn with these weights, as ``choices`` draws them."""
        totals = list(accumulate(map(float, weights)))
        last = len(totals) - 1
        return [bisect(totals, self._numbers.random_sample() * totals[-1], 0, last) for _ in range(k)]


def split_of(fold: int, slice_number: int) -> str:
    """Which split a fold belongs to in a slice.

    Examples
    --------
    >>> [split_of(fold, 1) for fold in range(5)]
    ['train', 'val', 'test', 'train', 'train']
    """
    if fold == slice_number % N_FOLDS:
        return "val"
    return "test" if fold == (slice_number + 1) % N_FOLDS else "train"


def input_dataset(
    raw: RawDataset, slice_number: int, share: float, n_annotations: int, draw: int = 0
) -> dict[str, Any]:
    """Build what an algorithm gets: some train and val images have a few annotations, no other has any.

    ``draw`` 0 has the benchmark's own annotations; others are further draws of the same kind.
    """
    splits = [split_of(int(fold), slice_number) for fold in raw.folds]
    pool = [row for row, split in enumerate(splits) if split != "test"]
    order = PythonRandom(slice_number + draw * ORACLE_SEED).shuffled(len(pool))
    chosen = {pool[place] for place in order[: int(len(pool) * share)]}
    oracle = PythonRandom(ORACLE_SEED + draw)
    images = []
    for row, (path, split) in enumerate(zip(raw.paths.tolist(), splits, strict=True)):
        soft, given = None, split
        if row in chosen:
            drawn = oracle.choices(raw.soft[row], n_annotations)
            soft = np.bincount(drawn, minlength=len(raw.classes)) / n_annotations
        elif split != "test":
            given = "unlabeled"
        images.append(image_entry(path, given, raw.classes, soft, {"original_split": split}))
    budget = len(chosen) * n_annotations
    return {
        "name": raw.name,
        "v_fold": slice_number,
        "classes": list(raw.classes),
        "budget": budget,
        "weighted_budget": budget,
        "images": images,
    }


def image_entry(
    path: str, split: str, classes: tuple[str, ...], soft: FloatArray | None, info: dict[str, Any]
) -> dict[str, Any]:
    """One image as the benchmark writes it; without a soft label it is unknown."""
    best = -1 if soft is None else int(np.argmax(soft))
    return {
        "path": path,
        "split": split,
        "gt_verbose": UNKNOWN if best < 0 else classes[best],
        "gt": best,
        "soft_gt": [] if soft is None else [float(value) for value in soft],
        "info": info,
    }


def read_dataset(path: Path) -> dict[str, Any]:
    """Read one of the benchmark's files and check it as the benchmark does."""
    found = read_json(path)
    missing = [name for name in ENTRIES if not isinstance(found, dict) or name not in found]
    if missing:
        raise StoreError(f"{path} lacks {', '.join(missing)}; it is not a dataset of the DCIC benchmark.")
    n_classes = len(found["classes"])
    for image in found["images"]:
        if len(image["soft_gt"]) not in (0, n_classes):
            raise StoreError(
                f"{path}: {image['path']} has {len(image['soft_gt'])} shares for {n_classes} classes."
            )
    names = [Path(image["path"]).stem for image in found["images"]]
    if len(set(names)) < len(names):
        raise StoreError(f"{path} has images of the same name; the benchmark tells images by their names.")
    return dict(found)


def dataset_folder(name: str, method: str, n_annotations: int, share: float) -> str:
    """Name the folder of a method's output.

    Examples
    --------
    >>> dataset_folder("Pig", "pls", 1, 0.1)
    'Pig-pls-01-0.10'
    """
    if "-" in method:
        raise InputError(f"a method's name has no dash here, got {method!r}.")
    return f"{name}-{method}-{n_annotations:02d}-{share:.2f}"


def output_path(root: Path, folder: str, slice_number: int) -> Path:
    """Where the benchmark's evaluation looks for a method's output.

    Examples
    --------
    >>> output_path(Path("dcic"), "Pig-pls-01-0.10", 2).as_posix()
    'dcic/output_datasets/Pig-pls-01-0.10/Pig-pls-01-0.10-2.json'
    """
    return root / OUTPUT / folder / f"{folder}-{slice_number}.json"


def write_dataset(path: Path, dataset: dict[str, Any]) -> Path:
    """Write one of the benchmark's files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(path, json.dumps(dataset))
    return path
