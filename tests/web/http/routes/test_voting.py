"""The API as programs and the vote page use it."""

import numpy as np
import pytest

from softspread.web.log.suggestions import Suggestion, read
from softspread.web.project.items import read_items
from web.conftest import N_ITEMS, cast, opened_world, vote, wait_until_applied

VOTE = {"votes": [{"key": "k", "item": "item-000", "label": "ant"}]}


def sync(client, *operations, wanted=3, holding=()):
    answer = client.post(
        "/api/v1/sync", json={"operations": operations, "wanted": wanted, "holding": list(holding)}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_one_request_hands_in_a_vote_and_brings_the_next_items(world):
    """The voted item is gone from the answer, the count has grown."""
    ben = world.program("ben")
    first = sync(ben)
    item = first["items"][0]["item"]
    second = sync(ben, {"kind": "vote", "key": "k1", "item": item, "label": "bee"})
    assert second["outcomes"][0]["status"] == "accepted"
    assert item not in [card["item"] for card in second["items"]]
    assert second["progress"] == {"voted": 1, "skipped": 0, "share": pytest.approx(1 / (3 * N_ITEMS))}


def test_a_vote_sent_twice_counts_once(world):
    """The answer to the second sending says so, and names the same line of the log."""
    ben = world.program("ben")
    first, second = cast(ben, "k1"), cast(ben, "k1")
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json()["outcomes"][0] == {**first.json()["outcomes"][0], "status": "repeated"}
    assert world.service.counts()["votes"] == 1


def test_undo_is_exact(world):
    """Soft labels after a vote and its undo are those from before."""
    ben, ada = world.program("ben"), world.program("ada")
    cast(ben, "k1", "item-003", "bee")
    wait_until_applied(world.service)
    world.service.state.learn()
    before = ada.get("/api/v1/soft-labels?limit=60").json()["items"]
    cast(ben, "k2", "item-004", "cat")
    assert ben.post("/api/v1/undo", json={"undos": [{"key": "u2", "vote": "k2"}]}).status_code == 201
    wait_until_applied(world.service)
    world.service.state.learn()
    after = ada.get("/api/v1/soft-labels?limit=60").json()["items"]
    # What a push may leave (1e-9 of mass) against a prior strength of 1e-4, where nothing else has arrived
    np.testing.assert_allclose([one["p"] for one in after], [one["p"] for one in before], atol=1e-4)
    np.testing.assert_allclose(
        [one["evidence"] for one in after], [one["evidence"] for one in before], atol=1e-7
    )


def test_an_unsure_vote_weighs_less(world):
    """Its weight stands in the log."""
    ben = world.program("ben")
    cast(ben, "k1", unsure=True)
    entry = ben.get("/api/v1/votes").json()["entries"][0]
    assert (entry["weight"], entry["kind"], entry["origin"]) == (0.5, "vote", "api")


def test_one_bad_operation_does_not_hold_up_the_others(world):
    """A page that was offline while the project changed gets rid of its queue."""
    answer = sync(
        world.program("ben"),
        {"kind": "vote", "key": "k1", "item": "gone", "label": "ant"},
        {"kind": "vote", "key": "k2", "item": "item-001", "label": "dodo"},
        {"kind": "undo", "key": "k3", "vote": "never"},
        {"kind": "vote", "key": "k4", "item": "item-001", "label": "ant"},
        {"kind": "skip", "key": "k5", "item": "item-002"},
    )
    assert [one["status"] for one in answer["outcomes"]] == ["refused"] * 3 + ["accepted"] * 2
    assert "gone" in answer["outcomes"][0]["reason"]


def test_a_vote_that_is_refused_is_a_conflict(world):
    """The answer says why."""
    ben = world.program("ben")
    cast(ben, "k1")
    answer = cast(ben, "k2", label="bee")
    assert answer.status_code == 409
    assert "already voted" in answer.text


def test_blind_and_assisted_differ_in_the_hint(tmp_path):
    """Before the vote no opinion is shown unless the project asks for it."""
    for mode, has_hint in (("blind", False), ("assisted", True)):
        with opened_world(tmp_path / mode, mode=mode, withheld_share=0.0) as world:
            card = sync(world.program("ben"))["items"][0]
            assert (card["hint"] is not None) == has_hint
            if has_hint:
                assert sum(card["hint"]) == pytest.approx(1)


def test_pages_of_the_log_follow_each_other(voted_world):
    """From an id on; annotators see their own lines."""
    ada, eva = voted_world.program("ada"), voted_world.program("eva")
    first = ada.get("/api/v1/votes?limit=10").json()["entries"]
    second = ada.get(f"/api/v1/votes?limit=100&after={first[-1]['id']}").json()["entries"]
    assert [entry["id"] for entry in first + second] == list(range(1, 23))
    assert {entry["annotator"] for entry in eva.get("/api/v1/votes").json()["entries"]} == {"eva"}


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


def test_notes_reports_and_suggestions_travel_with_the_votes(tmp_path):
    """In one request; a note leaves the item open, and what was shown is kept."""
    with opened_world(tmp_path, mode="assisted") as world:
        ben = world.program("ben")
        item = {"item": "item-000"}
        operations = [
            {"kind": "flag", "key": "f", "note": " too dark ", **item},
            {"kind": "broken", "key": "b", **item},
            {"kind": "vote", "key": "v", "label": "ant", "shown": {"bee": 0.75, "ant": 0.25}, **item},
        ]
        answer = ben.post("/api/v1/sync", json={"operations": operations, "wanted": 0}).json()
        assert [one["status"] for one in answer["outcomes"]] == ["accepted"] * 3
        found = world.service.store.entries()
        assert [(entry.kind, entry.note) for entry in found] == [(3, "too dark"), (4, None), (0, None)]
        assert read(found[2].shown) == Suggestion({"bee": 0.75, "ant": 0.25}, True)
        wrong = operations[2] | {"key": "w", "shown": {"bee": 1.5}}
        assert ben.post("/api/v1/sync", json={"operations": [wrong]}).status_code == 422
        wait_until_applied(world.service)
        share = ben.post("/api/v1/sync", json={"wanted": 0}).json()["progress"]["share"]
        assert share == pytest.approx(1 / (3 * 60))


def test_a_sound_is_sent_in_parts_and_only_to_people_who_may(tmp_path):
    """Players ask for ranges; strangers get nothing."""
    folder = tmp_path / "items"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:02d}.wav").write_bytes(b"RIFF" + bytes(20))
    with opened_world(tmp_path / "data", items=read_items(folder, None, 60)) as world:
        ben = world.program("ben")
        part = ben.get("/api/v1/items/0/media", headers={"Range": "bytes=0-3"})
        assert (part.status_code, part.content, part.headers["content-type"]) == (206, b"RIFF", "audio/wav")
        assert ben.get("/api/v1/items/99/media").status_code == 404
        assert world.browser().get("/api/v1/items/0/media").status_code == 401


def test_a_share_of_the_items_comes_without_its_suggestion(tmp_path):
    """Always the same ones for a person; what was withheld is kept with the vote."""
    with opened_world(tmp_path, mode="assisted", withheld_share=0.5) as world:
        ben = world.program("ben")
        cards = sync(ben, wanted=20)["items"]
        again = {card["item"]: card["hint"] is None for card in sync(ben, wanted=20)["items"]}
        assert again == {card["item"]: card["hint"] is None for card in cards}
        assert set(again.values()) == {True, False}
        item = next(item for item, withheld in again.items() if withheld)
        cast(ben, "k", item=item)
        (entry,) = world.service.store.entries()
        assert not read(entry.shown).seen
