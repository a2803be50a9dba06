"""What can break and must not matter: kill -9, the database away, a lost answer, a full disk."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from softspread.errors import StoreError
from softspread.web.log import models
from softspread.web.log.entry import VOTE, Entry
from softspread.web.log.store import Store
from web.conftest import CLASSES, N_ITEMS, opened_world, running, vote, wait_until_applied
from web.project.test_service import batch, live

SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
import uvicorn
from web.conftest import make_service
from softspread.web.http.app import create_app
service = make_service(sys.argv[2], overlap=1000)
service.start()
app = create_app(service)
accounts = app.state.context.accounts
config = uvicorn.Config(app, port=0, log_level="error")
socket = config.bind_socket()
socket.listen(100)
words = [accounts.make_token(accounts.create(f"voter-{n}", "a long password", "annotator"), "t")
         for n in range(4)]
print(socket.getsockname()[1], *words, flush=True)
uvicorn.Server(config).run(sockets=[socket])
"""


def send(port, word, key, item, label):
    """One vote over HTTP; its status, or None where nobody answered."""
    body = json.dumps({"votes": [{"key": key, "item": item, "label": label}]}).encode()
    headers = {"Authorization": f"Bearer {word}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/votes", body, headers)
    with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(request, timeout=5) as answer:
        return answer.status
    return None


def test_kill_nine_under_load_loses_nothing_that_was_acknowledged(tmp_path):
    """After the kill every acknowledged vote is in the log once, and the state is that of a batch run."""
    command = [sys.executable, "-c", SERVER, str(Path(__file__).parents[1]), str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    port, *words = process.stdout.readline().split()
    acknowledged = []

    def voter(number):
        for row in range(N_ITEMS):
            if send(port, words[number], f"k{number}-{row}", f"item-{row:03d}", CLASSES[row % 3]) != 201:
                return
            acknowledged.append((f"voter-{number}", f"k{number}-{row}"))

    threads = [threading.Thread(target=voter, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 60
    while len(acknowledged) < 60 and time.monotonic() < end:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    for thread in threads:
        thread.join()
    assert 60 <= len(acknowledged) < 4 * N_ITEMS, "the kill came too late to prove anything"
    with running(tmp_path, overlap=1000) as service:
        logged = [(entry.annotator, entry.key) for entry in service.store.entries(limit=10_000)]
        assert len(set(logged)) == len(logged)
        assert set(acknowledged) <= set(logged)
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


def test_votes_wait_while_the_database_is_away(tmp_path, postgres):
    """They are refused, not lost by silence; sent again with the same keys they count once."""
    with running(tmp_path, database_url=postgres.new_database(), auth=False) as service:
        assert vote(service, "ann", "item-000", "ant", "k0").status == "accepted"
        postgres.stop()
        try:
            with pytest.raises(StoreError):
                vote(service, "ann", "item-001", "bee", "k1")
            assert service.counts()["votes"] == 1
        finally:
            postgres.start()
        statuses = [vote(service, "ann", "item-001", "bee", "k1").status for _ in range(2)]
        assert statuses == ["accepted", "repeated"]
        wait_until_applied(service)
        assert service.counts()["votes"] == 2
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


@contextmanager
def answer_lost_after_commit(store):
    """The commit happens, but the one who asked hears of a failure."""
    usual = store.writing

    @contextmanager
    def lossy():
        with usual() as connection:
            yield connection
        raise StoreError("connection lost")

    store.writing = lossy
    try:
        yield
    finally:
        store.writing = usual


def test_a_commit_whose_answer_was_lost_counts_once(tmp_path):
    """The retry finds it in the log, and the live state learns of it too."""
    with running(tmp_path, auth=False) as service:
        with answer_lost_after_commit(service.store), pytest.raises(StoreError):
            vote(service, "ann", "item-003", "bee", "k0")
        assert vote(service, "bob", "item-004", "cat", "k1").id == 2
        assert vote(service, "ann", "item-003", "bee", "k0").status == "repeated"
        assert vote(service, "ann", "item-003", "ant", "k2").status == "refused"
        wait_until_applied(service)
        assert service.counts()["votes"] == 2
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


def test_an_undo_whose_answer_was_lost_is_learned_too(tmp_path):
    """Catching up takes standing votes away as well."""
    with running(tmp_path, auth=False) as service:
        vote(service, "ann", "item-003", "bee", "k0")
        with answer_lost_after_commit(service.store), pytest.raises(StoreError):
            service.submit([service.undo("ann", "k0", "u0")]).result(10)
        assert vote(service, "ann", "item-003", "cat", "k1").status == "accepted"
        wait_until_applied(service)
        assert service.counts()["votes"] == 1
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


def test_a_full_disk_refuses_votes_and_goes_on_when_there_is_room(tmp_path):
    """The page hears 503 and keeps the vote; nothing half written stays."""
    with opened_world(tmp_path) as world:
        ben = world.program("ben")
        full = [True]

        def limit(connection, _record, _proxy):
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages if full[0] else 1_000_000}")

        def cast(number):
            votes = [
                {"key": f"{number}-{row}-{'x' * 50}", "item": f"item-{row:03d}", "label": "ant"}
                for row in range(60)
            ]
            return ben.post("/api/v1/votes", json={"votes": votes})

        sa.event.listen(world.service.store.engine, "checkout", limit)
        answer = cast(0)
        assert answer.status_code == 503
        assert "full" in answer.text
        assert answer.headers["retry-after"]
        assert world.service.counts()["votes"] == 0
        full[0] = False
        assert cast(0).status_code == 201
        assert world.service.counts()["votes"] == N_ITEMS
        wait_until_applied(world.service)
        np.testing.assert_allclose(live(world.service), batch(world.service), atol=1e-5)


def test_a_snapshot_that_cannot_be_written_is_no_harm(tmp_path, monkeypatch):
    """The next start reads the log instead."""

    def fail(*_arguments):
        raise StoreError("no space left")

    with running(tmp_path, auth=False) as service:
        monkeypatch.setattr("softspread.web.project.live_state.write_archive", fail)
        vote(service, "ann", "item-000", "ant", "k0")
        wait_until_applied(service)
        before = live(service)
    monkeypatch.undo()
    with running(tmp_path, auth=False) as service:
        assert service.started_from == "batch"
        np.testing.assert_allclose(live(service), before, atol=1e-5)


def test_a_live_update_that_fails_is_repaired(tmp_path, monkeypatch):
    """The log stands, the next refinement starts from it."""
    with running(tmp_path, auth=False) as service:
        state = service.state._state
        monkeypatch.setattr(state, "add", lambda new, share: (_ for _ in ()).throw(MemoryError))
        vote(service, "ann", "item-000", "ant", "k0")
        wait_until_applied(service)
        monkeypatch.undo()
        service.state.refined_copy()
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


def test_refinements_beside_new_votes_lose_none(tmp_path):
    """However votes and refinements interleave, the end is the batch run."""
    with running(tmp_path, auth=False, overlap=1000) as service:
        stop = threading.Event()

        def refine():
            while not stop.is_set():
                service.state.refined_copy()

        threads = [threading.Thread(target=refine) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(3):
            operations = [
                service.vote(f"p{number}", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
                for row in range(N_ITEMS)
            ]
            for operation in operations:
                service.submit([operation])
        service.submit([]).result(30)
        wait_until_applied(service)
        stop.set()
        for thread in threads:
            thread.join()
        service.state.refined_copy()
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


def test_a_database_of_a_newer_version_is_refused(tmp_path, database):
    """Its tables may mean something else."""
    store = Store(database)
    store.start()
    with store.writing() as connection:
        connection.exec_driver_sql("update alembic_version set version_num = '9999'")
    store.close()
    with pytest.raises(StoreError, match="newer softspread"):
        Store(database).start()


def test_the_steps_lead_to_the_tables_of_the_models(database):
    """What the migrations make is what the code believes, on both databases."""
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    store = Store(database)
    store.start()
    with store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), models.metadata) == []
    store.close()


def test_a_damaged_log_is_an_error_of_the_store(tmp_path):
    """What the driver says while rows are being fetched reaches the user like any other trouble with the
    database."""
    path = tmp_path / "votes.sqlite"
    store = Store(f"sqlite:///{path}")
    store.start()
    entries = [Entry(VOTE, f"k{k}", "ann", f"item-{k}", "ant", 1.0, id=k) for k in range(1, 5000)]
    with store.writing() as connection:
        store.append(connection, entries)
    store.close()
    content = bytearray(path.read_bytes())
    page = int.from_bytes(content[16:18], "big")  # where SQLite keeps the size of its pages
    start = content.index(b"item-4000") // page * page
    content[start : start + page] = bytes(page)
    path.write_bytes(bytes(content))
    with pytest.raises(StoreError, match="does not answer"):
        list(Store(f"sqlite:///{path}").read_log())
