"""Where the server says it is, and how it stops."""

import asyncio
import signal
import socket
import threading
import urllib.request
from contextlib import contextmanager
from dataclasses import replace

import pytest
import uvicorn

from softspread.web.http.server import ImpatientProtocol, _Server, address_of, server_config


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "127.0.0.1"), ("::1", "[::1]")],
)
def test_the_address_opens_in_a_browser_on_this_machine(host, shown):
    """All interfaces are shown as this machine, and IPv6 stands in brackets."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert address_of(bound, host) == f"http://{shown}:{bound.getsockname()[1]}"


def test_stopping_ends_the_streams_of_open_dashboards(world):
    """Otherwise the server would wait for them."""
    server = _Server(uvicorn.Config(world.app))
    assert not world.app.state.context.stopping
    server.handle_exit(signal.SIGTERM, None)
    assert world.app.state.context.stopping
    assert server.should_exit


@contextmanager
def listening(app, settings, **changes):
    """The port of a server that runs as `run_server` does, but for what is changed."""
    config = server_config(app, replace(settings, port=0))
    for name, value in changes.items():
        setattr(config, name, value)
    bound = config.bind_socket()
    bound.listen(10)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


class Hasty(ImpatientProtocol):
    head_seconds = 0.2


HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("start", [b"", b"GET /hea", HEAD, HEAD + b"\r\n" + HEAD])
def test_a_connection_that_never_asks_is_closed(still_world, start):
    """Nothing at all, half a head, or half of the next one after an answer."""
    with (
        listening(still_world.app, still_world.service.settings, http=Hasty) as port,
        socket.create_connection(("127.0.0.1", port), timeout=20) as client,
    ):
        client.sendall(start)
        received = b"".join(iter(lambda: client.recv(4096), b""))  # ends when the server closes
    assert received.count(b'"UP"') == start.count(b"\r\n\r\n")


def test_a_request_that_is_complete_in_time_is_answered_however_long_it_takes(still_world):
    """The patience is for heads only."""

    async def slow(scope, receive, send):
        await asyncio.sleep(0.6)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    with (
        listening(slow, still_world.service.settings, http=Hasty, lifespan="off") as port,
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20) as answer,
    ):
        assert answer.read() == b"ok"


@pytest.mark.parametrize(("proxies", "seen"), [((), "127.0.0.1"), (("127.0.0.0/8",), "203.0.113.9")])
def test_only_known_proxies_say_where_a_request_comes_from(still_world, proxies, seen):
    """Anyone can send the header; else rate limits and the audit log would believe it."""

    async def echo(scope, receive, send):
        body = scope["client"][0].encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    settings = replace(still_world.service.settings, proxies=proxies)
    with listening(echo, settings, lifespan="off") as port:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/", headers={"X-Forwarded-For": "203.0.113.9"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.read().decode() == seen
