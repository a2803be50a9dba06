"""Priorities of threads."""

import os
import sys
import threading

import pytest

from softspread.web.project.thread_priority import (
    NICENESS,
    SWITCH_SECONDS,
    lower_priority,
    shorten_switch_interval,
)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of threads")
def test_only_the_calling_thread_is_lowered():
    """The others keep their priority."""
    before, found = os.getpriority(os.PRIO_PROCESS, 0), []

    def work():
        lower_priority()
        found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [min(19, before + NICENESS)]
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of threads")
def test_a_thread_that_may_not_be_lowered_goes_on(monkeypatch):
    """Nothing depends on it."""
    asked = []

    def refuse(*wanted):
        asked.append(wanted)
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    lower_priority()
    assert len(asked) == 1


def test_threads_switch_often():
    """The interpreter is handed on this often."""
    before = sys.getswitchinterval()
    try:
        shorten_switch_interval()
        assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)
    finally:
        sys.setswitchinterval(before)
