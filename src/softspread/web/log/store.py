"""The database: tables, one server at a time, the log in bulk and in small groups.

    SQLite (WAL, every commit on the disk before it is acknowledged) or PostgreSQL  <->  rows of `models.log`

Nothing here knows about graphs or pages.
"""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from softspread.errors import InputError, MissingExtraError, StoreError
from softspread.web.log import models
from softspread.web.log.entry import VOTE, Entry

BUSY_MILLISECONDS = 5_000  # how long SQLite waits for a reader that holds the file
ROWS_AT_ONCE = 64  # rows of one statement: older SQLite takes at most 999 values
LOG_BLOCK = 50_000  # rows of the log read at once: about 10 MB
# What `History` reads of the log
LOG_COLUMNS = (
    *("id", "kind", "annotator", "item", "label", "weight", "undoes", "created_at"),
    *("chosen", "probability", "shown", "note"),
)
LOCK_CHECK_SECONDS = 10.0  # a network may drop the connection that holds the lock without a word
OWNER_ONLY = 0o600  # of database files: they hold names and password hashes
SERVER_LOCK = 7_302_517_164_411_990_017  # any fixed number: PostgreSQL's advisory lock of the one server


_COLUMNS = tuple(models.log.c.keys())
_VALUES = attrgetter(*_COLUMNS)


class DatabaseError(StoreError):
    """The database fails; ``public`` is what strangers may read of it: no names of machines."""

    def __init__(self, what: str, error: BaseException, *, private: bool) -> None:
        text = f"{what}: {_first_line(error)}"
        super().__init__(text)
        self.public = f"{what}; nothing was written, try again in a moment" if private else text


class DuplicateEntryError(StoreError):
    """The log holds an entry with this key, or an undo of this vote."""


class Store:
    """One database. Reads may come from any thread; the log is written by one thread only."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _open_engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        compiled = sa.insert(models.log).compile(dialect=self.engine.dialect)
        self._insert, self._by_place = str(compiled), bool(compiled.positional)
        driver: Any = self.engine.dialect.dbapi
        self._driver_error: type[Exception] = driver.Error
        self._lock: Any = None
        self._started = False
        self._keeping = threading.Lock()
        self._check_lock_at = 0.0  # on the monotonic clock
        if not self.is_sqlite:
            sa.event.listen(self.engine, "connect", self._doubt_lock)

    def start(self) -> None:
        """Lock the database for this process and bring its tables up to date."""
        try:
            self._take_lock()
            self._migrate()
            self._started = True
        except SQLAlchemyError as error:
            self.close()
            raise StoreError(f"cannot use the database {self.shown_url}: {_first_line(error)}") from error
        except StoreError:
            self.close()
            raise

    @property
    def shown_url(self) -> str:
        """The address without its password."""
        return self.engine.url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Close all connections and release the lock."""
        self._started = False
        if self._lock is not None:
            with suppress(SQLAlchemyError, OSError):
                self._lock.close()
            self._lock = None
        self.engine.dispose()

    def _take_lock(self) -> None:
        """Refuse a second server on this log: both would hand out the same ids."""
        taken = (
            f"another softspread serve already uses {self.shown_url}; stop it, or give this one its own "
            "--data-dir."
        )
        if self.is_sqlite:
            import fcntl

            database = Path(str(self.engine.url.database))
            database.parent.mkdir(parents=True, exist_ok=True)
            _make_private(database)  # SQLite gives its other files the same permissions
            self._lock = _make_private(Path(f"{database}.lock")).open("w")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise StoreError(taken) from error
        else:
            connection = self.engine.connect()
            held = connection.execute(sa.text(f"select pg_try_advisory_lock({SERVER_LOCK})")).scalar()
            connection.commit()
            if not held:
                connection.close()
                raise StoreError(taken)
            self._lock, self._check_lock_at = connection, time.monotonic() + LOCK_CHECK_SECONDS

    def _doubt_lock(self, _connection: Any, _record: Any) -> None:
        """A new connection may mean that the server was restarted, and forgot who held the lock."""
        self._check_lock_at = 0.0

    def _keep_lock(self) -> None:
        """Before a change in PostgreSQL: hold the lock still, or take it again."""
        if self.is_sqlite or not self._started or time.monotonic() < self._check_lock_at:
            return
        with self._keeping:
            if self._lock is not None:
                try:
                    self._lock.execute(sa.text("select 1"))
                    self._lock.commit()
                    self._check_lock_at = time.monotonic() + LOCK_CHECK_SECONDS
                    return
                except SQLAlchemyError:
                    lost, self._lock = self._lock, None
                    with suppress(SQLAlchemyError):
                        lost.close()
            self._take_lock()

    @property
    def newest_revision(self) -> str:
        """Of the tables, as this version writes them."""
        return _migrations().get_current_head() or ""

    def revision(self, connection: sa.Connection) -> str:
        """Of the tables as they are; an error where there are none."""
        from alembic.runtime.migration import MigrationContext

        found = MigrationContext.configure(connection).get_current_revision()
        if found is None:
            raise StoreError(f"{self.shown_url} holds no project; check --data-dir or --database-url.")
        return found

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """A connection that sees the database as it was at one moment; a server may write meanwhile."""
        database = self.engine.url.database
        if self.is_sqlite and not Path(str(database)).exists():
            raise StoreError(f"there is no database {database}; check --data-dir.")
        with self.reading() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("begin")  # the driver begins only when something is written
            else:
                connection.execution_options(isolation_level="REPEATABLE READ")  # sets it on the connection
            yield connection
            connection.rollback()

    def _migrate(self) -> None:
        from alembic.operations import Operations
        from alembic.runtime.migration import MigrationContext

        script, newest = _migrations(), self.newest_revision
        with self.engine.begin() as connection:
            steps: dict[str, Any] = {"fn": lambda present, _: script._upgrade_revs("head", present)}
            context = MigrationContext.configure(connection, opts=steps)
            present = context.get_current_revision()
            if present is not None and present > newest:
                raise StoreError(
                    f"{self.shown_url} was written by a newer softspread (tables {present}, this one reads "
                    f"up to {newest}); upgrade softspread."
                )
            if present != newest:
                with Operations.context(context):
                    context.run_migrations()

    # ------------------------------------------------------------------------------------------------ the log
    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """One transaction; any refusal by the database becomes a StoreError and changes nothing."""
        try:
            with self.engine.begin() as connection:
                self._keep_lock()
                yield connection
        except IntegrityError as error:
            raise DuplicateEntryError("the log already has this entry") from error
        except DBAPIError as error:
            raise self._failure("the database refused the change", error) from error
        except SQLAlchemyError as error:
            raise self._failure("the database cannot be reached", error) from error

    def _failure(self, what: str, error: BaseException) -> DatabaseError:
        return DatabaseError(what, error, private=not self.is_sqlite)

    def append(self, connection: sa.Connection, entries: Sequence[Entry]) -> None:
        """Add rows to the log, inside a transaction."""
        if not entries:
            return
        values = [_VALUES(entry) for entry in entries]
        # Ready-made text: a quarter of the cost of having SQLAlchemy build the statement each time.
        if not self._by_place:
            connection.exec_driver_sql(
                self._insert, [dict(zip(_COLUMNS, row, strict=True)) for row in values]
            )
            return
        places = self._insert[self._insert.index("VALUES") + len("VALUES") :]
        for start in range(0, len(values), ROWS_AT_ONCE):
            # One statement for several rows: between two statements a thread waits for the interpreter again.
            part = values[start : start + ROWS_AT_ONCE]
            text = self._insert + f",{places}" * (len(part) - 1)
            connection.exec_driver_sql(text, tuple(value for row in part for value in row))

    def find(
        self, connection: sa.Connection, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], Entry]:
        """The entries with these (annotator, key), where there are any."""
        log = models.log.c
        wanted = sa.select(models.log).where(
            log.annotator.in_({annotator for annotator, _ in keys}), log.key.in_({key for _, key in keys})
        )
        found = [Entry(**row) for row in connection.execute(wanted).mappings()]
        return {(entry.annotator, entry.key): entry for entry in found}

    def read_log(self, after: int = 0, block: int = LOG_BLOCK) -> Iterator[list[Any]]:
        """Blocks of rows in order, with the columns of `LOG_COLUMNS`."""
        log = models.log.c
        while True:
            wanted = sa.select(*(log[name] for name in LOG_COLUMNS)).where(log.id > after)
            with self.reading() as connection:
                # The driver's own tuples: a third less work.
                cursor: Any = connection.execute(wanted.order_by(log.id).limit(block)).cursor
                rows = list(cursor.fetchall())
            if not rows:
                return
            yield rows
            after = rows[-1][0]

    def entries(self, after: int = 0, limit: int = 100, annotator: str | None = None) -> list[Entry]:
        """A page of the log in order."""
        log = models.log.c
        wanted = sa.select(models.log).where(log.id > after).order_by(log.id).limit(limit)
        if annotator is not None:
            wanted = wanted.where(log.annotator == annotator)
        return [Entry(**row) for row in self.rows(wanted)]

    def spoken(self, kind: int, limit: int) -> list[Entry]:
        """The last entries of a kind, newest first."""
        log = models.log.c
        wanted = sa.select(models.log).where(log.kind == kind).order_by(log.id.desc()).limit(limit)
        return [Entry(**row) for row in self.rows(wanted)]

    def keys_starting(self, annotators: Sequence[str], start: str) -> list[tuple[str, str]]:
        """(annotator, key) of these users' standing votes whose key begins like this, in order."""
        log, later = models.log.c, models.log.alias()
        wanted = (
            sa.select(log.annotator, log.key)
            .where(log.annotator.in_(annotators), log.key.startswith(start, autoescape=True))
            .where(log.kind == VOTE, ~sa.exists().where(later.c.undoes == log.id))
            .order_by(log.id)
        )
        return [(str(row["annotator"]), str(row["key"])) for row in self.rows(wanted)]

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection for questions."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except (SQLAlchemyError, self._driver_error) as error:
            raise self._failure("the database does not answer", error) from error

    # ----------------------------------------------------------------------------------------- other tables
    def rows(self, wanted: Any) -> list[dict[str, Any]]:
        """The answer to a question, one dict per row."""
        with self.reading() as connection:
            return [dict(row) for row in connection.execute(wanted).mappings()]

    def execute(self, *statements: Any) -> int:
        """Run statements in one transaction; how many rows the last one changed."""
        with self.writing() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]

    def fact(self, name: str) -> Any:
        """A value stored by :meth:`set_fact`, or None."""
        found = self.rows(sa.select(models.facts.c.value).where(models.facts.c.name == name))
        return json.loads(found[0]["value"]) if found else None

    def set_fact(self, name: str, value: Any) -> None:
        """Store a value under a name."""
        self.execute(
            sa.delete(models.facts).where(models.facts.c.name == name),
            sa.insert(models.facts).values(name=name, value=json.dumps(value)),
        )


def _migrations() -> Any:
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(Path(__file__).parent / "migrations"))


def _open_engine(url: str) -> sa.Engine:
    if url.startswith(("postgres://", "postgresql://")):
        url = "postgresql+psycopg://" + url.split("://", 1)[1]
    if not url.startswith(("sqlite:///", "postgresql+")):
        raise InputError(
            f"a database address begins with postgresql:// or sqlite:///; got {url.split(':', 1)[0]!r}; "
            "write postgresql://user:password@host/name, or leave it out for SQLite."
        )
    ping = not url.startswith("sqlite")  # a server may have gone away since the last use; a file does not
    try:
        engine = sa.create_engine(url, pool_pre_ping=ping, pool_size=5, max_overflow=10, pool_timeout=5)
    except (ArgumentError, NoSuchModuleError) as error:
        raise InputError(f"cannot read the database address ({error}).") from error
    except ModuleNotFoundError as error:
        raise MissingExtraError("PostgreSQL needs a driver: pip install 'softspread[postgres]'") from error
    if not ping:
        sa.event.listen(engine, "connect", _make_durable)
    return engine


def _make_private(path: Path) -> Path:
    """A file that nobody else on this machine can read, made if there is none."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, OWNER_ONLY))
    if path.stat().st_mode & 0o077:
        path.chmod(OWNER_ONLY)
    return path


def _make_durable(connection: Any, _record: Any) -> None:
    """Readers do not wait for the writer, and a commit is on the disk when it returns."""
    if isinstance(connection, sqlite3.Connection):
        for setting in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={BUSY_MILLISECONDS}"):
            connection.execute(f"PRAGMA {setting}")


def _first_line(error: BaseException) -> str:
    text = str(getattr(error, "orig", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__
