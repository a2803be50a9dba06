"""Votes: who said which class for which item, and how much it counts.

    pairs, a long table, counts, a wide table  ->  Votes (item, label, weight, annotator, created_at)

Items and labels stay as the user names them; rows and columns appear only when votes meet a dataset
(`reading`).
"""

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.columns import ANNOTATOR_NAMES, INDEX_NAMES, ITEM_NAMES, LABEL_NAMES, first_of
from softspread._common.frames import as_frame
from softspread._common.notebook import as_html
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread._common.validation import objects
from softspread._common.wording import counted
from softspread.errors import InputError, SoftspreadWarning
from softspread.votes.multilabel import ANSWER, ANSWERS, NO, Choices, read_choices, yes_or_no
from softspread.votes.shapes import read_wide, refuse_results, shape_advice
from softspread.votes.standing import LAST, REPEATS
from softspread.votes.table import joined

MOST_COUNTED = 20_000_000  # votes of a table of counts; a fit to so many holds about 3 GB
_COLUMNS = {"item": ITEM_NAMES, "label": LABEL_NAMES, "annotator": ANNOTATOR_NAMES}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Votes:
    """A list of votes; two lists add up.

    Make one with :meth:`from_pairs`, :meth:`from_frame`, :meth:`from_counts` or :meth:`from_wide`. A vote is
    one observation whatever its weight, which says how much evidence it carries; fractions of one annotator
    on one item are one soft vote; a negative weight takes an earlier vote back. Of several votes of one named
    annotator on one item the last stands, unless ``repeats`` is "keep".

    Attributes
    ----------
    items : array
        (m,) names or positions of the voted items.
    labels : array
        (m,) classes voted for.
    weights : array
        (m,) how much each vote counts.
    annotators : array or None
        Who cast each vote; None where nobody is named.
    created_at : array or None
        When each vote was cast.
    classes : array or None
        Class names in order, where the source fixes them.
    repeats : str
        "last": of one annotator's votes on one item the last stands; "keep": all of them count.
    answers : array or None
        Where items may have several classes, whether each vote says yes or no to its class; else None.

    See Also
    --------
    ProbabilisticLabelSpreading.fit : Takes them as ``y``.
    simulate.draw_votes : Simulated votes.

    Examples
    --------
    >>> votes = Votes.from_pairs(["a.jpg", "b.jpg", "a.jpg"], ["cat", "dog", "cat"])
    >>> len(votes + votes), votes.class_names().tolist()
    (6, ['cat', 'dog'])
    """

    items: AnyArray  # (m,)
    labels: AnyArray  # (m,)
    weights: FloatArray  # (m,)
    annotators: AnyArray | None = None  # (m,), None where nobody is named
    created_at: AnyArray | None = None  # (m,)
    classes: AnyArray | None = None  # ordered, where the source fixes the classes
    repeats: str = LAST
    answers: BoolArray | None = None  # (m,) yes or no to the label; None where a vote names the only class

    @classmethod
    def from_pairs(
        cls,
        items: ArrayLike,
        labels: ArrayLike,
        annotators: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        created_at: ArrayLike | None = None,
        repeats: str = LAST,
    ) -> Self:
        """One vote per pair.

        Parameters
        ----------
        items : (m,) array-like
            (m,) positions or item ids.
        labels : (m,) array-like
            (m,) class names or numbers.
        annotators : (m,) array-like, optional
            (m,) names, optional.
        weights : (m,) array-like or float, optional
            (m,) or one number, optional; negative takes back.
        classes : (n_classes,) array-like, optional
            Ordered class names, optional; every label must be among them.
        created_at : (m,) array-like, optional
            When each vote was cast.
        repeats : {"last", "keep"}, default "last"
            Which of one annotator's votes on one item count: the last (by time where it is known), with a
            warning, or all.

        Returns
        -------
        Votes
            One vote per pair.

        See Also
        --------
        Votes.from_frame : From a long table.

        Examples
        --------
        >>> votes = Votes.from_pairs([0, 0, 2], ["yes", "no", "yes"], annotators=["ann", "bob", "ann"])
        >>> votes.to_frame().shape
        (3, 4)
        """
        item_array = validation.names(items, "item")
        label_array = validation.names(labels, "label")
        if len(item_array) != len(label_array):
            raise InputError(
                f"{len(item_array)} items but {len(label_array)} labels; there must be one label per item."
            )
        m = len(item_array)
        annotator_array = None if annotators is None else validation.annotator_names(annotators)
        if annotator_array is not None:
            _per_vote(annotator_array, m, "annotator")
        time_array = None if created_at is None else _per_vote(np.asarray(created_at), m, "time")
        class_array = None if classes is None else validation.class_names(classes)
        if class_array is not None:
            validation.columns_of_labels(label_array, class_array)
        return cls(
            item_array,
            label_array,
            validation.vote_weights(weights, m),
            annotator_array,
            time_array,
            class_array,
            validation.choice("repeats", repeats, REPEATS),
        )

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        classes: ArrayLike | None = None,
        item_column: str | None = None,
        label_column: str | None = None,
        annotator_column: str | None = None,
        repeats: str = LAST,
    ) -> Self:
        """Read one vote per row.

        Columns: item (or task), label, and optionally annotator (or worker), weight, created_at, and answer:
        1 or yes, 0 or no, where items may have several classes.

        Parameters
        ----------
        frame : pd.DataFrame
            One row per vote: columns item (or task), label, optional annotator (or worker), weight,
            created_at.
        classes : (n_classes,) array-like, optional
            Class names in order; every label must be among them.
        item_column : str, optional
            The column that names the item, where it has another name.
        label_column : str, optional
            The column that names the class, where it has another name.
        annotator_column : str, optional
            The column that names the annotator, where it has another name.
        repeats : {"last", "keep"}, default "last"
            Which of one annotator's votes on one item count: the last (by time where it is known), with a
            warning, or all.

        Returns
        -------
        Votes
            One vote per row.

        See Also
        --------
        Votes.from_wide : From a table with one column per annotator.
        Votes.to_frame : The inverse.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"task": [7, 8], "worker": ["ann", "bob"], "label": ["cat", "dog"]})
        >>> Votes.from_frame(frame)
        Votes(2 votes on 2 items for 2 classes by 2 annotators)
        """
        frame = as_frame(frame)
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"from_frame takes a pandas or polars DataFrame, got {type(frame).__name__}.")
        refuse_results(map(str, frame.columns), "the table")
        asked = {"item": item_column, "label": label_column, "annotator": annotator_column}
        found = {role: _column(frame, asked[role], names) for role, names in _COLUMNS.items()}
        for role in ("item", "label"):
            if found[role] is None:
                raise InputError(
                    f"the table needs a column {' or '.join(map(repr, _COLUMNS[role]))}, got "
                    f"{list(frame.columns)}; name another one by {role}_column."
                )
        column = {role: frame[name] for role, name in found.items() if name is not None}
        votes = cls.from_pairs(
            column["item"],
            column["label"],
            column.get("annotator"),
            frame.get("weight"),
            classes=classes,
            created_at=frame.get("created_at"),
            repeats=repeats,
        )
        if ANSWER not in frame.columns or ANSWER in found.values():
            return votes
        return replace(votes, answers=yes_or_no(frame[ANSWER]))

    @classmethod
    def from_counts(
        cls, counts: ArrayLike, *, items: ArrayLike | None = None, classes: ArrayLike | None = None
    ) -> Self:
        """Votes per item and class, (n, n_classes); a DataFrame's index and columns are the names.

        A whole number is that many votes of weight 1; a fraction is one vote of that weight, or a part of a
        soft vote where the fractions of an item sum to 1.

        Parameters
        ----------
        counts : (n, n_classes) table
            Votes per item and class; a DataFrame brings the names of both.
        items : (n,) array-like, optional
            Names of the rows; positions by default.
        classes : (n_classes,) array-like, optional
            Class names in order; every label must be among them.

        Returns
        -------
        Votes
            The votes of the table.

        See Also
        --------
        Votes.from_pairs : From one row per vote.

        Examples
        --------
        >>> Votes.from_counts([[2, 0], [0.5, 0.5]]).to_frame()["weight"].tolist()
        [1.0, 1.0, 0.5, 0.5]
        """
        counts = as_frame(counts)
        if isinstance(counts, pd.DataFrame):
            counts, found = _counts_and_items(counts, items is None)
            items = found if items is None else items
            classes = class_columns(counts.columns) if classes is None else classes
        table = validation.table_of_numbers(counts, "counts must be a table of numbers, items by classes.")
        if table.ndim != 2:
            raise InputError(f"counts must have shape (n_items, n_classes), got {table.shape}.")
        if not np.isfinite(table).all() or (table < 0).any():
            raise InputError("counts must be finite and not negative.")
        class_array = validation.class_names(np.arange(table.shape[1]) if classes is None else classes)
        item_array = validation.names(np.arange(len(table)) if items is None else items, "item")
        if table.shape != (len(item_array), len(class_array)):
            raise InputError(
                f"counts of shape {table.shape} do not fit {len(item_array)} items and {len(class_array)} "
                "classes."
            )
        rows, columns, weights = single_votes(table)
        return cls(item_array[rows], class_array[columns], weights, classes=class_array)

    @classmethod
    def from_wide(
        cls,
        table: pd.DataFrame | Sequence[Any] | AnyArray,
        *,
        classes: ArrayLike | None = None,
        item_column: str | None = None,
        repeats: str = LAST,
    ) -> Self:
        """Read a table with one column per annotator and one row per item.

        NaN, None or -1 means no vote. A DataFrame brings the names: of annotators by its columns, of items by
        a column item (or task, id, ...) as in a file, else by its index.

        Parameters
        ----------
        table : (n, n_annotators) table
            One row per item and one column per annotator; NaN, None or -1, also as text, is not a vote.
        classes : (n_classes,) array-like, optional
            Class names in order; every label must be among them.
        item_column : str, optional
            The column that names the items, where it has another name.
        repeats : {"last", "keep"}, default "last"
            Which votes count where an item has several rows: an annotator's last, with a warning, or all.

        Returns
        -------
        Votes
            One vote per filled cell.

        See Also
        --------
        Votes.from_frame : From a table with one row per vote.
        read_votes : From files, with the same reader.

        Examples
        --------
        >>> Votes.from_wide([[0, -1], [1, 1]]).to_frame()["annotator"].tolist()
        [0, 0, 1]
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": ["a", "b"], "ann": ["cat", None], "bob": ["cat", "dog"]})
        >>> Votes.from_wide(table)
        Votes(3 votes on 2 items for 2 classes by 2 annotators)
        """
        table = as_frame(table)
        try:
            frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"a wide table has one row per item and one column per annotator ({error})."
            ) from error
        refuse_results(map(str, frame.columns), "the table")
        items = _column(frame, item_column, (*ITEM_NAMES, *INDEX_NAMES))
        ids = frame.index if items is None else frame[items]
        columns = {name: objects(frame[name].tolist()) for name in frame.columns if name != items}
        if not columns and len(frame.columns):
            raise InputError(f"the table has only the column {items!r}; add one for each annotator.")
        votes = read_wide(columns, "the table")
        advice = shape_advice(columns)
        if advice is not None:
            warnings.warn(advice, SoftspreadWarning, stacklevel=2)
        return cls.from_pairs(
            ids.to_numpy()[votes.rows],
            validation.names(votes.labels.tolist(), "label"),
            annotators=votes.annotators.tolist(),
            classes=classes,
            repeats=repeats,
        )

    @classmethod
    def from_multilabel(
        cls,
        choices: Choices,
        items: ArrayLike | None = None,
        annotators: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        rest: str = NO,
        repeats: str = LAST,
    ) -> Self:
        """Yes, no or nothing for each of several classes, of items that may have more than one.

        Parameters
        ----------
        choices : (m, n_classes) table, or list of lists of labels
            One row per annotator and item. A table holds 1 for yes, 0 for no and NaN or None for nothing; a
            DataFrame's columns are the classes. A list names the classes that the item has.
        items : (m,) array-like, optional
            The item of each row; by default the index of a DataFrame, else row i is about item i.
        annotators : (m,) array-like, optional
            Who answered each row.
        classes : (n_classes,) array-like, optional
            Class names in order; by default the columns of a DataFrame, the numbers of a table's columns, or
            the labels found, sorted.
        rest : {"no", "nothing"}, default "no"
            What a list of labels says about the classes that it leaves out: no, as where people were asked to
            choose all that apply, or nothing. A table says it by itself.
        repeats : {"last", "keep"}, default "last"
            Which of one annotator's answers on one item and class count: the last, with a warning, or all.

        Returns
        -------
        Votes
            One vote per answer, with ``answers``.

        See Also
        --------
        SoftLabeler : With ``kind="multilabel"`` takes them as ``y``.
        Votes.from_pairs : Votes for exactly one class.

        Examples
        --------
        >>> votes = Votes.from_multilabel([["cat", "dog"], [], ["dog"]])
        >>> votes
        Votes(6 answers, yes or no, on 3 items for 2 classes)
        >>> len(Votes.from_multilabel([["cat", "dog"], [], ["dog"]], rest="nothing"))
        3
        >>> Votes.from_multilabel([[1, 0], [None, 1]], classes=["cat", "dog"]).answers.tolist()
        [True, False, True]
        """
        choices = as_frame(choices)
        said, yes, names = read_choices(choices, classes, rest)
        if items is None:
            items = choices.index if isinstance(choices, pd.DataFrame) else np.arange(len(said))
        rows, columns = np.nonzero(said)
        who = None if annotators is None else validation.annotator_names(annotators)
        places = validation.names(items, "item")
        for what, given in (("items", places), ("annotators", who)):
            if given is not None and len(given) != len(said):
                raise InputError(
                    f"{len(said)} rows of choices but {len(given)} {what}; there must be one per row."
                )
        return cls(
            places[rows],
            names[columns],
            np.ones(len(rows)),
            None if who is None else who[rows],
            classes=names,
            repeats=validation.choice("repeats", repeats, REPEATS),
            answers=yes[rows, columns],
        )

    def about(self, label: Hashable) -> "Votes":
        """The answers about one class, as votes for True (yes) or False (no).

        Parameters
        ----------
        label : class name
            One of the classes of votes made by :meth:`from_multilabel`.

        Returns
        -------
        Votes
            Votes for True or False.

        See Also
        --------
        Votes.from_multilabel : Answers about several classes.

        Examples
        --------
        >>> Votes.from_multilabel([["cat", "dog"], ["dog"]]).about("cat").labels.tolist()
        [True, False]
        """
        if self.answers is None:
            raise InputError(
                "these votes name exactly one class each; Votes.from_multilabel makes answers per class."
            )
        mine = np.asarray(self.labels == label, dtype=bool)
        who, times = (None if part is None else part[mine] for part in (self.annotators, self.created_at))
        return Votes(
            self.items[mine], self.answers[mine], self.weights[mine], who, times, ANSWERS, self.repeats
        )

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        items, labels = (len(pd.unique(pd.Series(part, dtype=object))) for part in (self.items, self.labels))
        named = 0 if self.annotators is None else pd.Series(self.annotators).nunique()
        by = "" if self.annotators is None else f" by {counted(named, 'annotator')}"
        votes = f"{counted(len(self), 'vote')} on {counted(items, 'item')}"
        if self.answers is not None:
            votes = f"{counted(len(self), 'answer')}, yes or no, on {counted(items, 'item')}"
        return f"Votes({votes} for {counted(labels, 'class')}{by})"

    def _repr_html_(self) -> str:
        """For notebooks: the same line, and the first votes as a table."""
        return as_html(self, self.to_frame(), what="vote")

    def __add__(self, other: "Votes") -> "Votes":
        if not isinstance(other, Votes):
            return NotImplemented
        if self.repeats != other.repeats:
            raise InputError(
                f"one list of votes has repeats={self.repeats!r}, the other {other.repeats!r}; make both "
                "alike."
            )
        if (self.answers is None) != (other.answers is None):
            raise InputError(
                "one list of votes says yes or no to classes, the other names one class per vote; kinds of "
                "votes cannot be mixed."
            )
        return Votes(
            joined(self.items, other.items),
            joined(self.labels, other.labels),
            np.concatenate([self.weights, other.weights]),
            _joined_optional(self.annotators, other.annotators, len(self), len(other)),
            _joined_optional(self.created_at, other.created_at, len(self), len(other)),
            _united(self.classes, other.classes),
            self.repeats,
            _joined_optional(self.answers, other.answers, len(self), len(other)),
        )

    def to_frame(self) -> pd.DataFrame:
        """The votes as a table that :meth:`from_frame` reads back.

        Returns
        -------
        pandas.DataFrame
            Columns item, label, weight, and answer, annotator and created_at where known.

        See Also
        --------
        Votes.from_frame : The inverse.

        Examples
        --------
        >>> Votes.from_pairs(["a.jpg"], ["cat"]).to_frame().to_numpy().tolist()
        [['a.jpg', 'cat', 1.0]]
        """
        columns: dict[str, AnyArray] = {"item": self.items, "label": self.labels, "weight": self.weights}
        if self.answers is not None:
            columns[ANSWER] = self.answers.astype(np.int64)
        if self.annotators is not None:
            columns["annotator"] = self.annotators
        if self.created_at is not None:
            columns["created_at"] = self.created_at
        return pd.DataFrame(columns)

    def class_names(self) -> AnyArray:
        """The classes that the source fixed, else the distinct labels in order.

        Returns
        -------
        (n_classes,) array
            Distinct names.

        Examples
        --------
        >>> Votes.from_pairs([0, 1], ["dog", "cat"]).class_names().tolist()
        ['cat', 'dog']
        """
        return self.classes if self.classes is not None else validation.distinct_sorted(self.labels)


def _column(frame: pd.DataFrame, asked: str | None, usual: Sequence[str]) -> Any:
    """The column that was asked for, else the first with a usual name, else None."""
    if asked is not None and asked not in frame.columns:
        raise InputError(f"the table has no column {asked!r}; it has {list(frame.columns)[:20]}.")
    return asked if asked is not None else first_of(usual, frame.columns)


def _counts_and_items(frame: pd.DataFrame, take_items: bool) -> tuple[pd.DataFrame, "pd.Index[Any]"]:
    """A table of counts without its column of items, and the items: that column, else the index."""
    refuse_results(map(str, frame.columns), "the table")
    named = _column(frame, None, (*ITEM_NAMES, *INDEX_NAMES)) if take_items else None
    if named is None:
        return frame, frame.index
    return frame.drop(columns=named), pd.Index(frame[named], tupleize_cols=False)


def class_columns(columns: Iterable[Any]) -> AnyArray:
    """Class names from the columns of a table of counts, without ``count_``."""
    return objects([name.removeprefix("count_") if isinstance(name, str) else name for name in columns])


def single_votes(counts: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Row, column and weight of each vote in a table of counts, see :meth:`Votes.from_counts`."""
    rows, columns = np.nonzero(counts)
    numbers = counts[rows, columns]
    whole = numbers == np.floor(numbers)
    if numbers[whole].sum() > MOST_COUNTED:
        raise InputError(
            f"counts add up to {numbers[whole].sum():.3g} votes, more than the {MOST_COUNTED:,} that are "
            "kept one by one; pass the shares of each item instead, which are one soft vote."
        )
    times = np.where(whole, numbers, 1).astype(np.int64)
    return np.repeat(rows, times), np.repeat(columns, times), np.repeat(np.where(whole, 1.0, numbers), times)


def has_vote(labels: AnyArray) -> BoolArray:
    """Where a label is one: not None, NaN or -1."""
    if labels.dtype.kind in "iuf":
        return np.asarray(~pd.isna(labels) & (labels != -1))
    unlabeled = [not isinstance(label, str) and (pd.isna(label) or label == -1) for label in labels]
    return ~np.array(unlabeled, dtype=bool)


def _joined_optional(
    first: AnyArray | None, second: AnyArray | None, n_first: int, n_second: int
) -> AnyArray | None:
    if first is None and second is None:
        return None
    nobody = [np.full(size, None, dtype=object) for size in (n_first, n_second)]
    return joined(nobody[0] if first is None else first, nobody[1] if second is None else second)


def _united(first: AnyArray | None, second: AnyArray | None) -> AnyArray | None:
    if first is None or second is None:
        return None
    new = validation.lookup(first).get_indexer(validation.lookup(second)) < 0
    return joined(first, second[new])


def _per_vote(values: AnyArray, n_votes: int, what: str) -> AnyArray:
    if values.shape != (n_votes,):
        raise InputError(f"{what}s must be one per vote ({n_votes}), got shape {values.shape}.")
    return values
