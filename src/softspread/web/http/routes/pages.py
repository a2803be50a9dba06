"""Pages: vote, dashboard, people, sign in, invitation. Rendered here, brought to life by small scripts."""

import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse

from softspread._common.arrow import has_arrow
from softspread.errors import InputError
from softspread.queries.registry import STRATEGIES
from softspread.votes.keys import class_keys
from softspread.web.http.access import SESSION_COOKIE, AppContext, Context, address_of, check_origin
from softspread.web.http.markdown import render
from softspread.web.http.problems import PageProblem, Redirect
from softspread.web.http.rendering import page
from softspread.web.log.accounts import (
    LONGEST_PASSWORD,
    RESET,
    SHORTEST_PASSWORD,
    Accounts,
    User,
    secrets_equal,
)
from softspread.web.log.entry import LONGEST_NAME
from softspread.web.project.in_words import STRATEGIES_IN_WORDS
from softspread.web.project.settings import LONGEST_GUIDELINES, LONGEST_QUESTION

router = APIRouter(include_in_schema=False)
FORM_COOKIE = "softspread_form"  # of the forms before there is a session
LONGEST_NEXT = 200  # characters of the path to go on to after the login
MANY_CLASSES = 20  # with more, the vote page has a box to search them
Text = Annotated[str, Form(max_length=2_000)]
OLD_FORM, TOO_OFTEN = "The page was too old; try again.", "Too many attempts; wait a few minutes."


async def page_user(request: Request, context: Context) -> User:
    """Dependency: the user, or the sign-in page."""
    user = await context.authenticate(request)
    if user is None:
        raise Redirect(f"/login?next={quote(request.url.path)}")
    return user


PageUser = Annotated[User, Depends(page_user)]


async def page_admin(user: PageUser) -> User:
    """Dependency: the user if they are an admin."""
    if not user.is_admin:
        raise PageProblem(403, "For admins only", "Ask an admin if you need to see this page.")
    return user


async def page_accounts(context: Context) -> Accounts:
    """Dependency: the accounts; without any there is nothing to sign in to."""
    if context.accounts is None:
        raise Redirect("/vote")
    return context.accounts


async def open_invitation(context: Context, secret: str) -> dict[str, Any]:
    """Dependency: the invitation of a link that still works."""
    accounts = context.accounts
    found = None if accounts is None else await run_in_threadpool(accounts.invitation, secret)
    if found is None:
        raise PageProblem(
            410, "This link does not work", "It was used already or has expired. Ask for a new one."
        )
    return found


PageAdmin = Annotated[User, Depends(page_admin)]
PageAccounts = Annotated[Accounts, Depends(page_accounts)]
Invitation = Annotated[dict[str, Any], Depends(open_invitation)]


@router.get("/")
async def home(user: PageUser) -> Response:
    """Admins see the dashboard, others vote; without accounts everyone votes."""
    return RedirectResponse("/dashboard" if user.is_admin and user.via != "local" else "/vote", 303)


@router.get("/vote")
async def vote(request: Request, user: PageUser, context: Context) -> Response:
    """The vote page."""
    settings = context.service.settings
    keys = zip(settings.classes, class_keys(settings.classes), strict=True)
    config = {
        "classes": [
            {"name": name, "key": key, "colour": settings.note_of(name).colour} for name, key in keys
        ],
        "user": user.name,
        "project": settings.title,
        "csrf": user.csrf,
        "lease": settings.lease_seconds,
        "assisted": settings.mode == "assisted",
        "several": settings.several,
        "rest": settings.rest,
        "captions": settings.mode != "blind",  # a path such as cat/001.jpg gives the answer away
        "revision": context.service.page_revision,
    }
    shown = {
        "question": settings.question,
        "mode": settings.mode,
        "several": settings.several,
        "rest": settings.rest,
        "guidelines": render(settings.guidelines),
        "many": len(settings.classes) > MANY_CLASSES,
        "about": _about(context),
        "none_key": "" if "0" in class_keys(settings.classes) else "0",  # of "none of these"
    }
    return page(request, "vote.html", user=user, config=config, **shown)


def _colours(context: AppContext) -> list[str]:
    """The colour of every class that a lead has chosen; empty where the page's own will do."""
    settings = context.service.settings
    return [settings.note_of(name).colour for name in settings.classes]


def _about(context: AppContext) -> list[dict[str, Any]]:
    """Classes with something to read or to see, with the items that show them."""
    service = context.service
    notes = [service.settings.note_of(name) for name in service.settings.classes]
    found = []
    for note in notes:
        rows = [row for row in map(service.items.row_of, note.examples) if row is not None]
        examples = [
            {"row": row, "picture": service.items.has_picture(row), "text": service.items.text(row)}
            for row in rows
        ]
        if note.description or examples:
            found.append(note._asdict() | {"examples": examples})
    return found


@router.get("/dashboard")
async def dashboard(request: Request, user: PageAdmin, context: Context) -> Response:
    """The dashboard."""
    several = context.service.settings.several
    config = {
        "classes": context.service.classes,
        "csrf": user.csrf,
        "colours": _colours(context),
        "several": several,
    }
    shown = {"several": several, "has_arrow": has_arrow()}
    return page(request, "dashboard.html", user=user, config=config, **shown)


@router.get("/review")
async def review(request: Request, user: PageAdmin, context: Context) -> Response:
    """The page of items for review."""
    settings = context.service.settings
    config = {
        "classes": context.service.classes,
        "csrf": user.csrf,
        "several": settings.several,
        "rest": settings.rest,
    }
    return page(request, "review.html", user=user, config=config)


@router.get("/people")
async def people(request: Request, user: PageAdmin, context: Context) -> Response:
    """Accounts and invitations."""
    if context.accounts is None:
        raise PageProblem(404, "No accounts", "This server runs without accounts, for this machine only.")
    return page(request, "people.html", user=user, config={"csrf": user.csrf, "me": user.id})


@router.get("/account")
async def account(request: Request, user: PageUser, accounts: PageAccounts) -> Response:
    """The user's own account: name, password, sign out."""
    return page(request, "account.html", user=user, config={"csrf": user.csrf}, shortest=SHORTEST_PASSWORD)


@router.get("/project")
async def project(request: Request, user: PageAdmin, context: Context) -> Response:
    """The settings."""
    service = context.service
    settings = service.settings
    config = {
        "csrf": user.csrf,
        "revision": service.changes.revision,
        "classes": [settings.note_of(name)._asdict() for name in settings.classes],
    }
    limits = {"longest_question": LONGEST_QUESTION, "longest_guidelines": LONGEST_GUIDELINES}
    return page(
        request,
        "project.html",
        user=user,
        config=config,
        settings=settings,
        strategies={name: STRATEGIES_IN_WORDS.get(name, name) for name in STRATEGIES.names()},
        guidelines=render(settings.guidelines),
        preparing=service.preparing,
        n_items=len(service.items),
        **limits,
    )


# --------------------------------------------------------------------------------------- sign in, out, accept
@router.get("/login")
async def login_form(request: Request, accounts: PageAccounts, next: str = "/") -> Response:
    """Name and password."""
    return _form(request, "login.html", next=_safe_next(next))


@router.post("/login")
async def login(
    request: Request,
    context: Context,
    accounts: PageAccounts,
    name: Text,
    password: Text,
    csrf: Text,
    next: Text = "/",
) -> Response:
    """Open a session."""

    def again(status: int, problem: str) -> Response:
        return _form(request, "login.html", status, next=_safe_next(next), problem=problem)

    if not _form_is_ours(request, csrf):
        return again(403, OLD_FORM)
    wanted = (f"address {address_of(request)}", f"name {name.strip().lower()[:LONGEST_NAME]}")
    if not all(context.logins.allows(key) for key in wanted):
        return again(429, TOO_OFTEN)
    user = await run_in_threadpool(accounts.log_in, name, password)
    if user is None:
        await run_in_threadpool(context.note, request, name.strip()[:LONGEST_NAME], "failed login")
        return again(401, "Name or password is wrong.")
    await run_in_threadpool(context.note, request, user.name, "login")
    return await _signed_in(request, accounts, user, _safe_next(next))


@router.post("/logout")
async def logout(request: Request, context: Context, csrf: Text) -> Response:
    """Close the session."""
    secret, user = request.cookies.get(SESSION_COOKIE), await context.authenticate(request)
    if context.accounts is not None and secret and user is not None:
        check_origin(request)
        if not secrets_equal(csrf, user.csrf):
            raise PageProblem(403, "Not signed out", "The page was too old; reload it and try again.")
        await run_in_threadpool(context.accounts.close_session, secret)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


@router.get("/invite/{secret}")
async def invitation_form(request: Request, invitation: Invitation) -> Response:
    """Choose a name and a password."""
    return _form(request, "invite.html", **_invited(invitation))


@router.post("/invite/{secret}")
async def accept(
    request: Request,
    context: Context,
    accounts: PageAccounts,
    invitation: Invitation,
    secret: str,
    password: Text,
    again: Text,
    csrf: Text,
    name: Text = "",
) -> Response:
    """Make the account, or change its password, and sign in."""

    def refused(status: int, problem: str) -> Response:
        shown = {"name": name, **_invited(invitation)}
        return _form(request, "invite.html", status, problem=problem, **shown)

    if not _form_is_ours(request, csrf):
        return refused(403, OLD_FORM)
    if not context.logins.allows(f"invitation {invitation['id']}"):  # a class may sit behind one address
        return refused(429, TOO_OFTEN)
    if password != again or len(password) > LONGEST_PASSWORD:
        return refused(422, "The two passwords differ.")
    try:
        user = await run_in_threadpool(accounts.accept, secret, name, password)
    except InputError as error:
        return refused(422, str(error))
    done = "choose password" if invitation["role"] == RESET else "accept invitation"
    await run_in_threadpool(context.note, request, user.name, done, user.role)
    return await _signed_in(request, accounts, user, "/")


def _invited(invitation: dict[str, Any]) -> dict[str, Any]:
    """What the form says: for a new account, or for whose password."""
    found = {"role": invitation["role"], "shortest": SHORTEST_PASSWORD}
    return {**found, "name": invitation["note"]} if invitation["role"] == RESET else found


def _form(request: Request, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A form before there is a session: its hidden CSRF token must come back with the cookie."""
    token = request.cookies.get(FORM_COOKIE) or secrets.token_urlsafe(32)
    form = page(request, template, status, csrf=token, **values)
    form.set_cookie(FORM_COOKIE, token, httponly=True, samesite="strict", secure=_is_secure(request))
    return form


def _form_is_ours(request: Request, csrf: str) -> bool:
    check_origin(request)
    cookie = request.cookies.get(FORM_COOKIE, "")
    return bool(cookie) and secrets_equal(cookie, csrf)


async def _signed_in(request: Request, accounts: Accounts, user: User, where: str) -> Response:
    secret, _ = await run_in_threadpool(accounts.open_session, user)
    answer = RedirectResponse(where, 303)
    answer.set_cookie(
        SESSION_COOKIE,
        secret,
        max_age=int(accounts.rules.session_seconds),
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
