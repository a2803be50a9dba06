"""Annotators that do not exist: votes drawn from known soft labels, and soft labels for data that only has hard ones.

    features, hard labels  ->  p_true (n, n_classes)  ->  Votes          theory: [simulated vote]

A vote is an item drawn uniformly, with replacement, and then a class drawn from that item's true soft label, as in the
paper; knowing the truth is what lets an estimate be scored.
"""

from typing import Any

import numpy as np

from softspread import checks
from softspread.data import AnyArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.metrics import ROW_SUM
from softspread.votes import Votes

N_FOLDS = 3  # every item is judged by a classifier trained on the other two thirds
N_TREES = 100  # enough for class probabilities in steps of 1 %


def draw_votes(p_true: Any, n_votes: int, rng: Any, *, classes: Any = None) -> Votes:
    """Draw votes: items uniformly with replacement, the class of each from its item's true soft label.

    Parameters
    ----------
    p_true : (n, n_classes), rows summing to 1
    n_votes : how many
    rng : a generator, or a seed for one
    classes : (n_classes,) names; else 0, 1, ...

    Returns
    -------
    votes : items are positions; a class of probability 0 is never drawn

    Examples
    --------
    >>> votes = draw_votes([[1.0, 0.0], [0.0, 1.0]], 6, rng=0, classes=["cat", "dog"])
    >>> len(votes), set(zip(votes.items.tolist(), votes.labels.tolist())) == {(0, "cat"), (1, "dog")}
    (6, True)
    """
    p = _soft_labels(p_true)
    m = checks.count("n_votes", n_votes)
    names = checks.class_names(np.arange(p.shape[1]) if classes is None else classes)
    if len(names) != p.shape[1]:
        raise InputError(f"p_true has {p.shape[1]} columns but {len(names)} classes were named; they must agree.")
    generator = checks.generator(rng)
    items = generator.integers(len(p), size=m)
    columns = draw_columns(p, items, generator.random(m))
    return Votes(items, names[columns], np.ones(m), classes=names)


def draw_columns(p: FloatArray, rows: IntArray, uniform: FloatArray) -> IntArray:
    """Turn uniform numbers into columns of the given rows by the inverse of each row's cumulative distribution.

    Parameters
    ----------
    p : (n, n_classes), not negative, every row with some probability; need not sum to exactly 1
    rows : (m,)
    uniform : (m,) in [0, 1)

    Returns
    -------
    columns : (m,) the first column whose cumulative probability exceeds the number; memory n x n_classes
    """
    cumulative = np.cumsum(p, axis=1)
    target = uniform * cumulative[rows, -1]  # below the last entry also after rounding, since uniform < 1
    low = np.zeros(len(rows), dtype=np.int64)
    high = np.full(len(rows), p.shape[1] - 1, dtype=np.int64)
    for _ in range((p.shape[1] - 1).bit_length()):  # bisection of all rows at once
        middle = (low + high) // 2
        beyond = cumulative[rows, middle] <= target
        low = np.where(beyond, middle + 1, low)
        high = np.where(beyond, high, middle)
    return low


def simulate_soft_labels(
    X: Any, y: Any, random_state: Any = None, *, classifier: Any = None, n_folds: int = N_FOLDS
) -> FloatArray:
    """Give hard-labelled items soft labels: the class probabilities of a classifier that has not seen the item.

    Parameters
    ----------
    X : (n, d) features
    y : (n,) hard labels, every class at least ``n_folds`` times
    random_state : seeds the folds and the default classifier
    classifier : anything with scikit-learn's ``fit`` and ``predict_proba``; else 100 extremely randomised trees
    n_folds : parts of the cross-validation

    Returns
    -------
    p_true : (n, n_classes), columns in the order of ``numpy.unique(y)``

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 6, axis=0)
    >>> simulate_soft_labels(X, np.repeat([0, 1], 6), random_state=0)[0].tolist()
    [1.0, 0.0]
    """
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    features = checks.features(X)
    labels = checks.names(y, "label")
    folds = checks.count("n_folds", n_folds, smallest=2)
    _check_labels(features, labels, folds)
    seed = int(checks.generator(random_state).integers(2**31 - 1))
    model = ExtraTreesClassifier(N_TREES, random_state=seed) if classifier is None else classifier
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return np.asarray(cross_val_predict(model, features, labels, cv=parts, method="predict_proba"), dtype=np.float64)


def _check_labels(features: AnyArray, labels: AnyArray, n_folds: int) -> None:
    if len(labels) != len(features):
        raise InputError(f"{len(features)} items but {len(labels)} labels; there must be one label per item.")
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise InputError(f"y must hold at least two classes, got {classes.tolist()}.")
    if counts.min() < n_folds:
        raise InputError(
            f"class {classes[counts.argmin()]!r} has {counts.min()} items, {n_folds} folds need at least {n_folds}; "
            "merge rare classes or lower n_folds."
        )


def _soft_labels(p_true: Any) -> FloatArray:
    try:
        p = np.asarray(p_true, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("p_true must be a table of numbers, items by classes.") from error
    if p.ndim != 2 or not p.size:
        raise InputError(f"p_true must have shape (n_items, n_classes) with at least one entry, got {p.shape}.")
    if not np.isfinite(p).all() or (p < 0).any() or (np.abs(p.sum(axis=1) - 1) > ROW_SUM).any():
        raise InputError("the rows of p_true must be probabilities: not negative, summing to 1.")
    return p
