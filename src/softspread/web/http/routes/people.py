"""People: accounts, invitations, tokens, the audit log. Absent where the server runs without accounts."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response

from softspread.web.http import schemas
from softspread.web.http.access import ADDRESS_PREFIX, AdminUser, Context, CurrentUser
from softspread.web.http.problems import USUAL, documented
from softspread.web.log.accounts import ADDRESS_MARK, TOKEN_MARK, Accounts

router = APIRouter(prefix="/api/v1", tags=["people"], responses={**USUAL, **documented(404)})
MARKS = {"programs": TOKEN_MARK, "label-studio": ADDRESS_MARK}
AccountId = Annotated[int, Path(ge=1, le=2**31 - 1)]
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
    return _link(request, context, secret, body.hours * 3600)


def _link(request: Request, context: Context, secret: str, seconds: float) -> schemas.InviteOut:
    link = f"{base_of(request)}/invite/{secret}"
    return schemas.InviteOut(link=link, expires_at=context.service.clock() + seconds)


@router.delete("/invitations/{invitation}", status_code=204, response_class=Response)
def withdraw(
    invitation: SecretId, request: Request, user: AdminUser, context: Context, accounts: TheAccounts
) -> None:
    """Make an unused invitation useless."""
    if not accounts.withdraw(invitation=invitation):
        raise HTTPException(404, "there is no such unused invitation")
    context.note(request, user.name, "withdraw invitation")


@router.patch("/accounts/{account}", status_code=204, response_class=Response, responses=documented(409))
def change_account(
    account: AccountId,
    body: schemas.AccountChange,
    request: Request,
    user: AdminUser,
    context: Context,
    accounts: TheAccounts,
) -> None:
    """Close an account or open it again, or change its role; its votes stay."""
    if account == user.id:
        raise HTTPException(409, "you cannot close your own account or change its role; ask another admin")
    name = _name_or_404(accounts, account)
    if body.role is not None:
        accounts.set_role(account, body.role)
        context.note(request, user.name, "change role", f"{name}: {body.role}")
    if body.active is not None:
        accounts.set_active(account, body.active)
        context.note(request, user.name, "open account" if body.active else "close account", name)


@router.post("/accounts/{account}/reset", status_code=201)
def reset_password(
    account: AccountId, request: Request, user: AdminUser, context: Context, accounts: TheAccounts
) -> schemas.InviteOut:
    """A link by which someone who forgot their password chooses another, once."""
    name = _name_or_404(accounts, account)
    secret = accounts.invite_to_reset(name, user.name)
    context.note(request, user.name, "reset password", name)
    return _link(request, context, secret, accounts.rules.reset_seconds)


@router.put("/me/password", status_code=204, response_class=Response)
def change_password(
    body: schemas.PasswordIn, request: Request, user: CurrentUser, context: Context, accounts: TheAccounts
) -> None:
    """Change your own password. Your other sessions end; tokens stay."""
    if user.via != "session":
        raise HTTPException(403, "a token cannot change a password; sign in")
    if not context.logins.allows(f"name {user.name.lower()}"):
        raise HTTPException(429, "too many attempts; wait a few minutes", headers={"Retry-After": "60"})
    accounts.change_password(user, body.present, body.new)
    context.note(request, user.name, "change password")


def _name_or_404(accounts: Accounts, account: int) -> str:
    name = accounts.name_of(account)
    if name is None:
        raise HTTPException(404, "there is no such account")
    return name


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
