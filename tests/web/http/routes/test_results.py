"""Results over the API: soft labels, explanations, queries, the dashboard and exports."""

import time

import pytest

from softspread._common import arrow
from softspread.queries.registry import STRATEGIES
from web.conftest import N_ITEMS, cast, wait_until_applied


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
    for name in listed:
        assert len(program.get(f"/api/v1/queries?count=3&strategy={name}").json()["items"]) == 3
    answer = program.get("/api/v1/queries?count=3&strategy=best")
    assert answer.status_code == 400
    assert "strategy must be one of" in answer.json()["detail"]


def test_the_dashboard_knows_what_was_voted(voted_world):
    """Counts at once, the rest after the next look."""
    ada = voted_world.program("ada")
    voted_world.service.analyst.update_overview()
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


def test_without_pyarrow_other_downloads_are_offered(world, monkeypatch):
    """A Parquet link would not work, so there is none; who asks for the file reads which extra it takes."""
    ada = world.program("ada")
    assert "soft_labels.parquet" in ada.get("/dashboard").text
    monkeypatch.setattr(arrow, "find_spec", lambda name: None)
    page = ada.get("/dashboard").text
    assert "soft_labels.csv" in page
    assert ".parquet" not in page
    answer = ada.get("/api/v1/export/votes.parquet")
    assert answer.status_code == 501
    assert answer.json()["detail"].endswith("needs pyarrow: pip install 'softspread[parquet]'.")
    assert ada.get("/api/v1/export/votes.csv").status_code == 200
