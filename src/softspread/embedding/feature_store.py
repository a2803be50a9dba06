"""Features on disk, by content and model.

A killed run goes on where it stopped, and a second reducer needs no second encoding.

    cache/<key of model and preparation>/part-*.npz : digests (m, 16), stamps (m, 16), features (m, d)

A file whose path, size and time are as before is not even read again; one that was moved or touched is read,
recognised by its digest and not encoded again. Parts appear whole or not at all. A damaged part is left out,
with a warning.
"""

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softspread._common.archive import read_archive, write_archive
from softspread._common.digests import digest
from softspread._common.types import AnyArray, IntArray
from softspread.embedding.contents import stamp_bytes
from softspread.embedding.items import Items
from softspread.errors import SoftspreadWarning, StoreError

FORMAT_VERSION = 1  # of the parts; raised when older code could misread them
KIND = "features-part"
PART_ITEMS = 4096  # features in memory before they are written
PART_SECONDS = 15.0  # ... and no more work than this is lost when a run is killed

FloatFeatures = NDArray[np.float32]


def key_of(facts: Mapping[str, Any]) -> str:
    """The name of the folder for one model and preparation."""
    return digest([json.dumps({"format": FORMAT_VERSION, **facts}, sort_keys=True, default=str)]).hex()


class FeatureStore:
    """Features of one model; without a folder it remembers nothing."""

    def __init__(
        self, folder: Path | None, facts: Mapping[str, Any], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.folder = None if folder is None else folder / key_of(facts)
        self._clock = clock
        self._pending: list[tuple[AnyArray, AnyArray, FloatFeatures]] = []
        self._n_pending = 0
        self._last = clock()
        self._parts: list[Path] = []
        self._open: tuple[int, AnyArray, FloatFeatures] | None = None
        empty = np.empty(0, dtype=np.uint64)
        self._marks, self._part, self._place = empty, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        if self.folder is not None:
            _make_folder(self.folder, facts)

    @property
    def remembers(self) -> bool:
        """Whether anything is kept."""
        return self.folder is not None

    def recall(self, items: Items) -> Iterator[tuple[IntArray, FloatFeatures]]:
        """Rows whose files are unchanged since their features were stored, part by part.

        Call this first.
        """
        if self.folder is None:
            return
        paths = sorted(self.folder.glob("part-*.npz"))
        if not paths:
            return
        stamps = np.stack([stamp_bytes(items.contents.stamp(row)) for row in range(len(items))])
        order = np.argsort(_marks(stamps), kind="stable")
        sorted_stamps = stamps[order]
        sorted_marks = _marks(sorted_stamps)
        marks, homes, places = [], [], []
        for path in paths:
            part = _read_part(path)
            if part is None:
                continue
            digests, known, features = part
            marks.append(_marks(digests))
            homes.append(np.full(len(digests), len(self._parts)))
            places.append(np.arange(len(digests)))
            self._parts.append(path)
            first = np.searchsorted(_marks(known), sorted_marks, sorter=(by := np.argsort(_marks(known))))
            candidate = by[np.minimum(first, len(by) - 1)]
            same = (known[candidate] == sorted_stamps).all(axis=1) & sorted_stamps.any(axis=1)
            if same.any():
                yield order[same], features[candidate[same]]
        if marks:
            joined = np.concatenate(marks)
            by = np.argsort(joined, kind="stable")
            self._marks = joined[by]
            self._part, self._place = np.concatenate(homes)[by], np.concatenate(places)[by]

    def is_known(self, mark: bytes) -> bool:
        """Whether a content with this digest has stored features (to 64 bits; :meth:`fetch` compares all)."""
        short = np.frombuffer(mark, dtype=np.uint64)[0]
        where = int(np.searchsorted(self._marks, short))
        return where < len(self._marks) and bool(self._marks[where] == short)

    def fetch(self, mark: AnyArray) -> FloatFeatures | None:
        """The features of one digest, (d,); None where it is another content after all."""
        short = _marks(mark[None])[0]
        where = int(np.searchsorted(self._marks, short))
        number, place = int(self._part[where]), int(self._place[where])
        if self._open is None or self._open[0] != number:
            part = _read_part(self._parts[number])
            if part is None:
                return None
            self._open = (number, part[0], part[2])
        _, digests, features = self._open
        return features[place] if (digests[place] == mark).all() else None

    def add(self, digests: AnyArray, stamps: AnyArray, features: FloatFeatures) -> None:
        """Keep new features; they are written by the part, or after a while."""
        if self.folder is None or not len(digests):
            return
        self._pending.append((digests, stamps, features))
        self._n_pending += len(digests)
        if self._n_pending >= PART_ITEMS or self._clock() - self._last >= PART_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is pending."""
        if self.folder is not None and self._pending:
            digests, stamps, features = (np.concatenate(part) for part in zip(*self._pending, strict=True))
            name = digest([digests, stamps]).hex()
            arrays = {"digests": digests, "stamps": stamps, "features": features}
            write_archive(self.folder / f"part-{name}.npz", KIND, FORMAT_VERSION, {}, arrays)
        self._pending, self._n_pending, self._last = [], 0, self._clock()


def _make_folder(folder: Path, facts: Mapping[str, Any]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        about = folder / "about.json"  # for people: what these features are
        if not about.exists():
            about.write_text(json.dumps(facts, indent=2, default=str) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"cannot keep features in {folder}: {error.strerror or error}. Choose another cache."
        ) from error


def _read_part(path: Path) -> tuple[AnyArray, AnyArray, FloatFeatures] | None:
    try:
        _, arrays = read_archive(path, KIND, FORMAT_VERSION)
        digests, stamps, features = arrays["digests"], arrays["stamps"], arrays["features"]
        if not len(digests) == len(stamps) == len(features) > 0 or features.ndim != 2:
            raise StoreError(f"{path} has parts of different lengths.")
    except (StoreError, KeyError) as error:
        warnings.warn(
            f"left out of the cache: {error} Its items are encoded again.", SoftspreadWarning, stacklevel=2
        )
        return None
    return digests, stamps, features


def _marks(digests: AnyArray) -> NDArray[np.uint64]:
    """The first 64 bits of each digest, to sort and search by."""
    return np.ascontiguousarray(digests[:, :8]).view(np.uint64)[:, 0]
