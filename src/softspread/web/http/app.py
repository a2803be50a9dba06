"""The application: service, accounts, routes and guards put together."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from softspread.errors import InputError, StoreError
from softspread.web.http.access import AppContext
from softspread.web.http.middleware import SecurityMiddleware
from softspread.web.http.routes import label_studio, pages, people, results, voting
from softspread.web.log.accounts import Accounts
from softspread.web.project.service import Service

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
logger = logging.getLogger(__name__)


class _Static(StaticFiles):
    """Scripts and styles; browsers ask each time whether they have changed, so that an upgrade is seen at
    once.
    """

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        answer = super().file_response(*arguments, **options)
        answer.headers["Cache-Control"] = "no-cache"
        return answer


def create_app(service: Service, *, stop_service: bool = True) -> FastAPI:
    """An app around a started service.

    Parameters
    ----------
    service : started; stopped with the app unless ``stop_service`` is False
    """

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        app.state.stopping = True
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
    accounts = Accounts(service.store, service.clock) if service.settings.auth else None
    app.state.context = AppContext(service, accounts)
    app.state.streams = 0
    app.state.stopping = False
    app.state.label_studio_names = ("label", "item")
    for part in (voting, results, people, label_studio, pages):
        app.include_router(part.router)
    app.mount("/static", _Static(directory=Path(__file__).parent / "static"))
    app.add_middleware(SyncFastPath)  # inside SecurityMiddleware, which is added after it
    app.add_middleware(SecurityMiddleware, hosts=None if accounts is not None else LOOPBACK)
    app.add_exception_handler(InputError, _not_usable)
    app.add_exception_handler(StoreError, _away)
    app.add_exception_handler(HTTPException, _http_problem)
    return app


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
        except HTTPException as error:
            answer = await _http_problem(request, error)
        except InputError as error:
            answer = await _not_usable(request, error)
        except StoreError as error:
            answer = await _away(request, error)
        await answer(scope, receive, send)


def first_link(app: FastAPI) -> str | None:
    """The path of a one-time link for the first admin; None where there is one, or no accounts at all."""
    accounts = app.state.context.accounts
    if accounts is None or accounts.has_admin():
        return None
    accounts.withdraw_unused("softspread")  # a link printed at an earlier start
    word = accounts.invite("admin", "softspread", "first start", seconds=86_400.0)
    return f"/invite/{word}"


def _wants_page(request: Request) -> bool:
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


async def _not_usable(request: Request, error: Exception) -> Response:
    if _wants_page(request):
        return pages.message_page(request, 400, "That did not work", str(error))
    return JSONResponse({"detail": str(error)}, 400)


async def _away(request: Request, error: Exception) -> Response:
    logger.warning("%s", error)
    if _wants_page(request):
        return pages.message_page(
            request, 503, "Try again in a moment", "The database does not answer right now."
        )
    return JSONResponse({"detail": str(error)}, 503, {"Retry-After": "2"})


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if _wants_page(request):
        return pages.message_page(request, error.status_code, "That did not work", str(error.detail))
    return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
