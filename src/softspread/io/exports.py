"""Shared by all exports of annotation tools: someone chose classes for an item, or rated it.

(item, choices, annotator, time) of each answer  ->  votes, yes and no about classes, or ratings
one choice is a vote; several are refused, split or skipped, or answers of their own; cancelled ones counted
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.columns import ITEM_NAMES, first_of
from softspread._common.kinds import MULTILABEL
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.io.vote_file import VoteFile, VoteReading

SHOWN = 5  # classes or fields that an error names


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of an export, collected one by one."""

    how: VoteReading
    rows: list[tuple[Any, ...]] = field(default_factory=list)  # item, label, annotator, weight, time, answer
    left_out: "Counter[str]" = field(default_factory=Counter)

    def add(self, where: str, item: str, choices: Iterable[Any], who: str | None, time: Any = None) -> None:
        """Add one person's choice for one item; ``where`` begins messages."""
        chosen = tuple(dict.fromkeys(map(str, choices)))
        if self.how.kind == MULTILABEL:  # choosing nothing is an answer too
            self.rows.append((item, chosen, who, 1.0, time, None))
        elif not chosen:
            self.left_out["annotations without a choice"] += 1
        elif len(chosen) > 1 and self.how.multi_choice == "refuse":
            raise InputError(
                f"{where}: an annotation chooses {len(chosen)} classes "
                f"({', '.join(map(repr, chosen[:SHOWN]))}). Use --kind multilabel where items may have "
                "several, --multi-choice split to count each as a part of a vote, or --multi-choice skip to "
                "leave such annotations out."
            )
        elif len(chosen) > 1 and self.how.multi_choice == "skip":
            self.left_out["annotations with several choices"] += 1
        else:
            self.rows.extend((item, label, who, 1.0 / len(chosen), time, None) for label in chosen)

    def say(self, item: str, label: str, answer: bool, who: str | None, time: Any = None) -> None:
        """Yes or no about one of several classes."""
        self.rows.append((item, label, who, 1.0, time, answer))

    def file(self, path: Path, votes_format: str) -> VoteFile:
        """All of them as votes."""
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * 6
        items, labels, people, weights, times, answers = columns
        return VoteFile(
            path,
            votes_format,
            objects(items),
            objects(labels),
            objects(people) if any(name is not None for name in people) else None,
            np.array(weights, dtype=np.float64) if any(weight != 1.0 for weight in weights) else None,
            objects(times) if any(time is not None for time in times) else None,
            notes=dict(self.left_out),
            answers=objects(answers) if self.how.kind == MULTILABEL else None,
        )


def item_of(where: str, data: Mapping[str, Any], asked: str | None, usual: Sequence[str] = ITEM_NAMES) -> str:
    """The id of an item among the fields of its record: the one asked for, else one with a usual name."""
    if asked is not None and asked not in data:
        raise InputError(f"{where} has no field {asked!r}; it has {', '.join(map(repr, data)) or 'none'}.")
    named = asked if asked is not None else first_of(usual, data)
    return checked_id(where, None if named is None else data[named])


def checked_id(where: str, value: Any) -> str:
    """An id as text; anything that names no item is refused."""
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise InputError(f"{where}: nothing names the item; choose a field of its data by --item-column.")
    return str(value)
