"""Reading ahead: threads fetch and decode the next batches while the encoder works on this one.

    rows -> batches of prepared inputs, in order; at most ``ahead`` batches wait, however many items there are

Pillow decodes and resizes outside Python's lock, so threads are enough.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from softspread._common.digests import DIGEST_BYTES
from softspread._common.types import AnyArray, BoolArray, IntArray
from softspread.embedding.contents import Content, content_digest, stamp_bytes
from softspread.embedding.items import Items
from softspread.embedding.preparation import Pixels, Preparation, Resizer, UnreadableImage, prepare

Outcome = TypeVar("Outcome")

AHEAD = 2  # batches that wait for the encoder: one ready, one under way
SLICE = 4  # images that one thread takes at a time: small, so that all threads finish a batch together


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that could not be read."""

    item_id: object
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Items next to each other, read."""

    rows: IntArray  # (b,)
    inputs: Any  # (b, 3, height, width) pixels or texts; meaningless where not ready
    ready: BoolArray  # (b,) to be encoded
    known: BoolArray  # (b,) read, but the cache has its features
    digests: AnyArray  # (b, 16) bytes; zero where nobody asked
    stamps: AnyArray  # (b, 16) bytes of the time before reading; zero where there is none or nobody asked
    failures: list[tuple[int, str]]  # rows that cannot be read, and why

    def to_encode(self) -> Pixels | list[str]:
        """Only the items that must be encoded."""
        if isinstance(self.inputs, list):
            return [text for text, ready in zip(self.inputs, self.ready, strict=True) if ready]
        pixels: Pixels = self.inputs if self.ready.all() else self.inputs[self.ready]
        return pixels


def load_batches(
    items: Items,
    rows: IntArray,
    preparation: Preparation | None,
    *,
    batch_size: int,
    n_threads: int,
    resize: Resizer | None = None,
    is_known: Callable[[bytes], bool] | None = None,
    ahead: int = AHEAD,
) -> Generator[Batch, None, None]:
    """Batches of ``rows`` in order.

    Parameters
    ----------
    items : the items
    rows : (m,) which of them
    preparation : how to prepare images; None for text
    resize : the encoder's way to resize images, if it has one
    is_known : tells by its digest whether a content needs no encoding; None: nothing is digested
    ahead : batches that are read before they are asked for
    """
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="softspread-read")
    waiting: deque[tuple[Batch, list[Future[None]]]] = deque()
    try:
        for start in range(0, len(rows), batch_size):
            batch = _empty_batch(rows[start : start + batch_size], preparation)
            slices = [
                pool.submit(_fill, batch, first, items, preparation, resize, is_known)
                for first in range(0, len(batch.rows), SLICE)
            ]
            waiting.append((batch, slices))
            if len(waiting) > ahead:
                yield _finished(*waiting.popleft())
        while waiting:
            yield _finished(*waiting.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def in_order(
    work: Callable[[Batch], Outcome], batches: Iterator[Batch], at_once: int
) -> Iterator[tuple[Batch, Outcome]]:
    """Each batch with what ``work`` makes of it, in order.

    Up to ``at_once`` batches are in the works at the same time.
    """
    if at_once == 1:
        for batch in batches:
            yield batch, work(batch)
        return
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="softspread-encode")
    waiting: deque[tuple[Batch, Future[Outcome]]] = deque()
    try:
        for batch in batches:
            waiting.append((batch, pool.submit(work, batch)))
            if len(waiting) > at_once:
                first, found = waiting.popleft()
                yield first, found.result()
        while waiting:
            first, found = waiting.popleft()
            yield first, found.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _empty_batch(rows: IntArray, preparation: Preparation | None) -> Batch:
    b = len(rows)
    inputs: Any = [""] * b
    if preparation is not None:
        inputs = np.zeros((b, 3, preparation.height, preparation.width), dtype=np.uint8)
    flags = np.zeros((2, b), dtype=np.bool_)
    marks = np.zeros((2, b, DIGEST_BYTES), dtype=np.uint8)
    return Batch(rows, inputs, flags[0], flags[1], marks[0], marks[1], [])


def _fill(
    batch: Batch,
    first: int,
    items: Items,
    preparation: Preparation | None,
    resize: Resizer | None,
    is_known: Callable[[bytes], bool] | None,
) -> None:
    for place in range(first, min(first + SLICE, len(batch.rows))):
        row = int(batch.rows[place])
        try:
            if is_known is not None:  # before reading: a file that changes in between must look changed
                batch.stamps[place] = stamp_bytes(items.contents.stamp(row))
            content: Content = items.contents.read(row)
            if is_known is not None:
                mark = content_digest(content)
                batch.digests[place] = np.frombuffer(mark, dtype=np.uint8)
                if is_known(mark):
                    batch.known[place] = True
                    continue
            batch.inputs[place] = content if preparation is None else prepare(content, preparation, resize)
            batch.ready[place] = True
        except UnreadableImage as problem:
            batch.failures.append((row, str(problem)))


def _finished(batch: Batch, slices: list[Future[None]]) -> Batch:
    for part in slices:
        part.result()
    batch.failures.sort()
    return batch
