"""From a request to a user: cookie, token, or this machine; and the checks against forged requests."""

import base64
import binascii
import re
import secrets
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import APIKeyCookie, HTTPBearer

from softspread.web.http.token_bucket import TokenBucket
from softspread.web.log.accounts import ADDRESS_MARK, ADMIN, TOKEN_MARK, Accounts, User, secrets_equal
from softspread.web.project.label_studio import LabelStudio
from softspread.web.project.service import Service

SESSION_COOKIE = "softspread_session"
CSRF_HEADER = "x-csrf-token"
SCRIPT_HEADER = "x-softspread-script"  # no page of another site can send it without being asked first
LOCAL_NAME = "local"
SAFE = ("GET", "HEAD", "OPTIONS")
ADDRESS_PREFIX = "/label-studio"
IN_ADDRESS = re.compile(rf"{ADDRESS_PREFIX}/([^/]+)/")  # the token of Label Studio's address
_bearer = HTTPBearer(auto_error=False, description="A token from the People page")
_cookie = APIKeyCookie(
    name=SESSION_COOKIE, auto_error=False, description="The session of a signed-in browser"
)


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Tokens per second and size of each bucket."""

    votes: tuple[float, float] = (30.0, 300.0)  # per user; votes collected offline arrive all at once
    requests: tuple[float, float] = (60.0, 400.0)  # per user
    logins: tuple[float, float] = (1 / 20, 10.0)  # per address, and per name


RATE_LIMITS = RateLimits()


class AppContext:
    """Shared by the routes: the service, the accounts, the rate limits."""

    def __init__(self, service: Service, accounts: Accounts | None, limits: RateLimits) -> None:
        self.service = service
        self.accounts = accounts  # None: no accounts, this machine only
        self.local = User(0, LOCAL_NAME, ADMIN, "local", secrets.token_urlsafe(32))
        self.votes = TokenBucket(*limits.votes)
        self.requests = TokenBucket(*limits.requests)
        self.logins = TokenBucket(*limits.logins)
        self.streams = 0  # open event streams
        self.stopping = False
        self.label_studio = LabelStudio(service)

    async def authenticate(self, request: Request) -> User | None:
        """Who sent the request, or None; asks the database only about users not seen a moment ago."""
        if self.accounts is None:
            return self.local
        secret, via = token_of(request), "token"
        if secret is None:
            secret, via = request.cookies.get(SESSION_COOKIE, ""), "session"
        if not secret:
            return None
        cached = self.accounts.cached_user(secret, via)
        return cached or await run_in_threadpool(self.accounts.authenticate, secret, via)

    def note(self, request: Request, who: str, action: str, detail: str = "") -> None:
        """Write into the audit log."""
        if self.accounts is not None:
            self.accounts.note(who, action, detail, address_of(request))


def token_of(request: Request) -> str | None:
    """The token of a request: of its address, where only one made for that is good, or of its header."""
    in_address = IN_ADDRESS.match(request.url.path)
    secret = in_address[1] if in_address else bearer_token(request.headers.get("authorization", ""))
    if secret is not None and secret.startswith(ADDRESS_MARK) != bool(in_address):
        return ""  # one that may stand in a proxy's log opens nothing else
    return secret


def bearer_token(header: str) -> str | None:
    """The token of an Authorization header: Bearer, Token (as Label Studio sends), or Basic's password.

    Basic with any other password is a proxy's business: browsers send it along with their cookie.
    """
    scheme, _, rest = header.partition(" ")
    if scheme.lower() in ("bearer", "token"):
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            password = base64.b64decode(rest, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
        return password if password.startswith(TOKEN_MARK) else None
    return None if not header else ""


def address_of(request: Request) -> str:
    """Where a request came from."""
    return request.client.host if request.client else ""


def check_origin(request: Request) -> None:
    """Refuse requests that another site's page sends with this browser's cookies."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    other_site = site is not None and site not in ("same-origin", "none")
    other_origin = origin is not None and origin.partition("://")[2] != request.headers.get("host", "")
    if other_site or other_origin:
        raise HTTPException(403, "this request came from another site")


def check_csrf(request: Request, user: User) -> None:
    """A page must repeat its CSRF token; programs need none, as browsers never send their tokens unasked.

    Without accounts a program on this machine has no token: it says in a header of its own that it is one.
    """
    if request.method in SAFE or user.via == "token":
        return
    check_origin(request)
    if user.via == "local" and SCRIPT_HEADER in request.headers:
        return
    if not secrets_equal(request.headers.get(CSRF_HEADER, ""), user.csrf):
        raise HTTPException(403, "the page is out of date; reload it and try again")


async def get_context(request: Request) -> AppContext:
    """Dependency: the context of this app."""
    context: AppContext = request.app.state.context
    return context


async def current_user(
    request: Request,
    _token: Annotated[Any, Depends(_bearer)] = None,
    _session: Annotated[Any, Depends(_cookie)] = None,
) -> User:
    """Dependency: the user who sent the request, or 401."""
    context = await get_context(request)
    user = await context.authenticate(request)
    if user is None:
        raise HTTPException(401, "sign in first, or send a token", headers={"WWW-Authenticate": "Bearer"})
    check_csrf(request, user)
    if not context.requests.allows(user.name):
        raise HTTPException(429, "too many requests; wait a second", headers={"Retry-After": "1"})
    return user


CurrentUser = Annotated[User, Depends(current_user)]


async def admin_user(user: CurrentUser) -> User:
    """Dependency: the user if they are an admin, or 403."""
    if not user.is_admin:
        raise HTTPException(403, "only admins may see this")
    return user


Context = Annotated[AppContext, Depends(get_context)]


async def get_service(context: Context) -> Service:
    """Dependency: the project."""
    return context.service


AdminUser = Annotated[User, Depends(admin_user)]
Project = Annotated[Service, Depends(get_service)]
