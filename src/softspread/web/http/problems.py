"""Errors: which responses are documented, and how exceptions become responses."""

import logging
from typing import Any

from fastapi import Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException

from softspread.errors import InputError, MissingExtraError, StoreError
from softspread.web.http.rendering import message_page
from softspread.web.http.schemas import Problem
from softspread.web.log.store import DatabaseError

_WORDS = {
    400: "not usable",
    401: "not signed in",
    403: "not allowed, or the request was forged",
    404: "not found",
    409: "not possible in this state",
    413: "too large",
    422: "not as described",
    429: "too fast",
    501: "a library is missing where the page runs",
    503: "the database does not answer; try again",
}
NO_ANSWER = "The database does not answer right now; nothing was written. Try again in a moment."
logger = logging.getLogger(__name__)


def documented(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Documentation of these status codes for the API."""
    return {code: {"model": Problem, "description": _WORDS[code]} for code in codes}


USUAL = documented(400, 401, 403, 413, 422, 429, 503)


class PageProblem(HTTPException):
    """A page cannot be shown: another one, with a heading and a sentence, is shown instead."""

    def __init__(self, status: int, heading: str, text: str) -> None:
        super().__init__(status, text)
        self.heading = heading


class Redirect(HTTPException):
    """Go to another page instead."""

    def __init__(self, path: str) -> None:
        super().__init__(303, headers={"Location": path})


async def answer_problem(request: Request, error: Exception) -> Response:
    """The answer to a request that failed: a page for people, JSON for programs."""
    if isinstance(error, Redirect):
        return RedirectResponse((error.headers or {})["Location"], error.status_code)
    status, detail, headers, heading = 400, str(error), None, "That did not work"
    if isinstance(error, HTTPException):
        status, detail, headers = error.status_code, error.detail, error.headers
    elif isinstance(error, StoreError):
        logger.warning("%s", error)  # with names of machines, which are nobody else's business
        status, headers, heading = 503, {"Retry-After": "2"}, "Try again in a moment"
        detail = error.public if isinstance(error, DatabaseError) else NO_ANSWER
    elif isinstance(error, MissingExtraError):
        status = 501
    elif isinstance(error, UnicodeEncodeError):
        detail = "the request holds half a character (a lone surrogate), which is not text"
    if isinstance(error, PageProblem) or _wants_page(request):
        return message_page(request, status, getattr(error, "heading", heading), as_text(str(detail)))
    return JSONResponse({"detail": as_text(detail) if isinstance(detail, str) else detail}, status, headers)


async def answer_invalid(request: Request, error: Exception) -> Response:
    """The response to a malformed body: where and what, without repeating the body."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    parts = [{"type": one["type"], "loc": one["loc"], "msg": one["msg"]} for one in found]
    return JSONResponse(jsonable_encoder({"detail": parts}), 422)


def as_text(text: str) -> str:
    """Text that can be sent: a lone surrogate, which JSON can smuggle in, is spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _wants_page(request: Request) -> bool:
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


HANDLED = (InputError, MissingExtraError, StoreError, HTTPException, UnicodeEncodeError)
