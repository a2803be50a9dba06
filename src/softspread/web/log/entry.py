"""One line of the vote log, and what became of a request for one. Knows no database."""

from dataclasses import dataclass
from typing import Literal

VOTE, UNDO, SKIP, FLAG, BROKEN = range(5)  # kinds of entries
KIND_NAMES = {VOTE: "vote", UNDO: "undo", SKIP: "skip", FLAG: "flag", BROKEN: "broken"}
# How each kind of entry changes the number of votes
VOTES_ADDED = {VOTE: 1, UNDO: -1, SKIP: 0, FLAG: 0, BROKEN: 0}
COUNTED, SPOKEN = (VOTE, UNDO), (FLAG, BROKEN)  # kinds that change soft labels, and that only say something
LONGEST_KEY, LONGEST_NAME, LONGEST_ITEM = 64, 80, 1000  # characters of the columns
LONGEST_LABEL = 200  # characters of a class name
LONGEST_CHOSEN = 40  # characters of the word for how an item was chosen
LONGEST_NOTE = 1_000  # characters of what is said about a flagged item
IMPORTED = "import"  # origin of votes from a file, and who cast those without a name, several per item
DECIDED = "decision"  # origin of a lead's decisions, and in whose name they stand: one per item
NOBODY = (IMPORTED, DECIDED)  # names in the log that do not belong to a person


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: see `KIND_NAMES`. ``id`` and ``created_at`` are 0 until it is written.

    Items, classes and annotators stand by name, so that the log can be read without anything else.
    """

    kind: int
    key: str  # chosen by the sender: sent twice, written once
    annotator: str
    item: str = ""
    label: str | None = None  # the answer: a class, or what `answers` makes of several; None: nobody voted
    weight: float = 0.0  # negative for an undo, 0 where nobody voted
    undoes: int | None = None  # id of the vote that an undo takes back
    origin: str = "api"  # "page", "api", "import", "label-studio", "decision"
    id: int = 0
    created_at: float = 0.0  # seconds since 1970
    chosen: str | None = None  # how the item was chosen for the annotator; None: not handed out by the page
    probability: float | None = None  # of that draw, given those before it; None: not known
    shown: str | None = None  # the suggestion as JSON (see `suggestions`); None: not known, or none was made
    note: str | None = None  # what someone wrote with it
    undoes_key: str = ""  # before an undo is written: the key of the vote; the log keeps the id instead


@dataclass(frozen=True)
class Outcome:
    """The outcome of an operation; accepted and repeated ones are in the log."""

    status: Literal["accepted", "repeated", "refused"]
    id: int | None = None
    item: str = ""
    reason: str = ""
