"""The list of interval methods."""

from softspread.intervals.registry import INTERVALS


def test_every_name_gives_a_method():
    """The default comes first and every name can be loaded."""
    assert INTERVALS.names()[0] == "posterior"
    assert {"wilson", "wilson_floor", "hoeffding", "calibrated", "goodman", "sison_glaz", "dirichlet"} < set(
        INTERVALS.names()
    )
    assert all(callable(INTERVALS.get(name)) for name in INTERVALS.names())
