"""What all estimators share: keeping votes, and the scikit-learn habits around them.

    X, y  ->  VoteTable (rows, columns, weights, annotators)  ->  Evidence  ->  soft labels with intervals

Here ids and class names become rows and columns, and results get their names back.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray
from softspread.errors import InputError
from softspread.graph.graph import Graph
from softspread.intervals.registry import INTERVALS
from softspread.intervals.task import IntervalMethod, IntervalTask, SpreadFit
from softspread.spreading.evidence import Evidence, SoftLabels
from softspread.votes.reading import Names, read_y
from softspread.votes.table import VoteTable
from softspread.votes.votes import Votes


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What is known about the fitted items, or about new ones."""

    evidence: Evidence
    p: FloatArray  # (n, n_classes)
    X: AnyArray | None  # (n, d) of new items; None for the fitted ones


class VotesEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: a subclass says how votes become mass."""

    prior: Any = None
    prior_strength: Any = 0.0

    # ------------------------------------------------------------------------------- what a subclass fills in
    def _check_parameters(self) -> None:
        raise NotImplementedError  # pragma: no cover

    def _spread(self) -> None:
        """Spread all of ``_votes``."""
        raise NotImplementedError  # pragma: no cover

    def _spread_more(self, new: VoteTable) -> None:
        """Spread ``new``, which ``_votes`` holds already."""
        self._spread()

    def _spread_less(self) -> None:
        """After an update failed half-way; ``_votes`` and ``classes_`` are as they were before."""
        self._spread()

    def _evidence(self) -> Evidence:
        raise NotImplementedError  # pragma: no cover

    def _evidence_of_new(self, X: AnyArray) -> tuple[Evidence, FloatArray]:
        """Evidence about new items, and their prior."""
        raise NotImplementedError  # pragma: no cover

    def _refine(self) -> None:
        """Bring mass to its full accuracy, where live updates left it rougher."""

    def _spread_fit(self, answer: Answer) -> SpreadFit | None:
        """How votes were spread over a graph, for intervals that ask; None where they were not."""
        return None

    # ------------------------------------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, *, item_ids: Any = None, classes: Any = None) -> Self:
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

    def _fit(self, X: Any, y: Any, item_ids: Any, classes: Any) -> Self:
        self._check_parameters()
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
        self._votes, names = read_y(y, n, item_ids, classes)
        self._use_names(names)
        self._set_prior()
        self._spread()
        return self

    def _use_names(self, names: Names) -> None:
        self._names = names
        self.n_items_, self.item_ids_, self.classes_ = names.n_items, names.item_ids, names.classes

    _accepts_graph = False

    def _read_features(self, X: Any, reset: bool) -> AnyArray:
        try:
            array = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=1)
        except ValueError as error:
            raise InputError(str(error)) from error
        return validation.not_too_large(np.asarray(array))

    def _set_prior(self) -> None:
        n, n_classes = self.n_items_, len(self.classes_)
        given = self.prior
        if given is None:
            self.prior_ = np.broadcast_to(np.full(n_classes, 1 / max(1, n_classes)), (n, n_classes))
        else:
            self.prior_ = validation.prior(given, n, n_classes)

    # -------------------------------------------------------------------------------------------- later votes
    def update(self, items: Any, labels: Any, annotators: Any = None, weights: Any = None) -> Self:
        """Take in further votes; a class first seen now is appended to ``classes_``."""
        check_is_fitted(self)
        return self._take_in(Votes.from_pairs(*_listed(items, labels, annotators), weights))

    def undo(self, items: Any, labels: Any, annotators: Any = None, weights: Any = None) -> Self:
        """Take votes back, the exact inverse of :meth:`update`; votes never cast are refused."""
        check_is_fitted(self)
        votes = Votes.from_pairs(*_listed(items, labels, annotators), weights)
        never = self._names.unknown(votes.labels).tolist()
        if never:
            raise InputError(f"cannot take back a vote that was never cast: no vote names {never[0]!r}.")
        return self._take_in(Votes(votes.items, votes.labels, -votes.weights, votes.annotators))

    def _take_in(self, votes: Votes) -> Self:
        new_classes = self._names.unknown(votes.labels)
        names = self._names.with_classes(new_classes)
        new = names.table(votes)
        if (new.weights < 0).any():
            both = self._votes.on_items(new.rows)
            both.append(new)
            names.check_retractions(both)
        # Nothing was changed up to here: a refused update leaves the estimator as it was.
        before = self._names, self.prior_
        self._use_names(names)
        if len(new_classes):
            self._widen_prior(len(new_classes))
        self._votes.append(new)
        try:
            self._spread_more(new)
        except BaseException:  # neither does one that fails or is interrupted
            self._votes.forget(len(new))
            self._use_names(before[0])
            self.prior_ = before[1]
            self._spread_less()
            raise
        return self

    def _widen_prior(self, n_new: int) -> None:
        if self.prior is None:
            self._set_prior()
        else:  # a prior that never heard of a class gives it nothing
            self.prior_ = np.hstack([self.prior_, np.zeros((self.n_items_, n_new))])

    # ------------------------------------------------------------------------------------------------ answers
    def predict_freq(self, X: Any = None) -> FloatArray:
        """Mass per class, (n, n_classes): how many virtual votes each item has received."""
        return self._about(X).evidence.mass

    def predict_proba(self, X: Any = None) -> FloatArray:
        """Soft labels, (n, n_classes), of the fitted items or of new ones."""
        return self._about(X).p

    def predict(self, X: Any = None) -> AnyArray:
        """The most probable class of each item."""
        best = self._about(X).p.argmax(axis=1)
        return np.asarray(self.classes_[best])

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
        return self._with_interval(X, confidence_level, method, lipschitz, simultaneous)[1:]

    def soft_labels(
        self,
        confidence_level: float = 0.9,
        method: str | IntervalMethod = "wilson",
        *,
        lipschitz: float | None = None,
        simultaneous: bool = False,
    ) -> SoftLabels:
        """Soft labels of the fitted items with evidence and intervals, in one object.

        Parameters are those of :meth:`predict_interval`.
        """
        answer, lower, upper = self._with_interval(None, confidence_level, method, lipschitz, simultaneous)
        ids = self._names.items(np.arange(self.n_items_))
        return SoftLabels(ids, self.classes_, answer.p, answer.evidence.total, lower, upper)

    def _with_interval(
        self,
        X: Any,
        level: float,
        method: str | IntervalMethod,
        lipschitz: float | None,
        simultaneous: bool,
    ) -> tuple[Answer, FloatArray, FloatArray]:
        level = validation.between_0_and_1("confidence_level", level)
        find_interval = INTERVALS.find(method)
        self._checked(X)
        if getattr(find_interval, "needs_refined", False):
            self._refine()
        answer = self._about(X)
        mass = answer.evidence.mass
        n_together = mass.shape[1] if simultaneous else 1
        spread = self._spread_fit(answer)
        task = IntervalTask(answer.p, mass, level, n_together, lipschitz, answer.X, spread)
        return answer, *find_interval(task)

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
        return self._about(None).evidence.total

    @property
    def votes_(self) -> Votes:
        """All votes so far, with the names of items and classes."""
        check_is_fitted(self)
        return self._names.votes(self._votes)

    @property
    def vote_counts_(self) -> FloatArray:
        """Each fitted item's own votes per class, (n, n_classes)."""
        check_is_fitted(self)
        return self._votes.counts(self.n_items_, len(self.classes_))

    def _about(self, X: Any) -> Answer:
        """Evidence and soft labels of the fitted items (X is None), or of new ones."""
        new = self._checked(X)
        evidence, prior = (self._evidence(), self.prior_) if new is None else self._evidence_of_new(new)
        return Answer(evidence, evidence.soft_labels(prior, self._prior_strength()), new)

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
        return hasattr(self, "_votes")

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
