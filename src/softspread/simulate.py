"""Simulated annotators: votes drawn from known soft labels, and soft labels made from hard ones.

    features, hard labels  ->  p_true (n, n_classes)  ->  Votes          theory: [simulated vote]

A vote is an item drawn uniformly, with replacement, and then a class drawn from that item's true soft label,
as in the paper; knowing the truth is what lets an estimate be scored. :func:`draw_crowd_votes` adds people to
it: what a person sees is drawn from the soft label, what they say from their row of a confusion matrix,

    P(vote = c | item i, annotator a) = sum_t p_true[i, t] Pi_a[t, c]        theory: [simulated annotator]
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray, RandomState
from softspread.errors import InputError
from softspread.metrics import ROW_SUM
from softspread.votes.votes import Votes

N_FOLDS = 3  # every item is judged by a classifier trained on the other two thirds
N_TREES = 100  # enough for class probabilities in steps of 1 %


def draw_votes(
    p_true: ArrayLike,
    n_votes: int,
    rng: RandomState,
    *,
    classes: ArrayLike | None = None,
    among: ArrayLike | None = None,
) -> Votes:
    """Draw votes: items uniformly with replacement, the class of each from its item's true soft label.

    Parameters
    ----------
    p_true : (n, n_classes) array-like
        True soft labels, rows summing to 1.
    n_votes : int
        How many.
    rng : Generator or int
        A generator, or a seed for one.
    classes : (n_classes,) array-like, optional
        Class names; else 0, 1, ...
    among : array-like, optional
        Rows of the items that may be voted on; None = all.

    Returns
    -------
    Votes
        Items are positions; a class of probability 0 is never drawn.

    See Also
    --------
    draw_crowd_votes : Votes of annotators who differ.

    Examples
    --------
    >>> votes = draw_votes([[1.0, 0.0], [0.0, 1.0]], 6, rng=0, classes=["cat", "dog"])
    >>> len(votes), set(zip(votes.items.tolist(), votes.labels.tolist())) == {(0, "cat"), (1, "dog")}
    (6, True)
    """
    p = _soft_labels(p_true)
    m = validation.count("n_votes", n_votes)
    names = _class_names(classes, p.shape[1])
    generator = validation.generator(rng)
    items = _draw_items(len(p), m, generator, among)
    columns = draw_columns(p, items, generator.random(m))
    return Votes(items, names[columns], np.ones(m), classes=names)


def _draw_items(n: int, m: int, rng: np.random.Generator, among: ArrayLike | None) -> IntArray:
    if among is None:
        return rng.integers(n, size=m)
    rows = np.unique(np.asarray(among))
    if not len(rows) or rows.dtype.kind not in "iu" or rows[0] < 0 or rows[-1] >= n:
        raise InputError(f"among must name rows from 0 to {n - 1}, at least one.")
    return np.asarray(rows[rng.integers(len(rows), size=m)], dtype=np.int64)


def _class_names(classes: ArrayLike | None, n_classes: int) -> AnyArray:
    names = validation.class_names(np.arange(n_classes) if classes is None else classes)
    if len(names) != n_classes:
        raise InputError(
            f"p_true has {n_classes} columns but {len(names)} classes were named; they must agree."
        )
    return names


def draw_columns(p: FloatArray, rows: IntArray, uniform: FloatArray) -> IntArray:
    """Draw one column per row by inverting the cumulative distribution of that row.

    Parameters
    ----------
    p : array
        Probabilities, not negative; a row need not sum to exactly 1.
    rows : array
        (m,) rows to draw for.
    uniform : array
        (m,) numbers in [0, 1).

    Returns
    -------
    (m,) array
        The first column whose cumulative probability exceeds the number.

    See Also
    --------
    draw_votes : The same as votes on random items.

    Examples
    --------
    >>> draw_columns(np.array([[0.5, 0.5]]), np.array([0, 0]), np.array([0.2, 0.7])).tolist()
    [0, 1]
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


# ----------------------------------------------------------------------------------------------------- people
@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Simulated annotators: how each votes on what it sees, and how many votes each casts.

    Attributes
    ----------
    names : array
        Names of the annotators.
    confusions : (n_annotators, n_classes, n_classes) array
        P(says column | sees row).
    activity : (n_annotators,) array
        Share of the votes, summing to 1.
    spammers : array
        Who votes without looking.

    See Also
    --------
    make_crowd : Makes one.
    draw_crowd_votes : Lets it vote.

    Examples
    --------
    >>> make_crowd(5, 3, rng=0).n_annotators
    5
    """

    names: AnyArray  # (n_annotators,)
    confusions: FloatArray  # (n_annotators, n_classes, n_classes)  P(says column | sees row)
    activity: FloatArray  # (n_annotators,)  share of the votes, summing to 1
    spammers: BoolArray  # (n_annotators,)

    @property
    def n_annotators(self) -> int:
        """How many people."""
        return len(self.names)


def make_crowd(
    n_annotators: int,
    n_classes: int,
    rng: RandomState,
    *,
    reliability: tuple[float, float] = (1.0, 1.0),
    spammer_share: float = 0.0,
    uneven: float = 0.0,
) -> Crowd:
    """Make annotators who err at random, some of whom vote without looking.

    Parameters
    ----------
    n_annotators : int
        How many.
    n_classes : int
        How many.
    rng : Generator or int
        A generator, or a seed for one.
    reliability : tuple[float, float], default (1.0, 1.0)
        A person says what they see with a probability drawn uniformly from this range, else any class.
    spammer_share : float, default 0.0
        This share of the people votes without looking, half of them always for one class of their own.
    uneven : float, default 0.0
        0: all work alike; else activities are drawn log-normally with this spread.

    Returns
    -------
    Crowd
        Their confusions and how much each of them works.

    See Also
    --------
    draw_crowd_votes : Lets them vote.

    Examples
    --------
    >>> crowd = make_crowd(10, 3, rng=0, reliability=(0.6, 1.0), spammer_share=0.2)
    >>> int(crowd.spammers.sum()), crowd.confusions.shape
    (2, (10, 3, 3))
    """
    n = validation.count("n_annotators", n_annotators, smallest=1)
    k = validation.count("n_classes", n_classes, smallest=1)
    low, high = reliability
    if not 0 <= low <= high <= 1:
        raise InputError(f"reliability must be two numbers with 0 <= low <= high <= 1, got {reliability!r}.")
    if not 0 <= spammer_share <= 1:
        raise InputError(f"spammer_share must be between 0 and 1, got {spammer_share!r}.")
    generator = validation.generator(rng)
    right = generator.uniform(low, high, size=n)[:, None, None]
    confusions = right * np.eye(k) + (1 - right) / k
    spammers = np.zeros(n, dtype=bool)
    lazy = generator.permutation(n)[: round(spammer_share * n)]
    spammers[lazy] = True
    confusions[lazy] = 1 / k
    stubborn = lazy[::2]
    confusions[stubborn] = np.eye(k)[generator.integers(k, size=len(stubborn))][:, None, :]
    work = np.exp(validation.not_negative("uneven", uneven) * generator.normal(size=n))
    names = np.array([f"annotator {number}" for number in range(1, n + 1)], dtype=object)
    return Crowd(names, confusions, work / work.sum(), spammers)


def draw_crowd_votes(
    p_true: ArrayLike,
    n_votes: int,
    rng: RandomState,
    crowd: Crowd,
    *,
    classes: ArrayLike | None = None,
    among: ArrayLike | None = None,
    burst: int = 1,
) -> Votes:
    """Draw votes by the people of a crowd, with their names.

    Parameters
    ----------
    p_true : (n, n_classes) array-like
        True soft labels, rows summing to 1.
    n_votes : int
        How many.
    rng : Generator or int
        A generator, or a seed for one.
    crowd : Crowd
        See :func:`make_crowd`, or your own confusion matrices.
    classes : (n_classes,) array-like, optional
        As in :func:`draw_votes`.
    among : array-like, optional
        As in :func:`draw_votes`.
    burst : int, default 1
        A person casts this many votes in a row, on items that stand in a row, before the next person
        comes.

    Returns
    -------
    Votes
        With the names of the annotators. Where a person is drawn twice for an item both votes count, as each
        is a draw of its own.

    See Also
    --------
    make_crowd : Makes the annotators.
    draw_votes : Votes that follow the soft labels.

    Examples
    --------
    >>> crowd = make_crowd(5, 2, rng=0)
    >>> votes = draw_crowd_votes([[1.0, 0.0], [0.0, 1.0]], 20, 0, crowd)
    >>> len(votes), bool((votes.labels == votes.items).all())
    (20, True)
    """
    p = _soft_labels(p_true)
    m = validation.count("n_votes", n_votes)
    length = validation.count("burst", burst, smallest=1)
    names = _class_names(classes, p.shape[1])
    if crowd.confusions.shape[1:] != (p.shape[1], p.shape[1]):
        raise InputError(f"the crowd knows {crowd.confusions.shape[1]} classes, p_true has {p.shape[1]}.")
    generator = validation.generator(rng)
    n_bursts = -(-m // length)
    people = np.repeat(generator.choice(crowd.n_annotators, size=n_bursts, p=crowd.activity), length)[:m]
    allowed = np.arange(len(p)) if among is None else np.unique(np.asarray(among))
    starts = np.searchsorted(allowed, _draw_items(len(p), n_bursts, generator, among))
    steps = np.tile(np.arange(length), n_bursts)[:m]
    items = allowed[(np.repeat(starts, length)[:m] + steps) % len(allowed)]
    seen = draw_columns(p, items, generator.random(m))
    k = p.shape[1]
    said = draw_columns(crowd.confusions.reshape(-1, k), people * k + seen, generator.random(m))
    return Votes(items, names[said], np.ones(m), crowd.names[people], classes=names, repeats="keep")


# ------------------------------------------------------------------------------------------------ soft labels
def simulate_soft_labels(
    X: ArrayLike,
    y: ArrayLike,
    random_state: RandomState = None,
    *,
    classifier: BaseEstimator | None = None,
    n_folds: int = N_FOLDS,
    n_trees: int = N_TREES,
) -> FloatArray:
    """Give hard-labelled items soft labels.

    Each item gets the class probabilities of a classifier that has not seen it.

    Parameters
    ----------
    X : (n, d) array-like
        Features of the items.
    y : (n,) array-like
        Hard labels, every class at least ``n_folds`` times.
    random_state : int, Generator or None, optional
        Seeds the folds and the default classifier.
    classifier : estimator, optional
        Anything with scikit-learn's ``fit`` and ``predict_proba``; else extremely randomised trees.
    n_folds : int, default 3
        Parts of the cross-validation.
    n_trees : int, default 100
        Trees of the default classifier.

    Returns
    -------
    (n, n_classes) array
        Rows sum to 1, columns are in the order of ``numpy.unique(y)``.

    See Also
    --------
    draw_votes : Votes that follow the soft labels.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 6, axis=0)
    >>> simulate_soft_labels(X, np.repeat([0, 1], 6), random_state=0)[0].tolist()
    [1.0, 0.0]
    """
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    features = validation.features(X)
    labels = validation.names(y, "label")
    folds = validation.count("n_folds", n_folds, smallest=2)
    _check_labels(features, labels, folds)
    seed = int(validation.generator(random_state).integers(2**31 - 1))
    model = ExtraTreesClassifier(n_trees, random_state=seed) if classifier is None else classifier
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return np.asarray(
        cross_val_predict(model, features, labels, cv=parts, method="predict_proba"), dtype=np.float64
    )


def _check_labels(features: AnyArray, labels: AnyArray, n_folds: int) -> None:
    if len(labels) != len(features):
        raise InputError(f"{len(features)} items but {len(labels)} labels; there must be one label per item.")
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise InputError(f"y must hold at least two classes, got {classes.tolist()}.")
    if counts.min() < n_folds:
        raise InputError(
            f"class {classes[counts.argmin()]!r} has {counts.min()} items, {n_folds} folds need at least "
            f"{n_folds}; merge rare classes or lower n_folds."
        )


def _soft_labels(p_true: ArrayLike) -> FloatArray:
    try:
        p = np.asarray(p_true, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("p_true must be a table of numbers, items by classes.") from error
    if p.ndim != 2 or not p.size:
        raise InputError(
            f"p_true must have shape (n_items, n_classes) with at least one entry, got {p.shape}."
        )
    if not np.isfinite(p).all() or (p < 0).any() or (np.abs(p.sum(axis=1) - 1) > ROW_SUM).any():
        raise InputError("the rows of p_true must be probabilities: not negative, summing to 1.")
    return p
