"""Settings that make no sense are refused with words."""

from dataclasses import replace
from pathlib import Path

import pytest

from softspread.errors import InputError
from softspread.web.project.settings import Settings

GOOD = Settings(classes=("a", "b"), data_dir=Path("x"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"classes": ("a",)}, "2 to 1000 classes"),
        ({"classes": ("a", "a")}, "must differ"),
        ({"classes": ("a", "b\n")}, "printable"),
        ({"classes": ("a", " ")}, "printable"),
        ({"mode": "loud"}, "blind"),
        ({"strategy": "guess"}, "uncertainty"),
        ({"overlap": 0}, "overlap"),
        ({"alpha": 1.0}, "alpha"),
        ({"uniform_share": 1.5}, "uniform_share"),
        ({"unsure_weight": 1.0}, "between 0 and 1"),
        ({"gold_share": 1.0}, "gold_share"),
        ({"lease_seconds": 0}, "lease_seconds"),
        ({"auth": False, "host": "0.0.0.0"}, "--no-auth"),
    ],
)
def test_bad_settings_are_explained(change, words):
    """The message names what is wrong."""
    with pytest.raises(InputError, match=words):
        replace(GOOD, **change)
