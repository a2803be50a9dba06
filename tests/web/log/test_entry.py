"""Kinds of log entries."""

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from softspread.web.http.schemas import EntryOut
from softspread.web.log import models
from softspread.web.log.entry import (
    BROKEN,
    COUNTED,
    FLAG,
    KIND_NAMES,
    LONGEST_CHOSEN,
    LONGEST_ITEM,
    LONGEST_KEY,
    LONGEST_NAME,
    LONGEST_NOTE,
    SKIP,
    UNDO,
    VOTE,
    VOTES_ADDED,
    Entry,
)


def test_every_kind_has_a_name_and_an_effect():
    """The API knows the same names; an undo takes back one vote and a skip adds none."""
    assert set(KIND_NAMES) == set(VOTES_ADDED) == {VOTE, UNDO, SKIP, FLAG, BROKEN}
    assert set(KIND_NAMES.values()) == set(get_args(EntryOut.model_fields["kind"].annotation))
    assert VOTES_ADDED[VOTE] + VOTES_ADDED[UNDO] == VOTES_ADDED[SKIP] == 0
    assert {kind for kind, added in VOTES_ADDED.items() if added} == set(COUNTED)


def test_an_entry_cannot_be_changed():
    """What is written stays written."""
    written = Entry(VOTE, "k", "ann", "item", "cat", 1.0)
    assert (written.id, written.created_at, written.undoes) == (0, 0.0, None)
    with pytest.raises(FrozenInstanceError):
        written.label = "dog"


def test_columns_of_the_database_hold_the_longest_texts():
    """What the API lets through fits."""
    lengths = {column.name: getattr(column.type, "length", None) for column in models.log.columns}
    longest = {"key": LONGEST_KEY, "annotator": LONGEST_NAME, "item": LONGEST_ITEM, "label": None}
    longest |= {"chosen": LONGEST_CHOSEN, "note": LONGEST_NOTE}
    assert {name: lengths[name] for name in longest} == longest
