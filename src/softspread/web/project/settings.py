"""How one voting project is set up."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from softspread._common import validation
from softspread._common.kinds import KINDS, MULTILABEL, SINGLE
from softspread.errors import InputError
from softspread.queries.registry import STRATEGIES
from softspread.tuning.candidates import alpha_candidates
from softspread.votes.keys import UNSURE_WEIGHT
from softspread.votes.multilabel import NO, REST
from softspread.web.log.answers import Answers, Choice, Toggles
from softspread.web.log.entry import LONGEST_LABEL
from softspread.web.project.classes import ClassNote

MODES = ("blind", "assisted")
RUNNING, PAUSED, FINISHED = STATUSES = ("running", "paused", "finished")
LONGEST_QUESTION, LONGEST_GUIDELINES = 500, 50_000  # characters
LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")
MOST_CLASSES = 1000  # a page of buttons beyond this helps nobody
DATABASE_FILE = "votes.sqlite"
GRAPH_FILE = "graph.npz"


@dataclass(frozen=True, slots=True)
class Settings:
    """One project. A lead may change some of it while the server runs: see `changes`."""

    classes: tuple[str, ...]
    data_dir: Path
    database_url: str | None = None  # None: SQLite in ``data_dir``
    kind: str = SINGLE  # what a vote says: one class, one of several in order, or yes and no for each
    rest: str = NO  # what a class that was left off means where a vote may name several
    title: str = "softspread"
    question: str = "Which class is it?"
    guidelines: str = ""  # Markdown, for the people who vote
    status: str = RUNNING  # "paused" hands out nothing, "finished" takes no votes either
    auth: bool = True
    host: str = "127.0.0.1"
    port: int = 8000
    secure_cookies: bool = False  # True behind HTTPS
    proxies: tuple[str, ...] = ()  # addresses or networks whose X-Forwarded-For and -Proto are believed
    mode: str = "blind"  # "assisted" shows the soft label before the vote, which biases people
    withheld_share: float = 0.2  # of the items in assisted mode that come without their suggestion
    strategy: str = "uncertainty"
    overlap: int = 3  # an item is handed out until this many users have voted on it
    merged: tuple[tuple[str, str], ...] = ()  # (earlier name, present class) of renamed and merged classes
    class_notes: tuple[ClassNote, ...] = ()  # what people are told about classes
    left_out: tuple[str, ...] = ()  # people whose votes do not count
    gold: tuple[tuple[str, str | Choice], ...] = ()  # (item, class, or classes) with known answers
    gold_share: float = 0.05  # of the items that a user gets
    uniform_share: float = 0.15  # of the items chosen that are drawn uniformly: they speak for all items
    unsure_weight: float = UNSURE_WEIGHT
    lease_seconds: float = 120.0  # then an item of someone who left goes to others
    alpha: float | str = "auto"  # "auto": chosen by held-out votes, again as they come in
    n_neighbors: int = 20
    n_jobs: int | None = 1  # live pushes are local; more threads take processor time from requests
    seed: int | None = None  # of the neighbour search and of the choice of items

    def __post_init__(self) -> None:
        validation.choice("kind", self.kind, KINDS)
        validation.choice("rest", self.rest, REST)
        check_classes(self.classes)
        for note in self.notes.values():
            note.check()
        validation.choice("mode", self.mode, MODES)
        validation.choice("status", self.status, STATUSES)
        _check_text("question", self.question, LONGEST_QUESTION)
        _check_text("guidelines", self.guidelines, LONGEST_GUIDELINES)
        _check_text("title", self.title, LONGEST_QUESTION)
        STRATEGIES.check(self.strategy)
        validation.count("overlap", self.overlap, smallest=1)
        alpha_candidates(self.alpha)
        validation.count("n_neighbors", self.n_neighbors, smallest=1)
        validation.positive("lease_seconds", self.lease_seconds)
        if not 0 < self.unsure_weight < 1:
            raise InputError(
                f"unsure_weight must lie between 0 and 1, got {self.unsure_weight!r}; 0.5 is usual."
            )
        if not 0 <= self.uniform_share <= 1:
            raise InputError(
                f"uniform_share must lie between 0 and 1, got {self.uniform_share!r}; 0.15 is usual. With 0 "
                "nobody can tell how good the soft labels are."
            )
        if not 0 <= self.gold_share < 1:
            raise InputError(f"gold_share must be at least 0 and below 1, got {self.gold_share!r}; try 0.05.")
        if not self.auth and self.host not in LOCAL_HOSTS:
            raise InputError(
                "without accounts anyone who reaches the page can vote, so --no-auth listens on this machine "
                f"only, got host {self.host!r}. Leave out --host, or leave out --no-auth."
            )

    @property
    def several(self) -> bool:
        """Whether an item may have several classes."""
        return self.kind == MULTILABEL

    def answers(self) -> Answers:
        """How the log's answers are read."""
        merged = dict(self.merged)
        return Toggles(self.classes, merged, self.rest) if self.several else Answers(self.classes, merged)

    @property
    def notes(self) -> dict[str, ClassNote]:
        """Notes about classes, by name; not every class has one."""
        return {note[0]: ClassNote(*note) for note in self.class_notes}  # plain tuples, from the database

    def note_of(self, name: str) -> ClassNote:
        """What voters are told about one class."""
        return self.notes.get(name, ClassNote(name))

    @property
    def url(self) -> str:
        """SQLAlchemy's address of the database."""
        return database_address(self.database_url, self.data_dir)


def database_address(url: str | None, data_dir: Path) -> str:
    """SQLAlchemy's address: as given, or SQLite in the data folder."""
    return url or f"sqlite:///{(data_dir / DATABASE_FILE).resolve()}"


def _check_text(name: str, text: str, longest: int) -> None:
    if len(text) > longest or "\0" in text:
        raise InputError(
            f"{name} may have at most {longest:,} characters and no zero byte, got {len(text):,} characters."
        )


def check_classes(classes: Sequence[str]) -> None:
    """Refuse class names that a page cannot show or a log cannot distinguish."""
    if not 2 <= len(classes) <= MOST_CLASSES:
        raise InputError(f"a vote needs 2 to {MOST_CLASSES} classes, got {len(classes)}: --classes cat,dog")
    if len(set(classes)) < len(classes):
        raise InputError(f"class names must differ, got {', '.join(classes)}.")
    for name in classes:
        if not name.strip() or len(name) > LONGEST_LABEL or not name.isprintable():
            raise InputError(f"a class name must be 1 to {LONGEST_LABEL} printable characters, got {name!r}.")
