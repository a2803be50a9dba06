"""Blocks of arrays at any fsspec path, each written whole, checked when it is read, and named when damaged.

    store.write(stage, number, arrays, facts)   ->   <folder>/<stage>/00007.npz   ->   store.read(...)

A block is an uncompressed .npz: its zip directory gives every array a checksum, and lets one array be read
without the others. It also holds the key of the run, so that a block of another run is never taken for ours.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import fsspec
import numpy as np

from softspread._common.atomic import replaced_file
from softspread._common.types import AnyArray
from softspread.errors import StoreError

HEADER = "header"  # the member with the run's key and the facts of a block
ENDING = ".npz"
_DAMAGE = (zipfile.BadZipFile, ValueError, KeyError, EOFError, OSError, NotImplementedError)


class DamagedBlockError(StoreError):
    """A block is missing, cut short or changed; it can be made again from those before it."""

    def __init__(self, stage: str, number: int, why: str) -> None:
        super().__init__(
            f"block {number} of stage {stage!r} is damaged or missing ({why}); it is made again."
        )
        self.stage, self.number, self.why = stage, number, why

    def __reduce__(self) -> tuple[Any, ...]:
        return DamagedBlockError, (self.stage, self.number, self.why)


@dataclass(frozen=True)
class BlockStore:
    """A folder of blocks, one sub-folder per stage.

    Parameters
    ----------
    url : a path, or any URL that fsspec opens, such as s3://bucket/run
    key : of the settings and inputs of the run
    """

    url: str
    key: str

    @cached_property
    def _where(self) -> tuple[fsspec.AbstractFileSystem, str]:
        found: tuple[fsspec.AbstractFileSystem, str] = fsspec.core.url_to_fs(self.url)
        return found

    @property
    def is_local(self) -> bool:
        """Whether the blocks are files of this machine."""
        return bool(self._where[0].protocol in ("file", ("file", "local")))

    def path(self, *parts: str) -> str:
        """Where something of the store stands, without the protocol."""
        return "/".join((self._where[1].rstrip("/"), *parts))

    def __getstate__(self) -> dict[str, str]:
        return {"url": self.url, "key": self.key}  # connections do not travel

    # -------------------------------------------------------------------------------------------- blocks
    def write(
        self, stage: str, number: int, arrays: Mapping[str, AnyArray], facts: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Write one block; it appears whole or not at all. Returns its facts."""
        header = {"key": self.key, "stage": stage, "number": number, "facts": dict(facts or {})}
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        file = io.BytesIO()
        np.savez(file, **{HEADER: text}, **arrays)  # type: ignore[arg-type]
        self.write_bytes(file.getbuffer(), stage, _name(number))
        return dict(facts or {})

    def write_bytes(self, content: bytes | memoryview, *parts: str) -> None:
        """Write a file; it appears whole or not at all."""
        fs, path = self._where[0], self.path(*parts)
        if self.is_local:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            with replaced_file(path) as temporary:
                temporary.write_bytes(content)
            return
        fs.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        try:
            fs.pipe_file(path, bytes(content))  # object stores show an object when all of it has arrived
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error}. Check the folder and the free space.") from error

    def read_bytes(self, *parts: str) -> bytes | None:
        """The content of a file, None where there is none."""
        try:
            content: bytes = self._where[0].cat_file(self.path(*parts))
        except FileNotFoundError:
            return None
        return content

    def read(self, stage: str, number: int, names: Iterable[str] | None = None) -> dict[str, AnyArray]:
        """Arrays of a block, all or some; names that the block lacks are left out."""
        try:
            with self._where[0].open(self.path(stage, _name(number)), "rb") as file:
                found = np.load(file, allow_pickle=False)
                self._facts(found)
                wanted = found.files if names is None else [name for name in names if name in found.files]
                return {name: found[name] for name in wanted if name != HEADER}
        except _DAMAGE as error:
            raise DamagedBlockError(stage, number, f"{type(error).__name__}: {error}"[:120]) from error

    def facts(self, stage: str, number: int) -> dict[str, Any]:
        """The facts of a block; its arrays are not read."""
        try:
            with self._where[0].open(self.path(stage, _name(number)), "rb") as file:
                return self._facts(np.load(file, allow_pickle=False))
        except _DAMAGE as error:
            raise DamagedBlockError(stage, number, f"{type(error).__name__}: {error}"[:120]) from error

    def _facts(self, found: Any) -> dict[str, Any]:
        header = json.loads(found[HEADER].tobytes())
        if header["key"] != self.key:
            raise ValueError("it belongs to a run with other settings")
        facts: dict[str, Any] = header["facts"]
        return facts

    def present(self, stage: str) -> set[int]:
        """Numbers of the blocks of a stage that are there."""
        fs, folder = self._where[0], self.path(stage)
        if not fs.isdir(folder):
            return set()
        fs.invalidate_cache(folder)
        names = (str(name).rsplit("/", 1)[-1] for name in fs.ls(folder, detail=False))
        return {int(name.removesuffix(ENDING)) for name in names if name[0] != "." and name.endswith(ENDING)}

    def forget(self, stage: str) -> None:
        """Remove a stage's blocks."""
        fs, folder = self._where[0], self.path(stage)
        if fs.isdir(folder):
            fs.rm(folder, recursive=True)

    def remove(self) -> None:
        """Remove everything."""
        fs, folder = self._where
        if fs.exists(folder):
            fs.rm(folder, recursive=True)


def _name(number: int) -> str:
    return f"{number:06d}{ENDING}"
