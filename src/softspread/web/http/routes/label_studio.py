"""Label Studio's ML backend: an existing project uses this server as its model.

    GET /health   POST /setup   POST /predict   POST /webhook

A task is one of our items if one of its data fields holds the item's id, or a path or URL that ends in it.
"""

import asyncio
import re
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

import numpy as np
from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, Field

from softspread._common.columns import ITEM_NAMES
from softspread.errors import InputError
from softspread.web.http.access import AdminUser, Context
from softspread.web.http.problems import USUAL
from softspread.web.log.entry import Entry
from softspread.web.project.service import Service

router = APIRouter(tags=["label studio"], responses=USUAL)
MOST_TASKS = 1_000
LONGEST_VALUE = 2_000  # characters of a data field that could name an item
ID_FIELDS = ("softspread_item", *ITEM_NAMES)
LONGEST_CONFIG = 200_000
CHOICES = re.compile(r"<(?:Choices|Taxonomy)\b[^>]*>")
ATTRIBUTE = re.compile(r"""\b(name|toName)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class PredictBody(BaseModel):
    """Tasks as Label Studio sends them."""

    tasks: Annotated[list[dict[str, Any]], Field(max_length=MOST_TASKS)] = []
    label_config: Annotated[str | None, Field(max_length=LONGEST_CONFIG)] = None


class SetupIn(BaseModel):
    """What Label Studio says about the project."""

    project: Any = None
    label_schema: Annotated[str | None, Field(alias="schema", max_length=LONGEST_CONFIG)] = None


class WebhookIn(BaseModel):
    """An event of the project."""

    action: Annotated[str, Field(max_length=100)]
    task: dict[str, Any] | None = None
    annotation: dict[str, Any] | None = None
    annotations: Annotated[list[dict[str, Any]] | None, Field(max_length=MOST_TASKS)] = None


@router.get("/health")
async def health() -> dict[str, str]:
    """Whether the server is up."""
    return {"status": "UP", "model_class": "softspread"}


@router.post("/setup")
async def setup(body: SetupIn, user: AdminUser, context: Context) -> dict[str, str]:
    """Remember how the project names its choices."""
    if body.label_schema:
        context.label_studio_names = names_of(body.label_schema)
    return {"model_version": model_version(context.service)}


@router.post("/predict")
def predict(body: PredictBody, user: AdminUser, context: Context) -> dict[str, Any]:
    """Soft labels as predictions; an empty result for a task that is none of our items."""
    service = context.service
    from_name, to_name = names_of(body.label_config) if body.label_config else context.label_studio_names
    rows = [row_of_task(service, task) for task in body.tasks]
    known = [row for row in rows if row is not None]
    labels = service.state.soft_labels(np.array(known, dtype=np.int64))
    scores = zip(labels.labels, labels.p.max(axis=1).tolist(), strict=True)
    best: dict[int | None, tuple[Any, float]] = dict(zip(known, scores, strict=True))
    names = {"from_name": from_name, "to_name": to_name, "type": "choices"}
    version, results = model_version(service), []
    for row in rows:
        label, score = best.get(row, (None, 0.0))
        choice = {**names, "value": {"choices": [label]}, "score": score}
        results.append({"result": [] if row is None else [choice], "score": score, "model_version": version})
    return {"results": results, "model_version": version}


@router.post("/webhook")
async def webhook(body: WebhookIn, user: AdminUser, context: Context) -> dict[str, Any]:
    """Votes from Label Studio: created, changed and deleted annotations, each taken in once."""
    entries = await asyncio.to_thread(_entries, context.service, body)
    outcomes = await asyncio.wrap_future(context.service.submit(entries)) if entries else []
    return {
        "taken": sum(outcome.status != "refused" for outcome in outcomes),
        "refused": [outcome.reason for outcome in outcomes if outcome.status == "refused"],
    }


def _entries(service: Service, body: WebhookIn) -> list[Entry]:
    made: list[Entry] = []
    for annotation in [*([body.annotation] if body.annotation else []), *(body.annotations or [])]:
        number = annotation.get("id")
        if not isinstance(number, int | str):
            continue
        who, base = annotator_of(annotation), f"ls-{str(number)[:24]}"
        versions = service.store.keys_starting(who, base + "-")  # standing votes of this annotation
        if body.action in ("ANNOTATION_UPDATED", "ANNOTATION_DELETED", "ANNOTATIONS_DELETED"):
            made += [service.undo(who, key, f"{key}-undo", origin="label-studio") for key in versions]
        label = choice_of(annotation)
        row = row_of_task(service, body.task or {})
        if (
            body.action in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
            and label is not None
            and row is not None
        ):
            stamp = str(annotation.get("updated_at") or annotation.get("created_at") or len(versions))
            key = f"{base}-{re.sub('[^0-9]', '', stamp)[:24]}"
            try:
                made.append(service.vote(who, str(service.items.ids[row]), label, key, origin="label-studio"))
            except InputError as error:
                raise HTTPException(400, str(error)) from error
    return made


def annotator_of(annotation: dict[str, Any]) -> str:
    """A name for the log; the colon distinguishes it from our own accounts."""
    who = annotation.get("completed_by", "unknown")
    if isinstance(who, dict):
        who = who.get("id", who.get("email", "unknown"))
    return f"ls:{str(who)[:60]}"


def choice_of(annotation: dict[str, Any]) -> str | None:
    """The one choice of an annotation, or None where there is none or more than one."""
    results = annotation.get("result")
    chosen = [
        name
        for result in (results if isinstance(results, list) else [])
        if isinstance(result, dict) and isinstance(result.get("value"), dict)
        for name in (result["value"].get("choices") or [])
    ]
    return str(chosen[0]) if len(chosen) == 1 else None


def row_of_task(service: Service, task: dict[str, Any]) -> int | None:
    """Which of our items a task is about."""
    data = task.get("data")
    if not isinstance(data, dict):
        return None
    named = [data[name] for name in ID_FIELDS if name in data]
    for given in [*named, *data.values()]:
        value = str(given) if isinstance(given, int | str) else ""
        if not value or len(value) > LONGEST_VALUE:
            continue
        path = unquote(urlsplit(value).path) if "://" in value or value.startswith("/") else value
        parts = path.strip("/").split("/")
        for candidate in [value, path, *("/".join(parts[start:]) for start in range(len(parts)))]:
            row = service.items.row_of(candidate)
            if row is not None:
                return row
    return None


def names_of(config: str) -> tuple[str, str]:
    """Names of the choices and of what they are about, from a labelling setup; read as text, never as XML."""
    tag = CHOICES.search(config)
    found = {name: first or second for name, first, second in ATTRIBUTE.findall(tag.group())} if tag else {}
    return found.get("name", "label"), found.get("toName", "item")


def model_version(service: Service) -> str:
    """Changes with every vote."""
    return f"softspread-{service.history.last_id}"
