"""What must not work."""

import re

import pytest
from fastapi.testclient import TestClient

from softspread.web.http.access import RATE_LIMITS
from softspread.web.http.app import create_app, first_link
from softspread.web.http.middleware import LARGEST_BODY
from softspread.web.http.token_bucket import TokenBucket
from softspread.web.project.items import FileItems
from web.conftest import (
    BASE,
    CLASSES,
    PASSWORD,
    opened_world,
    running,
    three_clusters,
    vote,
    wait_until_applied,
)

NASTY = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
VOTE = {"votes": [{"key": "k", "item": "item-000", "label": "ant"}]}


# ----------------------------------------------------------------------------------------------- who may what
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


def test_annotators_cannot_invite_or_close(still_world):
    """Only admins change who is in."""
    ben = still_world.program("ben")
    assert ben.post("/api/v1/invitations", json={}).status_code == 403
    assert ben.patch("/api/v1/accounts/1", json={"active": False}).status_code == 403


def test_someone_elses_vote_cannot_be_taken_back(world):
    """Not by its key, not by an admin either; the vote stands."""
    vote(world.service, "ben", "item-000", "ant", "secret-key")
    for name in ("eva", "ada"):
        answer = world.program(name).post(
            "/api/v1/undo", json={"undos": [{"key": "u", "vote": "secret-key"}]}
        )
        assert answer.status_code == 409
    assert world.service.counts()["votes"] == 1


def test_a_vote_is_cast_as_oneself(still_world):
    """The name comes from the session; a field for it is refused."""
    body = {"votes": [{**VOTE["votes"][0], "annotator": "eva"}]}
    assert still_world.program("ben").post("/api/v1/votes", json=body).status_code == 422


# -------------------------------------------------------------------------------------------- forged requests
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


def test_the_sign_in_form_cannot_be_sent_from_elsewhere(still_world):
    """Its hidden word must match its cookie."""
    client = still_world.browser()
    data = {"name": "ben", "password": PASSWORD, "csrf": "guess"}
    assert client.post("/login", data=data).status_code == 403
    client.get("/login")
    assert client.post("/login", data=data).status_code == 403
    assert "softspread_session" not in client.cookies


def test_signing_in_never_leads_to_another_site(still_world):
    """The place to go next is a path."""
    for place in ("https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"):
        page = still_world.browser().get("/login", params={"next": place}).text
        assert 'name="next" value="/"' in page


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(still_world):
    """HttpOnly and SameSite; Secure behind HTTPS."""
    client = still_world.browser()
    csrf = client.get("/login").text.split('name="csrf" value="')[1].split('"')[0]
    answer = client.post(
        "/login", data={"name": "ben", "password": PASSWORD, "csrf": csrf}, follow_redirects=False
    )
    cookie = next(
        value for value in answer.headers.get_list("set-cookie") if value.startswith("softspread_session")
    )
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()


def test_a_server_without_accounts_answers_to_this_machine_only(tmp_path):
    """Another name that points here (DNS rebinding) gets nothing, and pages must still repeat their word."""
    with running(tmp_path, auth=False) as service:
        app = create_app(service, stop_service=False)
        assert TestClient(app, base_url="http://evil.example").get("/vote").status_code == 421
        client = TestClient(app, base_url=BASE)
        assert client.get("/vote").status_code == 200
        assert client.post("/api/v1/votes", json=VOTE).status_code == 403


# ----------------------------------------------------------------------------------------- guessing, flooding
def test_guessing_passwords_is_slowed_down(world):
    """After ten attempts even the right password has to wait."""
    client = world.browser()
    csrf = client.get("/login").text.split('name="csrf" value="')[1].split('"')[0]
    codes = [
        client.post("/login", data={"name": "ben", "password": "guess number x", "csrf": csrf}).status_code
        for _ in range(int(RATE_LIMITS.logins[1]) + 2)
    ]
    assert codes[0] == 401
    assert codes[-1] == 429
    assert client.post("/login", data={"name": "ben", "password": PASSWORD, "csrf": csrf}).status_code == 429
    assert next(note["action"] for note in world.accounts.notes()) == "failed login"


def test_a_flood_of_votes_is_slowed_down(world):
    """More than a user could cast is put off, not written."""
    ben = world.program("ben")
    votes = [{"kind": "skip", "key": f"k{number}", "item": "item-000"} for number in range(100)]
    codes = [ben.post("/api/v1/sync", json={"operations": votes, "wanted": 0}).status_code for _ in range(5)]
    assert codes[0] == 200
    assert 429 in codes


def test_a_rate_limit_fills_up_again():
    """So many at once, then by the second."""
    now = [0.0]
    limit = TokenBucket(1.0, 3.0, clock=lambda: now[0])
    assert [limit.allows("a") for _ in range(4)] == [True, True, True, False]
    assert limit.allows("b")
    now[0] = 2.0
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]


def test_large_bodies_are_refused(world):
    """By what they announce and by what they hold."""
    ben = world.program("ben")
    assert ben.post("/api/v1/sync", content=b" " * (LARGEST_BODY + 1)).status_code == 413

    def pieces():
        for _ in range(40):
            yield b" " * (LARGEST_BODY // 20)

    assert ben.post("/api/v1/sync", content=pieces()).status_code == 413


# -------------------------------------------------------------------------------------------- traversal, HTML
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


def test_texts_and_names_are_never_html(tmp_path):
    """Item ids, texts, class names, titles and account names with tags stay text on every page."""
    X = three_clusters()[0]
    items = FileItems([f"{NASTY}{row}" for row in range(len(X))], tmp_path, [None] * len(X), [NASTY] * len(X))
    changes = {"items": items, "classes": (NASTY, "b", "c"), "title": NASTY, "question": NASTY}
    with opened_world(tmp_path / "data", **changes) as world:
        world.accounts.create(NASTY[:60], PASSWORD, "admin")
        client = world.browser(NASTY[:60])
        for path in ("/vote", "/dashboard", "/people"):
            page = client.get(path)
            assert page.status_code == 200
            assert "<script>alert" not in page.text
            assert "<img src=x" not in page.text
        answer = client.post("/api/v1/sync", json={"wanted": 1})
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["items"][0]["text"] == NASTY


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


# ----------------------------------------------------------------------------------------------------- people
def test_the_first_admin_comes_by_a_link_that_works_once(tmp_path):
    """Printed at the first start; an older link ends when a new one is made; afterwards none is made."""
    with running(tmp_path) as service:
        app = create_app(service, stop_service=False)
        old = first_link(app)
        link = first_link(app)
        client = TestClient(app, base_url=BASE)
        assert client.get(old).status_code == 410
        csrf = client.get(link).text.split('name="csrf" value="')[1].split('"')[0]
        form = {"name": "ada", "password": PASSWORD, "again": PASSWORD, "csrf": csrf}
        assert client.post(link, data={**form, "again": "different one"}).status_code == 422
        answer = client.post(link, data=form)
        assert answer.status_code == 200
        assert answer.url.path == "/dashboard"
        assert client.get(link).status_code == 410
        assert first_link(app) is None


def test_an_invitation_that_ran_out_opens_nothing(tmp_path):
    """The page says so, and posting to it makes no account."""
    wall = [1e9]
    with opened_world(tmp_path, clock=lambda: wall[0]) as world:
        link = world.program("ada").post("/api/v1/invitations", json={"hours": 1}).json()["link"]
        client = world.browser()
        assert client.get(link).status_code == 200
        wall[0] += 3601
        page = client.get(link)
        assert page.status_code == 410
        csrf = client.cookies.get("softspread_form", "")
        form = {"name": "mal", "password": PASSWORD, "again": PASSWORD, "csrf": csrf}
        assert client.post(link, data=form).status_code == 410
        assert "mal" not in [one["name"] for one in world.accounts.all_accounts()]


def test_a_withdrawn_invitation_opens_nothing(world):
    """Nor can it be withdrawn twice."""
    ada = world.browser("ada")
    link = ada.post("/api/v1/invitations", json={"note": "for Mal"}).json()["link"]
    number = ada.get("/api/v1/people").json()["invitations"][0]["id"]
    assert ada.delete(f"/api/v1/invitations/{number}").status_code == 204
    assert ada.delete(f"/api/v1/invitations/{number}").status_code == 404
    assert world.browser().get(link).status_code == 410


def test_a_closed_account_loses_its_session_at_once(world):
    """Its votes stay."""
    ben = world.browser("ben")
    assert ben.post("/api/v1/votes", json=VOTE).status_code == 201
    number = next(one["id"] for one in world.accounts.all_accounts() if one["name"] == "ben")
    ada = world.browser("ada")
    assert ada.patch(f"/api/v1/accounts/{number}", json={"active": False}).status_code == 204
    assert ben.get("/api/v1/project").status_code == 401
    wait_until_applied(world.service)
    assert world.service.counts()["votes"] == 1
    me = next(one["id"] for one in world.accounts.all_accounts() if one["name"] == "ada")
    assert ada.patch(f"/api/v1/accounts/{me}", json={"active": False}).status_code == 409


def test_a_token_cannot_make_tokens(world):
    """Who finds one cannot dig in."""
    assert world.program("ada").post("/api/v1/tokens", json={"name": "more"}).status_code == 403
    assert world.browser("ben").post("/api/v1/tokens", json={"name": "script"}).status_code == 201


def test_signing_out_needs_the_word_and_ends_the_session(world):
    """A link elsewhere cannot sign people out."""
    ben = world.browser("ben")
    assert ben.post("/logout", data={"csrf": "guess"}).status_code == 403
    assert ben.get("/api/v1/project").status_code == 200
    cookie = ben.cookies["softspread_session"]
    ben.post("/logout", data={"csrf": ben.headers["X-CSRF-Token"]})
    again = world.browser()
    again.cookies.set("softspread_session", cookie)
    assert again.get("/api/v1/project").status_code == 401


def test_errors_tell_nothing_about_the_inside(world, monkeypatch):
    """An accident is a plain 500."""

    def fail():
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(world.service, "dashboard", fail)
    answer = world.program("ada").get("/api/v1/dashboard")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert len(CLASSES) == 3
