"""The list of query strategies."""

import pytest

from softspread.errors import InputError
from softspread.queries.registry import STRATEGIES, needs_features


def test_every_name_gives_a_strategy():
    """The default comes first and every name can be loaded."""
    assert STRATEGIES.names()[0] == "uncertainty"
    assert all(callable(STRATEGIES.get(name)) for name in STRATEGIES.names())


def test_a_function_stands_for_itself():
    """Whatever can be called is a strategy; the message says so."""
    assert STRATEGIES.find(max) is max
    with pytest.raises(InputError, match="'farthest' or a function, got 'best'"):
        STRATEGIES.find("best")


def test_strategies_say_whether_they_need_features():
    """Only "farthest" looks at places; a function may say that it does."""
    assert [name for name in STRATEGIES.names() if needs_features(name)] == ["farthest"]

    def near(pool, batch_size):
        return list(range(batch_size))

    assert not needs_features(near)
    near.needs_features = True
    assert needs_features(near)
