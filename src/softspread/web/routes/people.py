"""People: accounts, invitations, tokens, the audit log. Absent where the server runs without accounts."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request, Response

from softspread.web import schemas
from softspread.web.access import Admin, Door, Somebody, TheDoor
from softspread.web.accounts import Accounts
from softspread.web.routes import USUAL, problems

router = APIRouter(prefix="/api/v1", tags=["people"], responses={**USUAL, **problems(404)})
SecretId = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]


def _accounts(door: Door) -> Accounts:
    if door.accounts is None:
        raise HTTPException(404, "this server runs without accounts")
    return door.accounts


@router.get("/people")
def people(person: Admin, door: TheDoor) -> schemas.PeopleOut:
    """Accounts, invitations, own tokens and the last notes of the audit log."""
    accounts = _accounts(door)
    return schemas.PeopleOut(
        accounts=accounts.everybody(),
        invitations=accounts.invitations(),
        tokens=accounts.tokens_of(person),
        audit=accounts.notes(),
    )


@router.post("/invitations", status_code=201)
def invite(body: schemas.InviteIn, request: Request, person: Admin, door: TheDoor) -> schemas.InviteOut:
    """A link that opens one account, once."""
    accounts = _accounts(door)
    word = accounts.invite(body.role, person.name, body.note, body.hours * 3600)
    door.note(request, person.name, "invite", f"{body.role} {body.note}".strip())
    link = f"{request.url.scheme}://{request.headers.get('host', '')}/invite/{word}"
    return schemas.InviteOut(link=link, expires_at=door.service.clock() + body.hours * 3600)


@router.delete("/invitations/{invitation}", status_code=204, response_class=Response)
def withdraw(invitation: SecretId, request: Request, person: Admin, door: TheDoor) -> None:
    """Make an unused invitation useless."""
    if not _accounts(door).withdraw(invitation):
        raise HTTPException(404, "there is no such unused invitation")
    door.note(request, person.name, "withdraw invitation")


@router.patch("/accounts/{account}", status_code=204, response_class=Response, responses=problems(409))
def set_active(
    account: Annotated[int, Path(ge=1, le=2**31 - 1)],
    body: schemas.ActiveIn,
    request: Request,
    person: Admin,
    door: TheDoor,
) -> None:
    """Close an account or open it again; its votes stay."""
    accounts = _accounts(door)
    if account == person.id and not body.active:
        raise HTTPException(409, "you cannot close your own account")
    if not accounts.set_active(account, body.active):
        raise HTTPException(404, "there is no such account")
    door.note(request, person.name, "open account" if body.active else "close account", str(account))


@router.post("/tokens", status_code=201)
def make_token(body: schemas.TokenIn, request: Request, person: Somebody, door: TheDoor) -> schemas.TokenOut:
    """A token for programs; it may do what its owner may do."""
    accounts = _accounts(door)
    if person.via == "token":
        raise HTTPException(403, "a token cannot make tokens; sign in")
    token = accounts.make_token(person, body.name)
    door.note(request, person.name, "make token", body.name)
    return schemas.TokenOut(token=token)


@router.delete("/tokens/{token}", status_code=204, response_class=Response)
def revoke_token(token: SecretId, request: Request, person: Somebody, door: TheDoor) -> None:
    """End one of one's own tokens."""
    if not _accounts(door).revoke_token(person, token):
        raise HTTPException(404, "there is no such token of yours")
    door.note(request, person.name, "revoke token")
