"""Label Studio uses this server as its model."""

import pytest

from web.conftest import vote, wait_until_applied

CONFIG = """<View><Image name="picture" value="$image"/>
<Choices name="kind" toName="picture"><Choice value="ant"/><Choice value="bee"/></Choices></View>"""


def task(item="item-003", **data):
    return {"id": 7, "data": data or {"image": f"https://example.org/files/{item}"}}


def annotation(choice="bee", number=11, moment="2026-01-01T10:00:00Z", who=5):
    result = [{"type": "choices", "from_name": "kind", "to_name": "picture", "value": {"choices": [choice]}}]
    return {"id": number, "completed_by": who, "result": result, "created_at": moment, "updated_at": moment}


def hook(client, action, **more):
    body = {"action": action, "task": task(), "annotation": annotation(**more), "project": {"id": 1}}
    answer = client.post("/webhook", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def ada(world):
    return world.program("ada")


def test_it_is_up_without_a_token(world):
    """Label Studio asks before it sends any."""
    assert world.browser().get("/health").json()["status"] == "UP"


def test_predictions_name_the_choices_as_the_project_does(world, ada):
    """From the setup, with the soft label as score; a stranger's task gets no result."""
    vote(world.service, "ben", "item-003", "bee", "k")
    wait_until_applied(world.service)
    assert "model_version" in ada.post("/setup", json={"project": "1", "schema": CONFIG}).json()
    found = ada.post("/predict", json={"tasks": [task(), task("nonsense")]}).json()["results"]
    choice = found[0]["result"][0]
    assert (choice["from_name"], choice["to_name"]) == ("kind", "picture")
    assert choice["value"]["choices"] == ["bee"]
    assert found[0]["score"] > 0.6
    assert found[1]["result"] == []


@pytest.mark.parametrize(
    "data",
    [
        {"item": "item-003"},
        {"image": "/data/upload/1/item-003"},
        {"image": "s3://bucket/a%2Fb/item-003"},
        {"x": "item-003"},
    ],
)
def test_tasks_are_found_by_any_field(ada, data):
    """An id, a path or an address that ends in it."""
    found = ada.post("/predict", json={"tasks": [task(**data)], "label_config": CONFIG}).json()["results"]
    assert found[0]["result"]


def test_annotations_become_votes_once(world, ada):
    """A webhook sent twice counts once; the annotator's number is the name."""
    assert hook(ada, "ANNOTATION_CREATED")["taken"] == 1
    assert hook(ada, "ANNOTATION_CREATED")["taken"] == 1
    assert world.service.counts()["votes"] == 1
    entry = world.service.store.entries()[0]
    assert (entry.annotator, entry.label, entry.origin) == ("ls:5", "bee", "label-studio")


def test_a_changed_annotation_replaces_its_vote(world, ada):
    """Also when it is changed back, and a deleted one is gone."""
    hook(ada, "ANNOTATION_CREATED")
    for number, choice in enumerate(("ant", "bee")):
        hook(ada, "ANNOTATION_UPDATED", choice=choice, moment=f"2026-01-01T11:00:0{number}Z")
        wait_until_applied(world.service)
        standing = world.service.history.standing_votes()[0]
        assert [world.service.classes[column] for column in standing.columns] == [choice]
    hook(ada, "ANNOTATION_DELETED", moment="2026-01-01T11:00:01Z")
    assert world.service.counts()["votes"] == 0


def test_strangers_and_annotators_cannot_use_it(world):
    """A token of an admin is needed; Basic with the token as password will do, as Label Studio sends it."""
    assert world.browser().post("/predict", json={"tasks": []}).status_code == 401
    assert world.program("ben").post("/webhook", json={"action": "ANNOTATION_CREATED"}).status_code == 403
    word = world.program("ada").headers["Authorization"].split()[1]
    assert world.browser().post("/predict", json={"tasks": []}, auth=("ls", word)).status_code == 200
    assert (
        world.browser()
        .post("/predict", json={"tasks": []}, headers={"Authorization": f"Token {word}"})
        .status_code
        == 200
    )


def test_odd_events_do_no_harm(world, ada):
    """Unknown actions, unknown classes, several choices, missing parts."""
    assert ada.post("/webhook", json={"action": "PROJECT_UPDATED"}).json()["taken"] == 0
    body = {"action": "ANNOTATION_CREATED", "task": task(), "annotation": annotation("dodo")}
    assert ada.post("/webhook", json=body).status_code == 400
    body["annotation"] = {
        "id": 1,
        "result": [{"value": {"choices": ["ant", "bee"]}}, "nonsense", {"value": 3}],
    }
    assert ada.post("/webhook", json=body).json()["taken"] == 0
    assert (
        ada.post("/setup", json={"schema": "<!DOCTYPE x [<!ENTITY a 'b'>]><Choices name=&a;"}).status_code
        == 200
    )
