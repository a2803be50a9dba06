"""The widget passes messages on."""

import sys

import pytest

from softspread.errors import MissingExtraError
from softspread.notebook.voter import Reply
from softspread.notebook.widget import build_widget, script

pytest.importorskip("anywidget", reason="needs the extra notebook")


def sent_by(widget, monkeypatch):
    """What a widget sends from now on."""
    sent = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append((content, buffers)))
    return sent


def test_the_script_is_one_module():
    """A browser gets it as text, so it can import nothing."""
    assert "import " not in script().replace("important", "")
    assert script().count("export ") == 1
    assert "class Zoom" in script()


def test_messages_are_answered(monkeypatch):
    """With the reply's bytes beside it."""
    widget = build_widget({"question": "?"}, lambda message: Reply({"heard": message["view"]}, [b"png"]))
    sent = sent_by(widget, monkeypatch)
    widget._handle_custom_msg({"view": "a"}, [])
    assert sent == [({"heard": "a"}, [b"png"])]
    assert widget.about == {"question": "?"}


def test_a_failure_is_answered_too(monkeypatch):
    """The browser says so and stops waiting."""

    def fail(message):
        raise KeyError("card")

    widget = build_widget({}, fail)
    sent = sent_by(widget, monkeypatch)
    monkeypatch.setattr(widget.log, "exception", lambda *words, **more: None)  # Jupyter writes it there
    widget._handle_custom_msg({"view": "a"}, [])
    assert sent == [({"view": "a", "failed": "KeyError: 'card'"}, None)]


def test_without_the_extra_the_error_names_it(monkeypatch):
    """Voting needs anywidget; nothing else does."""
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtraError, match=r"softspread\[notebook\]"):
        build_widget({}, lambda message: None)
