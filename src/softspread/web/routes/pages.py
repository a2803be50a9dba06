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
from softspread.web.access import FORM_COOKIE, SESSION_COOKIE, Door, TheDoor, address_of, check_origin
from softspread.web.accounts import LONGEST_PASSWORD, SESSION_SECONDS, SHORTEST_PASSWORD, Person, same
from softspread.web.models import LONGEST_NAME
from softspread.web.settings import class_keys

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(Path(__file__).parents[1] / "templates")
LONGEST_NEXT = 200
Text = Annotated[str, Form(max_length=2_000)]


def _page(request: Request, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    door: Door = request.app.state.door
    shared = {
        "title": door.service.settings.title,
        "with_accounts": door.accounts is not None,
        "person": None,
    }
    page = templates.TemplateResponse(request, template, {**shared, **values}, status_code=status)
    page.headers["Cache-Control"] = "no-store"
    return page


def message_page(request: Request, status: int, heading: str, text: str) -> HTMLResponse:
    """A page that says one thing."""
    return _page(request, "message.html", status, heading=heading, text=text)


async def _person(request: Request, door: Door, admin: bool = False) -> Person | Response:
    """Who is there; or where to go instead."""
    person = await door.recognise(request)
    if person is None:
        return RedirectResponse(f"/login?next={quote(request.url.path)}", 303)
    if admin and not person.is_admin:
        return message_page(request, 403, "For admins only", "Ask an admin if you need to see this page.")
    return person


@router.get("/")
async def home(request: Request, door: TheDoor) -> Response:
    """Admins see the dashboard, others vote; without accounts one votes."""
    person = await _person(request, door)
    if isinstance(person, Response):
        return person
    return RedirectResponse("/dashboard" if person.is_admin and person.via != "local" else "/vote", 303)


@router.get("/vote")
async def vote(request: Request, door: TheDoor) -> Response:
    """The vote page."""
    person = await _person(request, door)
    if isinstance(person, Response):
        return person
    settings = door.service.settings
    keys = class_keys(settings.classes)
    config = {
        "classes": [{"name": name, "key": key} for name, key in zip(settings.classes, keys, strict=True)],
        "person": person.name,
        "project": settings.title,
        "csrf": person.csrf,
        "mode": settings.mode,
        "lease": settings.lease_seconds,
    }
    return _page(
        request, "vote.html", person=person, config=config, question=settings.question, mode=settings.mode
    )


@router.get("/dashboard")
async def dashboard(request: Request, door: TheDoor) -> Response:
    """The dashboard."""
    person = await _person(request, door, admin=True)
    if isinstance(person, Response):
        return person
    config = {"classes": door.service.classes, "csrf": person.csrf}
    return _page(request, "dashboard.html", person=person, config=config)


@router.get("/people")
async def people(request: Request, door: TheDoor) -> Response:
    """Accounts and invitations."""
    person = await _person(request, door, admin=True)
    if isinstance(person, Response):
        return person
    if door.accounts is None:
        return message_page(
            request, 404, "No accounts", "This server runs without accounts, for this machine only."
        )
    return _page(request, "people.html", person=person, config={"csrf": person.csrf, "me": person.id})


# --------------------------------------------------------------------------------------- sign in, out, accept
@router.get("/login")
async def login_form(request: Request, door: TheDoor, next: str = "/") -> Response:
    """Name and password."""
    if door.accounts is None:
        return RedirectResponse("/vote", 303)
    return _form(request, "login.html", next=_safe_next(next))


@router.post("/login")
async def login(
    request: Request, door: TheDoor, name: Text, password: Text, csrf: Text, next: Text = "/"
) -> Response:
    """Open a session."""
    if door.accounts is None:
        return RedirectResponse("/vote", 303)
    if not _form_is_ours(request, csrf):
        return _form(
            request, "login.html", 403, next=_safe_next(next), problem="The page was too old; try again."
        )
    wanted = (f"address {address_of(request)}", f"name {name.strip().lower()[:LONGEST_NAME]}")
    if not all(door.logins.allows(key) for key in wanted):
        return _form(
            request,
            "login.html",
            429,
            next=_safe_next(next),
            problem="Too many attempts; wait a few minutes.",
        )
    person = await run_in_threadpool(door.accounts.log_in, name, password)
    if person is None:
        await run_in_threadpool(door.note, request, name.strip()[:LONGEST_NAME], "failed login")
        return _form(request, "login.html", 401, next=_safe_next(next), problem="Name or password is wrong.")
    await run_in_threadpool(door.note, request, person.name, "login")
    return await _signed_in(request, door, person, _safe_next(next))


@router.post("/logout")
async def logout(request: Request, door: TheDoor, csrf: Text) -> Response:
    """Close the session."""
    word = request.cookies.get(SESSION_COOKIE)
    person = await door.recognise(request)
    if door.accounts is not None and word and person is not None:
        check_origin(request)
        if not same(csrf, person.csrf):
            return message_page(
                request, 403, "Not signed out", "The page was too old; reload it and try again."
            )
        await run_in_threadpool(door.accounts.close_session, word)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


@router.get("/invite/{word}")
async def invitation_form(request: Request, door: TheDoor, word: str) -> Response:
    """Choose a name and a password."""
    invitation = None if door.accounts is None else await run_in_threadpool(door.accounts.invitation, word)
    if invitation is None:
        return message_page(
            request, 410, "This link does not work", "It was used already or has run out. Ask for a new one."
        )
    return _form(request, "invite.html", role=invitation["role"], shortest=SHORTEST_PASSWORD)


@router.post("/invite/{word}")
async def accept(
    request: Request, door: TheDoor, word: str, name: Text, password: Text, again: Text, csrf: Text
) -> Response:
    """Make the account and sign in."""
    invitation = None if door.accounts is None else await run_in_threadpool(door.accounts.invitation, word)
    if door.accounts is None or invitation is None:
        return message_page(
            request, 410, "This link does not work", "It was used already or has run out. Ask for a new one."
        )
    values = {"role": invitation["role"], "name": name, "shortest": SHORTEST_PASSWORD}
    if not _form_is_ours(request, csrf):
        return _form(request, "invite.html", 403, problem="The page was too old; try again.", **values)
    if not door.logins.allows(f"address {address_of(request)}"):
        return _form(request, "invite.html", 429, problem="Too many attempts; wait a few minutes.", **values)
    if password != again or len(password) > LONGEST_PASSWORD:
        return _form(request, "invite.html", 422, problem="The two passwords differ.", **values)
    try:
        person = await run_in_threadpool(door.accounts.accept, word, name, password)
    except InputError as error:
        return _form(request, "invite.html", 422, problem=str(error), **values)
    await run_in_threadpool(door.note, request, person.name, "accept invitation", person.role)
    return await _signed_in(request, door, person, "/")


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


async def _signed_in(request: Request, door: Door, person: Person, where: str) -> Response:
    if door.accounts is None:
        return RedirectResponse("/vote", 303)
    word, _ = await run_in_threadpool(door.accounts.open_session, person)
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
    door: Door = request.app.state.door
    return door.service.settings.secure_cookies or request.url.scheme == "https"


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
