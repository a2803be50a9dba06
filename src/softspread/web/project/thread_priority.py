"""Thread priorities: what users wait for goes before choosing items, statistics and snapshots.

All threads share one interpreter and often few cores. A vote passes through three of them and may have to
wait each time, so threads must switch often and background threads must yield.
"""

import os
import sys
import threading
from contextlib import suppress

SWITCH_SECONDS = 5e-4  # Python's own 5 ms, a few times per vote, would be most of what a user waits
NICENESS = 5  # of at most 19: about a third of the others' share on a busy core, never nothing


def shorten_switch_interval() -> None:
    """Have the threads of this process hand the interpreter on more often."""
    sys.setswitchinterval(SWITCH_SECONDS)


def lower_priority() -> None:
    """Make the calling thread nicer; only Linux has priorities of threads."""
    if sys.platform == "linux":
        with suppress(PermissionError):  # not allowed here: nothing depends on it
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)
