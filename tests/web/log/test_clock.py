"""The clock of the log."""

import numpy as np

from softspread.web.log.clock import SteadyClock
from web.conftest import running, vote


def test_the_clock_never_goes_back():
    """Whatever the wall says."""
    wall = [5.0]
    clock = SteadyClock(lambda: wall[0])
    assert clock() == 5.0
    wall[0] = 1.0
    assert clock() == 5.0
    clock.not_before(9.0)
    assert clock() == 9.0
    wall[0] = 10.0
    assert clock() == 10.0


def test_time_in_the_log_never_goes_back(tmp_path):
    """A clock set back by an hour leaves the order of the log as it was, also over a restart."""
    wall = [1_000_000.0]
    with running(tmp_path, auth=False, clock=lambda: wall[0]) as service:
        vote(service, "ann", "item-000", "ant", "k0")
        wall[0] -= 3600
        vote(service, "ann", "item-001", "ant", "k1")
    with running(tmp_path, auth=False, clock=lambda: wall[0]) as service:
        vote(service, "ann", "item-002", "ant", "k2")
        times = service.history.column("created_at")
        assert (np.diff(times) >= 0).all()
        assert [entry.id for entry in service.store.entries()] == [1, 2, 3]
