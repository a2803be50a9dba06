"""Results: soft labels, explanations, next questions, the dashboard's data, map and events, exports."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.responses import StreamingResponse

from softspread._common.arrow import check_parquet
from softspread.queries.registry import STRATEGIES
from softspread.web.http import schemas
from softspread.web.http.access import AdminUser, AppContext, Context, Project, admin_user
from softspread.web.http.problems import USUAL, documented
from softspread.web.http.routes.voting import LARGEST_ROW, Row
from softspread.web.project import exports
from softspread.web.project.learner import CONFIDENCE_LEVEL

router = APIRouter(prefix="/api/v1", tags=["results"], responses=USUAL, dependencies=[Depends(admin_user)])
SHORTEST_EVENT_PAUSE = 0.5  # seconds between two events
HEARTBEAT_SECONDS = 15.0  # keeps proxies from closing a quiet stream
MOST_STREAMS = 200  # each keeps a connection open
NO_CACHE = {"Cache-Control": "no-store"}


@router.get("/soft-labels", response_model=schemas.SoftLabelsOut, responses=documented(404))
def soft_labels(
    service: Project,
    items: Annotated[list[str] | None, Query(max_length=schemas.MOST_ROWS)] = None,
    offset: Annotated[int, Query(ge=0, le=LARGEST_ROW)] = 0,
    limit: Annotated[int, Query(ge=1, le=schemas.MOST_ROWS)] = 100,
    confidence_level: Annotated[float, Query(gt=0, lt=1)] = CONFIDENCE_LEVEL,
) -> Any:
    """Soft labels and intervals: of the items named, else of a page of all items."""
    rows: Sequence[int] = range(len(service.items))[offset : offset + limit]
    if items:
        found = [(item, service.items.row_of(item)) for item in items]
        rows = [row for _, row in found if row is not None]
        if len(rows) < len(found):
            raise HTTPException(404, f"there is no item {next(item for item, row in found if row is None)!r}")
    return {
        "classes": service.classes,
        "confidence_level": confidence_level,
        "refined": service.state.refined,
        "items": service.soft_labels(rows, confidence_level),
    }


@router.get("/items/{row}/why", response_model=schemas.WhyOut, responses=documented(404))
def why(row: Row, service: Project, top: Annotated[int, Query(ge=1, le=100)] = 10) -> Any:
    """The soft label of an item and the votes behind it, heaviest first."""
    if row >= len(service.items):
        raise HTTPException(404, f"there is no item in row {row}")
    label, card = service.soft_labels([row])[0], service.cards([row])[0]
    return {"label": label, "card": card, "votes": service.explain(row, top)}


@router.get("/queries")
def queries(
    service: Project,
    count: Annotated[int, Query(ge=1, le=100)] = 10,
    strategy: Annotated[str | None, Query(json_schema_extra={"enum": [*STRATEGIES.names()]})] = None,
) -> schemas.ItemsOut:
    """Which items to vote on next, without assigning them."""
    cards = service.cards(service.queue.peek(count, strategy).tolist())
    return schemas.ItemsOut(total=len(cards), items=cards)


@router.get("/dashboard")
def dashboard(context: Context) -> dict[str, Any]:
    """Everything the dashboard shows but the map."""
    return {**context.service.dashboard(), "label_studio": context.label_studio.seen()}


@router.get(
    "/map/places", response_class=Response, responses={200: {"content": {"application/octet-stream": {}}}}
)
def map_places(service: Project) -> Response:
    """Rows (uint32) and places (float32 pairs) of the items on the map; empty while it is being drawn."""
    return Response(service.map_places(), media_type="application/octet-stream", headers=NO_CACHE)


@router.get(
    "/map/values", response_class=Response, responses={200: {"content": {"application/octet-stream": {}}}}
)
def map_values(service: Project) -> Response:
    """Evidence and uncertainty (float32), then class (uint16), in the order of the places."""
    return Response(service.map_values(), media_type="application/octet-stream", headers=NO_CACHE)


@router.get(
    "/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}}
)
async def events(context: Context) -> StreamingResponse:
    """Server-sent events: the numbers on top of the dashboard, at most twice a second."""
    if context.streams >= MOST_STREAMS:
        raise HTTPException(503, "too many dashboards are open", headers={"Retry-After": "10"})
    return StreamingResponse(_stream(context), media_type="text/event-stream", headers=NO_CACHE)


async def _stream(context: AppContext) -> AsyncIterator[str]:
    service, loop, changed = context.service, asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(changed.set)

    stop = service.listen(wake)
    context.streams += 1
    try:
        while not context.stopping:
            data = {"version": service.version, "counts": service.counts(), "map": service.map is not None}
            yield f"event: counts\ndata: {json.dumps(data)}\n\n"
            await asyncio.sleep(SHORTEST_EVENT_PAUSE)
            try:
                await asyncio.wait_for(changed.wait(), HEARTBEAT_SECONDS)
            except TimeoutError:
                yield ": still here\n\n"
            changed.clear()
    finally:
        context.streams -= 1
        stop()


@router.get(
    "/export/{name}",
    response_class=StreamingResponse,
    responses={200: {"content": exports.CONTENTS}, **documented(501)},
)
def export(
    name: Literal[
        "soft_labels.csv",
        "soft_labels.tsv",
        "soft_labels.parquet",
        "soft_labels.jsonl",
        "soft_labels.json",
        "votes.csv",
        "votes.jsonl",
        "votes.parquet",
        "log.csv",
        "log.jsonl",
        "log.parquet",
    ],
    request: Request,
    user: AdminUser,
    context: Context,
) -> StreamingResponse:
    """Soft labels of all items (.json: Label Studio's form), votes that stand, or the whole vote log."""
    check_parquet(name)
    context.note(request, user.name, "export", name)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **NO_CACHE}
    return StreamingResponse(
        exports.stream(context.service, name, context.label_studio.names),
        media_type=exports.media_type(name),
        headers=headers,
    )
