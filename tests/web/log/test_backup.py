"""A backup of one database restored into another."""

import json
import stat
import zipfile

import pytest

from softspread.errors import InputError, StoreError
from softspread.web.log.backup import HEAD, restore_backup, tables, write_backup
from softspread.web.log.store import Store
from web.conftest import PASSWORD, opened_world, running, vote


def everything(store):
    """All rows of the tables that a backup holds."""
    return {table.name: store.rows(table.select()) for table in tables()}


def restored(path, url):
    """What a database holds after a restore."""
    store = Store(url)
    store.start()
    try:
        restore_backup(store, path)
        return everything(store)
    finally:
        store.close()


def test_a_backup_of_either_database_fills_sqlite_while_the_server_runs(tmp_path, database):
    """Votes, undos, flags, accounts, settings: row by row the same; the new server goes on from there."""
    with opened_world(tmp_path / "old", database_url=database) as world:
        service = world.service
        vote(service, "ben", "item-000", "ant", "k0")
        vote(service, "ben", "item-001", "bee", "k1")
        service.submit([service.undo("ben", "k1", "u1"), service.flag("eva", "item-002", "é?", "f")]).result(
            9
        )
        service.change({"question": "Which?"})
        other = Store(database)
        counts = write_backup(other, tmp_path / "b.zip")
        other.close()
        before = everything(service.store)
    assert (counts["log"], counts["accounts"]) == (4, 3)
    assert stat.S_IMODE((tmp_path / "b.zip").stat().st_mode) == 0o600
    assert restored(tmp_path / "b.zip", f"sqlite:///{tmp_path / 'new' / 'votes.sqlite'}") == before
    with running(tmp_path / "new", auth=False) as service:
        assert (service.settings.question, service.counts()["votes"]) == ("Which?", 1)
        assert vote(service, "ben", "item-000", "ant", "k0").status == "repeated"


def test_a_backup_of_sqlite_fills_postgresql(tmp_path, postgres):
    """The other way round, with the password that works there."""
    with opened_world(tmp_path / "old") as world:
        vote(world.service, "ben", "item-000", "ant", "k0")
        write_backup(world.service.store, tmp_path / "b.zip")
        before = everything(world.service.store)
    url = postgres.new_database()
    assert restored(tmp_path / "b.zip", url) == before
    store = Store(url)
    assert PASSWORD not in json.dumps(store.rows(tables()[0].select()))
    store.close()


def test_nothing_is_restored_over_data_or_from_a_damaged_file(tmp_path):
    """A half-read file leaves an empty database."""
    with running(tmp_path / "old", auth=False) as service:
        vote(service, "ann", "item-000", "ant", "k0")
        write_backup(service.store, tmp_path / "b.zip")
        with pytest.raises(InputError, match="already holds data"):
            restore_backup(service.store, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as whole, zipfile.ZipFile(tmp_path / "c.zip", "w") as cut:
        cut.writestr(HEAD, whole.read(HEAD))
        cut.writestr("log.jsonl", whole.read("log.jsonl"))
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as newer:
        newer.writestr(HEAD, json.dumps({"form": "softspread backup 1", "tables": "9999", "softspread": "9"}))
    (tmp_path / "e.zip").write_text("no zip")
    url = f"sqlite:///{tmp_path / 'new' / 'votes.sqlite'}"
    for name, problem in (("c", "damaged"), ("d", "upgrade"), ("e", "not a backup"), ("f", "no file")):
        with pytest.raises((InputError, StoreError), match=problem):
            restored(tmp_path / f"{name}.zip", url)
    store = Store(url)
    store.start()
    assert not any(everything(store).values())
    store.close()
