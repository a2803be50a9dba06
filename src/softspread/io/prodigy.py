"""Exports of Prodigy (``prodigy db-out``) as votes: one task and its answer per line.

choice      {options [...], accept ["cat"], answer}     the options that someone chose
binary      {label "CAT", answer}                       accept and reject are yes and no to that class
both        answer accept, reject or ignore; _annotator_id or _session_id; _timestamp
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from softspread._common.columns import ITEM_NAMES, PATH_NAMES
from softspread._common.kinds import MULTILABEL
from softspread.errors import InputError
from softspread.io.exports import Answers, item_of
from softspread.io.tables import Table
from softspread.io.vote_file import VoteFile, VoteReading

HASHES = ("_task_hash", "_input_hash")  # every task of the tool has them
UNNAMED = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")  # the start of a session, which names nobody
EMBEDDED = "data:"  # a picture in place of its path


def is_export(columns: Mapping[str, Any]) -> bool:
    """Whether the columns of a table are those of an export.

    Examples
    --------
    >>> is_export({"text": [], "answer": [], "_task_hash": []}), is_export({"item": [], "answer": []})
    (True, False)
    """
    return "answer" in columns and any(name in columns for name in HASHES)


def read_export(table: Table, how: VoteReading) -> VoteFile:
    """Votes of an export; ignored tasks, and choices that were rejected, are left out and counted.

    Parameters
    ----------
    how : ``item_column`` names the field of a task, or of its ``meta``, that identifies the item
    """
    answers, columns = Answers(how), dict(table.columns)
    for row in range(table.n_rows):
        record = {name: values[row] for name, values in columns.items()}
        task = {name: value for name, value in record.items() if value is not None}
        _add(f"{table.source}, {table.where(row)}", task, answers)
    return answers.file(table.path, "prodigy")


def _add(where: str, task: Mapping[str, Any], answers: Answers) -> None:
    answer, how = task.get("answer"), answers.how
    if answer not in ("accept", "reject", "ignore"):
        raise InputError(f"{where}: answer is {answer!r}; Prodigy writes accept, reject or ignore.")
    if answer == "ignore":
        answers.left_out["ignored tasks"] += 1
        return
    item, who, time = _item(where, task, how.item_column), _who(task), _time(task)
    if "accept" in task:
        if answer == "reject":
            answers.left_out["rejected choices"] += 1
        else:
            answers.add(where, item, task["accept"], who, time)
        return
    label = task.get(how.label_column or "label")
    if not isinstance(label, str):
        raise InputError(
            f"{where} has neither chosen options ('accept') nor a 'label'; classes are read from Prodigy's "
            "text and image classification and choice tasks."
        )
    if how.kind == MULTILABEL:
        answers.say(item, label, answer == "accept", who, time)
    elif answer == "accept":
        answers.add(where, item, [label], who, time)
    elif how.multi_choice == "skip":
        answers.left_out["rejected labels"] += 1
    else:
        raise InputError(
            f"{where}: {label!r} is rejected, which does not say what the item is. --kind multilabel takes "
            "accept and reject as yes and no to each class; --multi-choice skip leaves rejected labels out."
        )


def _item(where: str, task: Mapping[str, Any], asked: str | None) -> str:
    meta = task.get("meta")
    data = {**(meta if isinstance(meta, dict) else {}), **task}
    paths = [name for name in PATH_NAMES if not str(data.get(name, "")).startswith(EMBEDDED)]
    return item_of(where, data, asked, (*ITEM_NAMES, *paths))


def _who(task: Mapping[str, Any]) -> str | None:
    name = task.get("_annotator_id") or task.get("_session_id")
    return None if name is None or UNNAMED.fullmatch(str(name)) else str(name)


def _time(task: Mapping[str, Any]) -> str | None:
    seconds = task.get("_timestamp")
    return datetime.fromtimestamp(seconds, UTC).isoformat() if isinstance(seconds, int | float) else None
