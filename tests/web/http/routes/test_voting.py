"""The API as programs and the vote page use it."""

import io
import json
import time

import numpy as np
import pandas as pd
import pytest

from softspread import ProbabilisticLabelSpreading
from softspread.io.soft_labels import read_soft_labels
from softspread.io.votes import read_votes
from softspread.queries.registry import STRATEGIES
from web.conftest import CLASSES, N_ITEMS, opened_world, vote, wait_until_applied


def cast(client, key, item="item-000", label="ant", **more):
    return client.post("/api/v1/votes", json={"votes": [{"key": key, "item": item, "label": label, **more}]})


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
    assert second["progress"] == {"voted": 1, "skipped": 0}


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
    world.service.state.refined_copy()
    before = ada.get("/api/v1/soft-labels?limit=60").json()["items"]
    cast(ben, "k2", "item-004", "cat")
    assert ben.post("/api/v1/undo", json={"undos": [{"key": "u2", "vote": "k2"}]}).status_code == 201
    wait_until_applied(world.service)
    world.service.state.refined_copy()
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
        with opened_world(tmp_path / mode, mode=mode) as world:
            card = sync(world.program("ben"))["items"][0]
            assert (card["hint"] is not None) == has_hint
            if has_hint:
                assert sum(card["hint"]) == pytest.approx(1)


def test_soft_labels_come_with_intervals(world):
    """They contain the soft label and narrow with votes; more confidence is wider."""
    ada = world.program("ada")
    wide = ada.get("/api/v1/soft-labels", params={"items": ["item-003"]}).json()["items"][0]
    for number, name in enumerate(("ben", "eva")):
        cast(world.program(name), f"k{number}", "item-003", "ant")
    wait_until_applied(world.service)
    narrow = ada.get("/api/v1/soft-labels", params={"items": ["item-003"]}).json()["items"][0]
    sure = ada.get("/api/v1/soft-labels", params={"items": ["item-003"], "confidence_level": 0.99}).json()[
        "items"
    ][0]
    assert narrow["lower"][0] <= narrow["p"][0] <= narrow["upper"][0]
    width = [one["upper"][0] - one["lower"][0] for one in (narrow, sure, wide)]
    assert width == sorted(width)
    assert ada.get("/api/v1/soft-labels", params={"items": ["nonsense"]}).status_code == 404


def test_why_names_the_votes(world):
    """The heaviest first, with the names of those who voted."""
    cast(world.program("ben"), "k1", "item-006", "ant")
    cast(world.program("eva"), "k2", "item-007", "bee")
    wait_until_applied(world.service)
    found = world.program("ada").get("/api/v1/items/6/why").json()
    assert [found["votes"][0][name] for name in ("item", "label", "annotator")] == ["item-006", "ant", "ben"]
    assert world.program("ada").get(f"/api/v1/items/{N_ITEMS}/why").status_code == 404


def test_queries_suggest_open_items(world):
    """As many as asked, none of them finished."""
    found = world.program("ada").get("/api/v1/queries?count=7&strategy=balanced").json()
    assert len({card["item"] for card in found["items"]}) == 7


def test_queries_take_every_strategy(world):
    """The document lists the names of the registry; one that cannot be used is refused in words."""
    program = world.program("ada")
    parameters = program.get("/openapi.json").json()["paths"]["/api/v1/queries"]["get"]["parameters"]
    listed = next(entry["schema"]["enum"] for entry in parameters if entry["name"] == "strategy")
    assert tuple(listed) == STRATEGIES.names()
    for name in set(listed) - {"farthest"}:
        assert len(program.get(f"/api/v1/queries?count=3&strategy={name}").json()["items"]) == 3
    for name, words in (("farthest", "needs the features"), ("best", "strategy must be one of")):
        answer = program.get(f"/api/v1/queries?count=3&strategy={name}")
        assert answer.status_code == 400
        assert words in answer.json()["detail"]


@pytest.fixture
def voted_world(world):
    """Votes by two people, one of them taken back."""
    for row in range(20):
        vote(world.service, "ben", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
    vote(world.service, "eva", "item-000", "bee", "e0")
    world.service.submit([world.service.undo("ben", "k5", "u5")]).result(10)
    wait_until_applied(world.service)
    return world


GUESSED = "ignore:.* second votes:softspread.SoftspreadWarning"  # alpha is a guess: nobody voted twice


@pytest.mark.filterwarnings(GUESSED)
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_soft_labels_are_exported_as_the_command_line_writes_them(voted_world, tmp_path, ending):
    """Its own reader takes the file; the soft labels are those of an estimator."""
    answer = voted_world.program("ada").get(f"/api/v1/export/soft_labels.{ending}")
    assert answer.headers["content-disposition"] == f'attachment; filename="soft_labels.{ending}"'
    path = tmp_path / f"soft_labels.{ending}"
    path.write_bytes(answer.content)
    found = read_soft_labels(path)
    assert [str(item) for item in found.ids[:2]] == ["item-000", "item-001"]
    np.testing.assert_allclose(found.p.sum(axis=1), 1, atol=1e-5)
    counts = voted_world.service.history.standing_votes()[0].counts(N_ITEMS, len(CLASSES))
    est = ProbabilisticLabelSpreading().fit(voted_world.service.graph, counts)
    np.testing.assert_allclose(found.p, est.predict_proba(), atol=1e-6)


@pytest.mark.filterwarnings(GUESSED)
def test_label_studio_takes_the_json_export(voted_world):
    """A list of tasks with predictions."""
    tasks = voted_world.program("ada").get("/api/v1/export/soft_labels.json").json()
    assert len(tasks) == N_ITEMS
    assert tasks[0]["predictions"]


def test_votes_are_exported_without_those_taken_back(voted_world, tmp_path):
    """The table can be spread again; the log has every line."""
    ada = voted_world.program("ada")
    path = tmp_path / "votes.csv"
    path.write_bytes(ada.get("/api/v1/export/votes.csv").content)
    votes = read_votes(path)
    assert len(votes) == 20
    assert set(votes.annotators) == {"ben", "eva"}
    log = pd.read_parquet(io.BytesIO(ada.get("/api/v1/export/log.parquet").content))
    assert log["kind"].value_counts().to_dict() == {"vote": 21, "undo": 1}
    lines = ada.get("/api/v1/export/log.jsonl").text.splitlines()
    assert json.loads(lines[-1])["undoes"] == 6


def test_the_dashboard_knows_what_was_voted(voted_world):
    """Counts at once, the rest after the next look."""
    ada = voted_world.program("ada")
    voted_world.service.analyst.look()
    data = ada.get("/api/v1/dashboard").json()
    assert data["counts"]["votes"] == 20
    assert data["timeline"]["votes"][-1] == 20
    assert {one["annotator"]: one["votes"] for one in data["timeline"]["people"]} == {"ben": 19, "eva": 1}
    assert sum(data["overview"]["evidence"]["counts"]) == N_ITEMS
    assert sum(data["overview"]["class_share"]) == pytest.approx(1)
    assert data["overview"]["least_known"][0]["evidence"] <= data["overview"]["least_known"][-1]["evidence"]


def test_the_map_has_a_place_and_values_for_every_item(voted_world):
    """Twelve bytes of place and ten of values each."""
    for _ in range(100):
        if voted_world.service.map is not None:
            break
        time.sleep(0.1)
    ada = voted_world.program("ada")
    assert len(ada.get("/api/v1/map/places").content) == 12 * N_ITEMS
    assert len(ada.get("/api/v1/map/values").content) == 10 * N_ITEMS


def test_pages_of_the_log_follow_each_other(voted_world):
    """From an id on; annotators see their own lines."""
    ada, eva = voted_world.program("ada"), voted_world.program("eva")
    first = ada.get("/api/v1/votes?limit=10").json()["entries"]
    second = ada.get(f"/api/v1/votes?limit=100&after={first[-1]['id']}").json()["entries"]
    assert [entry["id"] for entry in first + second] == list(range(1, 23))
    assert {entry["annotator"] for entry in eva.get("/api/v1/votes").json()["entries"]} == {"eva"}
