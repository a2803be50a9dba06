"""One line of the vote log, and what became of a request for one. Knows no database."""

from dataclasses import dataclass
from typing import Literal

VOTE, UNDO, SKIP = 0, 1, 2  # kinds of entries
KIND_NAMES = {VOTE: "vote", UNDO: "undo", SKIP: "skip"}
VOTES_ADDED = {VOTE: 1, UNDO: -1, SKIP: 0}
LONGEST_KEY, LONGEST_NAME, LONGEST_ITEM, LONGEST_LABEL = 64, 80, 1000, 200  # characters of the columns
LONGEST_CHOSEN = 40
IMPORTED = "import"  # origin of votes from a file, and who cast those without a name, several per item


@dataclass(frozen=True, slots=True)
class Entry:
    """A vote, an undo or a skip; ``id`` and ``created_at`` are 0 until it is written.

    Items, classes and annotators stand by name, so that the log can be read without anything else.
    """

    kind: int
    key: str  # chosen by the sender: sent twice, written once
    annotator: str
    item: str = ""
    label: str | None = None  # None for a skip
    weight: float = 0.0  # negative for an undo, 0 for a skip
    undoes: int | None = None  # id of the vote that an undo takes back
    origin: str = "api"  # "page", "api", "import", "label-studio"
    id: int = 0
    created_at: float = 0.0  # seconds since 1970
    chosen: str | None = None  # how the item was chosen for the annotator; None: not handed out by the page
    probability: float | None = None  # of that draw, given those before it; None: not known
    undoes_key: str = ""  # before an undo is written: the key of the vote; the log keeps the id instead


@dataclass(frozen=True)
class Outcome:
    """What became of an operation; accepted and repeated ones stand in the log."""

    status: Literal["accepted", "repeated", "refused"]
    id: int | None = None
    item: str = ""
    reason: str = ""
