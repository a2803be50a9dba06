"""Classes that a lead renames, merges, orders or adds while people vote.

    present classes, wanted classes (each says which present ones it takes in)  ->  classes, earlier names

The log keeps the names as they were cast; earlier names lead to the present classes, so votes move along and
a restart reads the log the same way. A name never means two classes: one that was given up cannot come back
for something else.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softspread._common.types import FloatArray
from softspread.errors import InputError

LONGEST_DESCRIPTION = 1_000  # characters
MOST_EXAMPLES = 6  # of a class
COLOUR = re.compile("#[0-9a-f]{6}")


class ClassNote(NamedTuple):
    """What voters are told about a class; kept as a list in the database."""

    name: str
    colour: str = ""  # such as "#3366cc"; empty: the page's own
    description: str = ""
    examples: tuple[str, ...] = ()  # ids of items that show it

    def check(self) -> None:
        """Refuse what a page could not show."""
        if self.colour and not COLOUR.fullmatch(self.colour):
            raise InputError(f"a colour is written like #3366cc, got {self.colour!r} for {self.name!r}.")
        if len(self.description) > LONGEST_DESCRIPTION or "\0" in self.description:
            raise InputError(
                f"the description of {self.name!r} may have at most {LONGEST_DESCRIPTION:,} characters and "
                f"no zero byte, got {len(self.description):,} characters."
            )
        if len(self.examples) > MOST_EXAMPLES:
            raise InputError(
                f"a class may have at most {MOST_EXAMPLES} examples, got {len(self.examples)} for "
                f"{self.name!r}."
            )


@dataclass(frozen=True, slots=True)
class WantedClass:
    """A class after the change; fields that are None stay as they were."""

    name: str
    was: tuple[str, ...] = ()  # present classes that it takes in, with their votes; none: a new class
    colour: str | None = None
    description: str | None = None
    examples: tuple[str, ...] | None = None

    def note(self, earlier: Mapping[str, ClassNote]) -> ClassNote:
        """The note about the class, given the notes about the present classes."""
        before = next((earlier[name] for name in self.was if name in earlier), ClassNote(self.name))
        return ClassNote(
            self.name,
            before.colour if self.colour is None else self.colour,
            before.description if self.description is None else self.description,
            before.examples if self.examples is None else self.examples,
        )


def rename(
    classes: Sequence[str], merged: Mapping[str, str], wanted: Sequence[WantedClass]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The classes and the earlier names after a change.

    Examples
    --------
    >>> rename(("cat", "lion"), {}, [WantedClass("cow"), WantedClass("feline", ("cat", "lion"))])
    (('cow', 'feline'), {'cat': 'feline', 'lion': 'feline'})
    """
    now = {old: one.name for one in wanted for old in one.was}
    taken = [old for one in wanted for old in one.was]
    names = tuple(one.name for one in wanted)
    for old in taken:
        if old not in classes or taken.count(old) > 1:
            raise InputError(
                f"{old!r} must be one of the present classes, named once; got {', '.join(taken)}."
            )
    lost = [name for name in classes if name not in now]
    if lost:
        raise InputError(
            f"the votes for {', '.join(map(repr, lost))} need a place: let a class take it in (merge them)."
        )
    earlier = {old: now[name] for old, name in merged.items()} | {
        old: new for old, new in now.items() if old != new
    }
    for name in names:
        if earlier.get(name, name) != name:
            raise InputError(
                f"{name!r} was the name of what is now {earlier[name]!r}, and votes in the log carry it; "
                "choose another name."
            )
    return names, {old: name for old, name in earlier.items() if old not in names}


def regrouped(
    p: FloatArray,
    before: Sequence[str],
    classes: Sequence[str],
    merged: Mapping[str, str],
    *,
    several: bool = False,
) -> FloatArray:
    """(n, len(classes)) probabilities for other classes: merged ones added, new ones at a fair share.

    ``several``: an item may have several classes, so each has a probability of its own, a new one even odds.

    Examples
    --------
    >>> regrouped(np.array([[0.2, 0.3, 0.5]]), ("cat", "lion", "dog"), ("cat", "dog"), {"lion": "cat"})
    array([[0.5, 0.5]])
    """
    found = np.zeros((len(p), len(classes)))
    for column, name in enumerate(before):
        found[:, classes.index(merged.get(name, name))] += p[:, column]
    new = [column for column, name in enumerate(classes) if not found[:, column].any()]
    if several:
        new = [column for column, name in enumerate(classes) if name not in {*before, *merged.values()}]
        found[:, new] = 0.5
        return found
    found *= 1 - len(new) / len(classes)
    found[:, new] = 1 / len(classes)
    return found
