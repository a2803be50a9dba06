"""The project's settings over HTTP."""

import pytest

from web.conftest import cast

NEW = {"question": "Which insect?", "overlap": 2, "status": "paused", "guidelines": "# Look\n\n<b>twice</b>"}


def test_only_admins_change_settings(world):
    """Annotators and strangers see no page and change nothing."""
    for client, code in ((world.browser(), 401), (world.browser("ben"), 403), (world.program("ben"), 403)):
        assert client.patch("/api/v1/project", json=NEW).status_code == code
    assert world.browser("ben").get("/project").status_code == 403
    assert world.browser().get("/project", follow_redirects=False).status_code == 303
    assert world.service.changes.revision == 0


def test_a_change_needs_the_pages_csrf_token(world):
    """Another site cannot change settings with a lead's cookie."""
    ada = world.browser("ada")
    del ada.headers["X-CSRF-Token"]
    assert ada.patch("/api/v1/project", json=NEW).status_code == 403


def test_a_lead_changes_settings_and_everybody_sees_them(world):
    """The answer, the project, the pages, the next sync and the audit log."""
    ada, ben = world.browser("ada"), world.browser("ben")
    assert len(ben.post("/api/v1/sync", json={"wanted": 3}).json()["items"]) == 3
    answer = ada.patch("/api/v1/project", json={**NEW, "revision": 0})
    assert answer.status_code == 200
    for found in (answer.json(), ben.get("/api/v1/project").json()):
        assert {name: found[name] for name in NEW} == NEW
        assert found["revision"] == 1
    answer = ben.post("/api/v1/sync", json={"wanted": 3}).json()
    assert (answer["items"], answer["status"], answer["revision"]) == ([], "paused", 1)
    page = ben.get("/vote").text
    assert "Which insect?" in page
    assert "<h1>Look</h1>" in page
    assert "&lt;b&gt;twice&lt;/b&gt;" in page
    note = world.accounts.notes()[0]
    assert (note["who"], note["action"]) == ("ada", "change settings")
    assert "Which insect?" in note["detail"]
    assert ada.get("/api/v1/dashboard").json()["status"] == "paused"


@pytest.mark.parametrize(
    "body",
    [
        {"overlap": 0},
        {"mode": "loud"},
        {"strategy": "guess"},
        {"status": "asleep"},
        {"uniform_share": 2},
        {"alpha": 0.5},
        {"title": ""},
        {"question": None},
        {"guidelines": "x" * 50_001},
        {"guidelines": "a\0b"},
    ],
)
def test_bad_settings_are_refused_whole(world, body):
    """What came with them is not changed either."""
    answer = world.browser("ada").patch("/api/v1/project", json={"question": "New?", **body})
    assert answer.status_code in (400, 422)
    assert world.service.settings.question == "Which class is it?"


def test_an_old_page_is_told_so(world):
    """409, and nothing is overwritten."""
    ada = world.browser("ada")
    assert ada.patch("/api/v1/project", json={"overlap": 2, "revision": 0}).status_code == 200
    answer = ada.patch("/api/v1/project", json={"overlap": 4, "revision": 0})
    assert answer.status_code == 409
    assert "reload" in answer.json()["detail"]
    assert world.service.settings.overlap == 2


def test_a_finished_project_refuses_votes_in_words(world):
    """409 for a program, with the reason."""
    world.browser("ada").patch("/api/v1/project", json={"status": "finished"})
    answer = cast(world.browser("ben"), "k")
    assert answer.status_code == 409
    assert "finished" in answer.text


def test_classes_are_changed_by_admins_only_and_refused_with_a_reason(world):
    """The answer says what is asked for; it is in force when the page has learned for it."""
    wanted = {"classes": [{"name": "insect", "was": ["ant", "bee"]}, {"name": "cat", "was": ["cat"]}]}
    assert world.program("ben").put("/api/v1/classes", json=wanted).status_code == 403
    assert world.browser().put("/api/v1/classes", json=wanted).status_code == 401
    ada = world.browser("ada")
    lost = {"classes": [{"name": "ant", "was": ["ant"]}, {"name": "cat", "was": ["cat"]}]}
    answer = ada.put("/api/v1/classes", json=lost)
    assert (answer.status_code, "need a place" in answer.text) == (400, True)
    assert ada.put("/api/v1/classes", json=wanted | {"revision": 7}).status_code == 409
    assert ada.put("/api/v1/classes", json=wanted).status_code == 200
    assert world.service.wait_until_prepared(300)
    assert world.browser("ben").get("/api/v1/project").json()["classes"] == ["insect", "cat"]
