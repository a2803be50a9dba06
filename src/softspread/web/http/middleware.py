"""Middleware for every request: checks of host and size, security headers.

request -> host (without accounts: this machine only) -> size of the body, and how long it takes -> app ->
security headers
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 2**20  # bytes; a hundred votes are 20 kB
BODY_SECONDS = 60.0  # until a body is complete ...
SLOWEST = 2**20  # ... and longer where more is allowed: the time it takes at this many bytes per second
# Of an empty style element: plotly makes one and adds its rules by script, which the policy allows.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
SECURITY_HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; script-src 'self'; style-src 'self' {EMPTY_STYLE}; img-src 'self' data: blob:; "
        "connect-src 'self'; media-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'; object-src 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
Largest = Callable[[Scope], Awaitable[int]]
_HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


class SecurityMiddleware:
    """ASGI middleware: refuses foreign hosts and large bodies, adds the security headers.

    Parameters
    ----------
    hosts : names by which the server may be called; None = any
    largest : bytes of a body, by request
    patience : seconds that a body may take
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str] | None = None,
        largest: Largest | None = None,
        patience: float = BODY_SECONDS,
    ) -> None:
        self._patience = patience
        self._app, self._hosts, self._largest = app, None if hosts is None else frozenset(hosts), largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message.get("headers", [])}
                added = [pair for pair in _HEADERS if pair[0] not in present]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        if self._hosts is not None and _host_of(headers) not in self._hosts:
            # A page elsewhere that points its own name at this machine must not reach an open server.
            await _refuse(send_guarded, 421, "this server answers only by the name of this machine")
            return
        largest = LARGEST_BODY if self._largest is None else await self._largest(scope)
        too_large = f"a request may hold at most {largest} bytes"
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > largest:
            await _refuse(send_guarded, 413, too_large)
            return
        received, complete, refused = 0, False, (0, "")
        until = asyncio.get_running_loop().time() + max(self._patience, largest / SLOWEST)

        async def receive_counted() -> Message:
            nonlocal received, complete, refused
            if complete:
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError as error:
                refused = 408, "the rest of the request did not come in time"
                raise BodyError from error
            received += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if received > largest:
                refused = 413, too_large
                raise BodyError
            return message

        async def send_if_whole(message: Message) -> None:
            if not refused[0]:  # else whatever the app makes of the cut body is not sent
                await send_guarded(message)

        with suppress(BodyError):
            await self._app(scope, receive_counted, send_if_whole)
        if refused[0]:
            await _refuse(send_guarded, *refused)


class BodyError(Exception):
    """The body grew past the limit while it was read, or stopped coming."""


def _host_of(headers: dict[bytes, bytes]) -> str:
    host = headers.get(b"host", b"").decode("latin-1").lower()
    if host.startswith("["):
        return host.split("]")[0] + "]"
    return host.split(":")[0]


async def _refuse(send: Callable[[Any], Any], status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
