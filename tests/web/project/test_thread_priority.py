"""Threads that take turns."""

import os
import sys
import threading

import pytest

from softspread.web.project.thread_priority import (
    STEPS_BACK,
    TURN_SECONDS,
    lower_priority,
    shorten_switch_interval,
)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows priorities of threads")
def test_only_the_thread_that_steps_back_does():
    """The others keep their priority."""
    before, found = os.getpriority(os.PRIO_PROCESS, 0), []

    def work():
        lower_priority()
        found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [min(19, before + STEPS_BACK)]
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows priorities of threads")
def test_who_may_not_step_back_goes_on(monkeypatch):
    """Nothing depends on it."""
    asked = []

    def refuse(*wanted):
        asked.append(wanted)
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    lower_priority()
    assert len(asked) == 1


def test_turns_become_short():
    """Python hands the interpreter on this often."""
    before = sys.getswitchinterval()
    try:
        shorten_switch_interval()
        assert sys.getswitchinterval() == pytest.approx(TURN_SECONDS)
    finally:
        sys.setswitchinterval(before)
