"""Other methods, each used as its documentation suggests, turned into soft labels for all items.

Methods that want one label per item get each item's most frequent vote. Methods that say nothing about items
without votes give those the uniform distribution. Libraries beyond scikit-learn are the extra ``compare``.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.datasets.dataset import shares
from softspread.votes.votes import Votes

N_ROUNDS = 100  # of Dawid-Skene's expectation maximisation
N_FOLDS = 3  # out-of-fold predictions for CROWDLAB
CONFIDENT = 0.75  # self-training takes predictions at least this sure, as scikit-learn does


@dataclass(frozen=True, slots=True, eq=False)
class Voted:
    """Items with votes, in the shapes that other libraries ask for."""

    X: FloatArray
    votes: Votes
    classes: AnyArray
    seed: int

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.X)

    @property
    def rows(self) -> IntArray:
        """Item of each vote."""
        return np.asarray(self.votes.items, dtype=np.int64)

    @property
    def columns(self) -> IntArray:
        """Class of each vote."""
        return validation.columns_of_labels(self.votes.labels, self.classes)

    def counts(self) -> FloatArray:
        """Votes per item and class, (n, n_classes)."""
        table = np.zeros((self.n_items, len(self.classes)))
        np.add.at(table, (self.rows, self.columns), self.votes.weights)
        return table

    def majority(self) -> IntArray:
        """Most frequent vote of each item, -1 without votes; ties go to a random one of the tied."""
        counts = self.counts()
        noise = np.random.default_rng(self.seed).random(counts.shape) / 2
        return np.where(counts.any(axis=1), (counts + noise * (counts > 0)).argmax(axis=1), -1)

    def people(self) -> AnyArray:
        """Annotator of each vote.

        Without names, the first vote on each item is person 1's, the second person 2's, and so on.
        """
        if self.votes.annotators is not None:
            return self.votes.annotators
        return pd.Series(self.rows).groupby(self.rows).cumcount().to_numpy() + 1

    def uniform(self) -> FloatArray:
        """The same probability for every class, where nothing is known."""
        return np.full((self.n_items, len(self.classes)), 1 / len(self.classes))


def spread_columns(p: AnyArray, columns: AnyArray, n_classes: int) -> FloatArray:
    """Widen a table of some classes to all of them."""
    whole = np.zeros((len(p), n_classes))
    whole[:, np.asarray(columns, dtype=np.int64)] = p
    return whole


@contextmanager
def quiet() -> Iterator[None]:
    """Silence other libraries, whose warnings are about choices made here on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))


def logistic_on_votes(voted: Voted) -> FloatArray:
    """A logistic regression on the embedding; every vote is one training row."""
    seen = np.unique(voted.columns)
    if len(seen) < 2:
        return _only_class(voted, seen)
    with quiet():
        model = _logistic().fit(voted.X[voted.rows], voted.columns)
    return spread_columns(model.predict_proba(voted.X), model.classes_, len(voted.classes))


def _only_class(voted: Voted, seen: IntArray) -> FloatArray:
    """Answer where at most one class was seen: a classifier could only repeat it."""
    return voted.uniform() if not len(seen) else np.eye(len(voted.classes))[np.full(voted.n_items, seen[0])]


def sklearn_label_spreading(voted: Voted, alpha: float = 0.2, n_neighbors: int = 20) -> FloatArray:
    """scikit-learn's LabelSpreading with its k-nearest-neighbour kernel, majority labels."""
    from sklearn.semi_supervised import LabelSpreading

    labels = voted.majority()
    seen = np.unique(labels[labels >= 0])
    if len(seen) < 2:
        return _only_class(voted, seen)
    with quiet():
        model = LabelSpreading(
            kernel="knn", n_neighbors=min(n_neighbors, voted.n_items - 1), alpha=alpha, n_jobs=1
        )
        found = np.nan_to_num(model.fit(voted.X, labels).label_distributions_)
    return shares(spread_columns(found, model.classes_, len(voted.classes)))


def self_training(voted: Voted, threshold: float = CONFIDENT) -> FloatArray:
    """scikit-learn's SelfTrainingClassifier around a logistic regression, majority labels."""
    from sklearn.semi_supervised import SelfTrainingClassifier

    labels = voted.majority()
    seen = np.unique(labels[labels >= 0])
    if len(seen) < 2:
        return _only_class(voted, seen)
    with quiet():
        model = SelfTrainingClassifier(_logistic(), threshold=threshold).fit(voted.X, labels)
        found = model.predict_proba(voted.X)
    return spread_columns(found, model.classes_, len(voted.classes))


def laplace_learning(voted: Voted, n_neighbors: int = 20) -> FloatArray:
    """GraphLearning's Laplace learning.

    Harmonic functions between the voted items, which keep their majority label.
    """
    return _graph_learning(voted, "laplace", n_neighbors)


def poisson_learning(voted: Voted, n_neighbors: int = 20) -> FloatArray:
    """GraphLearning's Poisson learning.

    The positive part of its scores, normalised, serves as a soft label.
    """
    return _graph_learning(voted, "poisson", n_neighbors)


def _graph_learning(voted: Voted, model: str, n_neighbors: int) -> FloatArray:
    with needs_extra("compare", "GraphLearning is not installed"), quiet():
        import graphlearning as gl
    labels = voted.majority()
    known = np.flatnonzero(labels >= 0)
    seen, columns = np.unique(labels[known], return_inverse=True)
    if len(seen) < 2:
        return _only_class(voted, seen)
    from sklearn.neighbors import NearestNeighbors

    k = min(n_neighbors + 1, voted.n_items)  # its neighbours count the item itself
    distances, neighbours = NearestNeighbors(n_neighbors=k).fit(voted.X).kneighbors(voted.X)
    with quiet():
        W = gl.weightmatrix.knn(voted.X, k, knn_data=(neighbours, distances))
        learner = gl.ssl.laplace(W) if model == "laplace" else gl.ssl.poisson(W, solver="gradient_descent")
        scores = np.nan_to_num(np.asarray(learner.fit(known, columns)))
    return spread_columns(shares(np.maximum(scores, 0.0)), seen, len(voted.classes))


def dawid_skene(voted: Voted) -> FloatArray:
    """crowd-kit's Dawid-Skene.

    It estimates annotators' confusions and items' classes together and uses no features.
    """
    with needs_extra("compare", "crowd-kit is not installed"):
        from crowdkit.aggregation import DawidSkene
    frame = pd.DataFrame({"task": voted.rows, "worker": voted.people(), "label": voted.columns})
    with quiet():
        found = DawidSkene(n_iter=N_ROUNDS).fit_predict_proba(frame)
    p = voted.uniform()
    p[found.index.to_numpy(dtype=np.int64)] = spread_columns(
        found.to_numpy(), found.columns.to_numpy(), len(voted.classes)
    )
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def crowdlab(voted: Voted) -> FloatArray:
    """CROWDLAB of cleanlab on out-of-fold predictions of a logistic regression.

    The consensus class gets its quality score, the others share the rest as the classifier would; items
    without votes keep the classifier's prediction.
    """
    with needs_extra("compare", "cleanlab is not installed"):
        from cleanlab.multiannotator import get_label_quality_multiannotator
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    labels = voted.majority()
    known = np.flatnonzero(labels >= 0)
    seen, columns = np.unique(labels[known], return_inverse=True)
    smallest = np.bincount(columns).min(initial=len(known))
    if len(seen) < 2 or len(known) < N_FOLDS:
        return _only_class(voted, seen)
    with quiet():
        model = _logistic().fit(voted.X[known], columns)
        p = spread_columns(model.predict_proba(voted.X), seen, len(voted.classes))
        kind = StratifiedKFold if smallest >= N_FOLDS else KFold
        parts = kind(N_FOLDS, shuffle=True, random_state=voted.seed)
        out_of_fold = cross_val_predict(
            _logistic(), voted.X[known], columns, cv=parts, method="predict_proba"
        )
    whole = np.maximum(spread_columns(out_of_fold, seen, len(voted.classes)), np.finfo(np.float64).tiny)
    whole /= whole.sum(axis=1, keepdims=True)
    frame = pd.DataFrame({"task": voted.rows, "person": voted.people(), "label": voted.columns})
    wide = frame.drop_duplicates(["task", "person"]).pivot(index="task", columns="person", values="label")
    wide = wide.loc[known].reset_index(drop=True)
    wide.columns = pd.Index([str(name) for name in wide.columns])
    logging.getLogger("cleanlab").setLevel(logging.ERROR)
    with quiet():
        result = get_label_quality_multiannotator(
            wide, whole, return_annotator_stats=False, return_detailed_quality=False, verbose=False
        )["label_quality"]
    best = result["consensus_label"].to_numpy(dtype=np.int64)
    quality = result["consensus_quality_score"].to_numpy(dtype=np.float64)
    rest = whole.copy()
    at = np.arange(len(known))
    rest[at, best] = 0.0
    rest = shares(rest) * (1 - quality)[:, None]
    rest[at, best] += quality
    p[known] = rest / rest.sum(axis=1, keepdims=True)
    return p
