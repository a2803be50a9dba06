"""The form that all datasets have.

normalised entropy of a soft label = -sum p ln p / ln C, in [0, 1]        theory: [normalised entropy]
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.entropy import entropy, largest_entropy
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.votes.votes import Votes


class LackingError(InputError):
    """A dataset lacks what was asked for; experiments leave it out and say why."""


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Items and their known labels; parts that a dataset lacks are None.

    Attributes
    ----------
    name : str
        Name of the dataset.
    classes : (n_classes,) array
        Names, in the order of the columns of ``p_true``.
    X : (n, d) array or None
        Features.
    p_true : (n, n_classes) array or None
        Soft labels that count as the truth.
    labels : (n,) array or None
        Hard labels, as columns.
    votes : Votes or None
        Real votes, with annotators where they have names.
    images : (n, height, width) or (n, height, width, 3) array or None
        Bytes.
    paths : (n,) array or None
        Files of the images where they are not loaded.
    prior : (n, n_classes) array or None
        Predictions of a model that saw no votes.
    features : str
        Where ``X`` comes from.
    note : str
        Where ``p_true`` comes from.
    boxes : (n, 4) array or None
        The part of each file that is the item: left, top, right, bottom in pixels; None for whole images.
    prior_note : str
        Where ``prior`` comes from.
    stand_in : str
        Why results on these soft labels are not comparable with the paper's; empty where they are.

    See Also
    --------
    load : Makes one.

    Examples
    --------
    >>> from softspread import datasets
    >>> data = datasets.load("two_moons", n_items=100)
    >>> data.X.shape, data.p_true.shape, data.votes is None
    ((100, 2), (100, 2), True)
    """

    name: str
    classes: AnyArray
    X: FloatArray | None = None
    p_true: FloatArray | None = None
    labels: IntArray | None = None
    votes: Votes | None = None
    images: AnyArray | None = None
    paths: AnyArray | None = None
    prior: FloatArray | None = None
    features: str = ""
    note: str = ""
    boxes: IntArray | None = None
    prior_note: str = ""
    stand_in: str = ""

    @property
    def n_items(self) -> int:
        """Number of items."""
        for array in (self.X, self.p_true, self.labels, self.images, self.paths):
            if array is not None:
                return len(array)
        return 0

    def subset(self, rows: ArrayLike) -> "Dataset":
        """Some of the items, in the order given; real votes are left out.

        Parameters
        ----------
        rows : (m,) array-like
            Positions of the items, or a mask of all.

        Returns
        -------
        Dataset
            Of these items.

        Examples
        --------
        >>> from softspread import datasets
        >>> datasets.load("two_moons", n_items=100).subset([3, 1]).n_items
        2
        """
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
            boxes=some(self.boxes),
            prior=some(self.prior),
            votes=None,
        )

    def with_features(self, X: FloatArray, name: str) -> "Dataset":
        """The same items with other features.

        Parameters
        ----------
        X : (n, d) array
            The features.
        name : str
            Where they come from.

        Returns
        -------
        Dataset
            Otherwise unchanged.

        Examples
        --------
        >>> from softspread import datasets
        >>> data = datasets.load("two_moons", n_items=100)
        >>> data.with_features(data.X[:, :1], "first column").X.shape
        (100, 1)
        """
        return replace(self, X=X, features=name)

    def with_soft_labels(self, p_true: FloatArray, note: str, stand_in: str = "") -> "Dataset":
        """The same items with other soft labels as the truth.

        Parameters
        ----------
        p_true : (n, n_classes) array
            The soft labels.
        note : str
            Where they come from.
        stand_in : str, default ""
            Why results on them are not comparable with the paper's; empty where they are.

        Returns
        -------
        Dataset
            Otherwise unchanged.

        Examples
        --------
        >>> from softspread import datasets
        >>> data = datasets.load("two_moons", n_items=100)
        >>> data.with_soft_labels(data.p_true.round(), "rounded").note
        'rounded'
        """
        return replace(self, p_true=p_true, note=note, stand_in=stand_in)


@dataclass(frozen=True, slots=True)
class Source:
    """How a dataset is read: what is registered under its name.

    Attributes
    ----------
    read : callable
        Takes the folder of the local copy, where there is one, and options; returns a :class:`Dataset`.
    summary : str
        What the dataset is, in a sentence.
    download : str
        What to download first; empty where nothing has to be.
    template : str
        The sentence of zero-shot predictions, by its name in :mod:`softspread.embedding.zero_shot`.

    See Also
    --------
    describe : Shows summary and download of a registered dataset.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread.datasets import Dataset, Source
    >>> source = Source(lambda: Dataset("mine", np.array(["a", "b"])), "two classes, no items")
    >>> source().name
    'mine'
    """

    read: Callable[..., Dataset]
    summary: str
    download: str = ""
    template: str = "default"

    def __call__(self, *where: Any, **options: Any) -> Dataset:
        """Read it."""
        return self.read(*where, **options)


def normalized_entropy(p: ArrayLike) -> FloatArray:
    """Entropy of each soft label over its largest possible value.

    Parameters
    ----------
    p : (n, n_classes) array-like
        Soft labels.

    Returns
    -------
    (n,) array
        0 is certain, 1 is uniform.

    See Also
    --------
    softspread.uncertainty_split : Separates disagreement from too few votes.

    Examples
    --------
    >>> normalized_entropy([[1.0, 0.0], [0.5, 0.5]]).tolist()
    [0.0, 1.0]
    """
    table = validation.table_of_numbers(p, "p must be a table of numbers, items by classes.")
    return np.asarray(entropy(table) / largest_entropy(table.shape[1]))


def shares(counts: AnyArray) -> FloatArray:
    """Relative frequencies of each row, (n, n_classes); a row without any vote is uniform."""
    table = np.asarray(counts, dtype=np.float64)
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1 / table.shape[1])
