"""The database: whole groups or nothing, one server, tables as the code believes."""

from dataclasses import replace

import pytest

from softspread.errors import StoreError
from softspread.web.log import models
from softspread.web.log.entry import VOTE, Entry
from softspread.web.log.store import DuplicateEntryError, Store
from web.conftest import make_service, running


def test_a_long_group_is_written_whole_or_not_at_all(database):
    """More rows than one statement takes; a key that was used before undoes all of them."""
    store = Store(database)
    store.start()
    entries = [
        Entry(VOTE, f"k{k}", "ann", f"item-{k}", "ant", 1.0, id=k, created_at=0.5) for k in range(1, 151)
    ]
    with store.writing() as connection:
        store.append(connection, entries)
    again = [replace(entry, id=entry.id + 150, key=f"again-{entry.key}") for entry in entries]
    again[-1] = replace(again[-1], key="k7")
    with pytest.raises(DuplicateEntryError), store.writing() as connection:
        store.append(connection, again)
    assert store.entries(limit=1000) == entries
    store.close()


def test_two_servers_on_one_log_are_refused(tmp_path, database):
    """The second one would count the same numbers again."""
    second = make_service(tmp_path / "other", database_url=database, auth=False)
    with (
        running(tmp_path, database_url=database, auth=False),
        pytest.raises(StoreError, match="another softspread"),
    ):
        second.start()


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


def test_database_files_are_their_owners_alone(tmp_path):
    """They hold names and password hashes; also those of an earlier version."""
    path = tmp_path / "votes.sqlite"
    path.touch(0o644)
    store = Store(f"sqlite:///{path}")
    store.start()
    store.set_fact("x", 1)
    found = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    store.close()
    assert {"votes.sqlite", "votes.sqlite.lock", "votes.sqlite-wal"} <= set(found)
    assert set(found.values()) == {0o600}


def test_the_lock_is_taken_again_after_postgresql_restarts(postgres):
    """Before the next change, so that no second server can slip in."""
    address = postgres.new_database()
    store = Store(address)
    store.start()
    postgres.stop()
    postgres.start()
    store.set_fact("x", 1)
    with pytest.raises(StoreError, match="another softspread"):
        Store(address).start()
    store.close()


def test_who_lost_the_lock_to_another_server_writes_nothing(postgres):
    """The other one was started while PostgreSQL had forgotten who held it."""
    address = postgres.new_database()
    first, second = Store(address), Store(address)
    first.start()
    postgres.stop()
    postgres.start()
    second.start()
    for _ in range(2):
        with pytest.raises(StoreError, match="another softspread"):
            first.set_fact("x", 1)
    assert second.fact("x") is None
    second.close()
    first.set_fact("x", 2)
    first.close()
