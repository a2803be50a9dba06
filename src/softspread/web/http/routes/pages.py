"""Pages: vote, dashboard, people, sign in, invitation. Rendered here, brought to life by small modules."""

import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from fastapi.templating import Jinja2Templates

from softspread.errors import InputError
from softspread.web.http.access import (
    FORM_COOKIE,
    SESSION_COOKIE,
    AppContext,
    Context,
    address_of,
    check_origin,
)
from softspread.web.log.accounts import LONGEST_PASSWORD, SESSION_SECONDS, SHORTEST_PASSWORD, User, same
from softspread.web.log.models import LONGEST_NAME
from softspread.web.project.settings import class_keys

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(Path(__file__).parents[1] / "templates")
LONGEST_NEXT = 200
Text = Annotated[str, Form(max_length=2_000)]


def _page(request: Request, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    context: AppContext = request.app.state.context
    shared = {
        "title": context.service.settings.title,
        "with_accounts": context.accounts is not None,
        "user": None,
    }
    page = templates.TemplateResponse(request, template, {**shared, **values}, status_code=status)
    page.headers["Cache-Control"] = "no-store"
    return page


def message_page(request: Request, status: int, heading: str, text: str) -> HTMLResponse:
    """A page that says one thing."""
    return _page(request, "message.html", status, heading=heading, text=text)


async def _person(request: Request, context: AppContext, admin: bool = False) -> User | Response:
    """Who is there; or where to go instead."""
    user = await context.authenticate(request)
    if user is None:
        return RedirectResponse(f"/login?next={quote(request.url.path)}", 303)
    if admin and not user.is_admin:
        return message_page(request, 403, "For admins only", "Ask an admin if you need to see this page.")
    return user


@router.get("/")
async def home(request: Request, context: Context) -> Response:
    """Admins see the dashboard, others vote; without accounts one votes."""
    user = await _person(request, context)
    if isinstance(user, Response):
        return user
    return RedirectResponse("/dashboard" if user.is_admin and user.via != "local" else "/vote", 303)


@router.get("/vote")
async def vote(request: Request, context: Context) -> Response:
    """The vote page."""
    user = await _person(request, context)
    if isinstance(user, Response):
        return user
    settings = context.service.settings
    keys = class_keys(settings.classes)
    config = {
        "classes": [{"name": name, "key": key} for name, key in zip(settings.classes, keys, strict=True)],
        "user": user.name,
        "project": settings.title,
        "csrf": user.csrf,
        "mode": settings.mode,
        "lease": settings.lease_seconds,
    }
    return _page(
        request, "vote.html", user=user, config=config, question=settings.question, mode=settings.mode
    )


@router.get("/dashboard")
async def dashboard(request: Request, context: Context) -> Response:
    """The dashboard."""
    user = await _person(request, context, admin=True)
    if isinstance(user, Response):
        return user
    config = {"classes": context.service.classes, "csrf": user.csrf}
    return _page(request, "dashboard.html", user=user, config=config)


@router.get("/people")
async def people(request: Request, context: Context) -> Response:
    """Accounts and invitations."""
    user = await _person(request, context, admin=True)
    if isinstance(user, Response):
        return user
    if context.accounts is None:
        return message_page(
            request, 404, "No accounts", "This server runs without accounts, for this machine only."
        )
    return _page(request, "people.html", user=user, config={"csrf": user.csrf, "me": user.id})


# --------------------------------------------------------------------------------------- sign in, out, accept
@router.get("/login")
async def login_form(request: Request, context: Context, next: str = "/") -> Response:
    """Name and password."""
    if context.accounts is None:
        return RedirectResponse("/vote", 303)
    return _form(request, "login.html", next=_safe_next(next))


@router.post("/login")
async def login(
    request: Request, context: Context, name: Text, password: Text, csrf: Text, next: Text = "/"
) -> Response:
    """Open a session."""
    if context.accounts is None:
        return RedirectResponse("/vote", 303)
    if not _form_is_ours(request, csrf):
        return _form(
            request, "login.html", 403, next=_safe_next(next), problem="The page was too old; try again."
        )
    wanted = (f"address {address_of(request)}", f"name {name.strip().lower()[:LONGEST_NAME]}")
    if not all(context.logins.allows(key) for key in wanted):
        return _form(
            request,
            "login.html",
            429,
            next=_safe_next(next),
            problem="Too many attempts; wait a few minutes.",
        )
    user = await run_in_threadpool(context.accounts.log_in, name, password)
    if user is None:
        await run_in_threadpool(context.note, request, name.strip()[:LONGEST_NAME], "failed login")
        return _form(request, "login.html", 401, next=_safe_next(next), problem="Name or password is wrong.")
    await run_in_threadpool(context.note, request, user.name, "login")
    return await _signed_in(request, context, user, _safe_next(next))


@router.post("/logout")
async def logout(request: Request, context: Context, csrf: Text) -> Response:
    """Close the session."""
    word = request.cookies.get(SESSION_COOKIE)
    user = await context.authenticate(request)
    if context.accounts is not None and word and user is not None:
        check_origin(request)
        if not same(csrf, user.csrf):
            return message_page(
                request, 403, "Not signed out", "The page was too old; reload it and try again."
            )
        await run_in_threadpool(context.accounts.close_session, word)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


@router.get("/invite/{word}")
async def invitation_form(request: Request, context: Context, word: str) -> Response:
    """Choose a name and a password."""
    invitation = (
        None if context.accounts is None else await run_in_threadpool(context.accounts.invitation, word)
    )
    if invitation is None:
        return message_page(
            request, 410, "This link does not work", "It was used already or has run out. Ask for a new one."
        )
    return _form(request, "invite.html", role=invitation["role"], shortest=SHORTEST_PASSWORD)


@router.post("/invite/{word}")
async def accept(
    request: Request, context: Context, word: str, name: Text, password: Text, again: Text, csrf: Text
) -> Response:
    """Make the account and sign in."""
    invitation = (
        None if context.accounts is None else await run_in_threadpool(context.accounts.invitation, word)
    )
    if context.accounts is None or invitation is None:
        return message_page(
            request, 410, "This link does not work", "It was used already or has run out. Ask for a new one."
        )
    values = {"role": invitation["role"], "name": name, "shortest": SHORTEST_PASSWORD}
    if not _form_is_ours(request, csrf):
        return _form(request, "invite.html", 403, problem="The page was too old; try again.", **values)
    if not context.logins.allows(f"address {address_of(request)}"):
        return _form(request, "invite.html", 429, problem="Too many attempts; wait a few minutes.", **values)
    if password != again or len(password) > LONGEST_PASSWORD:
        return _form(request, "invite.html", 422, problem="The two passwords differ.", **values)
    try:
        user = await run_in_threadpool(context.accounts.accept, word, name, password)
    except InputError as error:
        return _form(request, "invite.html", 422, problem=str(error), **values)
    await run_in_threadpool(context.note, request, user.name, "accept invitation", user.role)
    return await _signed_in(request, context, user, "/")


def _form(request: Request, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A form before there is a session: the word in its hidden field must come back with the cookie."""
    word = request.cookies.get(FORM_COOKIE) or secrets.token_urlsafe(32)
    page = _page(request, template, status, csrf=word, **values)
    page.set_cookie(FORM_COOKIE, word, httponly=True, samesite="strict", secure=_is_secure(request))
    return page


def _form_is_ours(request: Request, csrf: str) -> bool:
    check_origin(request)
    cookie = request.cookies.get(FORM_COOKIE, "")
    return bool(cookie) and same(cookie, csrf)


async def _signed_in(request: Request, context: AppContext, user: User, where: str) -> Response:
    if context.accounts is None:
        return RedirectResponse("/vote", 303)
    word, _ = await run_in_threadpool(context.accounts.open_session, user)
    answer = RedirectResponse(where, 303)
    answer.set_cookie(
        SESSION_COOKIE,
        word,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="lax",
        secure=_is_secure(request),
    )
    answer.delete_cookie(FORM_COOKIE)
    return answer


def _is_secure(request: Request) -> bool:
    context: AppContext = request.app.state.context
    return context.service.settings.secure_cookies or request.url.scheme == "https"


def _safe_next(path: str) -> str:
    """A path on this server, never another site."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain and len(path) <= LONGEST_NEXT else "/"


@router.get("/static/plotly.min.js")
def plotly() -> Response:
    """The bundle that ships in plotly's wheel."""
    found = find_spec("plotly")
    if found is None or found.origin is None:
        return Response("/* plotly is not installed */", media_type="text/javascript", status_code=404)
    path = Path(found.origin).parent / "package_data" / "plotly.min.js"
    return FileResponse(
        path, media_type="text/javascript", headers={"Cache-Control": "public, max-age=86400"}
    )
