"""What all estimators share: reading votes, keeping them, and the scikit-learn habits around them.

X, y  ->  VoteTable (rows, columns, weights, annotators) in the user's numbering  ->  mass  ->  p
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_is_fitted, validate_data

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray
from softspread.errors import InputError
from softspread.graph.graph import Graph
from softspread.intervals.registry import INTERVALS
from softspread.intervals.task import IntervalMethod, IntervalTask, SpreadFit
from softspread.spreading.evidence import soft_labels
from softspread.votes.votes import Votes, VoteTable, check_retractions, has_vote, joined


class VotesEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: a subclass says how votes become mass."""

    prior: Any = None
    prior_strength: Any = 0.0

    # ------------------------------------------------------------------------------- what a subclass fills in
    def _check_parameters(self) -> None:
        raise NotImplementedError  # pragma: no cover

    def _spread(self) -> None:
        """Mass from all of ``votes_``."""
        raise NotImplementedError  # pragma: no cover

    def _spread_more(self, new: VoteTable) -> None:
        """Mass after ``new`` came in; ``votes_`` holds it already."""
        self._spread()

    def _spread_less(self) -> None:
        """Mass after an update failed half-way; ``votes_`` and ``classes_`` are as they were before."""
        self._spread()

    def _mass(self) -> FloatArray:
        raise NotImplementedError  # pragma: no cover

    def _mass_of_new(self, X: AnyArray) -> FloatArray:
        raise NotImplementedError  # pragma: no cover

    def _refine(self) -> None:
        """Bring mass to its full accuracy, where live updates left it rougher."""

    def _spread_fit(self) -> SpreadFit | None:
        """How votes were spread over a graph, for intervals that ask; None where they were not."""
        return None

    def _prior_of_new(self, X: AnyArray) -> FloatArray:
        return np.broadcast_to(self.prior_.mean(axis=0), (len(X), len(self.classes_)))

    # ------------------------------------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, *, item_ids: Any = None, classes: Any = None) -> "VotesEstimator":
        """Learn from votes on some of the items of X.

        Parameters
        ----------
        X : (n, d) array or frame, or a Graph
        y : (n,) labels with -1 (or None) for no vote, (n, n_classes) counts, or Votes
        item_ids : (n,) names by which Votes refer to items; else they refer to positions
        classes : ordered class names; else the labels found, sorted
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, item_ids, classes)
        except BaseException:  # a refused or interrupted fit leaves the estimator as it was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Any, y: Any, item_ids: Any, classes: Any) -> "VotesEstimator":
        self._check_parameters()
        votes = self._read_y(y, classes)
        if isinstance(X, Graph):
            if not self._accepts_graph:
                raise InputError(f"{type(self).__name__} needs the features of the items, not a Graph.")
            n = X.n_items
            self.n_features_in_ = X.features.shape[1] if X.features is not None else 0
            self._items: Any = X
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        else:
            self._items = self._read_features(X, reset=True)
            n = len(self._items)
        if not isinstance(y, Votes) and self._n_rows_of_y != n:
            raise InputError(f"X has {n} items but y has {self._n_rows_of_y} rows; they must agree.")
        self.n_items_ = n
        self.item_ids_ = None if item_ids is None else validation.item_ids(item_ids, n)
        ids = self.item_ids_ if isinstance(y, Votes) else None
        self.classes_ = validation.class_names(classes) if classes is not None else votes.class_names()
        rows = validation.rows_of_items(votes.items, ids, n)
        columns = validation.columns_of_labels(votes.labels, self.classes_)
        check_retractions(rows, columns, votes.annotators, votes.weights, (self.item_ids_, self.classes_))
        self.votes_ = VoteTable(rows, columns, votes.weights, votes.annotators)
        self._set_prior()
        self._spread()
        return self

    _accepts_graph = False
    _n_rows_of_y = 0

    def _read_features(self, X: Any, reset: bool) -> AnyArray:
        try:
            array = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=1)
        except ValueError as error:
            raise InputError(str(error)) from error
        return validation.not_too_large(np.asarray(array))

    def _read_y(self, y: Any, classes: Any) -> Votes:
        if isinstance(y, Votes):
            return y
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        table = validation.labels_or_counts(y)
        self._n_rows_of_y = len(table) if table.ndim else 0
        if table.ndim == 2 and table.shape[1] != 1:
            return Votes.from_counts(table, classes=y.columns if isinstance(y, pd.DataFrame) else classes)
        if table.ndim == 2:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected; reading it as labels.",
                DataConversionWarning,
                stacklevel=3,
            )
            table = table.ravel()
        if table.ndim != 1:
            raise InputError(
                f"y must be labels (n,), counts (n, n_classes) or Votes, got shape {table.shape}."
            )
        try:
            if table.dtype.kind == "f":
                table = _check_y(table)  # scikit-learn's words for NaN and infinity
            voted = np.flatnonzero(has_vote(table))
            labels = validation.names(table[voted], "label")
            if labels.dtype.kind == "f":
                check_classification_targets(labels)  # numbers that are not whole are no classes
        except ValueError as error:
            raise InputError(str(error)) from error
        return Votes.from_pairs(voted, labels)

    def _set_prior(self) -> None:
        n, n_classes = self.n_items_, len(self.classes_)
        given = self.prior
        if given is None:
            self.prior_ = np.broadcast_to(np.full(n_classes, 1 / max(1, n_classes)), (n, n_classes))
        else:
            self.prior_ = validation.prior(given, n, n_classes)

    # -------------------------------------------------------------------------------------------- later votes
    def update(
        self, items: Any, labels: Any, annotators: Any = None, weights: Any = None
    ) -> "VotesEstimator":
        """Take in further votes; a class first seen now is appended to ``classes_``."""
        check_is_fitted(self)
        votes = Votes.from_pairs(*_listed(items, labels, annotators), weights)
        return self._take_in(votes)

    def undo(self, items: Any, labels: Any, annotators: Any = None, weights: Any = None) -> "VotesEstimator":
        """Take votes back, the exact inverse of :meth:`update`; votes never cast are refused."""
        check_is_fitted(self)
        votes = Votes.from_pairs(*_listed(items, labels, annotators), weights)
        known = validation.lookup(self.classes_).get_indexer(validation.lookup(votes.labels))
        if (known < 0).any():
            never = votes.labels[known < 0].tolist()[0]
            raise InputError(f"cannot take back a vote that was never cast: no vote names {never!r}.")
        return self._take_in(Votes(votes.items, votes.labels, -votes.weights, votes.annotators))

    def _take_in(self, votes: Votes) -> "VotesEstimator":
        rows = validation.rows_of_items(votes.items, self.item_ids_, self.n_items_)
        seen = validation.lookup(self.classes_)
        unseen = votes.labels[seen.get_indexer(validation.lookup(votes.labels)) < 0]
        new_classes = validation.distinct_sorted(unseen) if len(unseen) else unseen
        classes = joined(self.classes_, new_classes) if len(new_classes) else self.classes_
        new = VoteTable(
            rows, validation.columns_of_labels(votes.labels, classes), votes.weights, votes.annotators
        )
        self._check_later_retractions(new, classes)
        # Nothing was changed up to here: a refused update leaves the estimator as it was.
        before = self.classes_, self.prior_
        self.classes_ = classes
        if len(new_classes):
            self._widen_prior(len(new_classes))
        self.votes_.append(new)
        try:
            self._spread_more(new)
        except BaseException:  # neither does one that fails or is interrupted
            self.votes_.forget(len(new))
            self.classes_, self.prior_ = before
            self._spread_less()
            raise
        return self

    def _check_later_retractions(self, new: VoteTable, classes: AnyArray) -> None:
        if not (new.weights < 0).any():
            return
        both = self.votes_.on_items(new.rows)
        both.append(new)
        check_retractions(both.rows, both.columns, both.annotators, both.weights, (self.item_ids_, classes))

    def _widen_prior(self, n_new: int) -> None:
        if self.prior is None:
            self._set_prior()
        else:  # a prior that never heard of a class gives it nothing
            self.prior_ = np.hstack([self.prior_, np.zeros((self.n_items_, n_new))])

    # ------------------------------------------------------------------------------------------------ answers
    def predict_freq(self, X: Any = None) -> FloatArray:
        """Mass per class, (n, n_classes): how many virtual votes each item has received."""
        new = self._checked(X)
        return self._mass() if new is None else self._mass_of_new(new)

    def predict_proba(self, X: Any = None) -> FloatArray:
        """Soft labels, (n, n_classes), of the fitted items or of new ones."""
        new = self._checked(X)
        if new is None:
            return soft_labels(self._mass(), self.prior_, self._prior_strength())
        return soft_labels(self._mass_of_new(new), self._prior_of_new(new), self._prior_strength())

    def predict(self, X: Any = None) -> AnyArray:
        """The most probable class of each item."""
        p = self.predict_proba(X)
        return np.asarray(self.classes_[p.argmax(axis=1)])

    def predict_interval(
        self,
        X: Any = None,
        confidence_level: float = 0.9,
        method: str | IntervalMethod = "wilson",
        lipschitz: float | None = None,
        simultaneous: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Lower and upper end of an interval for each soft label, (n, n_classes) each.

        Parameters
        ----------
        confidence_level : strictly between 0 and 1
        method : "wilson" reads mass as votes; "wilson_floor" rounds it down to whole votes first, as the
            paper does. Where votes are spread also: "hoeffding" holds for any soft labels that change by at
            most ``lipschitz`` per unit of distance; "calibrated" learns from items with two or more votes how
            far neighbours can be trusted. Or the name of a plug-in, or a function of an
            :class:`~softspread.intervals.task.IntervalTask`
        lipschitz : for "hoeffding": None estimates it from the soft labels of neighbours, 0 leaves the bias
            out
        simultaneous : hold for all classes of an item together, by a union bound
        """
        level = validation.between_0_and_1("confidence_level", confidence_level)
        find_interval = INTERVALS.find(method)
        new = self._checked(X)
        if getattr(find_interval, "needs_refined", False):
            self._refine()
        mass = self.predict_freq(X)
        n_together = mass.shape[1] if simultaneous else 1
        return find_interval(
            IntervalTask(self.predict_proba(X), mass, level, n_together, lipschitz, new, self._spread_fit())
        )

    @property
    def label_distributions_(self) -> FloatArray:
        """Soft labels of the fitted items, (n, n_classes)."""
        return self.predict_proba()

    @property
    def transduction_(self) -> AnyArray:
        """The most probable class of each fitted item, (n,)."""
        return self.predict()

    @property
    def evidence_(self) -> FloatArray:
        """How much each fitted item has received, (n,)."""
        return np.asarray(self.predict_freq().sum(axis=1))

    def _prior_strength(self) -> float:
        return float(self.prior_strength)

    def _checked(self, X: Any) -> AnyArray | None:
        check_is_fitted(self)
        if len(self.classes_) == 0:
            raise InputError("no class is known yet: pass classes to fit, or update with a first vote.")
        if X is None:
            return None
        if isinstance(self._items, Graph) and self._items.features is None:
            raise InputError(
                "this estimator was fitted on an affinity; it has no features to place new items by."
            )
        if isinstance(self._items, Graph):
            new = validation.features(X)
            if new.shape[1] != self.n_features_in_:
                raise InputError(
                    f"X has {new.shape[1]} features, the graph was made from {self.n_features_in_}."
                )
            return new
        return self._read_features(X, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "votes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _listed(items: Any, labels: Any, annotators: Any) -> tuple[Any, Any, Any]:
    """One vote may come without brackets."""
    if np.ndim(items) == 0:
        items = [items]
    size = len(items)
    labels = [labels] * size if np.ndim(labels) == 0 else labels
    annotators = [annotators] * size if annotators is not None and np.ndim(annotators) == 0 else annotators
    return items, labels, annotators
