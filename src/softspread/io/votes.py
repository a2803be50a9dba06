"""Votes from a file, in one of four shapes, found by looking at the columns.

    long    item|task, label, optional annotator|worker, weight, created_at     one vote per row; crowd-kit's
    wide    item, then one column per annotator, empty or -1 = no vote          cleanlab's
    counts  item, then one column of counts per class                           only when asked for
    Label Studio's JSON export                                                  annotations with choices

Values stay as they stand in the file; :func:`~softspread.io.matching.match_votes` brings votes and items
together.
"""

from pathlib import Path

import numpy as np

from softspread._common import validation
from softspread._common.columns import ANNOTATOR_NAMES, INDEX_NAMES, ITEM_NAMES, LABEL_NAMES, first_of
from softspread._common.types import AnyArray
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.io.formats import MULTI_CHOICE, VOTE_ENDINGS, VOTE_FORMATS, check_source
from softspread.io.label_studio import is_export, read_export
from softspread.io.tables import (
    Table,
    is_missing,
    numbers_if_whole,
    read_json,
    read_table,
    table_of_records,
)
from softspread.io.vote_file import VoteFile, VoteReading
from softspread.votes.votes import has_vote

NO_VOTE = ("", "nan", "NaN", "None", "-1", "-1.0", "<NA>")  # cells of a wide table of text


def read_votes(path: str | Path, how: VoteReading | None = None) -> VoteFile:
    r"""Read votes from .csv, .tsv, .parquet, .jsonl or .json.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "votes.csv"
    ...     _ = path.write_text("task,worker,label\na,ann,cat\nb,bob,dog\n")
    ...     votes = read_votes(path)
    >>> len(votes), votes.votes_format, votes.labels.tolist()
    (2, 'long', ['cat', 'dog'])
    """
    how = how or VoteReading()
    source = check_source(path, VOTE_ENDINGS, "votes")
    validation.choice("votes-format", how.votes_format, VOTE_FORMATS)
    validation.choice("multi-choice", how.multi_choice, MULTI_CHOICE)
    if source.suffix.lower() == ".json":
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
    item = table.find(how.item_column, ITEM_NAMES)
    label = table.find(how.label_column, LABEL_NAMES)
    annotator = table.find(how.annotator_column, ANNOTATOR_NAMES)
    shape = how.votes_format
    if shape == "auto":  # a column of annotators belongs to a long table, even where its labels are not found
        shape = "wide" if label is annotator is None else "long"
    if item is None and shape != "long":
        item = first_of(INDEX_NAMES, table.columns)
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
    )


def _from_wide(source: Path, table: Table, item: str) -> VoteFile:
    ids = table.complete(item)
    items, labels, annotators = [], [], []
    for name in _other_columns(table, item, "a wide table has one more for each annotator"):
        column = objects(table.columns[name])
        voted = ~np.isin(column, NO_VOTE) if table.is_text else has_vote(column) & ~is_missing(column)
        items.append(ids[voted])
        labels.append(_without_decimals(column[voted]) if table.is_text else column[voted])
        annotators.append(objects([name] * int(voted.sum())))
    joined = [np.concatenate(parts) for parts in (items, labels, annotators)]
    return VoteFile(source, "wide", joined[0], joined[1], joined[2], is_text=table.is_text)


def _other_columns(table: Table, item: str, what: str) -> list[str]:
    names = [name for name in table.columns if name != item]
    if not names:
        raise InputError(f"{table.source} has only the column {item!r}; {what}.")
    return names


def _without_decimals(labels: AnyArray) -> AnyArray:
    """1.0 is how pandas writes class 1 of a column that also holds gaps."""
    shortened = objects([label.removesuffix(".0") for label in labels.tolist()])
    return shortened if numbers_if_whole(shortened).dtype.kind == "i" else labels


def _from_counts(source: Path, table: Table, item: str) -> VoteFile:
    from softspread.votes.votes import single_votes

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
    classes = objects([name.removeprefix("count_") for name in names])
    return VoteFile(
        source,
        "counts",
        ids[rows],
        classes[columns],
        weights=weights,
        is_text=table.is_text,
        classes=classes,
    )
