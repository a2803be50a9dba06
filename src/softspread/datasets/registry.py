"""Every dataset by its name: how to load it, and what to download first.

A dataset lies in ``<data>/<name>`` of the folder that is given. Datasets with hard labels only get simulated
soft
labels: those of ``soft_labels.npy`` if that file is there (see :mod:`softspread.datasets.finetune`), else the
light version, cross-validated class probabilities of a logistic regression on the features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.types import FloatArray
from softspread.datasets import cifar, folders, idx, labelme, synthetic
from softspread.datasets.core import Dataset, check_length, read_array
from softspread.errors import InputError, StoreError
from softspread.simulate import simulate_soft_labels

LIGHT_NOTE = "class probabilities of a logistic regression on the features, 3-fold cross-validated"
FILE_NOTE = "soft_labels.npy"


@dataclass(frozen=True, slots=True)
class Entry:
    """One dataset in the list."""

    name: str
    summary: str
    download: str  # what to do first; empty where nothing has to be downloaded
    read: Callable[..., Dataset]

    @property
    def local(self) -> bool:
        """Whether it needs a folder."""
        return bool(self.download)


ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(
            "two_moons",
            "two half circles in the plane, 2 classes, soft labels of a small network",
            "",
            synthetic.two_moons,
        ),
        Entry("sine_curve", "items on a line, 2 classes, closed-form soft labels", "", synthetic.sine_curve),
        Entry("digits", "1797 handwritten digits, simulated soft labels", "", synthetic.digits),
        Entry("cifar10", "50,000 photographs, 10 classes", cifar.CIFAR10_HELP, cifar.load_cifar10),
        Entry(
            "cifar10h",
            "10,000 photographs, 10 classes, about 50 human votes each",
            cifar.CIFAR10H_HELP,
            cifar.load_cifar10h,
        ),
        Entry("mnist", "70,000 handwritten digits", idx.MNIST_HELP, idx.load_mnist),
        Entry("emnist_digits", "240,000 handwritten digits", idx.EMNIST_HELP, idx.load_emnist_digits),
        Entry(
            "animals10",
            "26,179 photographs of animals, 10 classes",
            folders.ANIMALS_HELP,
            folders.load_animals10,
        ),
        Entry(
            "tiny_imagenet",
            "100,000 small photographs, 200 classes",
            folders.TINY_HELP,
            folders.load_tiny_imagenet,
        ),
        Entry(
            "labelme",
            "1,000 photographs, 8 classes, votes of 59 people",
            labelme.LABELME_HELP,
            labelme.load_labelme,
        ),
    )
}


def names() -> list[str]:
    """Names of all datasets.

    Examples
    --------
    >>> names()[:3]
    ['two_moons', 'sine_curve', 'digits']
    """
    return list(ENTRIES)


def describe(name: str) -> str:
    """What a dataset is and what to download for it.

    Examples
    --------
    >>> describe("sine_curve")
    'sine_curve: items on a line, 2 classes, closed-form soft labels. Needs no download.'
    """
    entry = _entry(name)
    return f"{name}: {entry.summary}. {entry.download or 'Needs no download.'}"


def available(name: str, data: Path | None = None) -> bool:
    """Whether a dataset can be loaded from ``<data>/<name>``, or needs no folder."""
    if name in ENTRIES and not ENTRIES[name].local:
        return True
    return data is not None and (Path(data) / name).is_dir()


def load(name: str, data: Path | str | None = None, **options: Any) -> Dataset:
    """Load a dataset by name, or a folder of your own by its name below ``data``.

    Parameters
    ----------
    name : see :func:`names`; another name is a folder with votes.csv, counts.npy or labels.npy
    data : the folder that holds one folder for each dataset; not used by datasets that need no download
    options : ``features``: which features; ``n_items``, ``random_state`` and others for synthetic datasets

    Examples
    --------
    >>> load("sine_curve", n_items=50).n_items
    50
    """
    entry = ENTRIES.get(name)
    if entry is not None and not entry.local:
        return entry.read(**options)
    if data is None:
        raise InputError(
            f"{name} is read from a local copy; name the folder above {name}/ with --data. {_hint(name)}"
        )
    folder = Path(data) / name
    if not folder.is_dir():
        raise StoreError(f"there is no folder {folder}. {_hint(name)}")
    if entry is not None:
        found = entry.read(folder, **options)
    elif (folder / "votes.csv").exists() or (folder / "votes.parquet").exists():
        found = folders.load_folder(folder, **options)
    else:
        found = folders.load_arrays(folder, **options)
    return found if found.p_true is not None else _with_soft_labels(found, folder)


def _with_soft_labels(found: Dataset, folder: Path) -> Dataset:
    path = folder / "soft_labels.npy"
    if path.exists():
        p = check_length(read_array(path), found.n_items, path).astype(np.float64)
        return found.with_soft_labels(p / p.sum(axis=1, keepdims=True), FILE_NOTE)
    if found.X is None:
        return found
    return found.with_soft_labels(light_soft_labels(found.X, found.labels), LIGHT_NOTE)


def light_soft_labels(X: FloatArray, labels: Any, random_state: int = 0) -> FloatArray:
    """The light version: a logistic regression on the features, cross-validated, (n, n_classes)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    return simulate_soft_labels(X, labels, random_state, classifier=model)


def _entry(name: str) -> Entry:
    if name not in ENTRIES:
        raise InputError(
            f"dataset {name!r} is unknown; there are {', '.join(ENTRIES)}, or a folder of your own."
        )
    return ENTRIES[name]


def _hint(name: str) -> str:
    return ENTRIES[name].download if name in ENTRIES else folders.VOTES_HELP
