"""Voting: the project, items and pictures, votes, undo, skip."""

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from softspread.errors import InputError
from softspread.web.http import schemas
from softspread.web.http.access import AppContext, Context, CurrentUser, context_of, current_user
from softspread.web.http.routes import USUAL, problems
from softspread.web.log.accounts import User
from softspread.web.log.ledger import REFUSED, Operation, Outcome
from softspread.web.log.models import SKIP, UNDO, VOTE

router = APIRouter(prefix="/api/v1", tags=["voting"], responses=USUAL)
KIND_NAMES = {VOTE: "vote", UNDO: "undo", SKIP: "skip"}
PICTURE_CACHE = "private, max-age=86400"
PICTURE_POLICY = (
    "default-src 'none'; sandbox"  # a file that is not the picture it claims to be can do nothing
)
LARGEST_ROW = 2**31 - 1
SECURITY: list[dict[str, list[str]]] = [{"HTTPBearer": []}, {"APIKeyCookie": []}]  # names from `access`
SYNC_PATH = "/api/v1/sync"
Row = Annotated[int, Path(ge=0, le=LARGEST_ROW)]
_as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


@router.get("/project")
async def project(user: CurrentUser, context: Context) -> schemas.ProjectOut:
    """What is voted on, and how."""
    settings = context.service.settings
    return schemas.ProjectOut(
        title=settings.title,
        question=settings.question,
        classes=list(settings.classes),
        mode=settings.mode,
        strategy=settings.strategy,
        overlap=settings.overlap,
        items=len(context.service.items),
    )


@router.post(
    "/sync",
    response_model=schemas.SyncOut,
    openapi_extra={"requestBody": schemas.body_of(schemas.SyncBody), "security": SECURITY},
)
async def sync(request: Request) -> Response:
    """What the vote page uses: hand in what was done, get the next items. Everything is written when this
    answers.
    """
    # The one request that twenty people send all the time: read and answered by hand, and `app.SyncFastPath`
    # leads here
    # past the router: both together cost a third of the usual way.
    user, context = await current_user(request), context_of(request)
    try:
        body = schemas.SyncBody.model_validate_json(await request.body())
    except ValidationError as error:
        problems_found = error.errors(include_url=False, include_context=False, include_input=False)
        return JSONResponse({"detail": problems_found}, 422)
    outcomes = await perform(context, user, body.operations, "page")
    cards = context.service.assign(user.name, body.wanted, body.holding) if body.wanted else []
    answer = {
        "outcomes": [
            {"status": one.status, "id": one.id, "item": one.item, "reason": one.reason} for one in outcomes
        ],
        "items": [{"hint": None, **card} for card in cards],
        "progress": context.service.progress(user.name),
    }
    return Response(_as_json(answer), media_type="application/json")


@router.post("/votes", status_code=201, responses=problems(409))
async def vote(body: schemas.VotesIn, user: CurrentUser, context: Context) -> schemas.OutcomesOut:
    """Cast votes as oneself. 409 where every one of them was refused."""
    return await _all_or_409(context, user, body.votes)


@router.post("/undo", status_code=201, responses=problems(409))
async def undo(body: schemas.UndosIn, user: CurrentUser, context: Context) -> schemas.OutcomesOut:
    """Take one's own votes back. 409 where every one of them was refused."""
    return await _all_or_409(context, user, body.undos)


@router.get("/votes")
def votes(
    user: CurrentUser,
    context: Context,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=schemas.MOST_ROWS)] = 100,
) -> schemas.LogOut:
    """The vote log in order, from an id on; annotators see their own lines."""
    entries = context.service.store.entries(after, limit, None if user.is_admin else user.name)
    return schemas.LogOut(
        entries=[
            schemas.EntryOut(
                id=entry.id,
                kind=KIND_NAMES[entry.kind],  # type: ignore[arg-type]  # one of the three words
                key=entry.key,
                annotator=entry.annotator,
                item=entry.item,
                label=entry.label,
                weight=entry.weight,
                undoes=entry.undoes,
                created_at=entry.created_at,
                origin=entry.origin,
            )
            for entry in entries
        ]
    )


@router.get("/items")
def items(
    user: CurrentUser,
    context: Context,
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=LARGEST_ROW)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> schemas.ItemsOut:
    """Items by a part of their id."""
    service = context.service
    rows = service.search(search, offset, limit)
    cards = [schemas.CardOut(**card) for card in service.cards([int(row) for row in rows])]
    return schemas.ItemsOut(total=len(service.items), items=cards)


@router.get(
    "/items/{row}/picture",
    response_class=Response,
    responses={200: {"content": {"image/*": {}}}, **problems(404)},
)
def picture(row: Row, user: CurrentUser, context: Context) -> Response:
    """The picture of an item."""
    found = context.service.items.picture(row) if row < len(context.service.items) else None
    if found is None:
        raise HTTPException(404, "there is no picture")
    return _picture(found[0], found[1])


@router.get(
    "/items/{row}/thumbnail",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}, **problems(404)},
)
def thumbnail(row: Row, user: CurrentUser, context: Context) -> Response:
    """A small picture of an item."""
    found = context.service.items.thumbnail(row) if row < len(context.service.items) else None
    if found is None:
        raise HTTPException(404, "there is no picture")
    return _picture(found, "image/png")


def _picture(content: bytes, kind: str) -> Response:
    headers = {"Cache-Control": PICTURE_CACHE, "Content-Security-Policy": PICTURE_POLICY}
    return Response(content, media_type=kind, headers=headers)


# ------------------------------------------------------------------------------------------------- operations
async def perform(
    context: AppContext,
    user: User,
    wanted: Sequence[schemas.VoteIn | schemas.UndoIn | schemas.SkipIn],
    origin: str,
) -> list[Outcome]:
    """Have operations written in their order; one that names an unknown item or class is refused, others go
    on.
    """
    if not wanted:
        return []
    if not context.votes.allows(user.name, len(wanted)):
        raise HTTPException(429, "too many votes at once; wait a few seconds", headers={"Retry-After": "2"})
    made = [_operation(context, user, one, origin) for one in wanted]
    good = [one for one in made if isinstance(one, Operation)]
    answers = await asyncio.wrap_future(context.service.submit(good)) if good else []
    written = iter(answers)
    return [next(written) if isinstance(one, Operation) else one for one in made]


def _operation(
    context: AppContext, user: User, one: schemas.VoteIn | schemas.UndoIn | schemas.SkipIn, origin: str
) -> Operation | Outcome:
    service = context.service
    try:
        if isinstance(one, schemas.VoteIn):
            return service.vote(user.name, one.item, one.label, one.key, unsure=one.unsure, origin=origin)
        if isinstance(one, schemas.SkipIn):
            return service.skip(user.name, one.item, one.key, origin=origin)
        return service.undo(user.name, one.vote, one.key, origin=origin)
    except InputError as error:
        return Outcome(REFUSED, None, getattr(one, "item", ""), str(error))


async def _all_or_409(context: AppContext, user: User, wanted: Sequence[Any]) -> schemas.OutcomesOut:
    outcomes = await perform(context, user, wanted, "api")
    if all(outcome.status == REFUSED for outcome in outcomes):
        raise HTTPException(409, [outcome_out(outcome).model_dump() for outcome in outcomes])
    return schemas.OutcomesOut(outcomes=[outcome_out(outcome) for outcome in outcomes])


def outcome_out(outcome: Outcome) -> schemas.OutcomeOut:
    """An outcome as it travels."""
    return schemas.OutcomeOut(
        status=outcome.status,  # type: ignore[arg-type]  # one of the three words
        id=outcome.id,
        item=outcome.item,
        reason=outcome.reason,
    )
