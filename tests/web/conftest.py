"""A small project, an app around it, people in it, and a PostgreSQL server of our own."""

import os
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra web")
pytest.importorskip("sqlalchemy", reason="needs the extra web")

import uvicorn
from fastapi.testclient import TestClient

from softspread.estimators.labeler import REFIT, RefitRule
from softspread.web.http.access import RATE_LIMITS
from softspread.web.http.app import create_app
from softspread.web.log.accounts import AccountRules, Accounts
from softspread.web.project.items import BareItems
from softspread.web.project.service import Service
from softspread.web.project.settings import Settings

CLASSES = ("ant", "bee", "cat")
N_ITEMS = 60
PASSWORD = "correct horse battery"
BASE = "http://127.0.0.1"
NEVER = RefitRule(fewest=10**9)  # the project's own thread learns nothing; tests have it learn
QUICK = AccountRules(argon2_iterations=1, argon2_kibibytes=8)  # these passwords protect nothing


def pytest_collection_modifyitems(items):
    """Small projects lack second votes: the dashboard says so, and here nobody needs to be warned."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:.*a second vote"))


def three_clusters(n=N_ITEMS):
    """(n, 2) points around three places, and the place of each."""
    truth = np.arange(n) % len(CLASSES)
    rng = np.random.default_rng(0)
    return 6.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth] + rng.normal(size=(n, 2)), truth


def item_names(n=N_ITEMS):
    return [f"item-{row:03d}" for row in range(n)]


def make_service(folder, items=None, X=None, clock=time.time, refit=REFIT, prior=None, **changes):
    """A service that is not started yet."""
    settings = Settings(classes=CLASSES, data_dir=Path(folder), n_neighbors=5, seed=0, lease_seconds=60)
    X = three_clusters()[0] if X is None else X
    items = items or BareItems(item_names(len(X)))
    return Service(replace(settings, **changes), items, X, clock=clock, refit=refit, prior=prior)


@contextmanager
def running(folder, **changes):
    """A service from start to stop."""
    service = make_service(folder, **changes)
    service.start()
    try:
        yield service
    finally:
        service.stop()


def vote(service, annotator, item, label, key, **more):
    """Cast one vote and wait until it is written."""
    return service.submit([service.vote(annotator, item, label, key, **more)]).result(10)[0]


def cast(client, key, item="item-000", label="ant", **more):
    return client.post("/api/v1/votes", json={"votes": [{"key": key, "item": item, "label": label, **more}]})


def wait_until_applied(service):
    """Wait until the live state holds all of the log."""
    assert service.state.wait_until(len(service.history), 30)


@dataclass
class World:
    """An app with people in it."""

    service: Service
    app: object
    accounts: Accounts

    def browser(self, name=None):
        """A client of its own, signed in as someone."""
        client = TestClient(self.app, base_url=BASE, raise_server_exceptions=False)
        if name is not None:
            page = client.get("/login")
            csrf = page.text.split('name="csrf" value="')[1].split('"')[0]
            answer = client.post(
                "/login", data={"name": name, "password": PASSWORD, "csrf": csrf}, follow_redirects=False
            )
            assert answer.status_code == 303
            client.headers["X-CSRF-Token"] = self.csrf(client)
        return client

    def csrf(self, client):
        """The word that this browser's pages carry."""
        user = self.accounts.authenticate(client.cookies["softspread_session"], "session")
        return user.csrf

    def program(self, name):
        """A client with a token."""
        row = next(one for one in self.accounts.all_accounts() if one["name"] == name)
        user = replace(self.accounts.log_in(name, PASSWORD), id=row["id"])
        client = TestClient(self.app, base_url=BASE, raise_server_exceptions=False)
        client.headers["Authorization"] = f"Bearer {self.accounts.make_token(user, 'test')}"
        return client


@contextmanager
def opened_world(folder, limits=RATE_LIMITS, **changes):
    """A world from start to stop: ada is admin, ben and eva are annotators."""
    with running(folder, **changes) as service:
        app = create_app(service, stop_service=False, rules=QUICK, limits=limits)
        accounts = app.state.context.accounts
        for name, role in (("ada", "admin"), ("ben", "annotator"), ("eva", "annotator")):
            accounts.create(name, PASSWORD, role)
        yield World(service, app, accounts)


@pytest.fixture(scope="module")
def still_world(tmp_path_factory):
    """A world that several tests look at and none changes."""
    with opened_world(tmp_path_factory.mktemp("world")) as found:
        yield found


@pytest.fixture
def world(tmp_path):
    """An app on SQLite with three people."""
    with opened_world(tmp_path) as found:
        yield found


@pytest.fixture
def service(tmp_path):
    """A running service on SQLite."""
    with running(tmp_path, auth=False) as found:
        yield found


@pytest.fixture
def voted_world(world):
    """Votes by two people, one of them taken back."""
    for row in range(20):
        vote(world.service, "ben", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
    vote(world.service, "eva", "item-000", "bee", "e0")
    world.service.submit([world.service.undo("ben", "k5", "u5")]).result(10)
    wait_until_applied(world.service)
    return world


@contextmanager
def served(app):
    """The address of an app while it runs."""
    config = uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1, lifespan="off")
    socket = config.bind_socket()
    socket.listen(100)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        app.state.context.stopping = True
        server.should_exit = server.force_exit = True
        thread.join()


# ------------------------------------------------------------------------------------------------- PostgreSQL
class PostgresServer:
    """A server in a temporary folder, run by someone without privileges."""

    def __init__(self, programs, folder):
        self.programs, self.folder = Path(programs), Path(folder)
        self.log = self.folder / "log"
        self.number = 0

    def _run(self, program, *arguments):
        command = [str(self.programs / program), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]
        environment = {**os.environ, "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        subprocess.run(command, check=True, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL)

    def create(self):
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody", "nogroup")
        self._run(
            "initdb", "-D", str(self.folder / "data"), "-U", "softspread", "-A", "trust", "-E", "UTF8", "-N"
        )

    def start(self):
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off"
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.log), "-w", "-o", options, "start"
        )

    def stop(self):
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def new_database(self):
        """The address of an empty database."""
        self.number += 1
        name = f"votes{self.number}"
        self._run("createdb", "-h", str(self.folder), "-U", "softspread", name)
        return f"postgresql://softspread@/{name}?host={self.folder}"


def postgres_programs():
    """The folder of the server's programs, or None."""
    places = []
    if shutil.which("pg_config"):
        places.append(
            subprocess.run(
                ["pg_config", "--bindir"], capture_output=True, text=True, check=False
            ).stdout.strip()
        )
    places += sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    return next((place for place in places if (Path(place) / "initdb").exists()), None)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, or a skipped test where its programs or the driver are missing."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("needs the server programs of PostgreSQL")
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root, and there is no setpriv")
    folder = Path(
        tempfile.mkdtemp(prefix="ss-pg-", dir="/tmp")
    )  # short: the path of a socket may have 107 letters
    server = PostgresServer(programs, folder)
    server.create()
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """The address of an empty database, one of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'votes.sqlite'}"
    return request.getfixturevalue("postgres").new_database()
