"""The recipe of the documentation, run by a real nginx in front of the server."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from web.conftest import PASSWORD, opened_world
from web.http.test_server import listening

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
GUIDE = Path(__file__).parents[2] / "docs" / "voting-operation.md"
pytestmark = [
    pytest.mark.skipif(NGINX is None, reason="needs nginx"),
    pytest.mark.skipif(not GUIDE.exists(), reason="needs the documentation beside the tests"),
]
CLIENT = "127.0.0.2"  # another address of this machine than the proxy's


def recipe(folder, port, inner, with_password):
    """The blocks of the guide, without the certificate and with ports of our own."""
    server, password = re.findall(r"```nginx\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    server = re.sub(r" *ssl_certificate.*\n", "", server)
    server = server.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    server = server.replace("127.0.0.1:8000", f"127.0.0.1:{inner}")
    if with_password:
        (folder / "words").write_text("team:{PLAIN}open sesame\n")
        password = password.replace("/etc/nginx/votes.htpasswd", str(folder / "words"))
        server = server.replace("location / {\n", f"location / {{\n{password}")
    places = "".join(
        f"{name}_temp_path {folder / name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    return (
        f"daemon off; {user} pid {folder / 'pid'}; error_log {folder / 'log'};\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}{server}}}\n"
    )


@contextmanager
def behind_nginx(world, folder, with_password=False):
    """The address of the proxy."""
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = replace(world.service.settings, proxies=("127.0.0.1",))
    with listening(world.app, settings) as inner:
        (folder / "conf").write_text(recipe(folder, port, inner, with_password))
        command = [NGINX, "-p", str(folder), "-e", str(folder / "log"), "-c", str(folder / "conf")]
        process = subprocess.Popen(command)
        try:
            end = time.monotonic() + 20
            while time.monotonic() < end:
                assert process.poll() is None, (folder / "log").read_text()
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def visitor(base, **options):
    return httpx.Client(
        timeout=60, base_url=base, transport=httpx.HTTPTransport(local_address=CLIENT), **options
    )


def sign_in(client, name):
    page = client.get("/login").text
    csrf = page.split('name="csrf" value="')[1].split('"')[0]
    lie = {"X-Forwarded-For": "198.51.100.7"}
    answer = client.post("/login", data={"name": name, "password": PASSWORD, "csrf": csrf}, headers=lie)
    assert answer.status_code == 303


def test_people_sign_in_and_see_events_through_the_proxy(tmp_path):
    """The audit log has the browser's address, whatever it claims; events are not held back."""
    with (
        opened_world(tmp_path / "data") as world,
        behind_nginx(world, tmp_path / "nginx") as base,
        visitor(base) as client,
    ):
        sign_in(client, "ada")
        assert client.get("/dashboard").status_code == 200
        audit = client.get("/api/v1/people").json()["audit"]
        assert (audit[0]["action"], audit[0]["address"]) == ("login", CLIENT)
        with client.stream("GET", "/api/v1/events") as stream:
            line = next(line for line in stream.iter_lines() if line.startswith("data:"))
        assert json.loads(line.removeprefix("data:"))["counts"]["votes"] == 0
        token = world.program("ada").headers["Authorization"]
        answer = visitor(base).get("/api/v1/project", headers={"Authorization": token})
        assert answer.status_code == 200
        world.app.state.context.stopping = True


def test_basic_authentication_in_front_does_not_get_in_the_way(tmp_path):
    """The browser sends the proxy's password with every request; the session still counts."""
    with (
        opened_world(tmp_path / "data") as world,
        behind_nginx(world, tmp_path / "nginx", with_password=True) as base,
        visitor(base, auth=("team", "open sesame")) as client,
    ):
        assert visitor(base).get("/login").status_code == 401
        assert client.get("/api/v1/project").status_code == 401
        sign_in(client, "ben")
        assert client.get("/vote").status_code == 200
        vote = {"operations": [{"kind": "vote", "key": "k", "item": "item-000", "label": "ant"}]}
        assert client.post("/api/v1/sync", json=vote).status_code == 403, "a cookie alone is not enough"
        user = world.accounts.authenticate(client.cookies["softspread_session"], "session")
        answer = client.post("/api/v1/sync", json=vote, headers={"X-CSRF-Token": user.csrf})
        assert answer.json()["outcomes"][0]["status"] == "accepted"
