"""Errors as answers."""

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
