"""A classifier trained on the same votes, as a prior for spreading.

    votes, X  ->  logistic regression, out of fold for voted items  ->  prior (n, n_classes)  ->  spreading

Spreading uses neighbourhoods; a classifier uses the features as a whole. An item with votes gets
the prediction of a classifier that has not seen them, so that held-out votes can tell what the prior is
worth: trained on an item's own votes, it would repeat them and look better than it is.
"""

import warnings
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.types import FloatArray, IntArray, RandomState
from softspread.errors import InputError
from softspread.tuning.result import Tuning
from softspread.votes.reading import NamedVotes, read_y
from softspread.votes.votes import Votes

N_FOLDS = 5  # four fifths of the voted items teach about the last fifth
N_STEPS = 300  # of the logistic regression


class Tuned(Protocol):
    """An estimator with a parameter that held-out votes have chosen."""

    tuning_: Tuning | None


AnyFit = TypeVar("AnyFit", bound=Tuned)


def better_of(plain: AnyFit, helped: AnyFit) -> AnyFit:
    """Choose between two fits to the same votes: the one that predicts held-out votes better.

    Both need a parameter that was chosen ("auto"), as the score comes with the choice. Without the prior it
    stays where the scores are equal or the votes too few for one.

    Parameters
    ----------
    plain : estimator
        The fit without a prior.
    helped : estimator
        The fit with one.

    Returns
    -------
    estimator
        ``helped`` if it predicts held-out votes better, else ``plain``.

    See Also
    --------
    classifier_prior : A prior to compare with none.
    zero_shot : Another one, from the names of the classes.

    Examples
    --------
    >>> from softspread import ProbabilisticLabelSpreading
    >>> X = np.linspace(-1, 1, 60)[:, None]
    >>> votes = np.where(np.arange(60) % 5, -1, (X[:, 0] > 0).astype(int))
    >>> auto = {"alpha": "auto", "n_neighbors": 5, "prior_strength": "auto"}
    >>> plain = ProbabilisticLabelSpreading(**auto).fit(X, votes)
    >>> prior = classifier_prior(X, votes, random_state=0)
    >>> helped = ProbabilisticLabelSpreading(**auto, prior=prior).fit(X, votes)
    >>> better_of(plain, helped) in (plain, helped)
    True
    """
    scores = []
    for fit in (plain, helped):
        if fit.tuning_ is None:
            raise InputError(
                'nothing was chosen in one of the fits: pass alpha="auto" or prior_strength="auto".'
            )
        # Not that of the chosen setting: without a prior, alphas that are level give way to the default.
        scores.append(min(fit.tuning_.points, key=lambda point: point.objective).score)
    return helped if scores[1] < scores[0] else plain


def classifier_prior(
    X: ArrayLike,
    votes: ArrayLike | Votes | NamedVotes,
    *,
    item_ids: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    n_folds: int = N_FOLDS,
    random_state: RandomState = None,
) -> FloatArray:
    """Class probabilities of a logistic regression on the votes, (n, n_classes), cross-fitted by item.

    Pass it as ``prior`` with ``prior_strength="auto"`` and let :func:`better_of` decide between this fit and
    one
    without: where a flat boundary says nothing, the fit without is better.

    Parameters
    ----------
    X : (n, d) array-like
        Features of the items.
    votes : Votes or array-like
        Votes, labels with -1 for no vote, or counts per item and class.
    item_ids : (n,) array-like, optional
        Names by which Votes refer to items; by default they refer to positions.
    classes : (n_classes,) array-like, optional
        Class names in order; by default the labels found, sorted.
    n_folds : int, default 5
        Parts of the voted items; each part is predicted by a classifier trained on the others, items
        without votes by one trained on all.
    random_state : int, Generator or None, optional
        Seeds the parts.

    Returns
    -------
    (n, n_classes) array
        Rows sum to 1 and no entry is 0: a little of the class frequencies is mixed in, as much as one
        vote.

    See Also
    --------
    better_of : Keeps a prior only where held-out votes say that it helps.
    zero_shot : A prior from the names of the classes, without votes.

    Examples
    --------
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> y = np.where(np.arange(40) % 2, (X[:, 0] > 0).astype(int), -1)
    >>> prior = classifier_prior(X, y, random_state=0)
    >>> prior.shape, bool(prior[0, 0] > 0.5), bool(prior[-1, 1] > 0.5)
    ((40, 2), True, True)
    """
    Z = _standardised(np.asarray(validation.features(X), dtype=np.float64))
    table, names = read_y(votes, len(Z), item_ids, classes, what="votes")
    n_classes = len(names.classes)
    n_folds = validation.count("n_folds", n_folds, smallest=2)
    if n_classes < 1:
        raise InputError("a prior needs at least one class; pass classes, or votes that name some.")
    counts = np.maximum(table.counts(len(Z), n_classes), 0.0)  # a vote taken back may leave -1e-17
    items = np.flatnonzero(counts.sum(axis=1) > 0)
    total = counts.sum()
    frequencies = (counts.sum(axis=0) + 1) / (total + n_classes)
    part = np.empty(len(items), dtype=np.int64)
    part[validation.generator(random_state).permutation(len(items))] = np.arange(len(items)) % n_folds
    p = _predict(Z, counts, items, np.arange(len(Z)), frequencies)
    for number in range(min(n_folds, len(items))):
        own = items[part == number]
        p[own] = _predict(Z, counts, items[part != number], own, frequencies)
    return np.asarray((total * p + frequencies) / (total + 1))


def _standardised(X: FloatArray) -> FloatArray:
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _predict(
    Z: FloatArray, counts: FloatArray, train: IntArray, rows: IntArray, frequencies: FloatArray
) -> FloatArray:
    """Predictions for some rows by a classifier trained on the votes of others.

    With no vote to train on: the class frequencies.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    at, columns = np.nonzero(counts[train])
    seen = np.unique(columns)
    if len(seen) < 2:
        known = np.eye(len(frequencies))[seen[0]] if len(seen) else frequencies
        return np.tile(known, (len(rows), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a prior need not be solved to the last digit
        model = LogisticRegression(max_iter=N_STEPS)
        model.fit(Z[train[at]], columns, sample_weight=counts[train][at, columns])
    p = np.zeros((len(rows), len(frequencies)))
    p[:, model.classes_] = model.predict_proba(Z[rows])
    return p
