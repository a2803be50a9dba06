"""The application: service, accounts, routes and middleware put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from softspread.errors import StoreError
from softspread.web.http.access import ADDRESS_PREFIX, RATE_LIMITS, AppContext, RateLimits
from softspread.web.http.middleware import LARGEST_BODY, Largest, SecurityMiddleware
from softspread.web.http.problems import HANDLED, answer_invalid, answer_problem
from softspread.web.http.routes import label_studio, pages, people, project, results, review, voting
from softspread.web.log.accounts import DAY, RULES, AccountRules, Accounts
from softspread.web.project.service import Service

LARGEST_BATCH = 2**26  # bytes that Label Studio may send at once: thousands of tasks
LARGEST_UPLOAD = 2**29  # bytes of items that are added at once
SHARED_SCRIPTS: list[str | tuple[str, str]] = [("softspread.notebook", "static")]  # zoom
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class _Static(StaticFiles):
    """Scripts and styles; browsers ask each time whether they have changed, so an upgrade shows at once."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        answer = super().file_response(*arguments, **options)
        answer.headers["Cache-Control"] = "no-cache"
        return answer


def create_app(
    service: Service,
    *,
    stop_service: bool = True,
    rules: AccountRules = RULES,
    limits: RateLimits = RATE_LIMITS,
) -> FastAPI:
    """An app around a started service.

    Parameters
    ----------
    service : started; stopped with the app unless ``stop_service`` is False
    rules : of accounts and their secrets
    limits : how fast users may vote, ask and sign in
    """
    accounts = Accounts(service.store, service.clock, rules) if service.settings.auth else None
    context = AppContext(service, accounts, limits)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        context.stopping = True
        if stop_service:
            service.stop()

    app = FastAPI(
        title="softspread",
        description="People vote, soft labels move.",
        version="1",
        docs_url=None,  # both pages load scripts from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.context = context
    for part in (voting, results, review, people, project, label_studio, pages):
        app.include_router(part.router)
    app.include_router(label_studio.router, prefix=f"{ADDRESS_PREFIX}/{{token}}", include_in_schema=False)
    app.mount("/static", _Static(directory=Path(__file__).parent / "static", packages=SHARED_SCRIPTS))
    app.add_middleware(SyncFastPath)  # inside SecurityMiddleware, which is added after it
    hosts = None if accounts is not None else LOOPBACK
    app.add_middleware(SecurityMiddleware, hosts=hosts, largest=largest_body(context))
    for kind in HANDLED:
        app.add_exception_handler(kind, answer_problem)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    return app


def largest_body(context: AppContext) -> Largest:
    """How much a request may send: more only for items and batches of Label Studio, by those who may."""
    batches = tuple(f"/{name}" for name in ("predict", "webhook"))

    async def largest(scope: Scope) -> int:
        upload = scope["method"] == "POST" and scope["path"] == project.ITEMS_PATH
        if not (upload or scope["path"].endswith(batches)):
            return LARGEST_BODY
        with suppress(StoreError):  # the route says that the database does not answer
            user = await context.authenticate(Request(scope))
            if user is not None and user.is_admin:
                return LARGEST_UPLOAD if upload else LARGEST_BATCH
        return LARGEST_BODY

    return largest


class SyncFastPath:
    """ASGI middleware: calls the route behind every vote directly.

    Routing and the layers on the way would cost more than the vote itself. Authentication, CSRF and rate
    limits are checked in ``voting.sync``; `SecurityMiddleware` stands around this.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != voting.SYNC_PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            answer = await voting.sync(request)
        except HANDLED as error:
            answer = await answer_problem(request, error)
        await answer(scope, receive, send)


def first_link(app: FastAPI) -> str | None:
    """The path of a one-time link for the first admin; None where there is one, or no accounts at all."""
    accounts = app.state.context.accounts
    if accounts is None or accounts.has_admin():
        return None
    accounts.withdraw(by="softspread")  # a link printed at an earlier start
    return f"/invite/{accounts.invite('admin', 'softspread', 'first start', seconds=DAY)}"
