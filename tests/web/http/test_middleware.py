"""Hosts, sizes, headers and paths that every request is checked for."""

import asyncio
import re

import pytest
from fastapi.testclient import TestClient

from softspread.web.http.app import create_app
from softspread.web.http.middleware import LARGEST_BODY, SecurityMiddleware
from web.conftest import (
    BASE,
    running,
)

VOTE = {"votes": [{"key": "k", "item": "item-000", "label": "ant"}]}


def test_a_server_without_accounts_answers_to_this_machine_only(tmp_path):
    """Another name that points here (DNS rebinding) gets nothing, and pages must still repeat their word."""
    with running(tmp_path, auth=False) as service:
        app = create_app(service, stop_service=False)
        assert TestClient(app, base_url="http://evil.example").get("/vote").status_code == 421
        client = TestClient(app, base_url=BASE)
        assert client.get("/vote").status_code == 200
        assert client.post("/api/v1/votes", json=VOTE).status_code == 403


def test_large_bodies_are_refused(world):
    """By what they announce and by what they hold."""
    ben = world.program("ben")
    assert ben.post("/api/v1/sync", content=b" " * (LARGEST_BODY + 1)).status_code == 413

    def pieces():
        for _ in range(40):
            yield b" " * (LARGEST_BODY // 20)

    assert ben.post("/api/v1/sync", content=pieces()).status_code == 413


def test_every_answer_carries_the_policy(still_world):
    """Scripts and styles from here only, no frames, no guessing of types; no inline script on any page."""
    ada = still_world.browser("ada")
    for path in (
        "/vote",
        "/dashboard",
        "/people",
        "/login",
        "/static/vote.js",
        "/api/v1/project",
        "/nonsense",
        "/health",
    ):
        headers = ada.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
    for path in ("/vote", "/dashboard", "/people", "/login"):
        for attributes, content in re.findall(r"<script([^>]*)>([^<]*)", ada.get(path).text):
            assert "src=" in attributes or "application/json" in attributes
            assert "src=" not in attributes or not content.strip()
        assert not re.search(r"""(src|href)=["'](https?:)?//""", ada.get(path).text), "works offline"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/settings.py",
        "/static//etc/passwd",
        "/api/v1/items/..%2f..%2fetc%2fpasswd/picture",
        "/api/v1/items/-1/picture",
        "/api/v1/export/..%2f..%2fvotes.sqlite",
    ],
)
def test_paths_do_not_lead_out(still_world, path):
    """Neither through static files nor through items or exports."""
    answer = still_world.program("ada").get(path)
    assert answer.status_code in (404, 422)
    assert b"import" not in answer.content
    assert b"root:" not in answer.content


def test_a_body_that_stops_coming_is_not_waited_for():
    """Whoever announces a body and sends half of it holds nothing for long."""

    async def app(scope, receive, send):
        while (await receive())["more_body"]:
            pass

    async def asked():
        waiting = [{"type": "http.request", "body": b"{", "more_body": True}]
        sent = []

        async def receive():
            return waiting.pop() if waiting else await asyncio.sleep(60)

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "headers": [], "path": "/"}
        await SecurityMiddleware(app, patience=0.05)(scope, receive, send)
        return sent[0]["status"]

    assert asyncio.run(asked()) == 408
