"""Requests that are refused before anything is done."""

import json

import pytest
from pydantic import ValidationError

from softspread.web.http.schemas import (
    MOST_OPERATIONS,
    SkipIn,
    SyncBody,
    UndoIn,
    VoteIn,
    VotesIn,
    body_of,
)
from softspread.web.log.entry import LONGEST_ITEM, LONGEST_KEY, LONGEST_LABEL

VOTE = {"key": "k", "item": "a", "label": "cat"}


@pytest.mark.parametrize(
    "change",
    [
        {"key": ""},
        {"key": "k" * (LONGEST_KEY + 1)},
        {"key": "with space"},
        {"item": "i" * (LONGEST_ITEM + 1)},
        {"label": "l" * (LONGEST_LABEL + 1)},
        {"wieght": 2},
        {"kind": "undo"},
    ],
)
def test_a_vote_that_the_log_could_not_hold_is_refused(change):
    """Empty, too long, unprintable, misspelt or of another kind."""
    assert VoteIn(**VOTE).item == "a"
    with pytest.raises(ValidationError):
        VoteIn(**VOTE | change)


def test_the_kind_decides_what_an_operation_is():
    """One request may mix them."""
    done = [
        VOTE | {"kind": "vote"},
        {"kind": "undo", "key": "u", "vote": "k"},
        {"kind": "skip", "key": "s", "item": "b"},
    ]
    assert [type(one) for one in SyncBody(operations=done).operations] == [VoteIn, UndoIn, SkipIn]


def test_a_request_has_an_end():
    """At least one vote and at most a hundred."""
    VotesIn(votes=[VOTE] * MOST_OPERATIONS)
    for number in (0, MOST_OPERATIONS + 1):
        with pytest.raises(ValidationError):
            VotesIn(votes=[VOTE] * number)


def test_the_description_of_a_body_stands_on_its_own():
    """No reference leads out of it, and it names every field."""
    schema = body_of(SyncBody)["content"]["application/json"]["schema"]
    assert "$ref" not in json.dumps(schema)
    assert set(schema["properties"]) == set(SyncBody.model_fields)
    kinds = [
        one["properties"]["kind"]["const"] for one in schema["properties"]["operations"]["items"]["oneOf"]
    ]
    assert kinds == ["vote", "undo", "skip", "flag", "broken"]
