"""A whole project's database in one file, and back: from SQLite or PostgreSQL into either.

    one snapshot of all tables  ->  zip of JSON lines, one file per table  ->  an empty database

Sessions and open links stay behind. What the server keeps beside its database (graph, map, fits) is made
again from it. The file holds password hashes, so only its owner can read it.
"""

import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from softspread._common.atomic import replaced_file
from softspread._common.versions import version_of
from softspread.errors import InputError, StoreError
from softspread.web.log import models
from softspread.web.log.store import Store

FORM = "softspread backup 1"
HEAD = "backup.json"
LEFT_BEHIND = ("sessions", "invitations")  # secrets that open something
ROWS_AT_ONCE = 500  # per statement


def tables() -> list[sa.Table]:
    """Those that a backup holds."""
    return [table for table in models.metadata.sorted_tables if table.name not in LEFT_BEHIND]


def write_backup(store: Store, path: Path) -> dict[str, int]:
    """Write the file, also while a server uses the database; rows by table.

    Parameters
    ----------
    store : not necessarily started
    path : appears whole or not at all; an older file of this name is replaced
    """
    with replaced_file(path) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with (
            os.fdopen(descriptor, "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
            store.snapshot() as connection,
        ):
            counts = {table.name: _write_table(connection, table, archive) for table in tables()}
            head = {"form": FORM, "softspread": version_of("softspread"), "rows": counts}
            head["tables"] = store.revision(connection)
            archive.writestr(HEAD, json.dumps(head))
    return counts


def _write_table(connection: sa.Connection, table: sa.Table, archive: zipfile.ZipFile) -> int:
    order = list(table.primary_key.columns)
    found = connection.execution_options(yield_per=ROWS_AT_ONCE).execute(sa.select(table).order_by(*order))
    count = 0
    with archive.open(f"{table.name}.jsonl", "w") as file:
        for row in found.mappings():
            file.write(json.dumps(dict(row), ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


def restore_backup(store: Store, path: Path) -> dict[str, int]:
    """Fill an empty database from a backup, all of it or nothing; rows by table.

    Parameters
    ----------
    store : started, so that no server uses it meanwhile
    """
    with _opened(path) as archive:
        head = _head(archive, path)
        if head["tables"] > store.newest_revision:
            raise StoreError(f"{path} was written by softspread {head['softspread']}; upgrade softspread.")
        with store.writing() as connection:
            _check_empty(store, connection)
            return {table.name: _read_table(connection, table, archive, path) for table in tables()}


def _check_empty(store: Store, connection: sa.Connection) -> None:
    for table in tables():
        if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first():
            raise InputError(
                f"{store.shown_url} already holds data (table {table.name}); restore into a new --data-dir "
                "or an empty database."
            )


def _read_table(connection: sa.Connection, table: sa.Table, archive: zipfile.ZipFile, path: Path) -> int:
    count = 0
    for rows in _blocks(archive, f"{table.name}.jsonl", path):
        connection.execute(sa.insert(table), rows)
        count += len(rows)
    return count


def _blocks(archive: zipfile.ZipFile, name: str, path: Path) -> Iterator[list[dict[str, Any]]]:
    try:
        with archive.open(name) as file:
            while lines := list(islice(file, ROWS_AT_ONCE)):
                yield [json.loads(line) for line in lines]
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path} is damaged at {name} ({error}); nothing was restored.") from error


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}.") from error
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is not a backup of softspread serve ({error}).") from error
    with archive:
        yield archive


def _head(archive: zipfile.ZipFile, path: Path) -> Mapping[str, Any]:
    try:
        head = json.loads(archive.read(HEAD))
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is not a backup of softspread serve.") from error
    if head.get("form") != FORM:
        raise InputError(f"{path} has the form {head.get('form')!r}; this softspread reads {FORM!r}.")
    found: Mapping[str, Any] = head
    return found
