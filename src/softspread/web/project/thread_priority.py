"""Who goes first: the threads that people wait for, before those that choose items, look and keep.

All threads share one interpreter and often few cores. A vote passes through three of them; each time it may
have to wait for a turn, so turns must be short and the others must step back.
"""

import os
import sys
import threading
from contextlib import suppress

TURN_SECONDS = 5e-4  # Python's own 5 ms, a few times per vote, would be most of what a user waits
STEPS_BACK = (
    5  # of the 19 that there are: a third of the others' share where cores are few, and never nothing
)


def shorten_switch_interval() -> None:
    """Have the threads of this process hand the interpreter on more often."""
    sys.setswitchinterval(TURN_SECONDS)


def lower_priority() -> None:
    """Let the calling thread go after the others of this machine; only Linux knows priorities of threads."""
    if sys.platform == "linux":
        with suppress(PermissionError):  # not allowed here: nothing depends on it
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + STEPS_BACK)
