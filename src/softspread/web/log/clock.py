"""The clock of the log: it never goes back."""

import threading
import time
from collections.abc import Callable


class SteadyClock:
    """Seconds since 1970 that never go back, even where the machine's clock does.

    Examples
    --------
    >>> wall = iter([100.0, 90.0, 101.0])
    >>> clock = SteadyClock(lambda: next(wall))
    >>> clock(), clock(), clock()
    (100.0, 100.0, 101.0)
    """

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self._wall, self._latest, self._lock = wall, 0.0, threading.Lock()

    def __call__(self) -> float:
        with self._lock:
            self._latest = max(self._latest, self._wall())
            return self._latest

    def not_before(self, moment: float) -> None:
        """Start no earlier than the last entry of the log."""
        with self._lock:
            self._latest = max(self._latest, moment)
