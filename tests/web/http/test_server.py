"""Where the server says it is, and how it stops."""

import signal
import socket

import pytest
import uvicorn

from softspread.web.http.server import _Server, address_of


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
