"""Files and folders that appear whole or not at all.

    write to a hidden neighbour  ->  fsync  ->  rename over the target

A process that is killed half-way leaves at most a hidden ``.name.<pid>.tmp``, which the next write of the
same target removes. A reader sees the old file or the new one, never a part.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from softspread.errors import StoreError

LONGEST_NAME = 255  # bytes of a file name, on all common file systems
ROOM_FOR_SUFFIX = 24  # of the hidden name: a process id and two endings


def check_target(path: str | Path) -> Path:
    """Refuse a path that cannot be written, before any work is done for it."""
    target = Path(path)
    if "\0" in str(target) or len(os.fsencode(target.name)) > LONGEST_NAME - ROOM_FOR_SUFFIX:
        raise StoreError(f"cannot write {str(target)[:80]!r}: no file can have this name. Name another.")
    if target.is_dir():
        raise StoreError(f"cannot write {target}: it is a folder. Name a file in it.")
    _check_folder(target)
    return target


def check_folder_target(path: str | Path, mark: str) -> Path:
    """The same for a folder.

    An existing one must be empty or hold ``mark``, so that nothing else is replaced.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise StoreError(f"cannot write the folder {target}: there is a file of that name. Name another.")
    if target.is_dir() and any(target.iterdir()) and not (target / mark).is_file():
        raise StoreError(f"cannot write {target}: the folder holds other files. Name a new or an empty one.")
    _check_folder(target)
    return target


def _check_folder(target: Path) -> None:
    folder = target.absolute().parent
    if not folder.is_dir():
        raise StoreError(
            f"cannot write {target}: there is no folder {target.parent}. Create it, or name another."
        )
    if not os.access(folder, os.W_OK):
        raise StoreError(f"cannot write {target}: no permission in {folder}. Name another folder.")
    try:  # permission is not all: some folders take no files, some disks no more
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise StoreError(
            f"cannot write {target}: {folder} takes no file ({error.strerror or error})."
        ) from error


@contextmanager
def replaced_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path; what is written there becomes ``path`` when the block ends without an error."""
    target = check_target(path)
    _clean(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise _failed(target, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path: str | Path, mark: str) -> Iterator[Path]:
    """The same for a folder; ``mark`` is a file in it by which an older one of the same kind is known."""
    target = check_folder_target(path, mark)
    _clean(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    old = target.with_name(f".{target.name}.{os.getpid()}.old.tmp")
    try:
        temporary.mkdir()
        yield temporary
        for part in temporary.iterdir():
            with part.open("rb") as file:
                os.fsync(file.fileno())
        if target.exists():
            os.replace(target, old)
        os.replace(temporary, target)
    except OSError as error:
        if old.exists() and not target.exists():
            os.replace(old, target)
        raise _failed(target, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in one step that either happens or does not."""
    with replaced_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _failed(target: Path, error: OSError) -> StoreError:
    if isinstance(error, StoreError):
        return error
    return StoreError(
        f"cannot write {target}: {error.strerror or error}. Check the folder and the free space."
    )


def _clean(target: Path) -> None:
    """Remove what killed processes left of this target."""
    for left in target.parent.glob(f".{_literal(target.name)}.*.tmp"):
        number = left.name.removeprefix(f".{target.name}.").split(".")[0]
        if number.isdigit() and not _is_alive(int(number)):
            with suppress(OSError):
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's process
        return True
    return True
