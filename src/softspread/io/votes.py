"""Votes from a file, in one of several shapes, found by looking at the columns.

    long    item|task, label, optional annotator|worker, weight, created_at     one vote per row; crowd-kit's
    wide    item, then one column per annotator, empty or -1 = no vote          cleanlab's
    counts  item, then one column of counts per class                           only when asked for
    exports of Label Studio, Argilla and Prodigy                                annotations with choices

Values stay as they stand in the file; :func:`~softspread.io.matching.match_votes` brings votes and items
together.
"""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.columns import ANNOTATOR_NAMES, ITEM_NAMES, LABEL_NAMES
from softspread._common.kinds import MULTILABEL, RATING, SINGLE, VOTE_KINDS
from softspread._common.validation import objects
from softspread.errors import InputError, SoftspreadWarning
from softspread.io import argilla, prodigy
from softspread.io.choices import indicators_in, lists_in, opened
from softspread.io.formats import MULTI_CHOICE, VOTE_ENDINGS, VOTE_FORMATS, check_sources, ending_of
from softspread.io.label_studio import is_export, read_export
from softspread.io.tables import (
    Table,
    is_missing,
    numbers_if_whole,
    read_json,
    read_table,
    table_of_records,
)
from softspread.io.vote_file import VoteFile, VoteReading, joined_files
from softspread.votes.multilabel import NO, REST
from softspread.votes.ratings import RATING_NAMES
from softspread.votes.shapes import item_column as wide_item_column
from softspread.votes.shapes import read_wide, refuse_results, shape_advice
from softspread.votes.standing import REPEATS
from softspread.votes.votes import Votes, class_columns, single_votes

EXPORTS = {  # of tools that export one row per item or answer
    "argilla": (argilla.is_export, argilla.read_export),
    "prodigy": (prodigy.is_export, prodigy.read_export),
}
GUESS = "guess"  # the column in which ``query --out`` writes the most probable class


def read_votes(
    *paths: str | Path,
    votes_format: str = "auto",
    item_column: str | None = None,
    label_column: str | None = None,
    annotator_column: str | None = None,
    multi_choice: str = "refuse",
    classes: ArrayLike | None = None,
    repeats: str = "last",
    kind: str = SINGLE,
    rest: str = NO,
) -> Votes:
    r"""Read votes from one or several files, taken together.

    Parameters
    ----------
    *paths : str or Path
        Files: .csv, .tsv, .xlsx, .parquet, .jsonl or .json; text may be compressed, as in .csv.gz.
    votes_format : {"auto", "long", "wide", "counts", "labelstudio", "argilla", "prodigy"}, default "auto"
        One row per vote, one column per annotator, one column of counts per class, or the export of a tool.
        "auto" looks at the columns; counts are read only if named.
    item_column : str, optional
        The column that names the item (in exports: the field of its data), where it has another name than
        item, task or id.
    label_column : str, optional
        The column that names the class (in exports: the name of the question), where it is not label.
    annotator_column : str, optional
        The column that names the annotator, where it has another name than annotator or worker.
    multi_choice : {"refuse", "split", "skip"}, default "refuse"
        In exports: what to do with an annotation of several choices.
    classes : (n_classes,) array-like, optional
        Class names in order; every label must be among them.
    repeats : {"last", "keep"}, default "last"
        Which of one annotator's votes on one item count, in all files together: the last (by created_at where
        it is known), with a warning, or all.
    kind : {"single", "multilabel"}, default "single"
        "multilabel" reads yes and no about several classes: a column of lists such as ``cat;dog``, JSON
        lists, a column of 1 and 0 per class, a column ``answer`` beside the label, or Label Studio choices.
    rest : {"no", "nothing"}, default "no"
        What a list says about the classes that it leaves out.

    Returns
    -------
    Votes
        The votes of all files, in their order. Text that is a whole number becomes one where all of a column
        is, as 7 but not 007; items are compared as text anyway.

    See Also
    --------
    read_embeddings : The items.
    Votes.from_frame, Votes.from_wide : From a table in memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "votes.csv"
    ...     _ = path.write_text("task,worker,label\na,ann,cat\nb,bob,dog\n")
    ...     read_votes(path)
    Votes(2 votes on 2 items for 2 classes by 2 annotators)
    """
    how = VoteReading(
        votes_format, item_column, label_column, annotator_column, multi_choice, repeats, kind, rest
    )
    file = read_vote_files(*paths, how=how, classes=classes)
    text = file.is_text
    given = classes if classes is not None else file.classes
    votes = Votes.from_pairs(
        numbers_if_whole(file.items) if text else file.items,
        numbers_if_whole(file.labels) if text else file.labels,
        file.annotators,
        file.weights,
        classes=given if given is None or not text else numbers_if_whole(np.asarray(given)),
        created_at=file.created_at,
        repeats=repeats,
    )
    return replace(votes, answers=file.answers)


def read_vote_files(*paths: str | Path, how: VoteReading | None = None, classes: Any = None) -> VoteFile:
    """Votes as they stand in one or several files, which are read the same way and taken together.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a", "b"):
    ...         _ = Path(folder, f"{name}.csv").write_text(f"item,label{chr(10)}{name},cat{chr(10)}")
    ...     votes = read_vote_files(f"{folder}/a.csv", f"{folder}/b.csv")
    >>> len(votes), votes.votes_format, votes.items.tolist()
    (2, 'long', ['a', 'b'])
    """
    how = how or VoteReading()
    validation.choice("votes-format", how.votes_format, VOTE_FORMATS)
    validation.choice("multi-choice", how.multi_choice, MULTI_CHOICE)
    validation.choice("repeats", how.repeats, REPEATS)
    validation.choice("kind", how.kind, VOTE_KINDS)
    validation.choice("rest", how.rest, REST)
    sources = check_sources(paths, VOTE_ENDINGS, "votes")
    file = replace(joined_files([_read_file(source, how) for source in sources]), repeats=how.repeats)
    return opened(file, classes, how.rest)


def _read_file(source: Path, how: VoteReading) -> VoteFile:
    if ending_of(source).startswith(".json") and not ending_of(source).startswith(".jsonl"):
        votes = _from_json(source, how)
    elif how.votes_format == "labelstudio":
        raise InputError(f"{source}: a Label Studio export is read from .json; export again as JSON.")
    else:
        votes = _from_table(source, read_table(source, "votes"), how)
    if len(votes) == 0:
        left = ", ".join(f"{count} {what}" for what, count in votes.notes.items())
        raise InputError(f"{source} holds no votes{f' ({left})' if left else ''}; add at least one.")
    return votes


def _from_json(source: Path, how: VoteReading) -> VoteFile:
    content = read_json(source)
    if how.votes_format == "labelstudio" or (how.votes_format == "auto" and is_export(content)):
        return read_export(source, content, how)
    if not isinstance(content, list) or not all(isinstance(record, dict) for record in content):
        raise InputError(
            f"{source} must hold a list of objects: one per vote, or Label Studio's JSON export."
        )
    return _from_table(source, table_of_records(content, source), how)


def _from_table(source: Path, table: Table, how: VoteReading) -> VoteFile:
    for name, (is_export_of, read) in EXPORTS.items():
        if how.votes_format == name or (how.votes_format == "auto" and is_export_of(table.columns)):
            return read(table, how)
    refuse_results(table.columns, str(source))
    item = table.find(how.item_column, ITEM_NAMES)
    label = table.find(how.label_column, RATING_NAMES if how.kind == RATING else LABEL_NAMES)
    annotator = table.find(how.annotator_column, ANNOTATOR_NAMES)
    shape = how.votes_format
    if how.kind == MULTILABEL:
        item = wide_item_column(tuple(table.columns)) if item is None else item
        if item is None:
            raise InputError(
                f"{source} has no column 'item'; it has {table.listed()}. Name it by --item-column."
            )
        return indicators_in(table, item, how) if label is None else lists_in(table, item, label, annotator)
    if shape == "auto":  # a column of annotators belongs to a long table, even where its labels are not found
        shape = "wide" if label is annotator is None else "long"
    if item is None and shape != "long":
        item = wide_item_column(tuple(table.columns))
    if item is None:
        raise InputError(
            f"{source} has no column 'item' or 'task'; it has {table.listed()}. Name the column with the "
            "items by --item-column."
        )
    if shape != "long":
        return (_from_wide if shape == "wide" else _from_counts)(source, table, item)
    if label is None:
        raise InputError(
            f"{source} has no column 'label'; it has {table.listed()}. Name the column with the classes by "
            "--label-column."
        )
    return _from_long(source, table, item, label, annotator)


def _from_long(source: Path, table: Table, item: str, label: str, annotator: str | None) -> VoteFile:
    notes = {}
    if GUESS in table.columns:  # items to vote on next: what nobody has filled in yet is not a vote
        empty = is_missing(objects(table.columns[label]))
        notes = {f"rows without a {label}": int(empty.sum())} if empty.any() else {}
        table = table.take(np.flatnonzero(~empty))
    names = None
    if annotator is not None:
        names = objects(table.columns[annotator])
        names[is_missing(names)] = None
        if all(name is None for name in names):
            names = None
    return VoteFile(
        source,
        "long",
        table.complete(item),
        table.complete(label),
        names,
        table.numbers("weight") if "weight" in table.columns else None,
        objects(table.columns["created_at"]) if "created_at" in table.columns else None,
        table.is_text,
        notes=notes,
    )


def _from_wide(source: Path, table: Table, item: str) -> VoteFile:
    ids = table.complete(item)
    others = _other_columns(table, item, "a wide table has one more for each annotator")
    columns = {name: objects(table.columns[name]) for name in others}
    votes = read_wide(columns, str(source))
    advice = shape_advice(columns)
    if advice is not None:
        warnings.warn(f"{source}: {advice}", SoftspreadWarning, stacklevel=2)
    return VoteFile(source, "wide", ids[votes.rows], votes.labels, votes.annotators, is_text=table.is_text)


def _other_columns(table: Table, item: str, what: str) -> list[str]:
    names = [name for name in table.columns if name != item]
    if not names:
        raise InputError(f"{table.source} has only the column {item!r}; {what}.")
    return names


def _from_counts(source: Path, table: Table, item: str) -> VoteFile:
    ids = table.complete(item)
    names = _other_columns(table, item, "a table of counts has one more for each class")
    counts = np.column_stack([table.numbers(name) for name in names])
    if (counts < 0).any():
        row, column = map(int, np.argwhere(counts < 0)[0])
        raise InputError(
            f"{source}, {table.where(row)}: {names[column]} is {counts[row, column]:g}; counts cannot be "
            "negative."
        )
    rows, columns, weights = single_votes(counts)
    classes = class_columns(names)
    return VoteFile(
        source,
        "counts",
        ids[rows],
        classes[columns],
        weights=weights,
        is_text=table.is_text,
        classes=classes,
    )
