"""The shape of a table of votes: the one reader of tables with a row per item, for frames and for files.

columns by name  ->  the column of the items, one vote per filled cell
                     refused: tables that hold no votes, such as our own results
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from softspread._common.columns import INDEX_NAMES, ITEM_NAMES, LABEL_NAMES, first_of
from softspread._common.types import AnyArray, BoolArray, IntArray
from softspread._common.validation import objects
from softspread.errors import InputError

NO_VOTE = ("", "nan", "NaN", "None", "-1", "-1.0", "<NA>")  # cells of text that mean no vote
WHOLE_AS_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.0)?")
NAME_THE_ITEMS = "Name the column with the items (item_column, --item-column)"


@dataclass(frozen=True, slots=True)
class ShapeRule:
    """When a table is taken for something other than one column per annotator."""

    # Annotators share classes. A column whose values are all different and in no other column names items;
    # in a table of fewer rows it could be one annotator's vote for each of ten classes.
    fewest_ids: int = 12
    fewest_to_mention: int = 3  # from here on it gets a warning
    # Rows of counts often add up to the same number of votes, labels to anything; three rows can by chance.
    fewest_rows: int = 4
    # Annotators agree more often than by chance, counts of two classes less often, by this many standard
    # errors; people who vote at random stay above.
    disagreement: float = -2.5
    # Where rows add up to different numbers, counts are 0 more often than any other number, by this many
    # standard errors, and agree by chance only. People who name class 0 that often agree on it.
    zeros: float = 3.0
    no_agreement: float = 0.5


RULE = ShapeRule()


class WideVotes(NamedTuple):
    """One vote per filled cell, row by row."""

    rows: IntArray  # (m,)  of the table
    labels: AnyArray  # (m,) objects
    annotators: AnyArray  # (m,) objects: names of columns


def refuse_results(columns: Iterable[str], source: str) -> None:
    """Refuse a table that we wrote ourselves and that holds no votes.

    Examples
    --------
    >>> refuse_results(["item", "label", "annotator", "weight"], "votes.csv")
    """
    names = set(columns)
    what = None
    if "evidence" in names and any(name.startswith("p_") for name in names):
        what = "soft labels (item, p_<class>, evidence), which votes were turned into"
    elif {"soft_label", "evidence"} <= names:
        what = "soft labels as a dataset (soft_label, evidence), which votes were turned into"
    elif {"label", "weight", "evidence"} <= names:
        what = "soft labels as weighted rows (label, weight, evidence), for training a model"
    elif {"label", "p", "evidence"} <= names and "guess" not in names:
        what = "items to vote on next, where 'label' is the machine's guess"
    elif "predictions" in names and "data" in names:
        what = "tasks with predictions for Label Studio, without annotations"
    if what is not None:
        raise InputError(f"{source} holds {what}; it is a result of softspread and holds no votes.")


def item_column(columns: Sequence[str], asked: str | None = None) -> str | None:
    """The column that names the items of a wide table; None where none does."""
    return asked or first_of(ITEM_NAMES, columns) or first_of(INDEX_NAMES, columns)


def read_wide(columns: Mapping[str, AnyArray], source: str, rule: ShapeRule = RULE) -> WideVotes:
    """The votes of a table with one row per item and one column per annotator.

    Parameters
    ----------
    columns : (n,) cells by annotator; None, NaN, -1 and their texts are not votes
    source : what messages call the table

    Examples
    --------
    >>> votes = read_wide({"ann": objects(["cat", None]), "bob": objects(["cat", "dog"])}, "the table")
    >>> votes.rows.tolist(), votes.labels.tolist(), votes.annotators.tolist()
    ([0, 0, 1], ['cat', 'cat', 'dog'], ['ann', 'bob', 'bob'])
    """
    filled = {name: _filled(cells) for name, cells in columns.items()}
    labels = {name: _without_decimals(cells[filled[name]]) for name, cells in columns.items()}
    _refuse_ids(labels, filled, source, rule)
    _refuse_long(columns, source)
    places = [np.flatnonzero(mask) for mask in filled.values()]
    rows = np.concatenate([*places, np.empty(0, np.int64)]).astype(np.int64)
    order = np.argsort(rows, kind="stable")
    names = [objects([name] * len(found)) for name, found in labels.items()]
    none = np.empty(0, dtype=object)
    return WideVotes(
        rows[order],
        np.concatenate([*labels.values(), none])[order],
        np.concatenate([*names, none])[order],
    )


def shape_advice(columns: Mapping[str, AnyArray], rule: ShapeRule = RULE) -> str | None:
    """A sentence where a column that is read as an annotator looks like ids or counts; else None.

    Parameters
    ----------
    columns : (n,) cells by annotator

    Examples
    --------
    >>> shape_advice({"cat": objects([5, 0, 1, 3]), "dog": objects([0, 5, 4, 2])})[:43]
    "the columns 'cat', 'dog' are read as 2 anno"
    >>> shape_advice({"file": objects(["p", "q", "r"]), "ann": objects(["x", "x", "y"])})[:40]
    "the column 'file' is read as an annotato"
    >>> shape_advice({"ann": objects([1, 0, 1, 3]), "bob": objects([1, 0, 1, 2])}) is None
    True
    """
    return _ids_advice(columns, rule) or _counts_advice(columns, rule)


def _ids_advice(columns: Mapping[str, AnyArray], rule: ShapeRule) -> str | None:
    filled = {name: _filled(cells) for name, cells in columns.items()}
    labels = {name: cells[filled[name]] for name, cells in columns.items()}
    names = [name for name in _ids_among(labels, filled) if len(labels[name]) >= rule.fewest_to_mention]
    if not names or len(names) == len(columns):
        return None
    return (
        f"the column {str(names[0])!r} is read as an annotator, but holds {len(labels[names[0]])} different "
        f"values that no other column holds. {NAME_THE_ITEMS} if it names them."
    )


def _counts_advice(columns: Mapping[str, AnyArray], rule: ShapeRule) -> str | None:
    table = _whole_numbers(columns)
    if table is None or len(columns) < 2:
        return None
    why = _why_counts(table, list(map(str, columns)), rule)
    if why is None:
        return None
    shown = ", ".join(repr(str(name)) for name in list(columns)[:3]) + (", ..." if len(columns) > 3 else "")
    return (
        f"the columns {shown} are read as {len(columns)} annotators and their numbers as classes, but {why}: "
        "if they count votes per class, read the table as counts (Votes.from_counts, votes_format='counts', "
        "--votes-format counts)."
    )


def _why_counts(table: IntArray, names: Sequence[str], rule: ShapeRule) -> str | None:
    """The evidence that a table holds counts per class."""
    if all(name.startswith("count_") for name in names):
        return "their names begin with count_"
    voted = table[table.any(axis=1)]
    varied = len(voted) >= rule.fewest_rows and len(np.unique(voted, axis=0)) > 1
    if varied and len(np.unique(voted.sum(axis=1))) == 1:
        return f"every row adds up to {int(voted[0].sum())}"
    agreement = _agreement(table)
    if agreement < rule.disagreement:
        return "they agree less often than by chance"
    if varied and _zeros(table) > rule.zeros and agreement < rule.no_agreement:
        return "they agree no more often than by chance, and many are 0"
    return None


def _zeros(table: IntArray) -> float:
    """How often a cell is 0, beyond an equal share of the numbers that occur, in standard errors."""
    equal = 1 / len(np.unique(table))
    return float(((table == 0).mean() - equal) / np.sqrt(equal * (1 - equal) / table.size))


def _agreement(table: IntArray) -> float:
    """How often two columns hold the same number, beyond chance and in standard errors, over all pairs."""
    values, places = np.unique(table, return_inverse=True)
    columns = list(places.reshape(table.shape).T)
    shares = [np.bincount(column, minlength=len(values)) / len(table) for column in columns]
    beyond = variance = 0.0
    for first, second in combinations(range(len(columns)), 2):
        chance = float(shares[first] @ shares[second])
        beyond += float((columns[first] == columns[second]).mean()) - chance
        variance += chance * (1 - chance) / len(table)
    return beyond / float(np.sqrt(variance)) if variance > 0 else 0.0


def _filled(cells: AnyArray) -> BoolArray:
    """Where a cell of a wide table is a vote."""
    text = np.array([isinstance(cell, str) for cell in cells], dtype=bool)
    found: BoolArray = ~text & ~np.asarray(pd.isna(cells), dtype=bool)
    found[found] = [bool(cell != -1) for cell in cells[found]]
    found[text] = [cell not in NO_VOTE for cell in cells[text]]
    return found


def _without_decimals(labels: AnyArray) -> AnyArray:
    """1.0 is how pandas writes class 1 of a column that also holds gaps."""
    if not len(labels) or not all(isinstance(v, str) and WHOLE_AS_FLOAT.fullmatch(v) for v in labels):
        return labels
    return objects([label.removesuffix(".0") for label in labels])


def _refuse_ids(
    labels: Mapping[str, AnyArray], filled: Mapping[str, BoolArray], source: str, rule: ShapeRule
) -> None:
    """Refuse a column that names each item: read as an annotator, it would make a class of every item."""
    for name in _ids_among(labels, filled):
        found = labels[name]
        if len(found) < rule.fewest_ids:
            continue
        raise InputError(
            f"{source}: the column {str(name)!r} holds {len(found):,} different values, such as "
            f"{found[0]!r}, that no other column holds. It would make a class of every item. "
            f"{NAME_THE_ITEMS}, or leave this column out."
        )


def _ids_among(labels: Mapping[str, AnyArray], filled: Mapping[str, BoolArray]) -> list[str]:
    """Columns without a gap whose values are all different and in no other column."""
    sets = {name: set(found) for name, found in labels.items()}
    return [
        name
        for name, distinct in sets.items()
        if len(distinct) == len(labels[name])
        and filled[name].all()
        and not any(distinct & others for other, others in sets.items() if other != name)
    ]


def _refuse_long(columns: Mapping[str, AnyArray], source: str) -> None:
    long = first_of(LABEL_NAMES, columns)
    if long is not None:
        raise InputError(
            f"{source} has a column {long!r}: that is one row per vote. Read it with Votes.from_frame, or "
            "as votes_format 'long'."
        )


def _whole_numbers(columns: Mapping[str, AnyArray]) -> IntArray | None:
    """The cells as whole numbers from 0, where all of them are; else None."""
    try:
        table = np.column_stack([np.asarray(cells.tolist(), dtype=np.float64) for cells in columns.values()])
    except (TypeError, ValueError):
        return None
    whole = np.isfinite(table).all() and (table >= 0).all() and (table == np.round(table)).all()
    return table.astype(np.int64) if whole and table.size else None
