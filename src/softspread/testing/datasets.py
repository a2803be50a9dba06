"""The requirements on a dataset."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from softspread.datasets.dataset import Dataset
from softspread.datasets.registry import DATASETS, load
from softspread.testing.claims import require, require_close


def check_dataset(
    dataset: str | Callable[..., Dataset], data: Path | str | None = None, **options: Any
) -> None:
    """Check that a dataset keeps the promises of :class:`~softspread.datasets.dataset.Dataset`.

    It has a name, at least two distinct classes and at least one item; what it holds has one row per item;
    features and predictions are finite; soft labels sum to 1; labels are columns; votes name its items and
    classes; loaded again it is the same.

    Parameters
    ----------
    dataset : str or callable
        A registered name, or what would be registered.
    data : path, optional
        The folder above that of the dataset, where it has to be downloaded.
    **options
        Passed on, for example to make it small.

    Raises
    ------
    AssertionError
        Naming the first promise that is broken.

    Examples
    --------
    >>> from softspread.testing import check_dataset
    >>> check_dataset("sine_curve", n_items=50)
    """

    def read() -> Dataset:
        if isinstance(dataset, str):
            return load(DATASETS.check(dataset), data, **options)
        return dataset(*([] if data is None else [Path(data)]), **options)

    found, again = read(), read()
    require(isinstance(found, Dataset), f"a dataset is a Dataset, got {type(found).__name__}")
    require(isinstance(found.name, str) and found.name, "a dataset has a name")
    classes = np.asarray(found.classes)
    require(len(set(classes.tolist())) == len(classes) >= 2, f"two or more classes, got {classes.tolist()}")
    n, n_classes = found.n_items, len(classes)
    require(n > 0, "a dataset has items")
    for name in ("X", "p_true", "labels", "images", "paths", "prior"):
        array, same = getattr(found, name), getattr(again, name)
        if array is not None:
            require(len(array) == n, f"{name} has one row for each of {n} items, got {len(array)}")
            require(np.array_equal(array, same), f"{name} is the same when it is loaded again")
    if found.X is not None:
        require(np.ndim(found.X) == 2 and np.isfinite(found.X).all(), "X is a table of finite numbers")
    _check_labels(found, n, n_classes)


def _check_labels(found: Dataset, n: int, n_classes: int) -> None:
    for name, table in (("p_true", found.p_true), ("prior", found.prior)):
        if table is not None:
            require(table.shape == (n, n_classes), f"{name} has shape {(n, n_classes)}, got {table.shape}")
            require((table >= 0).all(), f"{name} is not negative")
            require_close(table.sum(axis=1), np.ones(n), 1e-6, f"rows of {name} sum to 1")
    if found.labels is not None:
        columns = np.asarray(found.labels)
        whole = columns.dtype.kind in "iu" and bool(((columns >= 0) & (columns < n_classes)).all())
        require(whole, f"labels are columns from 0 to {n_classes - 1}")
    if found.votes is not None:
        known = set(np.asarray(found.classes).tolist())
        strange = set(found.votes.labels.tolist()) - known
        require(not strange, f"votes name classes of the dataset, not {sorted(map(str, strange))[:5]}")
    has_truth = any(part is not None for part in (found.p_true, found.labels, found.votes))
    require(has_truth, "a dataset knows soft labels, labels or votes")
