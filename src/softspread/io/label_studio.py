"""Label Studio: its JSON export as votes, and soft labels as tasks with predictions.

task {id, data {...}, annotations [{completed_by, was_cancelled, result [{type, value {choices}}]}]}
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from softspread._common.columns import ITEM_NAMES, first_of
from softspread._common.kinds import MULTILABEL, RATING
from softspread.errors import InputError
from softspread.io.exports import Answers, checked_id, item_of
from softspread.io.vote_file import VoteFile, VoteReading
from softspread.spreading.evidence import SoftLabels

CHOICES = ("choices",)  # types of results that hold classes ...
RATINGS = ("rating", "number", *CHOICES)  # ... and numbers
SHORTEST_JSON = (",", ":")


@dataclass(frozen=True, slots=True)
class LabelStudioNames:
    """How the tasks call things; they must agree with the project's labelling setup."""

    item_field: str = "item"  # of a task's data
    from_name: str = "label"  # the name of the Choices tag
    to_name: str = "item"  # the name of the tag that shows the item
    shown: Mapping[str, str] = field(
        default_factory=dict
    )  # item -> what its field holds instead of the id ...
    id_field: str = "softspread_item"  # ... and where the id stands then


def is_export(content: Any) -> bool:
    """Whether a JSON file looks like an export: its first task has annotations."""
    tasks = content if isinstance(content, list) else [content]
    return (
        bool(tasks) and isinstance(tasks[0], dict) and not {"annotations", "completions"}.isdisjoint(tasks[0])
    )


def read_export(path: Path, content: Any, how: VoteReading) -> VoteFile:
    """Votes of an export; cancelled and empty annotations are left out and counted.

    Parameters
    ----------
    content : what the file holds, a list of tasks
    how : ``item_column`` names the field of the data that identifies the item, ``label_column`` the choices
        to read
    """
    tasks = content if isinstance(content, list) else [content]
    answers = Answers(how)
    for number, task in enumerate(tasks):
        given = task.get("annotations", task.get("completions")) if isinstance(task, dict) else None
        if not isinstance(given, list):
            raise InputError(
                f"{path}, task {number} (counted from 0) has no list of annotations; export the project as "
                "JSON, not as JSON-MIN."
            )
        item = _item_of(path, number, task, how.item_column)
        for annotation in given:
            _add(f"{path}, task {task.get('id')}", item, annotation, answers)
    return answers.file(path, "labelstudio")


def _who(annotation: Mapping[str, Any]) -> str | None:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    return None if by is None else str(by)


def _item_of(path: Path, number: int, task: Mapping[str, Any], asked: str | None) -> str:
    given = task.get("data")
    data: dict[str, Any] = given if isinstance(given, dict) else {}
    where = f"{path}, task {number} (counted from 0)"
    if asked is None and first_of(ITEM_NAMES, data) is None:
        return checked_id(where, next(iter(data.values())) if len(data) == 1 else task.get("id"))
    return item_of(f"{where}: its data" if asked is not None and asked not in data else where, data, asked)


def _add(where: str, item: str, annotation: Any, answers: Answers) -> None:
    how = answers.how
    if not isinstance(annotation, dict):
        raise InputError(f"{where}: an annotation is {annotation!r}, not an object.")
    if annotation.get("was_cancelled"):
        answers.left_out["cancelled annotations"] += 1
        return
    types = RATINGS if how.kind == RATING else CHOICES
    results = [
        result
        for result in annotation.get("result") or []
        if isinstance(result, dict)
        and result.get("type") in types
        and (how.label_column is None or result.get("from_name") == how.label_column)
    ]
    names = {result.get("from_name") for result in results}
    if len(names) > 1:
        raise InputError(
            f"{where}: several sets of choices ({', '.join(sorted(map(repr, names)))}); name one by "
            "--label-column."
        )
    value = results[0].get("value") if results else None
    chosen = value.get(results[0]["type"]) if isinstance(value, dict) else None
    choices = chosen if isinstance(chosen, list) else [] if chosen is None else [chosen]
    answers.add(where, item, choices, _who(annotation), annotation.get("created_at"))


def write_tasks(path: Path, labels: SoftLabels, names: LabelStudioNames) -> None:
    """Write a list of tasks with one prediction each, as Label Studio imports them."""
    version = str(labels.metadata.get("versions", {}).get("softspread", ""))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("[\n")
        for number, task in enumerate(_tasks(labels, names, f"softspread {version}".strip())):
            file.write(
                (",\n" if number else "") + json.dumps(task, ensure_ascii=False, separators=SHORTEST_JSON)
            )
        file.write("\n]\n")


def _tasks(labels: SoftLabels, names: LabelStudioNames, version: str) -> Iterator[dict[str, Any]]:
    classes = [str(label) for label in labels.classes.tolist()]
    best = labels.p.argmax(axis=1)
    several = [list(map(str, names)) for names in labels.labels] if labels.kind == MULTILABEL else None
    for row, item in enumerate(labels.ids.tolist()):
        p = [round(value, 6) for value in labels.p[row].tolist()]
        choice = {
            "from_name": names.from_name,
            "to_name": names.to_name,
            "type": "choices",
            "value": {"choices": several[row] if several is not None else [classes[best[row]]]},
        }
        meta = {"p": dict(zip(classes, p, strict=True)), "evidence": round(float(labels.evidence[row]), 6)}
        if labels.verdict is not None:
            meta["verdict"] = labels.verdict[row]
        shown = names.shown.get(str(item))
        yield {
            "data": {names.item_field: item if shown is None else shown}
            | ({} if shown is None else {names.id_field: item}),
            "predictions": [{"model_version": version, "score": p[best[row]], "result": [choice]}],
            "meta": meta,
        }
