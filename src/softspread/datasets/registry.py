"""Every dataset by its name: how to load it, and what to download first.

A dataset lies in ``<data>/<name>`` of the folder that is given. Datasets with hard labels only get simulated
soft labels: those of ``soft_labels.npy`` if that file is there (see :mod:`softspread.datasets.finetune`),
else quick ones, which are stand-ins and say so: cross-validated class probabilities of trees on the pixels
where there are images, of a logistic regression on the features where there are none.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.digests import digest
from softspread._common.registry import Registry
from softspread._common.types import AnyArray, FloatArray
from softspread.datasets import own_folder
from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.dcic import features_folder
from softspread.datasets.local_files import check_length, read_array, read_images
from softspread.errors import InputError, StoreError
from softspread.simulate import simulate_soft_labels

LIGHT_NOTE = "class probabilities of a logistic regression on the features that are spread"
PIXELS_NOTE = "class probabilities of extremely randomised trees on small pixels, not of a fine-tuned network"
FINE_TUNED_NOTE = "class probabilities of a fine-tuned network, 3-fold cross-validated"
SOFT_LABELS, ZERO_SHOT = "soft_labels.npy", "zero_shot.npy"
ZERO_SHOT_NOTE = "zero-shot"
PREDICTIONS = {ZERO_SHOT: ZERO_SHOT_NOTE, "classifier_probs.npy": "classifier_probs.npy"}
STAMPED_BYTES = 1 << 16  # at each end of a file: two arrays of numbers that differ do so there
PIXELS_SIDE = 12  # enough for trees to see shapes, few enough to train them in a minute


BUILT_IN = (
    *("two_moons", "sine_curve", "digits"),
    *("cifar10", "cifar10h", "mnist", "emnist_digits", "animals10", "tiny_imagenet"),
    *("labelme", "mtsd", "dcic"),
)
DATASETS: Registry[Callable[..., Dataset]] = Registry(
    "dataset",
    "softspread.datasets",
    {name: f"softspread.datasets.{name}:SOURCE" for name in BUILT_IN},
    otherwise="or a folder of your own",
)


def source_of(name: str) -> Source:
    """How a dataset is read; a plain function needs no download and is summed up by its first line."""
    part = DATASETS.get(name.partition(":")[0])
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
    """Describe a dataset and what to download for it.

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
    bare = name.partition(":")[0]
    if bare in DATASETS.names() and not source_of(bare).download:
        return True
    return data is not None and (Path(data) / bare).is_dir()


def load(name: str, data: Path | str | None = None, **options: Any) -> Dataset:
    """Load a dataset by name, or a folder of your own by its name below ``data``.

    Parameters
    ----------
    name : str
        See :func:`names`; ``dcic:Pig`` is one of the datasets of the DCIC benchmark; another name is a folder
        with votes.csv, counts.npy or labels.npy.
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
    found = load_items(name, data, **options)
    if data is None or found.p_true is not None:
        return found
    return _with_soft_labels(found, home_of(name, data))


def load_items(name: str, data: Path | str | None = None, **options: Any) -> Dataset:
    """The same as :func:`load` without simulated soft labels, which can take minutes."""
    bare, _, part = name.partition(":")
    source = source_of(bare) if bare in DATASETS.names() else None
    if source is not None and not source.download:
        return source(**options)
    if data is None:
        raise InputError(
            f"{name} is read from a local copy; name the folder above {bare}/ with --data. {_hint(bare)}"
        )
    folder = Path(data) / bare
    if not folder.is_dir():
        raise StoreError(f"there is no folder {folder}. {_hint(bare)}")
    if source is not None:
        found = source(folder, **options, **({"part": part} if part else {}))
    elif (folder / "votes.csv").exists() or (folder / "votes.parquet").exists():
        found = own_folder.load_folder(folder, **options)
    else:
        found = own_folder.load_arrays(folder, **options)
    return found if found.prior is not None else _with_predictions(found, home_of(name, data))


def home_of(name: str, data: Path | str) -> Path:
    """The folder in which features, predictions and soft labels of a dataset are kept.

    Examples
    --------
    >>> home_of("cifar10", "data").as_posix(), home_of("dcic:Pig", "data").as_posix()
    ('data/cifar10', 'data/dcic/features/Pig')
    """
    bare, _, part = name.partition(":")
    return features_folder(Path(data) / bare, part) if part else Path(data) / bare


def prepared_stamps(name: str, data: Path | str, features: str | None = None) -> dict[str, str]:
    """Marks of the files that decide a dataset's features, predictions and soft labels, by name.

    They change when a file is added, removed or made again: its size and both its ends count.
    """
    wanted = "features_*.npy" if features is None else f"features_{features.partition('+')[0]}.npy"
    home = home_of(name, data)
    paths = [*sorted(home.glob(wanted)), *(home / other for other in (SOFT_LABELS, *PREDICTIONS))]
    return {path.name: _stamp(path) for path in paths if path.is_file()}


def _stamp(path: Path) -> str:
    size = path.stat().st_size
    with path.open("rb") as file:
        first = file.read(STAMPED_BYTES)
        file.seek(max(0, size - STAMPED_BYTES))
        return digest([str(size), first, file.read(STAMPED_BYTES)]).hex()


def _with_predictions(found: Dataset, home: Path) -> Dataset:
    """Predictions of a model that saw no votes, where they lie beside the data."""
    for name, note in PREDICTIONS.items():
        path = home / name
        if path.is_file():
            p = check_length(read_array(path), found.n_items, path).astype(np.float64)
            if p.shape[1:] != (len(found.classes),):
                raise StoreError(f"{path} has shape {p.shape}, but there are {len(found.classes)} classes.")
            return replace(found, prior=p / p.sum(axis=1, keepdims=True), prior_note=note)
    return found


def _with_soft_labels(found: Dataset, home: Path) -> Dataset:
    path = home / SOFT_LABELS
    if path.is_file():
        p = check_length(read_array(path), found.n_items, path).astype(np.float64)
        note = FINE_TUNED_NOTE if path.with_suffix(".json").is_file() else SOFT_LABELS
        return found.with_soft_labels(p / p.sum(axis=1, keepdims=True), note, found.stand_in)
    if found.labels is None:
        return found
    pixels = small_pixels(found)
    if pixels is not None:
        p = simulate_soft_labels(pixels, found.labels, 0)
        return found.with_soft_labels(p, PIXELS_NOTE, found.stand_in or f"soft labels are {PIXELS_NOTE}")
    if found.X is None:
        return found
    p = light_soft_labels(found.X, found.labels)
    return found.with_soft_labels(p, LIGHT_NOTE, f"soft labels are {LIGHT_NOTE}: smooth by construction")


def small_pixels(found: Dataset) -> FloatArray | None:
    """Images as (n, 3 * 12 * 12) numbers from 0 to 1; None where the dataset has no images."""
    if found.images is not None:
        return np.asarray(shrunk(found.images, PIXELS_SIDE).reshape(found.n_items, -1), dtype=np.float64)
    if found.paths is None or not all(Path(path).is_file() for path in found.paths):
        return None
    return read_images(found.paths, PIXELS_SIDE, found.boxes).reshape(found.n_items, -1) / 255


def shrunk(images: AnyArray, side: int) -> FloatArray:
    """Images (n, height, width, ...) averaged over a grid of ``side`` x ``side`` blocks, from 0 to 1.

    Examples
    --------
    >>> shrunk(np.full((1, 4, 4), 255, dtype=np.uint8), 2).tolist()
    [[[1.0, 1.0], [1.0, 1.0]]]
    """
    found = np.asarray(images)
    for axis in (1, 2):
        n = found.shape[axis]
        starts = np.arange(min(side, n)) * n // min(side, n)
        sizes = np.diff(np.append(starts, n))
        total = np.add.reduceat(found, starts, axis=axis, dtype=np.float32)
        found = total / sizes.reshape([-1 if place == axis else 1 for place in range(found.ndim)])
    return np.asarray(found / 255, dtype=np.float64)


def light_soft_labels(X: FloatArray, labels: Any, random_state: int = 0) -> FloatArray:
    """A logistic regression on the features, cross-validated, (n, n_classes)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    return simulate_soft_labels(X, labels, random_state, classifier=model)


def _hint(name: str) -> str:
    return source_of(name).download if name in DATASETS.names() else own_folder.HELP
