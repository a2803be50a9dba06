"""A folder that remembers what was expensive: decoded embeddings, graphs, and the choice of alpha.

    workspace/
      softspread.toml      default options, read by every command that is given the folder
      cache/<kind>-<key>   key = hash of everything that the content depends on, the input's bytes among them
      .lock                held while a command runs

An entry is written in one step, so an interrupted run leaves whole entries or none, and the next run goes on
from them. A changed input has another key: nothing is ever out of date, only unused, and the oldest unused
entries are removed.
"""

import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from softspread.errors import InputError, StoreError

SETTINGS = "softspread.toml"
LOCK = ".lock"
CACHE = "cache"
KEPT_ENTRIES = 6  # of each kind, the last used ones
TEMPLATE = """\
# A softspread workspace: `softspread spread --workspace {name}` reads its options here and keeps its cache
# beside. Options have the names of the command line, without the dashes in front; the command line wins.
# Paths start at this folder. Remove the # to set one.

# embeddings = "embeddings.parquet"
# votes = "votes.csv"
# out = "soft_labels.parquet"
# report = "report.html"
# alpha = "auto"
# n-neighbors = 20
# classes = "cat,dog"
# seed = 0

# A table holds options of one command only, such as where it writes.
# [query]
# out = "next.csv"
"""

Loaded = TypeVar("Loaded")


@dataclass(slots=True)
class Workspace:
    """An open workspace; made by :func:`open_workspace`, which holds its lock.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, open_workspace(folder) as workspace:
    ...     first = workspace.cached("answer", "key", len, lambda path: 42, lambda path, value: path.touch())
    ...     again = workspace.cached("answer", "key", lambda path: 43, lambda path: 42, lambda path, x: None)
    ...     first, again, workspace.reused
    (42, 43, ['answer'])
    """

    folder: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    reused: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    def tables(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The settings for all commands, under "", then those of each command that has a table."""
        yield "", {name: value for name, value in self.options.items() if not isinstance(value, Mapping)}
        yield from ((name, table) for name, table in self.options.items() if isinstance(table, Mapping))

    def entry(self, kind: str, key: str) -> Path:
        """Where an entry stands."""
        return self.folder / CACHE / f"{kind.replace(' ', '-')}-{key}"

    def cached(
        self,
        kind: str,
        key: str,
        load: Callable[[Path], Loaded],
        make: Callable[[Path], Loaded],
        store: Callable[[Path, Loaded], object],
    ) -> Loaded:
        """Load an entry, or make and store it; a damaged entry is made again.

        Parameters
        ----------
        kind : what it is, in words
        key : of all that it depends on
        load, make, store : take the path of the entry; ``store`` must write in one step
        """
        path = self.entry(kind, key)
        if path.exists():
            with suppress(StoreError, InputError, OSError, ValueError, KeyError):
                found = load(path)
                self.reused.append(kind)
                with suppress(OSError):
                    os.utime(path)
                return found
        value = make(path)
        try:
            store(path, value)
        except StoreError as error:
            raise StoreError(
                f"{error} The workspace is {self.folder}; leave --workspace out to run without."
            ) from error
        self.made.append(kind)
        self._tidy(kind)
        return value

    def _tidy(self, kind: str) -> None:
        """Keep the entries that were used last, and drop what killed runs left."""
        folder = self.folder / CACHE
        entries = sorted(folder.glob(f"{kind.replace(' ', '-')}-*"), key=lambda path: path.stat().st_mtime)
        for old in [*entries[:-KEPT_ENTRIES], *folder.glob(".*.tmp")]:  # we hold the lock: nobody is writing
            with suppress(OSError):
                old.unlink()


@contextmanager
def open_workspace(folder: str | Path) -> Iterator[Workspace]:
    """Create or open a workspace and hold its lock.

    A second run at the same time is refused with a clear message.
    """
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InputError(f"the workspace {place} is a file; name a folder.")
    settings = place / SETTINGS
    if place.is_dir() and not settings.exists() and any(place.iterdir()) and not (place / CACHE).is_dir():
        raise InputError(
            f"{place} is not a workspace: it holds other files and no {SETTINGS}. Name a new folder, or "
            f"create an empty {SETTINGS} in it to make it one."
        )
    try:
        (place / CACHE).mkdir(parents=True, exist_ok=True)
        lock = (place / LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot use the workspace {place}: {error.strerror or error}.") from error
    with lock:
        if not _lock(lock):
            lock.seek(0)
            holder = lock.read().strip()
            raise StoreError(
                f"the workspace {place} is in use{f' by process {holder}' if holder else ''}; wait for it to "
                "end, or take another folder."
            )
        lock.seek(0)
        lock.truncate()
        lock.write(str(os.getpid()))
        lock.flush()
        try:
            if not settings.exists():
                _write_settings(settings, TEMPLATE.format(name=place.name))
            yield Workspace(place, read_settings(settings))
        finally:
            with suppress(OSError):
                lock.truncate(0)


def _write_settings(path: Path, text: str) -> None:
    from softspread._common.atomic import write_text

    write_text(path, text)


def _lock(file: Any) -> bool:
    """Take the lock, which the system gives back when the process ends, however it ends."""
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_settings(path: Path) -> dict[str, Any]:
    """Options of a workspace, by the names of the command line."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML ({error}).") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    tables = [found, *(table for table in found.values() if isinstance(table, dict))]
    for name, value in (entry for table in tables for entry in table.items()):
        texts = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
        if not isinstance(value, str | int | float | bool) and not texts and value not in tables:
            raise InputError(
                f"{path}: {name} must be a text, a list of texts, a number or true/false, got {value!r}."
            )
    return found
