"""Base of all estimators: votes, names, and the scikit-learn interface.

    X, y  ->  VoteTable (rows, columns, weights, annotators)  ->  Evidence  ->  soft labels with intervals

Here ids and class names become rows and columns, and results get their names back.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from softspread._common import validation
from softspread._common.columns import ITEM_NAMES
from softspread._common.types import AnyArray, FloatArray
from softspread._common.wording import counted
from softspread.errors import InputError, SoftspreadWarning
from softspread.graph.graph import Graph
from softspread.intervals.registry import INTERVALS
from softspread.intervals.task import IntervalMethod, IntervalTask, Posteriors, SpreadFit
from softspread.intervals.uncertainty import split_uncertainty_of, verdicts
from softspread.plots.accessor import Plots
from softspread.posterior.posterior import Posterior
from softspread.spreading.evidence import Evidence, SoftLabels
from softspread.votes.reading import NamedVotes, Names, read_y
from softspread.votes.standing import LAST, change, last_votes, votes_that_stand, warn_of_repeats
from softspread.votes.table import ROUNDING, VoteTable, joined
from softspread.votes.votes import Votes, has_vote


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Evidence and soft labels of the fitted items, or of new ones."""

    evidence: Evidence
    p: FloatArray  # (n, n_classes)
    X: AnyArray | None  # (n, d) of new items; None for the fitted ones
    posterior: Posterior | None = None  # of new items, where it was found on the way


class VotesEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: a subclass defines how votes become evidence."""

    prior: Any = None
    prior_strength_ = 0.0  # the baselines' prior only fills items without any evidence
    _accepts_graph = False
    _default_interval = "wilson"
    _has_posterior = False
    _items_moved = False  # whether items came or went since the fit
    _tells_fitted_from_new = False  # whether an item is answered differently if it comes as a new one
    _doc_link_module = "softspread"
    _doc_link_template = "https://arxiv.org/abs/2602.04574"  # the paper describes all four

    # ------------------------------------------------------------------------------- what a subclass fills in
    def _check_parameters(self) -> None:
        raise NotImplementedError  # pragma: no cover

    def _spread(self) -> None:
        """Spread all of ``_votes``."""
        raise NotImplementedError  # pragma: no cover

    def _look_over(self) -> None:
        """Warn of what a fit has shown."""

    def _spread_more(self, new: VoteTable) -> None:
        """Spread ``new``, which ``_votes`` holds already."""
        self._spread()

    def _spread_less(self) -> None:
        """After an update failed half-way; ``_votes`` and ``classes_`` are as they were before."""
        self._spread()

    def _spread_fewer_classes(self) -> None:
        """After an undo took the last classes away; ``_votes`` and ``classes_`` are without them."""
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

    def _posteriors(self, answer: Answer) -> Posteriors:
        """The posterior of the items, where the estimator has one."""
        raise NotImplementedError  # pragma: no cover

    # ------------------------------------------------------------------------------------------------ fitting
    def fit(
        self,
        X: ArrayLike | Graph,
        y: ArrayLike | Votes | NamedVotes,
        *,
        sample_weight: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn from votes on some of the items of X.

        Parameters
        ----------
        X : (n, d) array-like, or Graph
            Features of the items, one row each. Estimators that spread votes also take a graph.
        y : (n,) or (n, n_classes) array-like, or Votes
            One label per item with -1 or None for no vote, votes per item and class, or Votes. NamedVotes
            are votes that were read before: they bring their ids and classes along.
        sample_weight : (n,) array-like, optional
            How much each label counts, where y is one label per item; 0 is not a vote. Votes and counts bring
            weights of their own.
        item_ids : (n,) array-like, optional
            Names by which Votes refer to items; by default the index of X where X is a DataFrame whose index
            holds text or is called item (or task, id, ...), else positions.
        classes : (n_classes,) array-like, optional
            Class names in the order of columns; by default the labels found, sorted. Once given, a label
            outside is refused, here and by :meth:`update`.

        Returns
        -------
        self
            The fitted estimator.

        See Also
        --------
        update : Further votes on the same items.
        partial_fit : Further items.
        soft_labels : The answer, with intervals.

        Examples
        --------
        >>> from softspread import VoteHistogram, Votes
        >>> votes = Votes.from_pairs(["a", "a", "b"], ["yes", "no", "yes"])
        >>> VoteHistogram().fit([[0.0], [1.0]], votes, item_ids=["a", "b"]).predict_proba().tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        with self._unchanged_on_failure():
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
            self._classes_given = classes is not None
            ids = names_of(X) if item_ids is None else item_ids
            self._start(*read_y(y, n, ids, classes, weights=sample_weight))
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | Votes,
        classes: ArrayLike | None = None,
        *,
        item_ids: ArrayLike | None = None,
    ) -> Self:
        """Learn from a further batch of items and the votes on them.

        Batch by batch gives the same as one :meth:`fit` of all batches. New items change the graph, so that
        each call costs a fit; for further votes on known items :meth:`update` takes milliseconds.

        Parameters
        ----------
        X : (n, d) array-like
            Features of the batch. Without ids every row is a new item.
        y : (n,) or (n, n_classes) array-like, or Votes
            Votes on the items of the batch, in any form that :meth:`fit` takes.
        classes : (n_classes,) array-like, optional
            Class names, for the first call.
        item_ids : (n,) array-like, optional
            Names of the batch's items, if the first batch had names. A known name is the known item.

        Returns
        -------
        self
            The estimator, fitted to all batches so far.

        See Also
        --------
        fit : All items at once.
        update : Further votes on the same items.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> est = VoteHistogram().partial_fit([[0.0], [1.0]], [0, -1], classes=[0, 1])
        >>> est.partial_fit([[2.0]], [1]).vote_counts_.tolist()
        [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, item_ids=item_ids, classes=classes)
        item_ids = names_of(X) if item_ids is None else item_ids
        with self._unchanged_on_failure():
            self._check_parameters()
            items, new, names = self._batch(X, y, classes, item_ids)
            if names.n_items == self.n_items_:
                return self._add(new, names)
            votes = self._votes.cast.copy()
            votes.append(new)
            names.check_retractions(votes)
            self._items = items
            self._start(votes_that_stand(votes, self._votes.repeats), names)
        return self

    def _batch(
        self, X: ArrayLike, y: ArrayLike | Votes, classes: ArrayLike | None, item_ids: ArrayLike | None
    ) -> tuple[AnyArray, VoteTable, Names]:
        """All items with those of a further batch, its votes among them, and the names of all."""
        if isinstance(X, Graph) or isinstance(self._items, Graph):
            raise InputError("a Graph cannot grow; fit again with a larger one, or use update for votes.")
        if classes is not None and validation.class_names(classes).tolist() != self.classes_.tolist():
            raise InputError(f"the classes were fixed by the first batch: {self.classes_.tolist()[:20]}.")
        if (item_ids is None) != (self.item_ids_ is None):
            raise InputError("either every batch has item_ids or none has; the first one decides.")
        features = self._read_features(X, reset=False)
        # counts without names of their own are in the order of classes_
        in_order = not isinstance(y, Votes) and np.ndim(y) == 2 and not hasattr(y, "columns")
        standing, batch = read_y(y, len(features), item_ids, self.classes_ if in_order else None)
        votes = standing.cast
        names = self._names_with(batch.classes, None)
        rows, fresh = np.arange(len(features)) + self.n_items_, np.ones(len(features), dtype=bool)
        ids = None
        if batch.item_ids is not None and self.item_ids_ is not None:
            known = self._names.known_rows(batch.item_ids)
            fresh = known < 0
            rows = np.where(fresh, self.n_items_ + np.cumsum(fresh) - 1, known)
            ids = joined(self.item_ids_, batch.item_ids[fresh])
        columns = validation.columns_of_labels(batch.classes, names.classes)[votes.columns]
        new = VoteTable(rows[votes.rows], columns, votes.weights, votes.annotators)
        names = Names(self.n_items_ + int(fresh.sum()), ids, names.classes)
        return np.concatenate([self._items, features[fresh].astype(self._items.dtype)]), new, names

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        """A refused or interrupted fit leaves the estimator as it was."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _start(self, votes: VoteTable, names: Names) -> None:
        self._items_moved = False
        self._use_names(names)
        self._n_first_classes = len(names.classes)
        self._set_prior()
        self._votes = votes
        self._spread()
        self._look_over()

    def _use_names(self, names: Names) -> None:
        self._names = names
        self.n_items_, self.item_ids_, self.classes_ = names.n_items, names.item_ids, names.classes

    def _read_features(self, X: Any, reset: bool) -> AnyArray:
        return read_features(self, X, reset)

    def _set_prior(self) -> None:
        n, n_classes = self.n_items_, len(self.classes_)
        given = self.prior
        if given is None:
            self.prior_ = np.broadcast_to(np.full(n_classes, 1 / max(1, n_classes)), (n, n_classes))
        else:
            self.prior_ = self._names.prior(given)

    # -------------------------------------------------------------------------------------------- later votes
    def update(
        self,
        items: ArrayLike,
        labels: ArrayLike,
        annotators: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        *,
        new_classes: str | None = None,
    ) -> Self:
        """Add votes; only the new votes cost work.

        What was chosen by the fit, alpha above all, stays: fit again after many new votes.

        Parameters
        ----------
        items : (m,) array-like, or one item
            Ids of the voted items, or positions where items have no ids.
        labels : (m,) array-like, or one label
            The class of each vote.
        annotators : (m,) array-like, or one name, optional
            Who cast each vote.
        weights : (m,) array-like or float, optional
            How much each vote counts; 1 by default, negative takes back.
        new_classes : {None, "add"}, default None
            What to do with a label that is not a class yet: "add" appends it to ``classes_``; None does so
            unless ``fit`` was given ``classes``, and refuses it then.

        Returns
        -------
        self
            The estimator with the new votes.

        See Also
        --------
        undo : The inverse.
        partial_fit : Further items.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> est = VoteHistogram().fit([[0.0], [1.0]], [0, 1])
        >>> est.update([0, 0], [1, 1]).vote_counts_[0].tolist()
        [1.0, 2.0]
        """
        check_is_fitted(self)
        if new_classes is not None:
            validation.choice("new_classes", new_classes, ("add",), "or None")
        votes = Votes.from_pairs(*_listed(items, labels, annotators), weights)
        names = self._names_with(votes.labels, new_classes)
        return self._add(names.table(votes), names)

    def undo(
        self,
        items: ArrayLike,
        labels: ArrayLike,
        annotators: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Take votes back, the exact inverse of :meth:`update`.

        Parameters
        ----------
        items : (m,) array-like, or one item
            Ids of the voted items, or positions where items have no ids.
        labels : (m,) array-like, or one label
            The class of each vote.
        annotators : (m,) array-like, or one name, optional
            Who cast each vote; must be named if the vote was.
        weights : (m,) array-like or float, optional
            How much each vote counted; 1 by default.

        Returns
        -------
        self
            The estimator without these votes; votes never cast are refused. The latest classes that
            :meth:`update` added go with their last vote.

        See Also
        --------
        update : The inverse.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> est = VoteHistogram().fit([[0.0], [1.0]], [0, 1])
        >>> est.update(0, 1).undo(0, 1).vote_counts_.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        check_is_fitted(self)
        votes = Votes.from_pairs(*_listed(items, labels, annotators), weights)
        never = self._names.unknown(votes.labels).tolist()
        if never:
            raise InputError(f"cannot take back a vote that was never cast: no vote names {never[0]!r}.")
        table = self._names.table(votes)
        self._add(table.with_weights(-table.weights), self._names)
        return self._drop_late_classes()

    def _drop_late_classes(self) -> Self:
        """Take the last classes away again that an update added and that no vote names any more."""
        cast, n_classes = self._votes.cast, len(self.classes_)
        total, turnover = (
            np.bincount(cast.columns, weights, n_classes) for weights in (cast.weights, np.abs(cast.weights))
        )
        n_left = n_classes
        while n_left > self._n_first_classes and total[n_left - 1] <= ROUNDING * turnover[n_left - 1]:
            n_left -= 1
        if n_left == n_classes:
            return self
        for votes in {id(table): table for table in (cast, self._votes)}.values():
            votes.keep(votes.columns < n_left)
        self._use_names(replace(self._names, classes=self.classes_[:n_left]))
        if self.prior is None:
            self._set_prior()
        else:
            self.prior_ = np.ascontiguousarray(self.prior_[:, :n_left])
        self._spread_fewer_classes()
        return self

    def _names_with(self, labels: AnyArray, new_classes: str | None) -> Names:
        """The names with the classes that labels add, where they may."""
        unknown = self._names.unknown(labels)
        if len(unknown) and self._classes_given and new_classes != "add":
            raise InputError(
                f"{unknown.tolist()[0]!r} is not among the classes {self.classes_.tolist()[:20]} that fit "
                "was given; update(..., new_classes='add') adds it."
            )
        return self._names.with_classes(unknown)

    def _add(self, new: VoteTable, names: Names) -> Self:
        """Add votes on known items; a failure leaves the estimator as it was."""
        changed = self._change_by(new, names)
        before, votes = (self._names, self.prior_, self._votes.cast), self._votes
        n_new = len(names.classes) - len(self.classes_)
        self._use_names(names)
        if n_new:
            self._widen_prior(n_new)
        if changed is not new and votes.cast is votes:
            votes.cast = votes.copy()  # from here on not all that was cast stands
        if votes.cast is not votes:
            votes.cast.append(new)
        votes.append(changed)
        try:
            self._spread_more(changed)
        except BaseException:
            votes.forget(len(changed))
            if votes.cast is not votes:
                votes.cast.forget(len(new))
            votes.cast = before[2]
            self._use_names(before[0])
            self.prior_ = before[1]
            self._spread_less()
            raise
        return self

    def _change_by(self, new: VoteTable, names: Names) -> VoteTable:
        """The change by further votes: the votes themselves, with those that they replace or bring back."""
        votes, takes_back = self._votes, bool((new.weights < 0).any())
        may_repeat = new.annotators is not None and votes.repeats == LAST
        if not takes_back and not may_repeat:
            return new
        both = votes.cast.on_items(new.rows)
        n_before = last_votes(both)[1] if may_repeat else 0
        both.append(new)
        if takes_back:
            names.check_retractions(both)
        if not may_repeat:
            return new
        standing, n_replaced = last_votes(both)
        if n_replaced > n_before:
            what = f"{counted(n_replaced - n_before, 'vote')} by a person who had voted on the item before"
            warn_of_repeats(what, stacklevel=4)
        if votes.cast is votes and not n_replaced:
            return new
        return change(votes.on_items(new.rows), standing)

    def _widen_prior(self, n_new: int) -> None:
        if self.prior is None:
            self._set_prior()
        else:  # a prior that never heard of a class gives it nothing
            self.prior_ = np.hstack([self.prior_, np.zeros((self.n_items_, n_new))])

    # ------------------------------------------------------------------------------------------------ answers
    def predict_freq(self, X: ArrayLike | None = None, *, transductive: bool | None = None) -> FloatArray:
        """Mass per class: how many virtual votes each item has received.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.
        transductive : bool, optional
            True if X are the fitted items, see :meth:`predict_proba`.

        Returns
        -------
        (n, n_classes) array
            One row per item.

        See Also
        --------
        predict_proba : The same, normalised.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> VoteHistogram().fit([[0.0], [1.0]], [[2, 1], [0, 0]]).predict_freq().tolist()
        [[2.0, 1.0], [0.0, 0.0]]
        """
        return self._about(X, transductive).evidence.mass

    def predict_proba(self, X: ArrayLike | None = None, *, transductive: bool | None = None) -> FloatArray:
        """Soft labels of the fitted items, or of new ones.

        Items in X are *new* ones, also if they are equal to fitted items: they are answered from their
        neighbours alone, as one that was not there when votes were spread. For the fitted items leave X out.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.
        transductive : bool, optional
            True: X are the fitted items, which is checked, and the answer is theirs. This passes through a
            pipeline: ``pipe.predict_proba(X, transductive=True)``. By default X are new items, with a warning
            if they are exactly the fitted ones; False leaves the warning out.

        Returns
        -------
        (n, n_classes) array
            One row per item, which sums to 1.

        See Also
        --------
        soft_labels : The same with intervals and evidence.
        label_distributions_ : The same for the fitted items.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> est = VoteHistogram().fit([[0.0], [1.0]], [[3, 1], [0, 0]])
        >>> est.predict_proba().tolist()
        [[0.75, 0.25], [0.5, 0.5]]
        """
        return self._about(X, transductive).p

    def predict(self, X: ArrayLike | None = None, *, transductive: bool | None = None) -> AnyArray:
        """The most probable class of each item.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.
        transductive : bool, optional
            True if X are the fitted items, see :meth:`predict_proba`.

        Returns
        -------
        (n,) array
            Class names.

        See Also
        --------
        predict_proba : How probable each class is.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> VoteHistogram().fit([[0.0], [1.0]], ["yes", "no"]).predict().tolist()
        ['yes', 'no']
        """
        best = self._about(X, transductive).p.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of *new* items whose most probable class is the true one.

        Parameters
        ----------
        X : (m, d) array-like
            Features of new items, as for :meth:`predict`.
        y : (m,) array-like
            The true class of each; "no vote" (-1, None) is refused, because it is not a class.
        sample_weight : (m,) array-like, optional
            How much each item counts.

        Returns
        -------
        float
            Accuracy, between 0 and 1.

        See Also
        --------
        SoftLabeler.quality : The error of soft labels from votes alone.
        softspread.tune : Chooses settings by held-out votes, in place of ``GridSearchCV``.

        Examples
        --------
        >>> from softspread import KNeighborsVotes
        >>> KNeighborsVotes(n_neighbors=1).fit([[0.0], [9.0]], [0, 1]).score([[1.0], [8.0]], [0, 1])
        1.0
        """
        missing = 0 if isinstance(y, Votes) else int((~has_vote(np.asarray(y))).sum())
        if isinstance(y, Votes) or np.ndim(y) != 1 or missing:
            came = f"{missing:,} items without a vote" if missing else "votes"
            raise InputError(
                f"score compares with the true class of every item, and y holds {came}. To choose settings "
                "by votes, use softspread.tune or alpha='auto' in place of GridSearchCV; to judge them "
                "by votes, quality()."
            )
        return float(super().score(X, y, sample_weight))

    def predict_interval(
        self,
        X: ArrayLike | None = None,
        confidence_level: float = 0.9,
        method: str | IntervalMethod | None = None,
        lipschitz: float | None = None,
        simultaneous: bool = False,
        *,
        transductive: bool | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """An interval for each soft label.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.
        confidence_level : float, default 0.9
            Strictly between 0 and 1.
        method : str or function, optional
            By default "posterior" where votes are spread over a graph, else "wilson". "posterior": quantiles
            of what is known about each soft label, with everything open about how far neighbours can be
            trusted averaged over; wide while few items have two votes. "wilson" reads mass as votes;
            "wilson_floor" rounds it down to whole votes first, as the paper does; "goodman", "sison_glaz" and
            "dirichlet" read it as counts of a multinomial and hold for all classes of an item together, with
            or without ``simultaneous``. Where votes are spread also: "hoeffding" holds for any soft labels
            that change by at most ``lipschitz`` per unit of distance; "calibrated", an older rule for many
            repeated votes. Or the name of a plug-in, or a function of an
            :class:`~softspread.intervals.task.IntervalTask`.
        lipschitz : float, optional
            For "hoeffding": by default estimated from the votes, rather too large than too small; a
            warning says so where that leaves next to nothing out. 0 leaves the bias out.
        simultaneous : bool, default False
            Hold for all classes of an item together, by a union bound.
        transductive : bool, optional
            True if X are the fitted items, see :meth:`predict_proba`.

        Returns
        -------
        lower, upper : (n, n_classes) array
            Ends of the intervals, in [0, 1].

        See Also
        --------
        soft_labels : Soft labels with their intervals, in one object.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> lower, upper = VoteHistogram().fit([[0.0]], [[3, 1]]).predict_interval(confidence_level=0.8)
        >>> lower.round(2).tolist(), upper.round(2).tolist()
        ([[0.43, 0.08]], [[0.92, 0.57]])
        """
        if isinstance(X, Real):
            raise InputError(
                f"X must hold the features of new items, got the number {X!r}; did you mean "
                f"predict_interval(confidence_level={X!r})?"
            )
        about = partial(self._about, X, transductive)
        return self._with_interval(about, confidence_level, method, lipschitz, simultaneous)[1:]

    def soft_labels(
        self,
        confidence_level: float = 0.9,
        method: str | IntervalMethod | None = None,
        *,
        lipschitz: float | None = None,
        simultaneous: bool = False,
    ) -> SoftLabels:
        """Soft labels of the fitted items with evidence and intervals, in one object.

        Parameters
        ----------
        confidence_level : float, default 0.9
            Of the intervals, strictly between 0 and 1.
        method : str or function, optional
            How intervals are found, see :meth:`predict_interval`.
        lipschitz : float, optional
            For the method "hoeffding", see :meth:`predict_interval`.
        simultaneous : bool, default False
            Whether the intervals of an item hold for all classes together.

        Returns
        -------
        SoftLabels
            With ids, classes, p, evidence, lower, upper and verdict; ``to_frame()`` is one row per item. A
            :class:`SoftLabeler` of kind "ordinal" adds the expected level with its interval, one of kind
            "multilabel" evidence and verdict of each class.

        See Also
        --------
        predict_proba : Soft labels alone, also of new items.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> VoteHistogram().fit([[0.0], [1.0]], [[3, 1], [0, 2]]).soft_labels()
        SoftLabels(2 items, 2 classes: 0, 1; median evidence 3; with intervals)
        >>> from softspread import SoftLabeler
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> ordinal = SoftLabeler(n_neighbors=1, kind="ordinal").fit(X, [1, -1, -1, 3], classes=[1, 2, 3])
        >>> ordinal.soft_labels().more["expected_level"].round(1).tolist()
        [1.5, 1.8, 2.2, 2.5]
        >>> several = SoftLabeler(n_neighbors=1, kind="multilabel").fit(X, [["red", "big"], ["red"], [], []])
        >>> several.soft_labels()
        SoftLabels(4 items, 2 classes: big, red; median evidence 2.02; with intervals)
        """
        about = partial(self._about, None)
        answer, lower, upper = self._with_interval(about, confidence_level, method, lipschitz, simultaneous)
        ids = self._names.items(np.arange(self.n_items_))
        found = SoftLabels(ids, self.classes_, answer.p, answer.evidence.total, lower, upper)
        verdict = self._verdict(found, answer, confidence_level, method)
        return replace(found, verdict=verdict, **self._further(answer, confidence_level))

    def _further(self, answer: Answer, level: float) -> dict[str, Any]:
        """Further fields of soft labels, of classes that have an order."""
        return {}

    def to_frame(self) -> pd.DataFrame:
        """The answer as a table, one row per fitted item.

        Returns
        -------
        pandas.DataFrame
            Columns item, p_<class>, evidence, lower_<class>, upper_<class> and verdict, as
            :meth:`soft_labels` gives them at its defaults.

        See Also
        --------
        soft_labels : The same as an object, with other intervals.

        Examples
        --------
        >>> from softspread import VoteHistogram
        >>> VoteHistogram().fit([[0.0], [1.0]], [[3, 1], [0, 2]]).to_frame()["p_1"].tolist()
        [0.25, 1.0]
        """
        return self.soft_labels().to_frame()

    @property
    def plot(self) -> Plots:
        """Pictures on matplotlib axes, such as ``est.plot.map()``; needs the extra ``plots``."""
        check_is_fitted(self)
        return Plots(self, self._features_of_items)

    def _features_of_items(self) -> AnyArray | None:
        """Features of the fitted items; None where there is only an affinity."""
        features: AnyArray | None = self._items.features if isinstance(self._items, Graph) else self._items
        return features

    def _verdict(
        self, labels: SoftLabels, answer: Answer, level: float, method: str | IntervalMethod | None
    ) -> AnyArray:
        """Clear, ambiguous or not enough votes: from the posterior, or from intervals of another kind."""
        if self._reads_posterior(method):
            return verdicts(self._posteriors(answer).asked, level, len(self.classes_))
        return split_uncertainty_of(labels).verdict

    def _reads_posterior(self, method: str | IntervalMethod | None) -> bool:
        """Whether intervals by this method are quantiles of the posterior."""
        return self._has_posterior and (self._default_interval if method is None else method) == "posterior"

    def _with_interval(
        self,
        about: Callable[[], Answer],
        level: float,
        method: str | IntervalMethod | None,
        lipschitz: float | None,
        simultaneous: bool,
    ) -> tuple[Answer, FloatArray, FloatArray]:
        level = validation.between_0_and_1("confidence_level", level)
        find_interval = INTERVALS.find(self._default_interval if method is None else method)
        check_is_fitted(self)
        if getattr(find_interval, "needs_refined", False):
            self._refine()
        answer = about()
        mass = answer.evidence.mass
        n_together = mass.shape[1] if simultaneous else 1
        spread, posteriors = self._spread_fit(answer), partial(self._posteriors, answer)
        task = IntervalTask(
            answer.p,
            mass,
            level,
            n_together,
            lipschitz,
            answer.X,
            spread,
            posteriors if self._has_posterior else None,
        )
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
        """How many virtual votes each fitted item has received, (n,)."""
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

    def _about(self, X: ArrayLike | None, transductive: bool | None = None) -> Answer:
        """Evidence and soft labels of the fitted items (X is None), or of new ones."""
        new = self._checked(X, transductive)
        evidence, prior = (self._evidence(), self.prior_) if new is None else self._evidence_of_new(new)
        return Answer(evidence, evidence.soft_labels(prior, self.prior_strength_), new)

    def _checked(self, X: ArrayLike | None, transductive: bool | None = None) -> AnyArray | None:
        """Features of new items; None for the fitted ones."""
        check_is_fitted(self)
        if len(self.classes_) == 0:
            raise InputError("no class is known yet: pass classes to fit, or update with a first vote.")
        if X is None:
            return None
        new = self._features_of_newcomers(X)
        if transductive is False or not (transductive or self._tells_fitted_from_new):
            return new
        same = np.array_equal(new, np.asarray(self._features_of_items()))
        if transductive and not same:
            raise InputError(
                "transductive=True asks about the fitted items, and X holds others; leave X out for the "
                "fitted items, or transductive for new ones."
            )
        if same and not transductive:
            warnings.warn(
                "X are the fitted items, answered here as if they were new, from their neighbours alone. "
                "Leave X out for their own soft labels, or pass transductive=True, also through a pipeline; "
                "transductive=False leaves this warning out.",
                SoftspreadWarning,
                stacklevel=4,
            )
        return None if transductive else new

    def _features_of_newcomers(self, X: Any) -> AnyArray:
        """Features of items beside the fitted ones."""
        if self._features_of_items() is None:
            raise InputError(
                "this estimator was fitted on an affinity; it has no features to place new items by."
            )
        if not isinstance(self._items, Graph):
            return self._read_features(X, reset=False)
        new = validation.features(X)
        if new.shape[1] != self.n_features_in_:
            raise InputError(f"X has {new.shape[1]} features, the graph was made from {self.n_features_in_}.")
        return new

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_votes")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def read_features(est: BaseEstimator, X: Any, reset: bool) -> AnyArray:
    """(n, d) numbers as scikit-learn checks them; with ``reset`` a fit learns how many, and their names."""
    X = validation.dense(X)
    validation.refuse_path(X)
    try:
        array = validate_data(est, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=1)
    except ValueError as error:
        raise InputError(validation.problem_of_features(error, X)) from error
    return validation.not_too_large(np.asarray(array))


def names_of(X: Any) -> Any:
    """The index of a DataFrame where it names items.

    Distinct text does, and any index that is called item or the like. Other numbers may be what a shuffle or
    a selection left of positions: votes then name positions in X.
    """
    if not isinstance(X, pd.DataFrame) or isinstance(X.index, pd.MultiIndex) or not X.index.is_unique:
        return None
    if X.index.name in ITEM_NAMES or all(isinstance(name, str) for name in X.index):
        return X.index
    return None


def _listed(items: Any, labels: Any, annotators: Any) -> tuple[Any, Any, Any]:
    """One vote may come without brackets."""
    if np.ndim(items) == 0:
        items = [items]
    size = len(items)
    labels = [labels] * size if np.ndim(labels) == 0 else labels
    annotators = [annotators] * size if annotators is not None and np.ndim(annotators) == 0 else annotators
    return items, labels, annotators
