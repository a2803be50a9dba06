"""The key of each class."""

from softspread.votes.keys import CLASS_KEYS, class_keys


def test_every_class_has_a_key_of_its_own_as_far_as_there_are_any():
    """1 to 9, then letters; u and z are taken; single characters are their own keys."""
    keys = class_keys([f"class {number}" for number in range(40)])
    given = [key for key in keys if key]
    assert given == list(CLASS_KEYS)
    assert given[:10] == list("123456789a")
    assert not set(given) & set("uz? ")
    assert class_keys(list("0123456789")) == list("0123456789")
    assert class_keys(["u", "v"]) == ["1", "2"]
