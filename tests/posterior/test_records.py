"""Dataclasses as plain values and arrays."""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from softspread.posterior.records import pack_record, unpack_record


class Pair(NamedTuple):
    """A named tuple."""

    first: int
    second: np.ndarray


@dataclass(frozen=True)
class Rule:
    """Numbers and words."""

    steps: tuple[tuple[float, str], ...] = ((0.1, "a"), (1 / 3, "b"))
    nothing: None = None


@dataclass(frozen=True)
class Whole:
    """All of them together."""

    rule: Rule = Rule()
    pairs: list = field(default_factory=list)
    number: float = np.float64(0.1)


def test_a_record_comes_back_as_it_was():
    """Through JSON, with numbers to the last digit, tuples as tuples, and arrays of any type."""
    shared = np.arange(3, dtype=np.float32)
    whole = Whole(pairs=[Pair(1, shared), Pair(2, np.array(7)), Pair(3, shared)])
    facts, arrays = pack_record(whole)
    again = unpack_record(json.loads(json.dumps(facts)), arrays, (Whole, Rule, Pair))
    assert again.rule == whole.rule
    assert again.number == 0.1
    assert [pair.first for pair in again.pairs] == [1, 2, 3]
    for mine, theirs in zip(again.pairs, whole.pairs, strict=True):
        assert mine.second.dtype == theirs.second.dtype
        np.testing.assert_array_equal(mine.second, theirs.second)


def test_an_array_that_is_shared_is_stored_once():
    """And shared again afterwards."""
    shared = np.arange(3)
    facts, arrays = pack_record([Pair(1, shared), Pair(2, shared)])
    assert len(arrays) == 1
    first, second = unpack_record(facts, arrays, (Pair,))
    assert first.second is second.second


@pytest.mark.parametrize("value", [{1: 2}, object(), len, {1}])
def test_what_no_file_can_hold_is_refused(value):
    """The message says where it is."""
    with pytest.raises(TypeError, match=r"record\.number is a"):
        pack_record(Whole(number=value))


def test_missing_parts_and_other_classes_are_refused():
    """A file makes nothing but what is asked for."""
    facts, arrays = pack_record(Pair(1, np.arange(3)))
    with pytest.raises(KeyError, match="Pair"):
        unpack_record(facts, arrays, (Rule,))
    with pytest.raises(KeyError, match="record"):
        unpack_record(facts, {}, (Pair,))
    del facts["values"]["first"]
    with pytest.raises(TypeError, match="first"):
        unpack_record(facts, arrays, (Pair,))
