"""Answers about items that may have several classes: yes, no or nothing for each class.

lists of labels, or a table of 1 / 0 / nothing  ->  said, yes (m, n_classes), class names
"""

from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray
from softspread.errors import InputError

NO, NOTHING = "no", "nothing"
ANSWER = "answer"  # the column of a long table that says yes or no to its label
REST = (NO, NOTHING)  # what a list of labels says about the classes that it leaves out
ANSWERS = np.array([False, True])  # what a question is answered by, in the order of its columns
_WORDS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
Choices = ArrayLike | Sequence[Collection[Hashable]]


def read_choices(
    choices: Choices, classes: Any = None, rest: str = NO
) -> tuple[BoolArray, BoolArray, AnyArray]:
    """The answers of each row about each class.

    Parameters
    ----------
    choices : lists of labels, or a table of 1 (yes), 0 (no) and NaN (nothing)
    classes : names in order; None = the columns of a DataFrame, the numbers of columns, or the labels found
    rest : what a list says about the classes that it leaves out

    Returns
    -------
    said, yes, names : (m, n_classes) whether anything is said, whether it is yes; the classes

    Examples
    --------
    >>> said, yes, names = read_choices([["cat", "dog"], []])
    >>> said.tolist(), yes.tolist(), names.tolist()
    ([[True, True], [True, True]], [[True, True], [False, False]], ['cat', 'dog'])
    """
    validation.choice("rest", rest, REST)
    return _of_lists(choices, classes, rest) if _are_lists(choices) else _of_table(choices, classes)


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


def yes_or_no(values: Any) -> BoolArray:
    """(m,) answers as a long table holds them: 1, yes or true; 0, no or false.

    Examples
    --------
    >>> yes_or_no(["yes", 0, "1"]).tolist()
    [True, False, True]
    """
    words = [
        str(value).strip().lower().removesuffix(".0") for value in np.asarray(values, dtype=object).tolist()
    ]
    odd = [word for word in words if word not in _WORDS]
    if odd:
        raise InputError(f"an answer is 1 or yes, 0 or no; got {', '.join(map(repr, odd[:3]))}.")
    return np.array([_WORDS[word] for word in words], dtype=bool)
