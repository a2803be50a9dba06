"""Voting: the project, items and pictures, votes, undo, skip."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from pydantic import ValidationError

from softspread.errors import InputError
from softspread.web.http import schemas
from softspread.web.http.access import AppContext, Context, CurrentUser, Project, current_user, get_context
from softspread.web.http.problems import USUAL, documented
from softspread.web.http.routes.project import described
from softspread.web.log.accounts import User
from softspread.web.log.entry import KIND_NAMES, Entry, Outcome
from softspread.web.project.service import Service

router = APIRouter(prefix="/api/v1", tags=["voting"], responses=USUAL)
PICTURE_CACHE = "private, max-age=86400"
PICTURE_POLICY = "default-src 'none'; sandbox"  # a file that only claims to be a picture can do nothing
LARGEST_ROW = 2**31 - 1  # what the database's integers hold
SECURITY: list[dict[str, list[str]]] = [{"HTTPBearer": []}, {"APIKeyCookie": []}]  # names from `access`
SYNC_PATH = "/api/v1/sync"
Row = Annotated[int, Path(ge=0, le=LARGEST_ROW)]
_as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=vars).encode


@router.get("/project")
async def project(user: CurrentUser, service: Project) -> schemas.ProjectOut:
    """The project's question, classes and mode."""
    return described(service)


@router.post(
    "/sync",
    response_model=schemas.SyncOut,
    openapi_extra={"requestBody": schemas.body_of(schemas.SyncBody), "security": SECURITY},
)
async def sync(request: Request) -> Response:
    """The vote page's request: send operations, get the next items. All operations are written on return."""
    # The request that twenty users send all the time: read and answered by hand, and `app.SyncFastPath` leads
    # here past the router. Both together cut its cost to a third.
    user, context = await current_user(request), await get_context(request)
    try:
        body = schemas.SyncBody.model_validate_json(await request.body())
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return JSONResponse({"detail": found}, 422)
    answer = {
        "outcomes": await perform(context, user, body.operations, "page"),
        "items": context.service.assign(user.name, body.wanted, body.holding) if body.wanted else [],
        "progress": context.service.progress(user.name),
        "status": context.service.settings.status,
        "revision": context.service.page_revision,
    }
    return Response(_as_json(answer), media_type="application/json")


@router.post("/votes", status_code=201, responses=documented(409))
async def vote(body: schemas.VotesIn, user: CurrentUser, context: Context) -> schemas.OutcomesOut:
    """Cast votes in your own name. 409 if all of them were refused."""
    return await _all_or_409(context, user, body.votes)


@router.post("/undo", status_code=201, responses=documented(409))
async def undo(body: schemas.UndosIn, user: CurrentUser, context: Context) -> schemas.OutcomesOut:
    """Take your own votes back. 409 if all of them were refused."""
    return await _all_or_409(context, user, body.undos)


@router.get("/votes")
def votes(
    user: CurrentUser,
    service: Project,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=schemas.MOST_ROWS)] = 100,
) -> schemas.LogOut:
    """The vote log in order, from an id on; annotators see their own lines."""
    entries = service.store.entries(after, limit, None if user.is_admin else user.name)
    found = [asdict(entry) | {"kind": KIND_NAMES[entry.kind]} for entry in entries]
    return schemas.LogOut(entries=[schemas.EntryOut(**entry) for entry in found])


@router.get("/items")
def items(
    user: CurrentUser,
    service: Project,
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=LARGEST_ROW)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> schemas.ItemsOut:
    """Items by a part of their id."""
    rows = service.search(search, offset, limit)
    return schemas.ItemsOut(total=len(service.items), items=service.cards(rows.tolist()))


@router.get(
    "/items/{row}/picture",
    response_class=Response,
    responses={200: {"content": {"image/*": {}}}, **documented(404)},
)
def picture(row: Row, user: CurrentUser, service: Project) -> Response:
    """The picture of an item."""
    items = service.items
    return _picture(items.picture(row) if row < len(items) else None)


@router.get(
    "/items/{row}/thumbnail",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}, **documented(404)},
)
def thumbnail(row: Row, user: CurrentUser, service: Project) -> Response:
    """A small picture of an item."""
    items = service.items
    found = items.thumbnail(row) if row < len(items) else None
    return _picture(None if found is None else (found, "image/png"))


@router.get(
    "/items/{row}/media",
    response_class=FileResponse,
    responses={200: {"content": {"audio/*": {}, "video/*": {}}}, **documented(404)},
)
def media(row: Row, user: CurrentUser, service: Project) -> FileResponse:
    """The sound or film of an item, also a part of it (`Range`), as players ask for it."""
    items = service.items
    found = items.media(row) if row < len(items) else None
    if found is None:
        raise HTTPException(404, "there is no sound and no film")
    headers = {"Cache-Control": PICTURE_CACHE, "Content-Security-Policy": PICTURE_POLICY}
    return FileResponse(found[0], media_type=found[1], headers=headers)


def _picture(found: tuple[bytes, str] | None) -> Response:
    if found is None:
        raise HTTPException(404, "there is no picture")
    headers = {"Cache-Control": PICTURE_CACHE, "Content-Security-Policy": PICTURE_POLICY}
    return Response(found[0], media_type=found[1], headers=headers)


# ------------------------------------------------------------------------------------------------- operations
async def perform(
    context: AppContext,
    user: User,
    wanted: Sequence[schemas.AnyOperation],
    origin: str,
) -> list[Outcome]:
    """Write operations in their order; one that names an unknown item or class does not stop the others."""
    if not wanted:
        return []
    if not context.votes.allows(user.name, len(wanted)):
        raise HTTPException(429, "too many votes at once; wait a few seconds", headers={"Retry-After": "2"})
    made = [_entry(context.service, user.name, one, origin) for one in wanted]
    good = [one for one in made if isinstance(one, Entry)]
    answers = await asyncio.wrap_future(context.service.submit(good)) if good else []
    written = iter(answers)
    return [next(written) if isinstance(one, Entry) else one for one in made]


def _entry(service: Service, name: str, one: schemas.AnyOperation, origin: str) -> Entry | Outcome:
    try:
        if isinstance(one, schemas.VoteIn):
            return service.vote(
                name, one.item, one.said, one.key, unsure=one.unsure, origin=origin, shown=one.shown
            )
        if isinstance(one, schemas.SkipIn):
            return service.skip(name, one.item, one.key, origin=origin)
        if isinstance(one, schemas.FlagIn):
            return service.flag(name, one.item, one.note, one.key, origin=origin)
        if isinstance(one, schemas.BrokenIn):
            return service.broken(name, one.item, one.key, origin=origin)
        return service.undo(name, one.vote, one.key, origin=origin)
    except InputError as error:
        return Outcome("refused", None, getattr(one, "item", ""), str(error))


async def _all_or_409(context: AppContext, user: User, wanted: Sequence[Any]) -> schemas.OutcomesOut:
    outcomes = await perform(context, user, wanted, "api")
    if all(outcome.status == "refused" for outcome in outcomes):
        raise HTTPException(409, [vars(outcome) for outcome in outcomes])
    return schemas.OutcomesOut(outcomes=outcomes)
