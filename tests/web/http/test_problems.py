"""Errors as answers."""

import pytest

from softspread.web.log.store import DatabaseError
from web.conftest import CLASSES

VOTE = {"votes": [{"key": "k", "item": "item-000", "label": "ant"}]}


def test_errors_tell_nothing_about_the_inside(world, monkeypatch):
    """An accident is a plain 500."""

    def fail():
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(world.service, "dashboard", fail)
    answer = world.program("ada").get("/api/v1/dashboard")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert len(CLASSES) == 3


def test_a_database_that_fails_is_not_described(world, monkeypatch):
    """Its messages name machines and ports; they belong in the server's log."""

    def fail():
        cause = OSError('connection to server at "db.internal" (10.1.2.3), port 5432 failed')
        raise DatabaseError("the database does not answer", cause, private=True)

    monkeypatch.setattr(world.service, "dashboard", fail)
    ada = world.program("ada")
    for accept in ("application/json", "text/html"):
        answer = ada.get("/api/v1/dashboard", headers={"Accept": accept})
        assert answer.status_code == 503
        assert "internal" not in answer.text
        assert "10.1.2.3" not in answer.text


HALF = b"\\ud800"  # JSON can spell half a character


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/votes", b'{"votes": [{"key": "k", "item": "%s", "label": "ant"}]}'),
        ("/api/v1/votes", b'{"votes": [{"key": "k", "item": "item-000", "label": "%s"}]}'),
        ("/api/v1/sync", b'{"holding": ["%s"]}'),
        ("/api/v1/invitations", b'{"note": "%s"}'),
        ("/predict", b'{"label_config": "%s"}'),
        ("/webhook", b'{"action": "ANNOTATION_CREATED", "task": {"data": {"x": "item-000"}}, "annotation":'
         b' {"id": 1, "result": [{"value": {"choices": ["%s"]}}]}}'),
        ("/webhook", b'{"action": "ANNOTATIONS_DELETED", "annotations": [{"id": "%s"}]}'),
    ],
)  # fmt: skip
def test_half_a_character_is_refused(still_world, path, body):
    """It can be neither stored nor sent back; that is the sender's mistake."""
    ada, headers = still_world.program("ada"), {"Content-Type": "application/json"}
    answer = ada.post(path, content=body % HALF, headers=headers)
    assert 400 <= answer.status_code < 500, answer.text


def test_half_a_character_in_a_name_is_spelt_out(still_world):
    """Label Studio's people are named by what it sends."""
    body = b'{"action": "ANNOTATION_CREATED", "task": {"data": {"x": "item-001"}}, "annotation": {"id": 5,'
    body += b' "completed_by": "%s", "result": [{"value": {"choices": ["ant"]}}]}}' % HALF
    headers = {"Content-Type": "application/json"}
    assert still_world.program("ada").post("/webhook", content=body, headers=headers).json()["taken"] == 1
