"""Accounts, invitations and tokens over the API."""

from web.conftest import BASE, PASSWORD, wait_until_applied

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


def test_people_change_their_own_password_and_admins_reset_it(world):
    """By the page's own session, never by a token; the link leads to a form."""
    ben, ada = world.browser("ben"), world.browser("ada")
    new = {"present": PASSWORD, "new": "another password"}
    assert world.program("ben").put("/api/v1/me/password", json=new).status_code == 403
    assert ben.put("/api/v1/me/password", json=new | {"present": "guess"}).status_code == 400
    assert ben.put("/api/v1/me/password", json=new).status_code == 204
    assert world.accounts.log_in("ben", "another password") is not None
    number = next(one["id"] for one in world.accounts.all_accounts() if one["name"] == "ben")
    assert ben.post(f"/api/v1/accounts/{number}/reset").status_code == 403
    link = ada.post(f"/api/v1/accounts/{number}/reset").json()["link"].removeprefix(BASE)
    stranger = world.browser()
    form = stranger.get(link)
    assert "A new password for ben" in form.text
    csrf = form.text.split('name="csrf" value="')[1].split('"')[0]
    sent = {"password": "a third password", "again": "a third password", "csrf": csrf, "name": "ada"}
    assert stranger.post(link, data=sent, follow_redirects=False).status_code == 303
    assert world.accounts.log_in("ben", "a third password") is not None
    assert world.accounts.log_in("ada", PASSWORD) is not None
    assert ben.get("/api/v1/project").status_code == 401


def test_an_admin_makes_another_and_cannot_unmake_themselves(world):
    """So that one is always left."""
    ada, ben = world.browser("ada"), world.browser("ben")
    number = {one["name"]: one["id"] for one in world.accounts.all_accounts()}
    path = "/api/v1/accounts/{}".format
    assert ben.patch(path(number["ben"]), json={"role": "admin"}).status_code == 403
    assert ada.patch(path(number["ada"]), json={"role": "annotator"}).status_code == 409
    assert ada.patch(path(999), json={"role": "admin"}).status_code == 404
    assert ada.patch(path(number["ben"]), json={"role": "admin"}).status_code == 204
    assert ben.get("/api/v1/people").status_code == 200
