"""The list of neighbour searches."""

from softspread.graph.registry import SEARCHES


def test_every_name_gives_a_search():
    """The default comes first and every name can be loaded."""
    assert SEARCHES.names()[0] == "auto"
    assert all(callable(SEARCHES.get(name)) for name in SEARCHES.names())
