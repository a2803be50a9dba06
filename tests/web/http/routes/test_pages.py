"""Pages, and the forms before there is a session."""

from dataclasses import replace

from softspread.web.http.access import RATE_LIMITS
from softspread.web.project.items import FileItems
from web.conftest import PASSWORD, opened_world, three_clusters

VOTE = {"votes": [{"key": "k", "item": "item-000", "label": "ant"}]}

NASTY = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


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


def test_a_blind_page_does_not_show_ids(tmp_path):
    """A path such as cat/001.jpg gives the answer away; in assisted mode the id stands below the item."""
    for mode, shown in (("blind", "false"), ("assisted", "true")):
        with opened_world(tmp_path / mode, mode=mode) as world:
            assert f'"captions": {shown}' in world.browser("ben").get("/vote").text


def test_a_whole_class_may_accept_invitations_at_once(tmp_path):
    """From one address; only tries with the same invitation are slowed down."""
    limits = replace(RATE_LIMITS, logins=(1e-9, 2.0))
    with opened_world(tmp_path, limits=limits) as world:

        def accept(secret, name, again=PASSWORD):
            client = world.browser()
            csrf = client.get(f"/invite/{secret}").text.split('name="csrf" value="')[1].split('"')[0]
            data = {"name": name, "password": PASSWORD, "again": again, "csrf": csrf}
            return client.post(f"/invite/{secret}", data=data, follow_redirects=False).status_code

        secrets = [world.accounts.invite("annotator", "ada") for _ in range(4)]
        assert [accept(secret, f"pupil-{n}") for n, secret in enumerate(secrets[:3])] == [303] * 3
        assert [accept(secrets[3], "last", "different") for _ in range(3)] == [422, 422, 429]
