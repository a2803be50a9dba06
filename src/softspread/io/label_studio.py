"""Label Studio: its JSON export as votes, and soft labels as tasks with predictions.

task {id, data {...}, annotations [{completed_by, was_cancelled, result [{type, value {choices}}]}]}
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.columns import ITEM_NAMES, first_of
from softspread._common.kinds import MULTILABEL
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.io.vote_file import VoteFile, VoteReading
from softspread.spreading.evidence import SoftLabels

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
    left_out: Counter[str] = Counter()
    rows: list[tuple[Any, Any, Any, float, Any]] = []
    for number, task in enumerate(tasks):
        given = task.get("annotations", task.get("completions")) if isinstance(task, dict) else None
        if not isinstance(given, list):
            raise InputError(
                f"{path}, task {number} (counted from 0) has no list of annotations; export the project as "
                "JSON, not as JSON-MIN."
            )
        item = _item_of(path, number, task, how.item_column)
        for annotation in given:
            rows += _votes_of(path, task, item, annotation, how, left_out)
    items, labels, annotators, weights, times = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    named = objects(annotators) if any(name is not None for name in annotators) else None
    return VoteFile(
        path,
        "labelstudio",
        objects(items),
        objects(labels),
        named,
        np.array(weights, dtype=np.float64) if any(weight != 1.0 for weight in weights) else None,
        objects(times) if any(time is not None for time in times) else None,
        notes=dict(left_out),
        answers=np.full(len(rows), None) if how.kind == MULTILABEL else None,
    )


def _who(annotation: Mapping[str, Any]) -> str | None:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    return None if by is None else str(by)


def _item_of(path: Path, number: int, task: Mapping[str, Any], asked: str | None) -> Any:
    given = task.get("data")
    data: dict[str, Any] = given if isinstance(given, dict) else {}
    if asked is not None:
        if asked not in data:
            raise InputError(
                f"{path}, task {number} (counted from 0): its data has no field {asked!r}; it has "
                f"{', '.join(map(repr, data)) or 'none'}."
            )
        value = data[asked]
    else:
        named = first_of(ITEM_NAMES, data) or (next(iter(data)) if len(data) == 1 else None)
        value = data[named] if named is not None else task.get("id")
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise InputError(
            f"{path}, task {number} (counted from 0): nothing names the item; choose a field of its data by "
            "--item-column."
        )
    return str(value)


def _votes_of(
    path: Path,
    task: Mapping[str, Any],
    item: Any,
    annotation: Any,
    how: VoteReading,
    left_out: "Counter[str]",
) -> list[tuple[Any, Any, Any, float, Any]]:
    if not isinstance(annotation, dict):
        raise InputError(f"{path}, task {task.get('id')}: an annotation is {annotation!r}, not an object.")
    if annotation.get("was_cancelled"):
        left_out["cancelled annotations"] += 1
        return []
    results = [
        result
        for result in annotation.get("result") or []
        if isinstance(result, dict)
        and result.get("type") == "choices"
        and (how.label_column is None or result.get("from_name") == how.label_column)
    ]
    names = {result.get("from_name") for result in results}
    if len(names) > 1:
        raise InputError(
            f"{path}, task {task.get('id')}: several sets of choices "
            f"({', '.join(sorted(map(repr, names)))}); name one by --label-column."
        )
    value = results[0].get("value") if results else None
    choices = list(dict.fromkeys(value.get("choices") or [])) if isinstance(value, dict) else []
    if how.kind == MULTILABEL:  # choosing nothing is an answer too
        return [(item, tuple(choices), _who(annotation), 1.0, annotation.get("created_at"))]
    if not choices:
        left_out["annotations without a choice"] += 1
        return []
    if len(choices) > 1:
        if how.multi_choice == "refuse":
            raise InputError(
                f"{path}, task {task.get('id')}: an annotation chooses {len(choices)} classes "
                f"({', '.join(map(repr, choices[:5]))}). Use --kind multilabel where items may have several, "
                "--multi-choice split to count each as a part of a vote, or --multi-choice skip to leave "
                "such annotations out."
            )
        if how.multi_choice == "skip":
            left_out["annotations with several choices"] += 1
            return []
    who = _who(annotation)
    return [(item, str(choice), who, 1.0 / len(choices), annotation.get("created_at")) for choice in choices]


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
