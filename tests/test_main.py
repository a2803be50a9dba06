"""``python -m softspread``."""

import runpy
import sys

import pytest

from softspread import __version__


def test_the_module_is_the_command(monkeypatch, capsys):
    """It prints the version and ends with success; importing it does nothing."""
    monkeypatch.setattr(sys, "argv", ["softspread", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("softspread", run_name="__main__")
    assert not ended.value.code
    assert __version__ in capsys.readouterr().out
    runpy.run_module("softspread.__main__", run_name="imported")
