"""Threads for the compiled loops.

Work is cut into chunks that do not depend on the number of threads, so results do not depend on it either.
"""

import numbers
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from softspread.errors import InputError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")


def count_threads(n_jobs: int | None) -> int:
    """None or -1: every core this process may use; otherwise the number given, -2 leaving one core free."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return available
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise InputError(
            f"n_jobs must be a whole number other than 0 or None, got {n_jobs!r}; -1 means all cores."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, available + 1 + int(n_jobs))


@cache
def _loaded_libraries() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def single_threaded() -> AbstractContextManager[object]:
    """One thread in the linear algebra libraries inside a ``with`` block.

    For many short blocks: the libraries are looked for once, at the first call, since that takes as long as
    training a small classifier. Libraries loaded later are not limited.
    """
    return _loaded_libraries().limit(limits=1)  # type: ignore[no-any-return]


class Workers:
    """A pool for many short parallel steps, started when needed; one thread or part runs in the caller."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __getstate__(self) -> int:
        return self.n_threads  # threads do not travel; a copy starts its own

    def __setstate__(self, n_threads: int) -> None:
        self.__init__(n_threads)  # type: ignore[misc]

    def run(self, work: Callable[[Part], None], parts: Sequence[Part]) -> None:
        """Call ``work`` on every part; the first exception is raised."""
        for _ in self.stream(work, parts):
            pass

    def stream(self, work: Callable[[Part], None], parts: Sequence[Part]) -> Iterator[None]:
        """The same, yielding once for each part as it is done, in order."""
        if self.n_threads == 1 or len(parts) == 1:
            yield from map(work, parts)
        else:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.n_threads)
            yield from self._pool.map(work, parts)
