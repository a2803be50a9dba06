"""Votes from a file, in one of four shapes, found by looking at the columns.

    long    item|task, label, optional annotator|worker, weight, created_at     one vote a row (also
    crowd-kit's)
    wide    item, then one column per annotator, empty or -1 = no vote          cleanlab's
    counts  item, then one column of counts per class                           only when asked for
    Label Studio's JSON export                                                  annotations with choices

Values stay as they stand in the file; :func:`~softspread.io.matching.match_votes` brings them together with
items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.errors import InputError
from softspread.io.tables import (
    VOTE_ENDINGS,
    RawTable,
    check_source,
    columns_of_records,
    is_missing,
    numbers_if_whole,
    objects,
    read_delimited,
    read_json,
    read_json_lines,
    read_parquet,
)

VOTE_FORMATS = ("auto", "long", "wide", "counts", "labelstudio")
MULTI_CHOICE = ("refuse", "split", "skip")
ITEM_NAMES = ("item", "task", "item_id", "task_id", "id")
LABEL_NAMES = ("label",)
ANNOTATOR_NAMES = ("annotator", "worker", "performer", "annotator_id", "worker_id")
INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__", "index")  # what pandas calls a column of row names
NO_VOTE = ("", "nan", "NaN", "None", "-1", "-1.0", "<NA>")  # cells of a wide table of text


@dataclass(frozen=True, slots=True)
class VoteReading:
    """How to read a votes file; None and "auto" look for the usual names."""

    votes_format: str = "auto"
    item_column: str | None = None  # or, of a Label Studio export, the field of a task's data
    label_column: str | None = None  # or, of a Label Studio export, the name of the choices
    annotator_column: str | None = None
    multi_choice: str = (
        "refuse"  # an annotation with several choices: "refuse", "split" into parts of a vote, or "skip"
    )


@dataclass(frozen=True, slots=True, eq=False)
class VoteFile:
    """Votes as they stand in a file."""

    path: Path
    votes_format: str
    items: AnyArray  # (m,) objects
    labels: AnyArray  # (m,) objects
    annotators: AnyArray | None  # (m,) objects, None where nobody is named
    weights: FloatArray | None  # (m,)
    created_at: AnyArray | None
    is_text: bool  # whole numbers are written as text, as in CSV
    classes: AnyArray | None = None  # where the file fixes them: columns of counts
    notes: Mapping[str, int] = field(default_factory=dict)  # what was left out, and how often

    def __len__(self) -> int:
        return len(self.items)


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
    if how.votes_format not in VOTE_FORMATS:
        raise InputError(f"votes-format must be one of {', '.join(VOTE_FORMATS)}, got {how.votes_format!r}.")
    if how.multi_choice not in MULTI_CHOICE:
        raise InputError(f"multi-choice must be one of {', '.join(MULTI_CHOICE)}, got {how.multi_choice!r}.")
    ending = source.suffix.lower()
    if ending == ".json":
        content = read_json(source)
        if how.votes_format == "labelstudio" or (how.votes_format == "auto" and _is_export(content)):
            from softspread.io.label_studio import read_export

            return _not_empty(read_export(source, content, how))
        if not isinstance(content, list) or not all(isinstance(record, dict) for record in content):
            raise InputError(
                f"{source} must hold a list of objects: one per vote, or Label Studio's JSON export."
            )
        table = RawTable(columns_of_records(content), source, False)
    else:
        if how.votes_format == "labelstudio":
            raise InputError(f"{source}: a Label Studio export is read from .json; export again as JSON.")
        readers = {
            ".csv": read_delimited,
            ".tsv": read_delimited,
            ".parquet": read_parquet,
            ".jsonl": read_json_lines,
        }
        table = readers[ending](source)
    return _not_empty(_from_table(table, how))


def _is_export(content: Any) -> bool:
    tasks = content if isinstance(content, list) else [content]
    return bool(tasks) and all(
        isinstance(task, dict) and ("annotations" in task or "completions" in task) for task in tasks[:1]
    )


def _not_empty(votes: VoteFile) -> VoteFile:
    if len(votes) == 0:
        left = ", ".join(f"{count} {what}" for what, count in votes.notes.items())
        raise InputError(f"{votes.path} holds no votes{f' ({left})' if left else ''}; add at least one.")
    return votes


def _find(table: RawTable, asked: str | None, usual: Sequence[str]) -> str | None:
    if asked is not None and asked not in table.columns:
        raise InputError(f"{table.path} has no column {asked!r}; it has {_listed(table)}.")
    return asked or next((name for name in usual if name in table.columns), None)


def _listed(table: RawTable) -> str:
    names = list(table.columns)
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")


def _from_table(table: RawTable, how: VoteReading) -> VoteFile:
    item = _find(table, how.item_column, ITEM_NAMES)
    label = _find(table, how.label_column, LABEL_NAMES)
    annotator = _find(table, how.annotator_column, ANNOTATOR_NAMES)
    shape = how.votes_format
    if shape == "auto":
        shape = "long" if label is not None else "wide"
        if shape == "wide" and annotator is not None:
            raise InputError(
                f"{table.path} has no column 'label'; it has {_listed(table)}. Name the column with the "
                "classes by "
                "--label-column."
            )
    if item is None and shape != "long":
        item = next((name for name in INDEX_NAMES if name in table.columns), None)
    if item is None:
        raise InputError(
            f"{table.path} has no column 'item' or 'task'; it has {_listed(table)}. Name the column with the "
            "items by "
            "--item-column."
        )
    if shape == "long":
        if label is None:
            raise InputError(
                f"{table.path} has no column 'label'; it has {_listed(table)}; use --label-column."
            )
        return _from_long(table, item, label, annotator)
    return _from_wide(table, item) if shape == "wide" else _from_counts(table, item)


def _from_long(table: RawTable, item: str, label: str, annotator: str | None) -> VoteFile:
    items = _complete(table, item)
    labels = _complete(table, label)
    names = None
    if annotator is not None:
        names = objects(table.columns[annotator])
        names[is_missing(names)] = None
        if all(name is None for name in names):
            names = None
    weights = None
    if "weight" in table.columns:
        weights = _numbers(table, "weight")
    times = objects(table.columns["created_at"]) if "created_at" in table.columns else None
    return VoteFile(table.path, "long", items, labels, names, weights, times, table.is_text)


def _complete(table: RawTable, name: str) -> AnyArray:
    values = objects(table.columns[name])
    missing = np.flatnonzero(is_missing(values))
    if len(missing):
        raise InputError(
            f"{table.path}, {table.where(int(missing[0]))}: no value in {name!r}; {len(missing):,} rows lack "
            "one. "
            "Remove these rows."
        )
    nested = next((row for row, value in enumerate(values) if isinstance(value, list | dict)), None)
    if nested is not None:
        raise InputError(
            f"{table.path}, {table.where(nested)}: {name!r} holds {str(values[nested])[:60]}; one plain "
            "value per vote "
            "is needed, write one row for each."
        )
    return values


def _numbers(table: RawTable, name: str) -> FloatArray:
    values = table.columns[name]
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            numbers[row] = float(value) if not isinstance(value, bool) else np.nan
        except (TypeError, ValueError):
            numbers[row] = np.nan
        if not np.isfinite(numbers[row]):
            raise InputError(f"{table.path}, {table.where(row)}: {name} {value!r} is not a finite number.")
    return numbers


def _from_wide(table: RawTable, item: str) -> VoteFile:
    from softspread.votes.votes import has_vote

    ids = _complete(table, item)
    names = [name for name in table.columns if name != item]
    if not names:
        raise InputError(
            f"{table.path} has only the column {item!r}; a wide table has one more for each annotator."
        )
    items, labels, annotators = [], [], []
    for name in names:
        column = objects(table.columns[name])
        voted = ~np.isin(column, NO_VOTE) if table.is_text else has_vote(column) & ~is_missing(column)
        items.append(ids[voted])
        labels.append(_without_decimals(column[voted]) if table.is_text else column[voted])
        annotators.append(objects([name] * int(voted.sum())))
    return VoteFile(
        table.path,
        "wide",
        np.concatenate(items),
        np.concatenate(labels),
        np.concatenate(annotators),
        None,
        None,
        table.is_text,
    )


def _without_decimals(labels: AnyArray) -> AnyArray:
    """1.0 is how pandas writes class 1 of a column that also holds gaps."""
    shortened = objects([label.removesuffix(".0") for label in labels.tolist()])
    return shortened if numbers_if_whole(shortened).dtype.kind == "i" else labels


def _from_counts(table: RawTable, item: str) -> VoteFile:
    ids = _complete(table, item)
    names = [name for name in table.columns if name != item]
    if not names:
        raise InputError(
            f"{table.path} has only the column {item!r}; a table of counts has one more for each class."
        )
    counts = np.column_stack([_numbers(table, name) for name in names])
    if (counts < 0).any():
        row, column = map(int, np.argwhere(counts < 0)[0])
        raise InputError(
            f"{table.path}, {table.where(row)}: {names[column]} is {counts[row, column]:g}; counts cannot be "
            "negative."
        )
    rows, columns = np.nonzero(counts)
    classes = objects([name.removeprefix("count_") for name in names])
    return VoteFile(
        table.path,
        "counts",
        ids[rows],
        classes[columns],
        None,
        counts[rows, columns],
        None,
        table.is_text,
        classes,
    )
