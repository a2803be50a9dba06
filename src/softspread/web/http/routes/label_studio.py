"""Label Studio's ML backend: an existing project uses this server as its model.

    GET /health   POST /setup   POST /predict   POST /webhook        also below /label-studio/TOKEN

Label Studio's own webhook sends no headers, so a token that opens nothing else may stand in the address.
"""

import asyncio
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, Field

from softspread.web.http.access import AdminUser, Context
from softspread.web.http.problems import USUAL
from softspread.web.project.service import Service

router = APIRouter(tags=["label studio"], responses=USUAL)
MOST_TASKS = 100_000  # in one request; its size is limited too
LONGEST_CONFIG = 200_000  # characters of a project's labelling configuration
OneOrMany = dict[str, Any] | Annotated[list[dict[str, Any]], Field(max_length=MOST_TASKS)]


class PredictBody(BaseModel):
    """Tasks as Label Studio sends them."""

    tasks: Annotated[list[dict[str, Any]], Field(max_length=MOST_TASKS)] = []
    label_config: Annotated[str | None, Field(max_length=LONGEST_CONFIG)] = None


class SetupIn(BaseModel):
    """Label Studio's description of the project."""

    project: Any = None
    label_schema: Annotated[str | None, Field(alias="schema", max_length=LONGEST_CONFIG)] = None


class WebhookIn(BaseModel):
    """An event of the project. Of deleted annotations only the number comes."""

    action: Annotated[str, Field(max_length=100)]
    project: Any = None
    task: OneOrMany | None = None
    annotation: OneOrMany | None = None
    annotations: OneOrMany | None = None


@router.get("/health")
async def health() -> dict[str, str]:
    """Whether the server is up."""
    return {"status": "UP", "model_class": "softspread"}


@router.post("/setup")
def setup(body: SetupIn, user: AdminUser, context: Context) -> dict[str, str]:
    """Remember how the project names its choices."""
    context.label_studio.learn_setup(body.label_schema)
    return {"model_version": model_version(context.service)}


@router.post("/predict")
def predict(body: PredictBody, user: AdminUser, context: Context) -> dict[str, Any]:
    """Soft labels as predictions; an empty result for a task that is not among our items.

    Annotations come with the tasks; those that the log does not have become votes.
    """
    service, project = context.service, context.label_studio
    project.learn_setup(body.label_config)
    if annotated := project.annotated(body.tasks):
        service.submit(annotated).result()
    rows = [project.row_of(task) for task in body.tasks]
    known = [row for row in rows if row is not None]
    labels = service.state.soft_labels(np.array(known, dtype=np.int64))
    several = service.settings.several
    chosen = [list(found) if several else [found] for found in labels.labels]
    scores = zip(chosen, labels.p.max(axis=1).tolist(), strict=True)
    best: dict[int | None, tuple[list[Any], float]] = dict(zip(known, scores, strict=True))
    names = {"from_name": project.setup.from_name, "to_name": project.setup.to_name, "type": "choices"}
    version, results = model_version(service), []
    for row in rows:
        choices, score = best.get(row, ([], 0.0))
        choice = {**names, "value": {"choices": choices}, "score": score}
        results.append({"result": [] if row is None else [choice], "score": score, "model_version": version})
    return {"results": results, "model_version": version}


@router.post("/webhook")
async def webhook(body: WebhookIn, user: AdminUser, context: Context) -> dict[str, Any]:
    """Votes from Label Studio: created, changed and deleted annotations, each taken in once."""
    entries, reasons = await asyncio.to_thread(_operations, context, body)
    if reasons and not entries:
        raise HTTPException(400, reasons[0])
    outcomes = await asyncio.wrap_future(context.service.submit(entries)) if entries else []
    refused = [outcome.reason for outcome in outcomes if outcome.status == "refused"]
    return {"taken": len(outcomes) - len(refused), "refused": [*reasons, *refused]}


def _operations(context: Context, body: WebhookIn) -> Any:
    project = context.label_studio
    if isinstance(body.project, dict):
        project.learn_setup(body.project.get("label_config"))
    return project.operations(body.action, body.task, body.annotation or body.annotations)


def model_version(service: Service) -> str:
    """Changes with every vote."""
    return f"softspread-{service.history.last_id}"
