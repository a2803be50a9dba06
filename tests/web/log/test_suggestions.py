"""Suggestions as the log keeps them."""

from softspread.web.log.suggestions import LONGEST_SHOWN, Suggestion, read, written


def test_what_is_written_is_read():
    """The share of each class, and whether they were seen."""
    assert read(written({"a": 0.2, "b": 0.8}, seen=False)) == Suggestion({"a": 0.2, "b": 0.8}, False)
    assert read(None) is written({}, seen=True) is None


def test_many_long_names_are_cut_to_the_leading_one():
    """A row of the log stays small."""
    shares = {f"{number:0200d}": 1 / 150 for number in range(150)} | {"leader": 0.3}
    text = written(shares, seen=True)
    assert len(text) <= LONGEST_SHOWN
    assert read(text) == Suggestion({"leader": 0.3}, True)
