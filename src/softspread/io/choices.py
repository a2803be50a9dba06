"""Answers about several classes as files hold them, and what they say about each class.

    item, labels such as "cat;dog" or ["cat", "dog"]     one list per row; empty = no class
    item, one column per class with 1, 0 or nothing      an indicator table
    item, label, answer (1/yes or 0/no)                  one answer per row

Lists are opened once all files are read, since only then all classes are known.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from softspread._common.columns import ANNOTATOR_NAMES
from softspread._common.types import AnyArray
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.io.tables import Table, is_missing
from softspread.io.vote_file import VoteFile, VoteReading
from softspread.votes.multilabel import ANSWER, NO, read_choices, yes_or_no

SEPARATOR = ";"
UNFILLED = "guess"  # rows of a file of items to vote on next, which are not filled in yet


def choices_of(value: Any, where: str) -> tuple[Any, ...]:
    """The labels of one cell: a JSON list, or text with semicolons between labels.

    Examples
    --------
    >>> choices_of("cat; dog", "row 1"), choices_of('["cat"]', "row 1"), choices_of("", "row 1")
    (('cat', 'dog'), ('cat',), ())
    """
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise InputError(f"{where}: {value[:60]!r} is no JSON list ({error}).") from error
    if isinstance(value, str):
        value = [part.strip() for part in value.split(SEPARATOR) if part.strip()]
    if isinstance(value, list | tuple | np.ndarray):
        if any(isinstance(one, list | dict) for one in value):
            raise InputError(f"{where}: {str(value)[:60]} holds lists in a list; give the labels themselves.")
        return tuple(dict.fromkeys(value))
    return () if bool(is_missing(objects([value]))[0]) else (value,)


def lists_in(table: Table, item: str, label: str, annotator: str | None) -> VoteFile:
    """One row per item and annotator with a list of labels, or with one label and its answer."""
    if UNFILLED in table.columns:
        table = table.take(np.flatnonzero(~is_missing(objects(table.columns[label]))))
    names = None if annotator is None else objects(table.columns[annotator])
    if names is not None:
        names[is_missing(names)] = None
    times = objects(table.columns["created_at"]) if "created_at" in table.columns else None
    if ANSWER in table.columns and label != ANSWER:
        labels: AnyArray = table.complete(label)
        answers = yes_or_no(table.complete(ANSWER)).astype(object)
    else:
        cells = enumerate(objects(table.columns[label]))
        labels = objects([choices_of(value, f"{table.source}, {table.where(row)}") for row, value in cells])
        answers = np.full(len(labels), None)
    items, weights = table.complete(item), table.numbers("weight") if "weight" in table.columns else None
    return VoteFile(table.path, "lists", items, labels, names, weights, times, table.is_text, answers=answers)


def indicators_in(table: Table, item: str, how: VoteReading) -> VoteFile:
    """One column per class."""
    annotator = table.find(how.annotator_column, ANNOTATOR_NAMES)
    classes = [name for name in table.columns if name not in (item, annotator, "created_at")]
    if not classes:
        raise InputError(f"{table.source} has only the column {item!r}; add one for each class.")
    columns = {name: objects(table.columns[name]) for name in classes}
    rows, labels, answers = [], [], []
    for name, cells in columns.items():
        given = np.flatnonzero(~is_missing(cells))
        try:
            answers.append(yes_or_no(cells[given]))
        except InputError as error:
            raise InputError(f"{table.source}, column {name!r}: {error}") from error
        rows.append(given)
        labels.append(objects([name] * len(given)))
    place = np.concatenate(rows)
    order = np.argsort(place, kind="stable")
    place = place[order]
    who = None if annotator is None else objects(table.columns[annotator])[place]
    return VoteFile(
        table.path,
        "indicators",
        table.complete(item)[place],
        np.concatenate(labels)[order],
        who,
        is_text=table.is_text,
        classes=objects(classes),
        answers=np.concatenate(answers)[order].astype(object),
    )


def opened(file: VoteFile, classes: Sequence[Any] | None, rest: str = NO) -> VoteFile:
    """One vote per answer; what a list leaves out is a no, or nothing.

    Parameters
    ----------
    classes : all of them, where they are known; None = those that the file names
    """
    if file.answers is None:
        return file
    is_list = np.array([answer is None for answer in file.answers], dtype=bool)
    lists = [file.labels[row] for row in np.flatnonzero(is_list)]
    named = [label for row in np.flatnonzero(~is_list) for label in [file.labels[row]]]
    if classes is None:
        fixed = [] if file.classes is None else file.classes.tolist()
        found = dict.fromkeys([*fixed, *named, *(label for labels in lists for label in labels)])
        classes = fixed if len(fixed) == len(found) else sorted(found, key=str)
    rows, labels, answers = [np.flatnonzero(~is_list)], [objects(named)], [file.answers[~is_list]]
    if lists:
        said, yes, names = read_choices(
            [[str(label) for label in row] for row in lists], list(map(str, classes)), rest
        )
        places, columns = np.nonzero(said)
        rows.append(np.flatnonzero(is_list)[places])
        labels.append(objects(names.tolist())[columns])
        answers.append(yes[places, columns].astype(object))
    place = np.concatenate(rows)
    order = np.argsort(place, kind="stable")
    place = place[order]

    return replace(
        file.take(place),
        labels=np.concatenate(labels)[order],
        classes=objects(list(classes)),
        answers=np.concatenate(answers)[order].astype(bool),
    )
