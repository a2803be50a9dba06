"""Label Studio uses this server as its model."""

import pytest

from softspread.web.http.middleware import LARGEST_BODY
from web.conftest import N_ITEMS, vote, wait_until_applied

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
        {"image": "/data/upload/1/3eb3f4dd-item-003"},
        {"image": "http://127.0.0.1:8080/data/local-files/?d=pictures/item-003"},
        {"image": "/data/local-files/?d=item-003"},
    ],
)
def test_tasks_are_found_by_any_field(still_world, data):
    """An id, a path or an address that ends in it, an upload or a local file of Label Studio."""
    ada = still_world.program("ada")
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


def test_the_address_can_carry_a_secret_of_its_own(world):
    """Label Studio's webhook sends no headers. The secret opens these routes and nothing else."""
    ada = world.browser("ada")
    made = ada.post("/api/v1/tokens", json={"name": "studio", "purpose": "label-studio"}).json()
    base = made["address"].removeprefix("http://127.0.0.1")
    client = world.browser()
    assert client.get(f"{base}/health").json()["status"] == "UP"
    assert client.post(f"{base}/setup", json={"schema": CONFIG}).status_code == 200
    assert client.post(f"{base}/predict", json={"tasks": [task()]}).json()["results"][0]["result"]
    body = {"action": "ANNOTATION_CREATED", "task": task(), "annotation": annotation()}
    assert client.post(f"{base}/webhook", json=body).json()["taken"] == 1
    in_header = {"Authorization": f"Bearer {made['token']}"}
    assert client.get("/api/v1/dashboard", headers=in_header).status_code == 401
    assert client.post("/predict", json={}, headers=in_header).status_code == 401
    whole = world.program("ada").headers["Authorization"].split()[1]
    assert client.post(f"/label-studio/{whole}/predict", json={}).status_code == 401
    assert client.post("/label-studio/wrong/webhook", json=body).status_code == 401
    refused = world.browser("ben").post("/api/v1/tokens", json={"name": "x", "purpose": "label-studio"})
    assert refused.status_code == 403


def test_deleted_annotations_carry_only_their_number(world, ada):
    """Their votes go, one or many at once, and the next vote on such an item counts."""
    hook(ada, "ANNOTATION_CREATED")
    hook(ada, "ANNOTATION_CREATED", number=111, who=6)
    for item, number in (("item-004", 12), ("item-005", 13)):
        body = {"action": "ANNOTATION_CREATED", "task": task(item), "annotation": annotation(number=number)}
        assert ada.post("/webhook", json=body).json()["taken"] == 1
    gone = ada.post("/webhook", json={"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 11}]})
    assert gone.json() == {"taken": 1, "refused": []}
    assert world.service.counts()["votes"] == 3
    gone = ada.post(
        "/webhook",
        json={"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 12}, {"id": 13}, {"id": 99}]},
    )
    assert gone.json()["taken"] == 2
    assert world.service.counts()["votes"] == 1
    assert hook(ada, "ANNOTATION_CREATED", number=14) == {"taken": 1, "refused": []}


def test_a_second_annotation_replaces_the_first(world, ada):
    """By the same person on the same task; the end of the first may have been missed."""
    hook(ada, "ANNOTATION_CREATED", choice="bee")
    assert hook(ada, "ANNOTATION_CREATED", choice="ant", number=12) == {"taken": 2, "refused": []}
    standing = world.service.history.standing_votes()[0]
    assert [world.service.classes[column] for column in standing.columns] == ["ant"]


def test_an_event_sent_again_changes_nothing(world, ada):
    """Also one of a change."""
    hook(ada, "ANNOTATION_CREATED", choice="bee")
    for _ in range(2):
        hook(ada, "ANNOTATION_UPDATED", choice="ant", moment="2026-01-01T11:00:00Z")
    assert world.service.counts()["votes"] == 1


def test_annotations_that_come_with_tasks_are_taken_in_once(world, ada):
    """Those made before we were connected; a form that has been replaced does not come back."""
    first = annotation("ant") | {"task": 7}
    for _ in range(2):
        ada.post("/predict", json={"tasks": [task() | {"annotations": [first]}]})
        assert world.service.counts()["votes"] == 1
    hook(ada, "ANNOTATION_CREATED", choice="bee", number=12)
    ada.post("/predict", json={"tasks": [task() | {"annotations": [first]}]})
    standing = world.service.history.standing_votes()[0]
    assert [world.service.classes[column] for column in standing.columns] == ["bee"]


def test_a_cancelled_annotation_is_a_skip(world, ada):
    """It is not a vote, takes an earlier one back, and may become one."""
    cancelled = annotation() | {"was_cancelled": True}
    body = {"action": "ANNOTATION_CREATED", "task": task(), "annotation": cancelled}
    assert ada.post("/webhook", json=body).json()["taken"] == 1
    assert world.service.counts()["votes"] == 0
    assert world.service.progress("ls:5").skipped == 1
    hook(ada, "ANNOTATION_UPDATED", moment="2026-01-01T11:00:00Z")
    assert world.service.counts()["votes"] == 1
    again = {**cancelled, "updated_at": "2026-01-01T12:00:00Z"}
    ada.post("/webhook", json={**body, "action": "ANNOTATION_UPDATED", "annotation": again})
    assert world.service.counts()["votes"] == 0


def test_many_annotations_at_once(world, ada):
    """As an import sends them, in lists; an unknown class does not stop the others."""
    tasks = [task(f"item-00{number}") | {"id": number} for number in (1, 2, 3)]
    made = [
        annotation(choice, 20 + place) | {"task": place}
        for place, choice in ((1, "bee"), (2, "dodo"), (3, "ant"))
    ]
    answer = ada.post("/webhook", json={"action": "ANNOTATIONS_CREATED", "task": tasks, "annotation": made})
    assert answer.json()["taken"] == 2
    assert "dodo" in answer.json()["refused"][0]


def test_many_tasks_at_once(world, ada):
    """More than other requests may hold, for those who may ask at all."""
    tasks = [
        task(f"item-{row % N_ITEMS:03d}", image=f"item-{row % N_ITEMS:03d}", more="x" * 2_000)
        for row in range(600)
    ]
    body = {"tasks": tasks}
    assert len(str(body)) > LARGEST_BODY
    assert len(ada.post("/predict", json=body).json()["results"]) == 600
    assert world.browser().post("/predict", json=body).status_code == 413
    assert world.program("ben").post("/webhook", json=body).status_code == 413


def test_exported_tasks_are_those_of_the_project(world, ada):
    """Names of its tags, and what its tasks show; our own id stands beside that. Names survive a restart."""
    ada.post("/predict", json={"tasks": [task()], "label_config": CONFIG})
    tasks = ada.get("/api/v1/export/soft_labels.json").json()
    assert tasks[3]["data"] == {"image": "https://example.org/files/item-003", "softspread_item": "item-003"}
    assert tasks[4]["data"] == {"image": "item-004"}
    assert tasks[4]["predictions"][0]["result"][0]["from_name"] == "kind"
    setup = type(world.app.state.context.label_studio)(world.service).setup
    assert (setup.from_name, setup.to_name, setup.field) == ("kind", "picture", "image")
