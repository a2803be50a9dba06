"""Exports of Argilla as votes.

    records of ``to_json``         id, fields {...}, responses {question: [{value, user_id}]}
    rows of ``to_datasets``        id, fields, <question>.responses [...], .responses.users, .responses.status

A label, the labels of a multi-label question and a rating are values of responses. Drafts and discarded
responses are not votes, but only the second kind of export says which ones these are.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from softspread._common.columns import ITEM_NAMES, first_of
from softspread.errors import InputError, SoftspreadWarning
from softspread.io.exports import Answers, item_of
from softspread.io.tables import Table
from softspread.io.vote_file import VoteFile, VoteReading

RESPONSES, USERS, STATUS = ".responses", ".responses.users", ".responses.status"
NESTED = ("id", "metadata", "fields", "responses")
COUNTED = ("submitted", None)
NOT_SAID = (
    "{path}: this export of Argilla does not say which responses are drafts or discarded, so they count as "
    "votes. An export by dataset.records.to_datasets().to_parquet(...) does."
)


def is_export(columns: Mapping[str, Any]) -> bool:
    """Whether the columns of a table are those of an export.

    Examples
    --------
    >>> is_export({"id": [], "label.responses": []}), is_export({"item": [], "label": []})
    (True, False)
    """
    return {"fields", "responses"} <= set(columns) or any(name.endswith(RESPONSES) for name in columns)


def read_export(table: Table, how: VoteReading) -> VoteFile:
    """Votes of an export; drafts, discarded and empty responses are left out and counted.

    Parameters
    ----------
    how : ``item_column`` names the field or metadata that identifies the item, by default the record's id;
        ``label_column`` names the question
    """
    read = _nested if "responses" in table.columns else _flat
    question, records = read(table, how)
    answers = Answers(how)
    for row, item, responses in records:
        where = f"{table.source}, {table.where(row)}"
        for value, user, status in responses:
            if status not in COUNTED:
                answers.left_out[f"{status} responses"] += 1
            elif value is not None:
                answers.add(where, item, _choices(where, question, value), user)
            else:
                answers.left_out["responses without a value"] += 1
    return answers.file(table.path, "argilla")


Response = tuple[Any, str | None, str | None]  # value, user, status
Record = tuple[int, str, list[Response]]  # row, item


def _nested(table: Table, how: VoteReading) -> tuple[str, Iterator[Record]]:
    columns = {name: table.columns[name] for name in NESTED if name in table.columns}
    given = [one if isinstance(one, dict) else {} for one in columns["responses"]]
    found = list(dict.fromkeys(name for one in given for name in one))
    question = _question(table, how, found)

    def records() -> Iterator[Record]:
        for row, responses in enumerate(given):
            data = _data(columns, row)
            item = item_of(f"{table.source}, {table.where(row)}", data, how.item_column)
            kept = [one for one in responses.get(question) or [] if isinstance(one, dict)]
            yield (
                row,
                item,
                [(one.get("value"), _user(one.get("user_id")), one.get("status")) for one in kept],
            )

    if not any("status" in one for responses in given for one in responses.get(question) or []):
        warnings.warn(NOT_SAID.format(path=table.source), SoftspreadWarning, stacklevel=2)
    return question, records()


def _data(columns: Mapping[str, Sequence[Any]], row: int) -> dict[str, Any]:
    """Everything that could name an item; nothing hides the record's own id."""
    parts = [columns[name][row] for name in ("metadata", "fields") if name in columns]
    data = {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
    return data | ({"id": columns["id"][row]} if "id" in columns else {})


def _flat(table: Table, how: VoteReading) -> tuple[str, Iterator[Record]]:
    found = [name.removesuffix(RESPONSES) for name in table.columns if name.endswith(RESPONSES)]
    question = _question(table, how, found)
    name = table.find(how.item_column, ()) or first_of(ITEM_NAMES, table.columns)
    if name is None:
        raise InputError(f"{table.source} has no column 'id'; name the items by --item-column.")
    items = table.columns[name]
    values, users, statuses = (
        table.columns.get(f"{question}{ending}") for ending in (RESPONSES, USERS, STATUS)
    )

    def records() -> Iterator[Record]:
        for row in range(table.n_rows):
            item = item_of(f"{table.source}, {table.where(row)}", {name: items[row]}, name)
            given = _cell(values, row)
            who, status = _cell(users, row), _cell(statuses, row)
            nobody: list[Any] = [None] * len(given)
            yield (
                row,
                item,
                list(zip(given, [_user(one) for one in who] or nobody, status or nobody, strict=True)),
            )

    return question, records()


def _cell(column: Sequence[Any] | None, row: int) -> list[Any]:
    value = None if column is None else column[row]
    return [] if value is None else list(value)


def _question(table: Table, how: VoteReading, found: Sequence[str]) -> str:
    shown = ", ".join(map(repr, found)) or "none"
    if how.label_column is not None and how.label_column not in found:
        raise InputError(
            f"{table.source} has no responses to a question {how.label_column!r}; it has {shown}."
        )
    if how.label_column is None and len(found) != 1:
        raise InputError(
            f"{table.source} has responses to {len(found)} questions ({shown}); name one by --label-column."
        )
    return how.label_column or found[0]


def _choices(where: str, question: str, value: Any) -> list[Any]:
    choices = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(one, str | int | float) for one in choices):
        raise InputError(
            f"{where}: the responses to {question!r} are {str(value)[:60]}; label, multi-label and rating "
            "questions hold votes. Name one by --label-column."
        )
    return list(choices)


def _user(user: Any) -> str | None:
    return None if user is None else str(user)
