"""Run the app: one process, one event loop, threads that switch quickly.

An idle connection, or one that stops in the middle of a request, is closed. For bodies see `middleware`.
"""

import asyncio
import gc
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from softspread.web.project.settings import Settings
from softspread.web.project.thread_priority import shorten_switch_interval

BACKLOG = 128  # connections that may wait
GRACE_SECONDS = 3  # for unfinished requests when the server stops
HEAD_SECONDS = 15.0  # until the head of a request is complete


class ImpatientProtocol(HttpToolsProtocol):
    """HTTP with an end to waiting for the head of a request; uvicorn only limits pauses between two."""

    _deadline: asyncio.TimerHandle | None = None
    head_seconds = HEAD_SECONDS

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a head that has begun, from its first byte on."""
        super().data_received(data)
        if self._deadline is None and not self._is_busy():
            self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def on_headers_complete(self) -> None:
        """The head is there; the app waits for the body."""
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more to wait for."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self._is_busy():
            self.transport.close()


class _Server(uvicorn.Server):
    """Ends the streams of open dashboards; the shutdown would wait for them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app = self.config.app
        if isinstance(app, FastAPI):
            app.state.context.stopping = True
            app.state.context.service.wake_listeners()
        super().handle_exit(sig, frame)


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """How uvicorn runs the app; nobody but the proxies named may say where a request comes from."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        http=ImpatientProtocol,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def run_server(app: FastAPI, settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until interrupted; ``announce`` gets the address once connections are accepted."""
    config = server_config(app, settings)
    bound = config.bind_socket()
    bound.listen(BACKLOG)  # a browser that comes before the loop runs waits a moment
    announce(address_of(bound, settings.host))
    shorten_switch_interval()
    gc.freeze()  # log and items stay in memory: the collector need not scan them
    _Server(config).run(sockets=[bound])


def address_of(bound: socket.socket, host: str) -> str:
    """The address to type into a browser on this machine."""
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{bound.getsockname()[1]}"
