"""Votes of items that may have several classes: one yes/no question per class.

lists of labels, or a table of 1 / 0 / nothing  ->  {class: Votes for False or True}
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray
from softspread.errors import InputError
from softspread.votes.votes import Votes

NO, NOTHING = "no", "nothing"
REST = (NO, NOTHING)  # what a list of labels says about the classes that it leaves out
ANSWERS = np.array([False, True])
Choices = ArrayLike | Sequence[Collection[Hashable]]


def multilabel_votes(
    choices: Choices,
    items: ArrayLike | None = None,
    annotators: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    rest: str = NO,
) -> dict[Any, Votes]:
    """Votes where an item may have several classes, as one list of yes and no per class.

    Parameters
    ----------
    choices : list of lists of labels, or (m, n_classes) table
        One row per annotator and item. A list names the classes that the item has. A table holds 1 for yes,
        0 for no and NaN or None for nothing; a DataFrame's columns are the classes.
    items : (m,) array-like, optional
        The item of each row; by default row i is about item i.
    annotators : (m,) array-like, optional
        Who answered each row.
    classes : (n_classes,) array-like, optional
        Class names in order; by default the columns of a DataFrame, the numbers of a table's columns, or the
        labels found, sorted.
    rest : {"no", "nothing"}, default "no"
        What a list of labels says about the classes that it leaves out: no, as where people were asked to
        choose all that apply, or nothing. A table says it by itself.

    Returns
    -------
    dict of Votes
        For each class votes for True (yes) or False (no).

    See Also
    --------
    MultilabelLabeler : Takes them as ``y``.
    Votes.from_pairs : Votes for exactly one class.

    Examples
    --------
    >>> votes = multilabel_votes([["cat", "dog"], [], ["dog"]])
    >>> votes["cat"].labels.tolist(), votes["dog"].labels.tolist()
    ([True, False, False], [True, False, True])
    >>> len(multilabel_votes([["cat", "dog"], [], ["dog"]], rest="nothing")["cat"])
    1
    >>> multilabel_votes([[1, 0], [None, 1]], classes=["cat", "dog"])["dog"].labels.tolist()
    [False, True]
    """
    validation.choice("rest", rest, REST)
    said, yes, names = (
        _of_lists(choices, classes, rest) if _are_lists(choices) else _of_table(choices, classes)
    )
    rows = validation.names(np.arange(len(said)) if items is None else items, "item")
    who = None if annotators is None else validation.annotator_names(annotators)
    for what, given in (("items", rows), ("annotators", who)):
        if given is not None and len(given) != len(said):
            raise InputError(
                f"{len(said)} rows of choices but {len(given)} {what}; there must be one per row."
            )
    return {
        name: Votes(
            rows[said[:, column]],
            yes[said[:, column], column],
            np.ones(int(said[:, column].sum())),
            None if who is None else who[said[:, column]],
            classes=ANSWERS,
        )
        for column, name in enumerate(names.tolist())
    }


def _are_lists(choices: Any) -> bool:
    """Whether each row is a list of labels: text in it, or rows of different lengths."""
    if isinstance(choices, pd.DataFrame | np.ndarray):
        return False
    rows = list(choices)
    if any(
        isinstance(row, str) or not isinstance(row, Sequence | set | frozenset | np.ndarray) for row in rows
    ):
        raise InputError(
            "choices must be lists of labels such as [['cat', 'dog'], []], or a table of 1, 0 and NaN; got "
            f"{str(choices)[:60]}."
        )
    lengths = {len(row) for row in rows}
    return len(lengths) != 1 or lengths == {0} or any(isinstance(label, str) for row in rows for label in row)


def _of_lists(choices: Any, classes: Any, rest: str) -> tuple[BoolArray, BoolArray, AnyArray]:
    rows = [list(dict.fromkeys(row)) for row in choices]
    found = [label for row in rows for label in row]
    if classes is None and not found:
        raise InputError("no label is chosen anywhere; pass classes to say which there are.")
    labels = validation.names(found, "label") if found else np.empty(0, dtype=object)
    names = validation.distinct_sorted(labels) if classes is None else validation.class_names(classes)
    yes = np.zeros((len(rows), len(names)), dtype=bool)
    if found:
        places = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        yes[places, validation.columns_of_labels(labels, names)] = True
    return (np.ones_like(yes) if rest == NO else yes), yes, names


def _of_table(table: Any, classes: Any) -> tuple[BoolArray, BoolArray, AnyArray]:
    names = table.columns if classes is None and isinstance(table, pd.DataFrame) else classes
    values = (
        pd.DataFrame(np.asarray(table, dtype=object)).apply(pd.to_numeric, errors="coerce").to_numpy(float)
    )
    given = np.asarray(~pd.isna(np.asarray(table, dtype=object)), dtype=bool)
    if values.ndim != 2 or not np.isin(values[given], (0.0, 1.0)).all():
        odd = np.asarray(table, dtype=object)[given & ~np.isin(values, (0.0, 1.0))]
        raise InputError(
            f"a table of several classes holds 1 (yes), 0 (no) and NaN (nothing), got {odd[:3].tolist()}. "
            "Numbers of votes for one class each are read by Votes.from_counts, ratings are another kind."
        )
    found = validation.class_names(np.arange(values.shape[1]) if names is None else names)
    if len(found) != values.shape[1]:
        raise InputError(f"the table has {values.shape[1]} columns, but {len(found)} classes are named.")
    return given, values == 1.0, found


def questions_of(y: Any, classes: ArrayLike | None = None) -> dict[Any, Votes]:
    """Votes per class in any accepted form; votes of another kind are refused."""
    if isinstance(y, Votes):
        raise InputError(
            "these votes name exactly one class each; kinds of votes cannot be mixed. Make votes for several "
            "classes with multilabel_votes, or use SoftLabeler."
        )
    if not isinstance(y, Mapping):
        return multilabel_votes(y, classes=classes)
    wrong = [name for name, votes in y.items() if not _is_yes_or_no(votes)]
    if wrong or not y:
        raise InputError(
            f"y must hold votes for True or False per class, as multilabel_votes makes them; {wrong[:3]} "
            "are of another kind."
        )
    names = list(y) if classes is None else validation.class_names(classes).tolist()
    if set(names) != set(y):
        raise InputError(f"classes are {names[:5]}, but y has votes on {list(y)[:5]}; they must agree.")
    return {name: y[name] for name in names}


def _is_yes_or_no(votes: Any) -> bool:
    return isinstance(votes, Votes) and votes.classes is not None and votes.classes.tolist() == [False, True]
