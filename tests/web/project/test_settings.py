"""Settings that make no sense are refused with words."""

from dataclasses import replace
from pathlib import Path

import pytest

from softspread.errors import InputError
from softspread.web.project.settings import CLASS_KEYS, Settings, class_keys

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


def test_every_class_has_a_key_of_its_own_as_far_as_there_are_any():
    """1 to 9, then letters; u and z are taken; single characters are their own keys."""
    keys = class_keys([f"class {number}" for number in range(40)])
    given = [key for key in keys if key]
    assert given == list(CLASS_KEYS)
    assert given[:10] == list("123456789a")
    assert not set(given) & set("uz? ")
    assert class_keys(list("0123456789")) == list("0123456789")
    assert class_keys(["u", "v"]) == ["1", "2"]
