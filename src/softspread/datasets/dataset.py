"""What every dataset is.

normalised entropy of a soft label = -sum p ln p / ln C, in [0, 1]        theory: [normalised entropy]
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.votes.votes import Votes


class LackingError(InputError):
    """A dataset lacks what was asked for; experiments leave it out and say why."""


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Items, and what is known about their labels; what a dataset lacks is None."""

    name: str
    classes: AnyArray  # (n_classes,) names, in the order of the columns of p_true
    X: FloatArray | None = None  # (n, d) features
    p_true: FloatArray | None = None  # (n, n_classes) soft labels that count as the truth
    labels: IntArray | None = None  # (n,) hard labels, as columns
    votes: Votes | None = None  # real votes, with annotators where they have names
    images: AnyArray | None = None  # (n, height, width) or (n, height, width, 3), bytes
    paths: AnyArray | None = None  # (n,) files of the images where they are not loaded
    prior: FloatArray | None = None  # (n, n_classes) predictions of a model that saw no votes
    features: str = ""  # where X comes from
    note: str = ""  # where p_true comes from

    @property
    def n_items(self) -> int:
        """Number of items."""
        for array in (self.X, self.p_true, self.labels, self.images, self.paths):
            if array is not None:
                return len(array)
        return 0

    def subset(self, rows: Any) -> "Dataset":
        """Some of the items, in the order given; real votes are left out."""
        chosen = np.asarray(rows)

        def some(array: Any) -> Any:
            return None if array is None else array[chosen]

        return replace(
            self,
            X=some(self.X),
            p_true=some(self.p_true),
            labels=some(self.labels),
            images=some(self.images),
            paths=some(self.paths),
            prior=some(self.prior),
            votes=None,
        )

    def with_features(self, X: FloatArray, name: str) -> "Dataset":
        """The same items with other features."""
        return replace(self, X=X, features=name)

    def with_soft_labels(self, p_true: FloatArray, note: str) -> "Dataset":
        """The same items with other soft labels as the truth."""
        return replace(self, p_true=p_true, note=note)


@dataclass(frozen=True, slots=True)
class Source:
    """How a dataset is read: what is registered under its name."""

    read: Callable[..., Dataset]  # of options, after the folder of the local copy where there is one
    summary: str
    download: str = ""  # what to do first; empty where nothing has to be downloaded

    def __call__(self, *where: Any, **options: Any) -> Dataset:
        """Read it."""
        return self.read(*where, **options)


def normalized_entropy(p: Any) -> FloatArray:
    """Entropy of each soft label over its largest possible value, (n,): 0 is certain, 1 is uniform.

    Examples
    --------
    >>> normalized_entropy([[1.0, 0.0], [0.5, 0.5]]).tolist()
    [0.0, 1.0]
    """
    table = validation.table_of_numbers(p, "p must be a table of numbers, items by classes.")
    logs = np.log(table, out=np.zeros_like(table), where=table > 0)
    n_classes = table.shape[1]
    total = np.maximum(0.0, -(table * logs).sum(axis=1)) + 0.0  # no -0.0
    return np.asarray(total / (np.log(n_classes) if n_classes > 1 else 1.0))


def shares(counts: AnyArray) -> FloatArray:
    """Relative frequencies of each row, (n, n_classes); a row without any vote is uniform."""
    table = np.asarray(counts, dtype=np.float64)
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1 / table.shape[1])
