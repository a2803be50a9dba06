"""Rate limits as token buckets."""

import threading
import time
from collections.abc import Callable

MOST_BUCKETS = 50_000  # then all start full again: memory stays bounded


class TokenBucket:
    """One token bucket per key.

    Parameters
    ----------
    rate : tokens that a bucket gains per second
    capacity : tokens that a full bucket holds, and each key starts with
    """

    def __init__(self, rate: float, capacity: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._capacity, self._clock = rate, capacity, clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def allows(self, key: str, amount: float = 1.0) -> bool:
        """Take ``amount`` from the key's bucket if it holds that much."""
        now = self._clock()
        with self._lock:
            left, then = self._buckets.get(key, (self._capacity, now))
            left = min(self._capacity, left + (now - then) * self._rate)
            if len(self._buckets) >= MOST_BUCKETS:
                self._buckets.clear()
            granted = left >= amount
            self._buckets[key] = (left - amount if granted else left, now)
            return granted
