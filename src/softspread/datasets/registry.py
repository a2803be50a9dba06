"""Every dataset by its name: how to load it, and what to download first.

A dataset lies in ``<data>/<name>`` of the folder that is given. Datasets with hard labels only get simulated
soft
labels: those of ``soft_labels.npy`` if that file is there (see :mod:`softspread.datasets.finetune`), else the
light version, cross-validated class probabilities of a logistic regression on the features.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.registry import Registry
from softspread._common.types import FloatArray
from softspread.datasets import own_folder
from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.local_files import check_length, read_array
from softspread.errors import InputError, StoreError
from softspread.simulate import simulate_soft_labels

LIGHT_NOTE = "class probabilities of a logistic regression on the features, 3-fold cross-validated"
FILE_NOTE = "soft_labels.npy"


BUILT_IN = (
    *("two_moons", "sine_curve", "digits"),
    *("cifar10", "cifar10h", "mnist", "emnist_digits", "animals10", "tiny_imagenet", "labelme"),
)
DATASETS: Registry[Callable[..., Dataset]] = Registry(
    "dataset",
    "softspread.datasets",
    {name: f"softspread.datasets.{name}:SOURCE" for name in BUILT_IN},
    otherwise="or a folder of your own",
)


def source_of(name: str) -> Source:
    """How a dataset is read; a plain function needs no download and is summed up by its first line."""
    part = DATASETS.get(name)
    return part if isinstance(part, Source) else Source(part, (part.__doc__ or "").strip().partition("\n")[0])


def names() -> list[str]:
    """Names of all datasets.

    Returns
    -------
    list of str
        Built-in ones first, then those of plug-ins.

    See Also
    --------
    describe : What one of them is.

    Examples
    --------
    >>> names()[:3]
    ['two_moons', 'sine_curve', 'digits']
    """
    return list(DATASETS.names())


def describe(name: str) -> str:
    """What a dataset is and what to download for it.

    Parameters
    ----------
    name : str
        See :func:`names`.

    Returns
    -------
    str
        A few sentences.

    See Also
    --------
    load : Loads it.

    Examples
    --------
    >>> describe("sine_curve")
    'sine_curve: items on a line, 2 classes, closed-form soft labels. Needs no download.'
    """
    source = source_of(name)
    return f"{name}: {source.summary.rstrip('.')}. {source.download or 'Needs no download.'}"


def available(name: str, data: Path | str | None = None) -> bool:
    """Whether a dataset can be loaded from ``<data>/<name>``, or needs no folder.

    Parameters
    ----------
    name : str
        See :func:`names`.
    data : str or Path, optional
        The folder that holds one folder for each dataset.

    Returns
    -------
    bool
        True if :func:`load` will find it.

    See Also
    --------
    describe : Says what to download.

    Examples
    --------
    >>> available("digits"), available("mnist")
    (True, False)
    """
    if name in DATASETS.names() and not source_of(name).download:
        return True
    return data is not None and (Path(data) / name).is_dir()


def load(name: str, data: Path | str | None = None, **options: Any) -> Dataset:
    """Load a dataset by name, or a folder of your own by its name below ``data``.

    Parameters
    ----------
    name : str
        See :func:`names`; another name is a folder with votes.csv, counts.npy or labels.npy.
    data : str or Path, optional
        The folder that holds one folder for each dataset; not used by datasets that need no download.
    **options
        ``features``: which features; ``n_items``, ``random_state`` and others for synthetic datasets.

    Returns
    -------
    Dataset
        Items, and what is known about their labels.

    Raises
    ------
    StoreError
        If there is no such folder; the message says what to download.

    See Also
    --------
    describe : Says what a dataset is and what to download.
    softspread.simulate.draw_votes : Votes to simulate on one with known soft labels.

    Examples
    --------
    >>> load("sine_curve", n_items=50).n_items
    50
    """
    source = source_of(name) if name in DATASETS.names() else None
    if source is not None and not source.download:
        return source(**options)
    if data is None:
        raise InputError(
            f"{name} is read from a local copy; name the folder above {name}/ with --data. {_hint(name)}"
        )
    folder = Path(data) / name
    if not folder.is_dir():
        raise StoreError(f"there is no folder {folder}. {_hint(name)}")
    if source is not None:
        found = source(folder, **options)
    elif (folder / "votes.csv").exists() or (folder / "votes.parquet").exists():
        found = own_folder.load_folder(folder, **options)
    else:
        found = own_folder.load_arrays(folder, **options)
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


def _hint(name: str) -> str:
    return source_of(name).download if name in DATASETS.names() else own_folder.HELP
