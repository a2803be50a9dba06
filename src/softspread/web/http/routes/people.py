"""People: accounts, invitations, tokens, the audit log. Absent where the server runs without accounts."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response

from softspread.web.http import schemas
from softspread.web.http.access import ADDRESS_PREFIX, AdminUser, Context, CurrentUser
from softspread.web.http.problems import USUAL, documented
from softspread.web.log.accounts import ADDRESS_MARK, TOKEN_MARK, Accounts

router = APIRouter(prefix="/api/v1", tags=["people"], responses={**USUAL, **documented(404)})
MARKS = {"programs": TOKEN_MARK, "label-studio": ADDRESS_MARK}
SecretId = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]


async def accounts_or_404(context: Context) -> Accounts:
    """Dependency: the accounts, if the server has any."""
    if context.accounts is None:
        raise HTTPException(404, "this server runs without accounts")
    return context.accounts


def base_of(request: Request) -> str:
    """The server's address as the sender knows it."""
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


TheAccounts = Annotated[Accounts, Depends(accounts_or_404)]


@router.get("/people")
def people(user: AdminUser, accounts: TheAccounts) -> schemas.PeopleOut:
    """Accounts, invitations, own tokens and the last lines of the audit log."""
    return schemas.PeopleOut(
        accounts=accounts.all_accounts(),
        invitations=accounts.invitations(),
        tokens=accounts.tokens_of(user),
        audit=accounts.notes(),
    )


@router.post("/invitations", status_code=201)
def invite(
    body: schemas.InviteIn, request: Request, user: AdminUser, context: Context, accounts: TheAccounts
) -> schemas.InviteOut:
    """A link that opens one account, once."""
    secret = accounts.invite(body.role, user.name, body.note, body.hours * 3600)
    context.note(request, user.name, "invite", f"{body.role} {body.note}".strip())
    link = f"{base_of(request)}/invite/{secret}"
    return schemas.InviteOut(link=link, expires_at=context.service.clock() + body.hours * 3600)


@router.delete("/invitations/{invitation}", status_code=204, response_class=Response)
def withdraw(
    invitation: SecretId, request: Request, user: AdminUser, context: Context, accounts: TheAccounts
) -> None:
    """Make an unused invitation useless."""
    if not accounts.withdraw(invitation=invitation):
        raise HTTPException(404, "there is no such unused invitation")
    context.note(request, user.name, "withdraw invitation")


@router.patch("/accounts/{account}", status_code=204, response_class=Response, responses=documented(409))
def set_active(
    account: Annotated[int, Path(ge=1, le=2**31 - 1)],
    body: schemas.ActiveIn,
    request: Request,
    user: AdminUser,
    context: Context,
    accounts: TheAccounts,
) -> None:
    """Close an account or open it again; its votes stay."""
    if account == user.id and not body.active:
        raise HTTPException(409, "you cannot close your own account")
    if not accounts.set_active(account, body.active):
        raise HTTPException(404, "there is no such account")
    context.note(request, user.name, "open account" if body.active else "close account", str(account))


@router.post("/tokens", status_code=201)
def make_token(
    body: schemas.TokenIn, request: Request, user: CurrentUser, context: Context, accounts: TheAccounts
) -> schemas.TokenOut:
    """A token for programs; it may do what its owner may do."""
    if user.via == "token":
        raise HTTPException(403, "a token cannot make tokens; sign in")
    if body.purpose == "label-studio" and not user.is_admin:
        raise HTTPException(403, "only admins can connect Label Studio")
    token = accounts.make_token(user, body.name, MARKS[body.purpose])
    context.note(request, user.name, "make token", body.name)
    address = f"{base_of(request)}{ADDRESS_PREFIX}/{token}" if body.purpose == "label-studio" else None
    return schemas.TokenOut(token=token, address=address)


@router.delete("/tokens/{token}", status_code=204, response_class=Response)
def revoke_token(
    token: SecretId, request: Request, user: CurrentUser, context: Context, accounts: TheAccounts
) -> None:
    """End one of your own tokens."""
    if not accounts.revoke_token(user, token):
        raise HTTPException(404, "there is no such token of yours")
    context.note(request, user.name, "revoke token")
