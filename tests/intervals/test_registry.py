"""The list of interval methods."""

from softspread.intervals.registry import INTERVALS


def test_every_name_gives_a_method():
    """The default comes first and every name can be loaded."""
    assert INTERVALS.names()[:5] == ("posterior", "wilson", "wilson_floor", "hoeffding", "calibrated")
    assert all(callable(INTERVALS.get(name)) for name in INTERVALS.names())
