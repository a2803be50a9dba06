"""A second look over the API."""

import pytest

from web.conftest import vote, wait_until_applied


@pytest.mark.parametrize(("method", "path"), [("GET", "review"), ("PUT", "decisions"), ("POST", "ask-again")])
def test_a_second_look_is_for_admins(still_world, method, path):
    """Strangers are asked to sign in, annotators refused."""
    assert still_world.browser().request(method, f"/api/v1/{path}", json={}).status_code == 401
    assert still_world.program("ben").request(method, f"/api/v1/{path}", json={}).status_code == 403


def test_a_lead_sees_a_disagreement_and_decides(world):
    """The decision is in the log and the audit log, can be taken back, and unknown names are refused."""
    for name, label in (("ben", "ant"), ("eva", "bee")):
        vote(world.service, name, "item-003", label, "k")
    world.service.submit([world.service.flag("eva", "item-003", "which one?", "f")]).result(9)
    wait_until_applied(world.service)
    ada = world.browser("ada")
    found = ada.get("/api/v1/review").json()
    (card,) = found["lists"]["disagreements"]
    assert (card["item"], card["counts"], card["decided"]) == ("item-003", [1, 1, 0], None)
    assert found["notes"][0]["note"] == "which one?"
    assert [one["name"] for one in found["people"]] == ["ben", "eva"]
    decision = {"item": "item-003", "label": "cat"}
    assert ada.put("/api/v1/decisions", json=decision).status_code == 200
    found = ada.get("/api/v1/review").json()["lists"]
    assert [card["decided"] for card in found["decided"]] == ["cat"]
    for wrong in ({"item": "item-003", "label": "cow"}, {"item": "nothing", "label": "cat"}):
        assert ada.put("/api/v1/decisions", json=wrong).status_code == 400
    assert ada.put("/api/v1/decisions", json=decision | {"label": None}).status_code == 200
    assert ada.put("/api/v1/decisions", json=decision | {"label": None}).status_code == 409
    assert "decide" in {note["action"] for note in world.accounts.notes()}
    assert ada.post("/api/v1/ask-again", json={"item": "item-003"}).status_code == 204
    assert ada.get("/review").status_code == 200
    assert world.browser("ben").get("/review").status_code == 403
