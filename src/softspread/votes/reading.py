"""The one reader of y: labels, counts or Votes, with ids and classes, become rows and columns once.

    y, item_ids, classes  ->  VoteTable (rows, columns, weights, annotators)  +  Names

Below this module nobody sees an id or a class name.
"""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y

from softspread._common import validation
from softspread._common.columns import ITEM_NAMES
from softspread._common.frames import as_frame
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.votes.ballots import taken_back_too_often
from softspread.votes.class_names import warn_of_near_equal
from softspread.votes.standing import votes_that_stand
from softspread.votes.table import VoteTable, joined
from softspread.votes.votes import Votes, has_vote

NO_WEIGHTS = (
    "sample_weight goes with one label per item; Votes and counts bring weights of their own: pass them to "
    "Votes, as in Votes.from_pairs(items, labels, weights=...), or scale the counts."
)


@dataclass(frozen=True, eq=False)
class Names:
    """Names of rows and columns."""

    n_items: int
    item_ids: AnyArray | None  # (n_items,), None where votes name items by position
    classes: AnyArray  # (n_classes,), in the order of columns

    @cached_property
    def _ids(self) -> "pd.Index[Any] | None":
        return None if self.item_ids is None else validation.lookup(self.item_ids)

    def rows(self, items: Any) -> IntArray:
        """The row of each named item."""
        return validation.rows_of_items(validation.names(items, "item"), self._ids, self.n_items)

    def known_rows(self, ids: Any) -> IntArray:
        """The row of each id, -1 for ids that are new; all are where items have no ids."""
        names = validation.names(ids, "item")
        if self._ids is None:
            return np.full(len(names), -1)
        return np.asarray(self._ids.get_indexer(validation.lookup(names)), dtype=np.int64)

    def items(self, rows: IntArray) -> AnyArray:
        """The ids of some rows; the rows themselves where items have no ids."""
        return rows if self.item_ids is None else np.asarray(self.item_ids[rows])

    def table(self, votes: Votes) -> VoteTable:
        """Votes as rows and columns."""
        columns = validation.columns_of_labels(votes.labels, self.classes)
        return VoteTable(self.rows(votes.items), columns, votes.weights, votes.annotators).copy()

    def votes(self, table: VoteTable) -> Votes:
        """The inverse of :meth:`table`."""
        table = table.copy()  # whoever asked may change the arrays
        items, labels = self.items(table.rows), self.classes[table.columns]
        return Votes(
            items, labels, table.weights, table.annotators, classes=self.classes, repeats=table.repeats
        )

    def unknown(self, labels: AnyArray) -> AnyArray:
        """The labels that are not classes yet, distinct and in order."""
        places = validation.lookup(self.classes).get_indexer(validation.lookup(labels))
        unseen = labels[places < 0]
        return validation.distinct_sorted(unseen) if len(unseen) else unseen

    def prior(self, given: Any) -> FloatArray:
        """(n_items, n_classes) of a prior; a table brings the names of its classes, and perhaps of its items.

        Columns of a DataFrame are found by class name, or by ``p_<class>`` as soft labels have them; rows by
        a column ``item`` or by the index where items have ids. Anything else is in the order of items and
        classes.
        """
        given = as_frame(given)
        if isinstance(given, pd.DataFrame):
            given = self._prior_in_order(given)
        return validation.prior(given, self.n_items, len(self.classes))

    def _prior_in_order(self, frame: pd.DataFrame) -> FloatArray:
        ids = next((name for name in ITEM_NAMES if name in frame.columns), None)
        columns = {str(name): name for name in frame.columns if name != ids}
        wanted = [str(name) for name in self.classes.tolist()]
        prefix = (
            "p_" if not set(wanted) & set(columns) and any(f"p_{name}" in columns for name in wanted) else ""
        )
        missing = [name for name in wanted if f"{prefix}{name}" not in columns]
        unnamed = isinstance(frame.columns, pd.RangeIndex) and len(frame.columns) == len(wanted)
        if missing and not unnamed:
            raise InputError(
                f"the prior has no column for {missing[:5]}; its columns {list(frame.columns)[:10]} must "
                "name the classes. Pass an array for columns in the order of classes."
            )
        values = frame if missing else frame[[columns[f"{prefix}{name}"] for name in wanted]]
        table = validation.table_of_numbers(values, "a prior must hold numbers.")
        items = frame.index if ids is None else frame[ids]
        by_name = ids is not None or (self.item_ids is not None and not isinstance(items, pd.RangeIndex))
        if not by_name:
            return table
        place = Names(len(frame), validation.item_ids(items, len(frame)), self.classes)
        return np.asarray(table[place.rows(self.items(np.arange(self.n_items)))])

    def with_classes(self, new: AnyArray) -> "Names":
        """The same names with further classes at the end."""
        return replace(self, classes=joined(self.classes, new)) if len(new) else self

    def check_retractions(self, votes: VoteTable) -> None:
        """Refuse votes taken back that were never cast: no total per item, class and annotator below 0."""
        worst = taken_back_too_often(votes) if (votes.weights < 0).any() else None
        if worst is not None:
            item, label = self.items(np.array([worst.row])), self.classes[[worst.column]]
            by = "" if votes.annotators is None else " by that annotator"
            raise InputError(
                f"cannot take back a vote that was never cast: item {item.tolist()[0]!r}, label "
                f"{label.tolist()[0]!r} would have {worst.total:g} votes{by}."
            )


class NamedVotes(NamedTuple):
    """Votes as rows and columns, with the names of both."""

    table: VoteTable
    names: Names


def read_y(
    y: Any, n_items: int, item_ids: Any = None, classes: Any = None, *, what: str = "y", weights: Any = None
) -> NamedVotes:
    """Votes in any accepted form as rows and columns, with the names of both.

    Parameters
    ----------
    y : Votes, (n_items,) labels with -1 or None for no vote, (n_items, n_classes) counts, or NamedVotes,
        which were read before and bring their ids and classes along
    n_items : how many items there are
    item_ids : (n_items,) ids by which Votes name items; None = by position
    classes : class names in order; None = those that the votes fix, else the labels found, sorted
    what : what messages call y
    weights : (n_items,) one per label; only with labels, as everything else brings weights along

    Returns
    -------
    table, names : the votes that stand as numbers, see :mod:`~softspread.votes.standing`, and the names of
        rows and columns

    Examples
    --------
    >>> table, names = read_y(["cat", None, "dog"], 3)
    >>> table.rows.tolist(), table.columns.tolist(), names.classes.tolist()
    ([0, 2], [0, 1], ['cat', 'dog'])
    """
    if weights is not None and isinstance(y, NamedVotes | Votes):
        raise InputError(NO_WEIGHTS)
    if isinstance(y, NamedVotes):
        if y.names.n_items != n_items:
            raise InputError(f"X has {n_items} items but {what} is about {y.names.n_items}; they must agree.")
        return y._replace(table=y.table.copy())  # tables grow in place
    ids = None if item_ids is None else validation.item_ids(item_ids, n_items)
    if isinstance(y, Votes) and y.answers is not None:
        raise InputError(
            f"{what} says yes or no to each of several classes; such votes are taken by "
            "SoftLabeler(kind='multilabel')."
        )
    votes = y if isinstance(y, Votes) else _votes_of(y, n_items, classes, what, weights)
    order = votes.class_names() if classes is None else validation.class_names(classes)
    if classes is None and votes.classes is None:
        warn_of_near_equal(order.tolist(), stacklevel=4)
    names = Names(n_items, ids, order)
    by_position = names if isinstance(y, Votes) else Names(n_items, None, order)
    table = by_position.table(votes)
    names.check_retractions(table)
    return NamedVotes(votes_that_stand(table, votes.repeats, votes.created_at, stacklevel=4), names)


def _votes_of(y: Any, n_items: int, classes: Any, what: str, weights: Any) -> Votes:
    """Labels or counts, one row per item."""
    if y is None:
        raise InputError(
            f"{what} is missing: it requires y to be passed, but the target y is None. Pass labels with -1 "
            "for no vote, counts, or Votes."
        )
    y = as_frame(y)
    table = validation.labels_or_counts(y)
    if table.ndim not in (1, 2):
        raise InputError(
            f"{what} must be labels (n,), counts (n, n_classes) or Votes, got shape {table.shape}."
        )
    if len(table) != n_items:
        raise InputError(f"X has {n_items} items but {what} has {len(table)} rows; they must agree.")
    if table.ndim == 2 and table.shape[1] != 1:
        if weights is not None:
            raise InputError(NO_WEIGHTS)
        return Votes.from_counts(table, classes=y.columns if isinstance(y, pd.DataFrame) else classes)
    if table.ndim == 2:
        warnings.warn(
            f"A column-vector {what} was passed when a 1d array was expected; reading it as labels.",
            DataConversionWarning,
            stacklevel=5,
        )
    votes = _votes_of_labels(table.ravel())
    if weights is None:
        return votes
    return _weighted(votes, validation.vote_weights(weights, n_items, "sample_weight"))


def _weighted(votes: Votes, weights: FloatArray) -> Votes:
    """Votes that name positions, with the weights of these; a weight of 0 is not a vote."""
    if (weights < 0).any():
        raise InputError(f"sample_weight must not be negative, got {weights.min():g}; undo takes votes back.")
    heavy = weights[votes.items]
    kept = heavy > 0
    if len(votes) and not kept.any():
        raise InputError("the sample_weight of every label is zero; give at least one a weight above zero.")
    return Votes.from_pairs(votes.items[kept], votes.labels[kept], weights=heavy[kept])


def _votes_of_labels(labels: AnyArray) -> Votes:
    try:
        if labels.dtype.kind == "f":
            labels = _check_y(labels)  # scikit-learn's words for NaN and infinity
        voted = np.flatnonzero(has_vote(labels))
        found = validation.names(labels[voted], "label")
        if found.dtype.kind == "f":
            check_classification_targets(found)  # numbers that are not whole are not classes
    except ValueError as error:
        raise InputError(str(error)) from error
    return Votes.from_pairs(voted, found)
