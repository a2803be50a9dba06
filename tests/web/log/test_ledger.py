"""What may enter the log: exactly once, one standing vote per user and item, only one's own undone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from softspread.web.log.entry import SKIP, UNDO, VOTE, Entry
from softspread.web.log.ledger import Ledger

ACCEPTED, REPEATED, REFUSED = "accepted", "repeated", "refused"
PEOPLE, ITEMS, LABELS = ("ann", "bob"), (0, 1, 2), (0, 1)


def cast(key, who="ann", row=0, column=0, **more):
    return Entry(VOTE, key, who, f"i{row}", f"c{column}", 1.0, **more)


def take_back(vote_key, key, who="ann"):
    return Entry(UNDO, key, who, undoes_key=vote_key)


def place_of(entry):
    """Row and column, read off the names."""
    return int(entry.item[1:]), int((entry.label or "c-1")[1:])


class Book:
    """A log in a list, with a ledger that reads it."""

    def __init__(self):
        self.ledger, self.entries = Ledger(place_of), []

    def write(self, *operations):
        """Draft and apply as the writer does; the statuses."""
        known = {(entry.annotator, entry.key): entry for entry in self.entries}
        draft = self.ledger.draft(operations, known, len(self.entries) + 1, 0.0)
        self.entries += draft.entries
        self.ledger.apply(draft)
        return [outcome.status for outcome in draft.outcomes]


def test_a_key_sent_twice_is_written_once():
    """In two requests and within one."""
    book = Book()
    assert book.write(cast("k"), cast("k")) == [ACCEPTED, REPEATED]
    assert book.write(cast("k")) == [REPEATED]
    assert len(book.entries) == 1


def test_a_key_used_for_something_else_is_refused():
    """Two different votes under one key are a mistake of the sender."""
    book = Book()
    assert book.write(cast("k"), cast("k", column=1), cast("k", row=1)) == [ACCEPTED, REFUSED, REFUSED]


def test_the_same_key_of_two_people_is_two_keys():
    """Keys belong to their senders."""
    assert Book().write(cast("k"), cast("k", who="bob")) == [ACCEPTED, ACCEPTED]


def test_one_vote_per_person_and_item_stands():
    """A second one is refused until the first is taken back."""
    book = Book()
    assert book.write(cast("k1"), cast("k2", column=1)) == [ACCEPTED, REFUSED]
    assert book.write(take_back("k1", "u1"), cast("k3", column=1)) == [ACCEPTED, ACCEPTED]
    assert book.ledger.standing["ann"] == {0: 3}


def test_nobody_takes_back_the_votes_of_others():
    """An undo looks among one's own keys only."""
    book = Book()
    book.write(cast("k"))
    assert book.write(take_back("k", "u", who="bob")) == [REFUSED]
    assert book.ledger.standing["ann"] == {0: 1}


def test_a_vote_is_taken_back_once():
    """The second undo has nothing left to do, also within one request; an undo or a skip is not a vote."""
    book = Book()
    book.write(cast("k"))
    assert book.write(take_back("k", "u1"), take_back("k", "u2")) == [ACCEPTED, REFUSED]
    assert book.write(take_back("u1", "u3")) == [REFUSED]
    assert book.entries[1].weight == -book.entries[0].weight


def test_votes_brought_along_may_repeat():
    """Nobody's name stands for many people there."""
    assert Book().write(cast("k1", origin="import"), cast("k2", origin="import")) == [ACCEPTED, ACCEPTED]


steps = st.lists(
    st.tuples(st.sampled_from(["vote", "undo", "skip"]), st.sampled_from(PEOPLE), st.sampled_from(ITEMS),
              st.sampled_from(LABELS), st.integers(0, 6)),
    max_size=30,
)  # fmt: skip


@given(steps, st.integers(1, 5))
def test_any_sequence_keeps_the_books(sequence, size):
    """However operations are grouped: totals are 0 or one vote per user and item, and a replay agrees."""
    book = Book()
    operations = []
    for number, (kind, who, row, column, old) in enumerate(sequence):
        if kind == "vote":
            operations.append(cast(f"k{number}", who, row, column))
        elif kind == "undo":
            operations.append(take_back(f"k{old}", f"u{number}", who))
        else:
            operations.append(Entry(SKIP, f"s{number}", who, f"i{row}"))
    for start in range(0, len(operations), size):
        book.write(*operations[start : start + size])
    totals = {}
    for entry in book.entries:
        where = (entry.annotator, entry.item)
        totals[where] = totals.get(where, 0.0) + entry.weight
        assert totals[where] in (0.0, 1.0)
    standing = {(who, f"i{row}") for who, held in book.ledger.standing.items() for row in held}
    assert standing == {where for where, total in totals.items() if total == 1.0}
    assert [entry.id for entry in book.entries] == list(range(1, len(book.entries) + 1))
    assert len({(entry.annotator, entry.key) for entry in book.entries}) == len(book.entries)
    assert np.isclose(sum(entry.weight for entry in book.entries), len(standing))
