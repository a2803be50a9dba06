"""The list of reducers."""

from softspread.embedding.reducers.registry import REDUCERS


def test_every_name_gives_a_reducer():
    """The default comes first; all but it are called by their name."""
    assert REDUCERS.names()[0] == "auto"
    assert all(REDUCERS.get(name).name == name for name in REDUCERS.names()[1:])
