"""The clock of the log."""

from softspread.web.log.clock import SteadyClock


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
