"""What one vote says about its item: one class, or yes and no for several classes.

    text in the log  ->  number of the answer  ->  column of each question, -1 where the answer says nothing

A project asks one question, "which class is it?", or one per class, "is it this one?", with the columns no
and yes. Whatever learns from votes asks an answer only what it says about a question, so the log, the ledger
and the writer need not know how many questions there are.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from softspread._common.types import AnyArray, IntArray
from softspread.errors import InputError
from softspread.votes.multilabel import NO
from softspread.votes.table import VoteTable

NOTHING_SAID = -1
FIRST_ROOM = 64  # distinct answers; doubled whenever it is full
BEGINNING = '{"yes":['  # of every answer about several classes
SHOWN = 20  # classes named in a message


class Choice(NamedTuple):
    """Yes and no for several classes; where ``no`` is None the project says what is meant by the others."""

    yes: Sequence[str]
    no: Sequence[str] | None = None


class Answers:
    """One class per vote: the number of an answer is the column of its class.

    Parameters
    ----------
    classes : present names, in the order of columns
    merged : classes by the names that they had before
    """

    n_questions = 1

    def __init__(self, classes: Sequence[str], merged: Mapping[str, str] | None = None) -> None:
        self.classes = list(classes)
        self._place = {name: column for column, name in enumerate(classes)}
        self._place |= {old: self._place[name] for old, name in (merged or {}).items()}

    def column_of(self, name: str) -> int:
        """The class with this name, present or earlier, or an error that names it."""
        if name not in self._place:
            shown = ", ".join(self.classes[:SHOWN])
            raise InputError(f"there is no class {name!r}; the classes are {shown}.")
        return self._place[name]

    # ---------------------------------------------------------------------------------------------- the text
    def text_of(self, said: str | Choice) -> str:
        """How the log keeps an answer; an error where it makes no sense here."""
        if isinstance(said, Choice):
            raise InputError("this project takes one class per vote: send a label, not yes and no.")
        self.column_of(said)
        return said

    def number(self, text: str | None) -> int:
        """Of an answer in the log, -1 where it names nothing that is known."""
        if text is not None and text not in self._place and text.startswith(BEGINNING):
            raise InputError(
                "the votes in this log say yes or no to several classes each; start the server with "
                "--kind multilabel, or with another --data-dir."
            )
        return NOTHING_SAID if text is None else self._place.get(text, NOTHING_SAID)

    def choice(self, number: int) -> str | Choice:
        """What an answer says, by the present names."""
        return self.classes[number]

    def suggested(self, shares: Mapping[str, float]) -> int:
        """The answer that a suggestion names."""
        return self.number(max(shares, key=lambda name: shares[name]))

    # ----------------------------------------------------------------------------------------- the questions
    def said(self, numbers: IntArray, question: int) -> IntArray:
        """The column of each answer's word on a question, -1 where it says nothing."""
        return numbers

    def about(self, votes: VoteTable, question: int) -> VoteTable:
        """The votes on one question; ``votes`` has the numbers of answers for columns."""
        return votes

    def counts(self, numbers: IntArray) -> IntArray:
        """(n_classes,) how many of some answers say yes to each class."""
        return np.bincount(numbers, minlength=len(self.classes))


class Toggles(Answers):
    """Yes, no or nothing for each class: answers are numbered as they come.

    Parameters
    ----------
    classes, merged : as for one class per vote
    rest : what an answer without a list of noes says about the other classes, "no" or "nothing"
    """

    def __init__(
        self, classes: Sequence[str], merged: Mapping[str, str] | None = None, rest: str = NO
    ) -> None:
        super().__init__(classes, merged)
        self.n_questions = len(self.classes)
        self._rest = rest
        self._known: dict[str, int] = {}  # by text
        self._distinct: dict[bytes, int] = {}
        self._columns = np.empty((FIRST_ROOM, self.n_questions), dtype=np.int8)
        self._lock = Lock()

    def text_of(self, said: str | Choice) -> str:
        """How the log keeps an answer: both lists by name, so that a class that comes later is in neither."""
        if isinstance(said, str):
            raise InputError(
                "this project takes yes or no for each of several classes: send a list yes, not a label."
            )
        yes = {self.column_of(name) for name in said.yes}
        if said.no is not None:
            no = {self.column_of(name) for name in said.no}
        else:
            no = set(range(self.n_questions)) - yes if self._rest == NO else set()
        both = [self.classes[column] for column in sorted(yes & no)]
        if both:
            raise InputError(f"an answer cannot say both yes and no to {', '.join(both[:SHOWN])}.")
        if not yes and not no:
            raise InputError("an answer must say yes or no to at least one class.")
        return _text(self._names(yes), self._names(no))

    def _names(self, columns: Collection[int]) -> list[str]:
        return [self.classes[column] for column in sorted(columns)]

    def number(self, text: str | None) -> int:
        """Of an answer in the log, -1 where it names no class that is known."""
        if text is None:
            return NOTHING_SAID
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._number_of(self._read(text))
        return found

    def _read(self, text: str) -> AnyArray:
        if not text.startswith(BEGINNING):
            raise InputError(
                "the votes in this log name one class each; start the server without --kind multilabel, or "
                "with another --data-dir."
            )
        parts = json.loads(text)
        columns = np.full(self.n_questions, NOTHING_SAID, dtype=np.int8)
        for column, names in ((0, parts["no"]), (1, parts["yes"])):
            columns[[self._place[name] for name in names if name in self._place]] = column
        return columns

    def _number_of(self, columns: AnyArray) -> int:
        if (columns == NOTHING_SAID).all():
            return NOTHING_SAID
        with self._lock:
            number = self._distinct.get(columns.tobytes())
            if number is None:
                number = len(self._distinct)
                if number == len(self._columns):  # readers keep the array that they have
                    self._columns = np.concatenate([self._columns, np.empty_like(self._columns)])
                self._columns[number] = columns
                self._distinct[columns.tobytes()] = number
            return number

    def choice(self, number: int) -> Choice:
        """What an answer says, by the present names."""
        columns = self._columns[number]
        return Choice(*(self._names(np.flatnonzero(columns == column).tolist()) for column in (1, 0)))

    def suggested(self, shares: Mapping[str, float]) -> int:
        """Yes to every class with at least one half."""
        yes = [name for name in self.classes if shares.get(name, 0.0) >= 0.5]
        return self.number(_text(yes, [name for name in self.classes if name not in yes]))

    def said(self, numbers: IntArray, question: int) -> IntArray:
        """0 for no, 1 for yes, -1 where an answer says nothing about a class."""
        columns = self._columns[numbers, question].astype(np.int64)
        return np.where(numbers < 0, NOTHING_SAID, columns)

    def about(self, votes: VoteTable, question: int) -> VoteTable:
        """The votes on one question: those that say something about it, with no and yes for columns."""
        columns = self.said(votes.columns, question)
        which = columns >= 0
        names = None if votes.annotators is None else votes.annotators[which]
        found = VoteTable(votes.rows[which], columns[which], votes.weights[which], names)
        found.repeats = votes.repeats
        return found

    def counts(self, numbers: IntArray) -> IntArray:
        """(n_classes,) how many of some answers say yes to each class."""
        return np.asarray((self._columns[numbers] == 1).sum(axis=0))


def _text(yes: Sequence[str], no: Sequence[str]) -> str:
    return json.dumps({"yes": list(yes), "no": list(no)}, ensure_ascii=False, separators=(",", ":"))
