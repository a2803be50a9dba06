"""Routes: thin functions over the service, one file for each group of readers."""

from typing import Any

from softspread.web.http.schemas import Problem

_WORDS = {
    400: "not usable",
    401: "not signed in",
    403: "not allowed, or the request was forged",
    404: "not found",
    409: "not possible in this state",
    413: "too large",
    422: "not as described",
    429: "too fast",
    503: "the database is away; try again",
}


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Documented answers for when something is wrong."""
    return {code: {"model": Problem, "description": _WORDS[code]} for code in codes}


USUAL = problems(400, 401, 403, 413, 422, 429, 503)
