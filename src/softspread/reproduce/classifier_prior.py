"""A classifier trained on the same votes, as a prior for spreading.

    votes, X  ->  logistic regression, out of fold for voted items  ->  prior (n, n_classes)  ->  spreading

Spreading knows who is near whom; a classifier knows what the features say at large. An item with votes gets the
prediction of a classifier that has not seen them, so that held-out votes can tell what the prior is worth: trained on
an item's own votes, it would repeat them and look better than it is.
"""

import numpy as np

from softspread.data import FloatArray, IntArray
from softspread.reproduce.competitors import Voted, quiet, spread_columns

N_FOLDS = 5  # four fifths of the voted items teach about the last fifth
N_STEPS = 300  # of the logistic regression


def classifier_prior(voted: Voted, n_folds: int = N_FOLDS) -> FloatArray:
    """Class probabilities of a logistic regression on the votes, (n, n_classes), cross-fitted by item.

    Parameters
    ----------
    voted : items with votes
    n_folds : parts of the voted items; each part is predicted by a classifier trained on the others, items without
        votes by one trained on all

    Returns
    -------
    prior : rows sum to 1, no entry is 0: a little of the class frequencies is mixed in, as much as one vote
    """
    Z = _standardised(voted.X)
    counts = voted.counts()
    items = np.flatnonzero(counts.sum(axis=1) > 0)
    total = counts.sum()
    frequencies = (counts.sum(axis=0) + 1) / (total + counts.shape[1])
    part = np.empty(len(items), dtype=np.int64)
    part[np.random.default_rng(voted.seed).permutation(len(items))] = np.arange(len(items)) % n_folds
    p = _predict(Z, counts, items, np.arange(voted.n_items), frequencies)
    for number in range(min(n_folds, len(items))):
        own = items[part == number]
        p[own] = _predict(Z, counts, items[part != number], own, frequencies)
    return np.asarray((total * p + frequencies) / (total + 1))


def _standardised(X: FloatArray) -> FloatArray:
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _predict(Z: FloatArray, counts: FloatArray, train: IntArray, rows: IntArray, frequencies: FloatArray) -> FloatArray:
    """Predictions for some rows of a classifier trained on the votes of others; with no vote, the frequencies."""
    from sklearn.linear_model import LogisticRegression

    at, columns = np.nonzero(counts[train])
    seen = np.unique(columns)
    if len(seen) < 2:
        known = np.eye(len(frequencies))[seen[0]] if len(seen) else frequencies
        return np.tile(known, (len(rows), 1))
    with quiet():
        model = LogisticRegression(max_iter=N_STEPS)
        model.fit(Z[train[at]], columns, sample_weight=counts[train][at, columns])
        return spread_columns(model.predict_proba(Z[rows]), model.classes_, len(frequencies))
