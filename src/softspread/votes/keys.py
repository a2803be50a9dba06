"""How people vote, on the page as in a notebook: a key for each class, and what an unsure vote counts."""

from collections.abc import Sequence

CLASS_KEYS = "123456789abcdefghijklmnopqrstvwxy"  # u is "unsure", z is "undo"
UNSURE_WEIGHT = 0.5  # half a vote: a person who is unsure says so before the vote


def class_keys(classes: Sequence[str]) -> list[str]:
    """A key per class: its own name if all names are single keys, else 1 to 9, then letters, then none.

    Examples
    --------
    >>> class_keys(["0", "1"]), class_keys(["cat", "dog"])
    (['0', '1'], ['1', '2'])
    """
    if all(len(name) == 1 and name in f"0{CLASS_KEYS}" for name in classes):
        return list(classes)
    return [CLASS_KEYS[place] if place < len(CLASS_KEYS) else "" for place in range(len(classes))]
