"""A real Label Studio, started in a folder of its own, uses this server as its model."""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from softspread.web.project.items import BareItems
from web.conftest import CLASSES, N_ITEMS, opened_world, served, wait_until_applied

# CI installs it into this folder of the clone; the variable names its program elsewhere
PROGRAM = Path(
    os.environ.get("SOFTSPREAD_LABEL_STUDIO")
    or Path(__file__).parents[2] / ".venv-label-studio" / "bin" / "label-studio"
)
pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(), reason="needs Label Studio: SOFTSPREAD_LABEL_STUDIO names its program"
)
WORD = "0123456789abcdef0123456789abcdef01234567"
PATIENCE = 240  # seconds: the first start makes all tables
CHOICES = "".join(f'<Choice value="{name}"/>' for name in CLASSES)
CONFIG = f"""<View><Image name="picture" value="$image"/>
<Choices name="kind" toName="picture">{CHOICES}</Choices></View>"""
SETTINGS = {
    "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    # as the documentation says for servers beside each other
    "ML_BLOCK_LOCAL_IP": "false",
    "SSRF_PROTECTION_ENABLED": "false",
}


class Studio:
    """The program's API."""

    def __init__(self, base):
        self.base = base

    def ask(self, method, path, body=None, content=None, kind="application/json"):
        data = content if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {WORD}", "Content-Type": kind}
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read()[:500]}") from error
        return json.loads(text) if text else None

    def wait(self, process):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert process.poll() is None, "Label Studio ended"
            with suppress(OSError), urllib.request.urlopen(f"{self.base}/health", timeout=5):
                return
            time.sleep(0.5)
        raise AssertionError("Label Studio does not answer")


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """Label Studio on SQLite and this machine only."""
    folder = tmp_path_factory.mktemp("studio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    command = [PROGRAM, "start", "--no-browser", "--host", base, "--internal-host", "127.0.0.1"]
    command += ["--port", str(port), "--username", "lead@example.org", "--password", "a long password"]
    command += ["--user-token", WORD]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**kept, **SETTINGS, "LABEL_STUDIO_BASE_DATA_DIR": str(folder), "HOME": str(folder)}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        try:
            found = Studio(base)
            found.wait(process)
            yield found
        finally:
            process.terminate()
            process.wait(30)


def said(choice):
    return [{"from_name": "kind", "to_name": "picture", "type": "choices", "value": {"choices": [choice]}}]


def uploaded(name):
    """A form that uploads one file, and its type."""
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    content = f"{head}Content-Type: image/png\r\n\r\n\x89PNG\r\n--x--\r\n".encode("latin-1")
    return content, "multipart/form-data; boundary=x"


def test_a_project_is_connected_learned_from_and_predicted(studio, tmp_path):
    """Its own webhook brings votes, their changes and their ends; predictions and exports go back."""
    ids = [*(f"pets/item {row:03d}.png" for row in range(N_ITEMS))]
    truth = [CLASSES[row % len(CLASSES)] for row in range(N_ITEMS)]
    with opened_world(tmp_path, items=BareItems(ids)) as world, served(world.app) as here:
        service, ada = world.service, world.browser("ada")
        made = ada.post("/api/v1/tokens", json={"name": "studio", "purpose": "label-studio"}).json()
        address = f"{here}/label-studio/{made['token']}"

        project = studio.ask("POST", "/api/projects", {"title": "pets", "label_config": CONFIG})["id"]
        before = {
            "data": {"image": f"/data/local-files/?d={ids[0]}"},
            "annotations": [{"result": said(truth[0])}],
        }
        tasks = [before, *({"data": {"image": f"https://example.org/{item}"}} for item in ids[1:40])]
        tasks.append({"data": {"image": "https://example.org/elsewhere.png"}})
        studio.ask("POST", f"/api/projects/{project}/import", tasks)
        content, kind = uploaded("item 040.png")
        studio.ask("POST", f"/api/projects/{project}/import", content=content, kind=kind)
        listed = studio.ask("GET", f"/api/tasks?project={project}&page_size=100")["tasks"]
        assert len(listed) == 42

        model = studio.ask("POST", "/api/ml", {"url": address, "title": "softspread", "project": project})
        assert model["state"] == "CO", model
        hooks = studio.ask("GET", f"/api/webhooks?project={project}")
        assert [hook["headers"] for hook in hooks] == [{}]

        annotated = [
            studio.ask("POST", f"/api/tasks/{listed[row]['id']}/annotations/", {"result": said(truth[row])})
            for row in range(1, 19)
        ]
        assert service.counts()["votes"] == 18
        skipped = {"result": [], "was_cancelled": True}
        studio.ask("POST", f"/api/tasks/{listed[19]['id']}/annotations/", skipped)
        studio.ask("DELETE", f"/api/annotations/{annotated[0]['id']}/")
        changed = {"result": said(CLASSES[0])}
        studio.ask("PATCH", f"/api/annotations/{annotated[1]['id']}/", changed)
        assert service.counts()["votes"] == 17
        assert service.progress("ls:1").skipped == 1
        studio.ask("POST", f"/api/tasks/{listed[1]['id']}/annotations/", {"result": said(truth[1])})
        wait_until_applied(service)
        table = service.history.standing_votes()[0]
        standing = {ids[row]: CLASSES[column] for row, column in zip(table.rows, table.columns, strict=True)}
        assert standing == {ids[row]: truth[row] for row in range(1, 19)} | {ids[2]: CLASSES[0]}

        everything = {"selectedItems": {"all": True, "excluded": []}}
        actions = f"/api/dm/actions?project={project}&id="
        studio.ask("POST", f"{actions}retrieve_tasks_predictions", everything)
        assert service.counts()["votes"] == 19, "the annotation from before came with its task"
        predicted = studio.ask("GET", f"/api/predictions?project={project}&page_size=100")
        found = {one["task"]: one for one in predicted}
        right = [
            found[listed[row]["id"]]["result"][0]["value"]["choices"][0] == truth[row]
            for row in range(20, 40)
        ]
        assert np.mean(right) > 0.8
        assert found[listed[40]["id"]]["result"] == []
        assert found[listed[41]["id"]]["result"], "an upload is found by the name of its file"
        assert ada.get("/api/v1/dashboard").json()["label_studio"]["unmatched"] == 1

        export = ada.get("/api/v1/export/soft_labels.json").json()
        answer = studio.ask("POST", f"/api/projects/{project}/import", export)
        assert answer["task_count"] == answer["prediction_count"] == N_ITEMS

        studio.ask("POST", f"{actions}delete_tasks_annotations", everything)
        assert service.counts()["votes"] == 0
