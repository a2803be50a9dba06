"""CIFAR-10-H: about 50 human votes on each of CIFAR-10's test images.

cifar10h-counts.npy: (10000, 10) votes per class, in the order of CIFAR-10's test batch
cifar10h-probs.npy: the same as shares
cifar10h-raw.zip: every single vote in cifar10h-raw.csv, with the annotator's number
"""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.datasets.cifar10 import CLASSES, TEST_BATCH, find_batch, read_batch
from softspread.datasets.dataset import Dataset, Source, shares
from softspread.datasets.local_files import check_length, read_array, read_features
from softspread.errors import StoreError
from softspread.votes.votes import Votes

RAW_MEMBER = "cifar10h-raw.csv"
ITEM, CHOICE, PERSON, CHECK = "cifar10_test_test_idx", "chosen_label", "annotator_id", "is_attn_check"
HELP = (
    "Download data/cifar10h-counts.npy, data/cifar10h-probs.npy or data/cifar10h-raw.zip (single votes with "
    "annotators) from https://github.com/jcpeterson/cifar-10h, and features, or cifar-10-binary.tar.gz or "
    "cifar-10-python.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html for the images."
)


def load_cifar10h(folder: Path, features: str | None = None) -> Dataset:
    """The 10,000 test images with the relative frequencies of about 50 human votes as soft labels."""
    counts, votes = _human_labels(folder)
    n = len(counts)
    images = labels = None
    batch = find_batch([folder, folder.parent / "cifar10"], TEST_BATCH)
    if batch is not None:
        images, labels = read_batch(batch)
        check_length(images, n, batch)
    elif (folder / "labels.npy").exists():
        labels = check_length(read_array(folder / "labels.npy"), n, folder / "labels.npy").astype(np.int64)
    X, name = read_features(folder, features, n)
    return Dataset(
        "cifar10h",
        np.array(CLASSES),
        X,
        shares(counts),
        labels,
        votes,
        images,
        features=name,
        note="relative frequencies of human votes",
    )


def _human_labels(folder: Path) -> tuple[FloatArray, Votes | None]:
    """Votes per class (n, 10), or shares where only those are there, and the votes themselves."""
    raw = _find(folder, ("cifar10h-raw.zip", RAW_MEMBER))
    exact = _find(folder, ("cifar10h-counts.npy", "counts.npy"))
    table = exact or _find(folder, ("cifar10h-probs.npy",))
    if raw is None:
        if table is None:
            raise StoreError(f"{folder} holds no votes of CIFAR-10-H: neither counts, probs nor raw. {HELP}")
        counts = _table(table)  # how many votes stand behind shares is not in the file
        return counts, None if exact is None else Votes.from_counts(counts, classes=list(CLASSES))
    items, columns, people = _read_raw(raw)
    names = np.array(CLASSES)
    votes = Votes(items, names[columns], np.ones(len(items)), people, classes=names)
    if table is None:
        counts = np.zeros((int(items.max()) + 1, len(CLASSES)))
        np.add.at(counts, (items, columns), 1)
        return counts, votes
    counts = _table(table)
    if items.max() >= len(counts):
        raise StoreError(f"{raw} votes on image {items.max()}, but {table} has {len(counts)} rows. {HELP}")
    return counts, votes


def _find(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of several files, in the folder or in ``data`` as the repository has it."""
    paths = [home / name for name in names for home in (folder, folder / "data")]
    return next((path for path in paths if path.is_file()), None)


def _table(path: Path) -> FloatArray:
    table = read_array(path)
    if table.ndim != 2 or table.shape[1] != len(CLASSES):
        raise StoreError(f"{path} has shape {table.shape}; votes are a table with 10 columns. {HELP}")
    return table.astype(np.float64)


def _read_raw(path: Path) -> tuple[IntArray, IntArray, AnyArray]:
    """Item, column and annotator of every vote; attention checks, which show no test image, are left out."""
    columns = [ITEM, CHOICE, PERSON]
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                member = next((name for name in archive.namelist() if Path(name).name == RAW_MEMBER), None)
                if member is None:
                    raise StoreError(f"{path} holds no {RAW_MEMBER}. {HELP}")
                with archive.open(member) as file:
                    found = pd.read_csv(file)
        else:
            found = pd.read_csv(path)
        missing = [name for name in columns if name not in found]
        if missing:
            raise StoreError(f"{path} lacks the columns {', '.join(missing)}. {HELP}")
        asked = found[ITEM] >= 0
        if CHECK in found:
            asked &= found[CHECK] == 0
        votes = found.loc[asked, columns]
        items, chosen = votes[ITEM].to_numpy(np.int64), votes[CHOICE].to_numpy(np.int64)
    except (zipfile.BadZipFile, ValueError, OSError, TypeError) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{path} cannot be read as a table of votes ({error}). {HELP}") from error
    if not len(votes) or chosen.min() < 0 or chosen.max() >= len(CLASSES):
        raise StoreError(f"{path} holds no votes on the classes 0 to 9. {HELP}")
    return items, chosen, votes[PERSON].astype(str).to_numpy(dtype=object)


SOURCE = Source(load_cifar10h, "10,000 photographs, 10 classes, about 50 human votes each", HELP)
