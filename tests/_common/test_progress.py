"""The bar and the spinner."""

import pytest

from softspread._common.progress import progress_bar, speed_in_words, spinner


def test_nothing_is_written_unless_asked(capfd):
    """Without ``show`` the function does nothing, and standard error stays clean."""
    with progress_bar("votes", 10, False) as advance, spinner("thinking", False):
        advance(10)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("total", "counted"), [(1000, "1000/1000"), (None, "1000/?")])
def test_the_bar_goes_to_standard_error(capfd, total, counted):
    """It names the step and counts what is done, also where the end is unknown."""
    with progress_bar("votes", total, True) as advance:
        advance(400)
        advance(600)
    out, err = capfd.readouterr()
    assert out == ""
    assert "votes" in err
    assert counted in err
    assert "/s" not in err


def test_the_bar_shows_the_speed_of_units(capfd):
    """A unit adds so many of them a second."""
    with progress_bar("embedding", 4, True, "items") as advance:
        for _ in range(4):
            advance(1)
    assert "items/s" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("speed", "text"),
    [(None, ""), (9.96, "10.0 items/s"), (10.0, "10 items/s"), (12_345.6, "12,346 items/s")],
)
def test_slow_speeds_have_a_decimal(speed, text):
    """An unknown speed is not shown."""
    assert speed_in_words(speed, "items") == text


def test_the_spinner_says_what_it_waits_for(capfd, monkeypatch):
    """On standard error, as the bar; it turns only on a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes rich take a pipe for a terminal
    monkeypatch.setenv("TERM", "xterm")
    with spinner("reducing", True):
        pass
    out, err = capfd.readouterr()
    assert out == ""
    assert "reducing" in err
