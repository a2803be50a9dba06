"""Items that may have several classes: one yes/no question per class, on one graph.

{class: votes for yes or no}  ->  an estimator per class on a shared graph  ->  P(yes) per item and class
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, RandomState
from softspread.errors import InputError
from softspread.estimators.graph_based import GraphEstimator
from softspread.estimators.labeler import SoftLabeler
from softspread.graph.graph import Graph
from softspread.spreading.evidence import SoftLabels
from softspread.votes.multilabel import ANSWERS, Choices, multilabel_votes, questions_of
from softspread.votes.votes import Votes

YES = 1  # column of ANSWERS


class MultilabelLabeler(BaseEstimator):  # type: ignore[misc]
    """Soft labels where an item may have several classes: a probability per class, which need not sum to 1.

    Each class is a question with the answers yes and no, and has the estimator's own answer to it: a
    posterior, experts, annotators and quality of its own. All share one graph of the items.

    Parameters
    ----------
    estimator : SoftLabeler or ProbabilisticLabelSpreading, optional
        What answers each question; a SoftLabeler by default. A ``prior`` holds P(yes) per item and class.

    Attributes
    ----------
    classes_ : (n_classes,) array
        Class names, in the order of columns.
    questions_ : dict
        The fitted estimator of each class.
    graph_ : Graph
        The graph that all of them share.

    See Also
    --------
    multilabel_votes : Lists of labels or tables of yes and no as votes.
    SoftLabeler : Items that have exactly one class.

    Examples
    --------
    >>> X = [[0.0], [0.1], [9.0], [9.1]]
    >>> lab = MultilabelLabeler(estimator=SoftLabeler(n_neighbors=1))
    >>> lab = lab.fit(X, [[1, 1], [None, None], [0, 1], [0, 1]])
    >>> bool(lab.predict_proba()[0, 0] > lab.predict_proba()[2, 0])
    True
    """

    def __init__(self, *, estimator: GraphEstimator | None = None) -> None:
        self.estimator = estimator

    def fit(
        self,
        X: ArrayLike | Graph,
        y: Choices | Mapping[Any, Votes],
        *,
        item_ids: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn from answers on some of the items of X.

        Parameters
        ----------
        X : (n, d) array-like, or Graph
            Features of the items, one row each, or their graph.
        y : (n, n_classes) table, list of lists of labels, or dict of Votes
            One row per item of 1 (yes), 0 (no) or NaN (nothing); the labels of each item, which say no to the
            rest; or what :func:`~softspread.multilabel_votes` makes.
        item_ids : (n,) array-like, optional
            Names by which votes refer to items; by default they refer to positions.
        classes : (n_classes,) array-like, optional
            Class names in the order of columns.

        Returns
        -------
        self
            The fitted estimator.

        See Also
        --------
        soft_labels : The answer, with intervals.

        Examples
        --------
        >>> lab = MultilabelLabeler(estimator=SoftLabeler(n_neighbors=1))
        >>> lab.fit([[0.0], [0.1], [9.0]], [["red", "big"], ["red"], []]).classes_.tolist()
        ['big', 'red']
        """
        votes = questions_of(y, classes)
        asked = SoftLabeler() if self.estimator is None else self.estimator
        if not isinstance(asked, GraphEstimator):
            raise InputError(
                f"estimator must be a SoftLabeler or a ProbabilisticLabelSpreading, got {asked!r}."
            )
        items, found = X, {}
        for column, (name, answers) in enumerate(votes.items()):
            one = clone(asked).set_params(prior=_prior_of(asked.prior, column, len(votes)))
            found[name] = one.fit(items, answers, item_ids=item_ids, classes=ANSWERS)
            items = one.graph_
        self.questions_: dict[Any, GraphEstimator] = found
        self.classes_ = validation.class_names(list(found))
        self.graph_ = items
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "questions_")

    def _each(self) -> list[Any]:
        check_is_fitted(self)
        return list(self.questions_.values())

    def update(
        self, items: ArrayLike, choices: Choices, annotators: ArrayLike | None = None, *, rest: str = "no"
    ) -> Self:
        """Take in further answers; only their work is done.

        Parameters
        ----------
        items : (m,) array-like
            The item of each row.
        choices : list of lists of labels, or (m, n_classes) table
            As for :func:`~softspread.multilabel_votes`.
        annotators : (m,) array-like, optional
            Who answered each row.
        rest : {"no", "nothing"}, default "no"
            What a list of labels says about the classes that it leaves out.

        Returns
        -------
        self
            The estimator with the new answers; if one is refused, none is taken.

        See Also
        --------
        fit : The first answers.

        Examples
        --------
        >>> one = SoftLabeler(n_neighbors=1)
        >>> lab = MultilabelLabeler(estimator=one).fit([[0.0], [1.0]], [["a", "b"], ["b"]])
        >>> lab.update([1], [["a"]]).questions_["a"].vote_counts_.tolist()
        [[0.0, 1.0], [1.0, 1.0]]
        """
        check_is_fitted(self)
        new = multilabel_votes(choices, items, annotators, classes=self.classes_, rest=rest)
        taken: list[tuple[Any, Votes]] = []
        try:
            for name, votes in new.items():
                if len(votes):
                    self.questions_[name].update(votes.items, votes.labels, votes.annotators)
                    taken.append((self.questions_[name], votes))
        except Exception:  # what one question refuses, none keeps
            for question, votes in reversed(taken):
                question.undo(votes.items, votes.labels, votes.annotators)
            raise
        return self

    def predict_proba(self, X: ArrayLike | None = None) -> FloatArray:
        """Probability of yes per item and class.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.

        Returns
        -------
        (n, n_classes) array
            Rows need not sum to 1.

        See Also
        --------
        soft_labels : The same with intervals and evidence.

        Examples
        --------
        >>> one = SoftLabeler(n_neighbors=1)
        >>> lab = MultilabelLabeler(estimator=one).fit([[0.0], [1.0]], [["a", "b"], ["b"]])
        >>> lab.predict_proba().shape
        (2, 2)
        """
        return np.column_stack([est.predict_proba(X)[:, YES] for est in self._each()])

    def predict(self, X: ArrayLike | None = None) -> AnyArray:
        """Whether each item has each class: its probability is at least one half.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.

        Returns
        -------
        (n, n_classes) array of int
            1 for yes, 0 for no.

        See Also
        --------
        predict_proba : How probable yes is.

        Examples
        --------
        >>> one = SoftLabeler(n_neighbors=1)
        >>> lab = MultilabelLabeler(estimator=one).fit([[0.0], [1.0]], [["a", "b"], ["b"]])
        >>> lab.predict()[:, 1].tolist()
        [1, 1]
        """
        return (self.predict_proba(X) >= 0.5).astype(np.int64)

    def soft_labels(self, confidence_level: float = 0.9) -> dict[Any, SoftLabels]:
        """Soft labels of the fitted items per class, each with evidence, interval and verdict.

        Parameters
        ----------
        confidence_level : float, default 0.9
            Of the intervals, strictly between 0 and 1.

        Returns
        -------
        dict of SoftLabels
            For each class the soft labels of no (False) and yes (True).

        See Also
        --------
        to_frame : The same as one table.

        Examples
        --------
        >>> one = SoftLabeler(n_neighbors=1)
        >>> lab = MultilabelLabeler(estimator=one).fit([[0.0], [1.0]], [["a", "b"], ["b"]])
        >>> lab.soft_labels()["a"].classes.tolist()
        [False, True]
        """
        return dict(
            zip(self.classes_, (est.soft_labels(confidence_level) for est in self._each()), strict=True)
        )

    def to_frame(self, confidence_level: float = 0.9) -> pd.DataFrame:
        """One row per fitted item.

        Parameters
        ----------
        confidence_level : float, default 0.9
            Of the intervals, strictly between 0 and 1.

        Returns
        -------
        pandas.DataFrame
            Columns item, then for each class p, evidence, lower, upper and verdict, as ``p_<class>``.

        See Also
        --------
        soft_labels : The same as objects.

        Examples
        --------
        >>> lab = MultilabelLabeler(estimator=SoftLabeler(n_neighbors=1)).fit([[0.0], [1.0]], [["a"], []])
        >>> lab.to_frame().columns.tolist()
        ['item', 'p_a', 'evidence_a', 'lower_a', 'upper_a', 'verdict_a']
        """
        found = self.soft_labels(confidence_level)
        columns: dict[str, AnyArray] = {"item": next(iter(found.values())).ids}
        for name, labels in found.items():
            columns[f"p_{name}"], columns[f"evidence_{name}"] = labels.p[:, YES], labels.evidence
            for end, values in (("lower", labels.lower), ("upper", labels.upper)):
                columns[f"{end}_{name}"] = np.asarray(values)[:, YES]
            columns[f"verdict_{name}"] = np.asarray(labels.verdict)
        return pd.DataFrame(columns)

    def quality(self, *, random_state: RandomState = None) -> pd.DataFrame:
        """How good the soft labels are, without ground truth: per class and overall.

        Parameters
        ----------
        random_state : int, Generator or None, optional
            Seeds what is drawn at random.

        Returns
        -------
        pandas.DataFrame
            One row per class: the estimated RMSE of P(yes) with its interval, accuracy and number of votes.
            The last row, "overall", holds the root of the mean squared RMSE and the mean accuracy.

        See Also
        --------
        SoftLabeler.quality : Of one question.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = np.where(np.arange(200)[:, None] % 2, np.nan, X > 0)
        >>> MultilabelLabeler().fit(X, y).quality(random_state=0)["class"].tolist()
        [0, 1, 'overall']
        """
        rows = []
        for name, est in zip(self.classes_.tolist(), self._each(), strict=True):
            found = est.quality(random_state=random_state)
            rmse = found.rmse
            rows.append((name, rmse.value, rmse.lower, rmse.upper, found.accuracy.value, found.n_votes))
        frame = pd.DataFrame(rows, columns=["class", "rmse", "lower", "upper", "accuracy", "n_votes"])
        root = float(np.sqrt((frame["rmse"] ** 2).mean()))
        overall = ("overall", root, np.nan, np.nan, frame["accuracy"].mean(), frame["n_votes"].sum())
        return pd.DataFrame([*rows, overall], columns=frame.columns)

    def query(self, batch_size: int = 1, *, random_state: RandomState = None) -> AnyArray:
        """Which items to vote on next: each class in turn names the item that helps it most.

        Parameters
        ----------
        batch_size : int, default 1
            How many items.
        random_state : int, Generator or None, optional
            Seeds the picks.

        Returns
        -------
        (batch_size,) array
            Ids, or positions where items have no ids, all different.

        See Also
        --------
        update : Adds the answers that come in.

        Examples
        --------
        >>> one = SoftLabeler(n_neighbors=1)
        >>> lab = MultilabelLabeler(estimator=one).fit([[0.0], [1.0]], [["a", "b"], ["b"]])
        >>> sorted(lab.query(2, random_state=0).tolist())
        [0, 1]
        """
        each, rng = self._each(), validation.generator(random_state)
        picked: list[Any] = []
        for number in range(validation.count("batch_size", batch_size, smallest=1)):
            est = each[number % len(each)]
            picked += est.query(1, exclude=picked or None, random_state=rng).tolist()
        return validation.names(picked, "item")


def _prior_of(prior: Any, column: int, n_classes: int) -> FloatArray | None:
    """(n, 2) or (2,) probabilities of no and yes for one class."""
    if prior is None:
        return None
    table = np.asarray(prior, dtype=np.float64)
    if table.shape[-1] != n_classes or not ((table >= 0) & (table <= 1)).all():
        raise InputError(
            f"a prior for several classes holds P(yes) between 0 and 1, {n_classes} per item; got shape "
            f"{table.shape}."
        )
    return np.stack([1 - table[..., column], table[..., column]], axis=-1)
