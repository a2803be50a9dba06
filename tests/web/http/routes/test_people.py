"""Accounts, invitations and tokens over the API."""

from web.conftest import wait_until_applied

VOTE = {"votes": [{"key": "k", "item": "item-000", "label": "ant"}]}


def test_annotators_cannot_invite_or_close(still_world):
    """Only admins change who is in."""
    ben = still_world.program("ben")
    assert ben.post("/api/v1/invitations", json={}).status_code == 403
    assert ben.patch("/api/v1/accounts/1", json={"active": False}).status_code == 403


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
