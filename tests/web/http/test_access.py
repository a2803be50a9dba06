"""Who may do what, and how often."""

import pytest
from fastapi.testclient import TestClient

from softspread.web.http.app import create_app
from web.conftest import BASE, opened_world, running

VOTE = {"votes": [{"key": "k", "item": "item-000", "label": "ant"}]}


@pytest.mark.parametrize(
    "path",
    [
        "project",
        "votes",
        "items",
        "items/0/picture",
        "soft-labels",
        "dashboard",
        "events",
        "people",
        "export/log.csv",
    ],
)
def test_nothing_is_said_to_strangers(still_world, path):
    """Without a session or token every part of the API is closed."""
    assert still_world.browser().get(f"/api/v1/{path}").status_code == 401


@pytest.mark.parametrize("word", ["", "x", "softspread_guess", "Bearer", "é" * 20])
def test_wrong_tokens_open_nothing(still_world, word):
    """Neither empty ones nor guesses nor odd letters."""
    client = still_world.browser()
    answer = client.get("/api/v1/project", headers={b"Authorization": b"Bearer " + word.encode()})
    assert answer.status_code == 401


def test_a_session_word_is_no_token(still_world):
    """A stolen cookie cannot be used as a token, nor the other way round."""
    ben = still_world.browser("ben")
    cookie = ben.cookies["softspread_session"]
    assert (
        still_world.browser()
        .get("/api/v1/project", headers={"Authorization": f"Bearer {cookie}"})
        .status_code
        == 401
    )


@pytest.mark.parametrize(
    "path",
    [
        "soft-labels",
        "dashboard",
        "events",
        "people",
        "queries",
        "items/0/why",
        "map/values",
        "export/votes.csv",
    ],
)
def test_annotators_do_not_see_what_would_bias_them(still_world, path):
    """Soft labels and the votes of others are for admins."""
    assert still_world.program("ben").get(f"/api/v1/{path}").status_code == 403


def test_a_browser_must_repeat_its_word(world):
    """A cookie alone changes nothing: no word, a wrong one, another person's."""
    ben, eva = world.browser("ben"), world.browser("eva")
    for word in ("", "wrong", eva.headers["X-CSRF-Token"]):
        assert ben.post("/api/v1/votes", json=VOTE, headers={"X-CSRF-Token": word}).status_code == 403
    assert world.service.counts()["votes"] == 0
    assert ben.post("/api/v1/votes", json=VOTE).status_code == 201


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_requests_from_other_sites_are_refused(still_world, headers):
    """Even with the right word."""
    assert still_world.browser("ben").post("/api/v1/votes", json=VOTE, headers=headers).status_code == 403


def test_a_flood_of_votes_is_slowed_down(world):
    """More than a user could cast is put off, not written."""
    ben = world.program("ben")
    votes = [{"kind": "skip", "key": f"k{number}", "item": "item-000"} for number in range(100)]
    codes = [ben.post("/api/v1/sync", json={"operations": votes, "wanted": 0}).status_code for _ in range(5)]
    assert codes[0] == 200
    assert 429 in codes


def test_without_accounts_a_script_says_that_it_is_one(tmp_path):
    """In a header that no other site's page can send unasked; pages must still repeat their word."""
    with running(tmp_path, auth=False) as service:
        client = TestClient(create_app(service, stop_service=False), base_url=BASE)
        script = {"X-Softspread-Script": "1"}
        assert client.post("/api/v1/votes", json=VOTE).status_code == 403
        assert client.post("/api/v1/votes", json=VOTE, headers=script).status_code == 201
        other = {**script, "Origin": "http://evil.example"}
        assert client.post("/api/v1/votes", json=VOTE, headers=other).status_code == 403
    with opened_world(tmp_path / "team") as world:
        assert world.browser().post("/api/v1/votes", json=VOTE, headers=script).status_code == 401
