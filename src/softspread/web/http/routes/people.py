"""People: accounts, invitations, tokens, the audit log. Absent where the server runs without accounts."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request, Response

from softspread.web.http import schemas
from softspread.web.http.access import AdminUser, AppContext, Context, CurrentUser
from softspread.web.http.routes import USUAL, problems
from softspread.web.log.accounts import Accounts

router = APIRouter(prefix="/api/v1", tags=["people"], responses={**USUAL, **problems(404)})
SecretId = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]


def _accounts(context: AppContext) -> Accounts:
    if context.accounts is None:
        raise HTTPException(404, "this server runs without accounts")
    return context.accounts


@router.get("/people")
def people(user: AdminUser, context: Context) -> schemas.PeopleOut:
    """Accounts, invitations, own tokens and the last notes of the audit log."""
    accounts = _accounts(context)
    return schemas.PeopleOut(
        accounts=accounts.all_accounts(),
        invitations=accounts.invitations(),
        tokens=accounts.tokens_of(user),
        audit=accounts.notes(),
    )


@router.post("/invitations", status_code=201)
def invite(body: schemas.InviteIn, request: Request, user: AdminUser, context: Context) -> schemas.InviteOut:
    """A link that opens one account, once."""
    accounts = _accounts(context)
    word = accounts.invite(body.role, user.name, body.note, body.hours * 3600)
    context.note(request, user.name, "invite", f"{body.role} {body.note}".strip())
    link = f"{request.url.scheme}://{request.headers.get('host', '')}/invite/{word}"
    return schemas.InviteOut(link=link, expires_at=context.service.clock() + body.hours * 3600)


@router.delete("/invitations/{invitation}", status_code=204, response_class=Response)
def withdraw(invitation: SecretId, request: Request, user: AdminUser, context: Context) -> None:
    """Make an unused invitation useless."""
    if not _accounts(context).withdraw(invitation):
        raise HTTPException(404, "there is no such unused invitation")
    context.note(request, user.name, "withdraw invitation")


@router.patch("/accounts/{account}", status_code=204, response_class=Response, responses=problems(409))
def set_active(
    account: Annotated[int, Path(ge=1, le=2**31 - 1)],
    body: schemas.ActiveIn,
    request: Request,
    user: AdminUser,
    context: Context,
) -> None:
    """Close an account or open it again; its votes stay."""
    accounts = _accounts(context)
    if account == user.id and not body.active:
        raise HTTPException(409, "you cannot close your own account")
    if not accounts.set_active(account, body.active):
        raise HTTPException(404, "there is no such account")
    context.note(request, user.name, "open account" if body.active else "close account", str(account))


@router.post("/tokens", status_code=201)
def make_token(
    body: schemas.TokenIn, request: Request, user: CurrentUser, context: Context
) -> schemas.TokenOut:
    """A token for programs; it may do what its owner may do."""
    accounts = _accounts(context)
    if user.via == "token":
        raise HTTPException(403, "a token cannot make tokens; sign in")
    token = accounts.make_token(user, body.name)
    context.note(request, user.name, "make token", body.name)
    return schemas.TokenOut(token=token)


@router.delete("/tokens/{token}", status_code=204, response_class=Response)
def revoke_token(token: SecretId, request: Request, user: CurrentUser, context: Context) -> None:
    """End one of one's own tokens."""
    if not _accounts(context).revoke_token(user, token):
        raise HTTPException(404, "there is no such token of yours")
    context.note(request, user.name, "revoke token")
