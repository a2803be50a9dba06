"""Running the app: one process, one event loop, threads that switch quickly."""

import gc
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from softspread.web.project.thread_priority import shorten_switch_interval

BACKLOG = 128  # connections that may wait
GRACE_SECONDS = 3  # for unfinished requests when the server stops


class _Server(uvicorn.Server):
    """Ends the streams of open dashboards; the shutdown would wait for them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app = self.config.app
        if isinstance(app, FastAPI):
            app.state.context.stopping = True
            app.state.context.service.wake_listeners()
        super().handle_exit(sig, frame)


def run_server(app: FastAPI, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until interrupted; ``announce`` gets the address once connections are accepted."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    bound = config.bind_socket()
    bound.listen(BACKLOG)  # a browser that comes before the loop runs waits a moment
    announce(address_of(bound, host))
    shorten_switch_interval()
    gc.freeze()  # log and items stay in memory: the collector need not scan them
    _Server(config).run(sockets=[bound])


def address_of(bound: socket.socket, host: str) -> str:
    """The address to type into a browser on this machine."""
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{bound.getsockname()[1]}"
