"""Requests and responses of the API, apart from the project's own dataclasses."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from softspread.web.log.answers import Choice
from softspread.web.log.entry import (
    LONGEST_ITEM,
    LONGEST_KEY,
    LONGEST_LABEL,
    LONGEST_NAME,
    LONGEST_NOTE,
    Outcome,
)
from softspread.web.project.classes import LONGEST_DESCRIPTION, MOST_EXAMPLES
from softspread.web.project.service import MOST_AHEAD, Card, Progress
from softspread.web.project.settings import LONGEST_GUIDELINES, LONGEST_QUESTION, MOST_CLASSES

MOST_OPERATIONS = 100  # in one request
MOST_ROWS = 1_000  # items in one answer
MOST_OVERLAP = 1_000  # people per item

Share = Annotated[float, Field(ge=0, le=1)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_KEY, pattern=r"^[\x21-\x7e]+$")]
ItemId = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ITEM)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_LABEL)]
Labels = Annotated[list[Label], Field(max_length=MOST_CLASSES)]
Note = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NOTE, strip_whitespace=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


class Strict(BaseModel):
    """A request: unknown fields are refused, so that a typing error does not go unnoticed."""

    model_config = ConfigDict(extra="forbid")


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """How OpenAPI describes a body that is read by hand."""
    schema = _inlined(model.model_json_schema())
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its parts in place of references."""
    parts = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, dict):
            if "$ref" in node:
                return resolve(parts[node["$ref"].rsplit("/", 1)[1]])
            return {name: resolve(value) for name, value in node.items() if name != "discriminator"}
        return [resolve(value) for value in node] if isinstance(node, list) else node

    found: dict[str, Any] = resolve(schema)
    return found


def _check_one_answer(answer: "VoteIn") -> "VoteIn":
    if (answer.label is None) == (answer.yes is None and answer.no is None):
        raise ValueError("an answer is a label, or yes (and no) where an item may have several classes")
    return answer


# --------------------------------------------------------------------------------------------------- requests
class VoteIn(Strict):
    """One vote. The key is yours: send the same vote twice with the same key and it counts once.

    Of kind "multilabel" ``yes`` lists the classes that the item has, ``no`` those that it has not; without
    ``no`` the project says what is meant by the others. ``shown``: the suggestion that stood beside the
    item, shares by class.
    """

    kind: Literal["vote"] = "vote"
    key: Key
    item: ItemId
    label: Label | None = None
    yes: Labels | None = None
    no: Labels | None = None
    unsure: bool = False
    shown: Annotated[dict[Label, Share], Field(max_length=MOST_CLASSES)] | None = None

    _one_answer = model_validator(mode="after")(_check_one_answer)

    @property
    def said(self) -> str | Choice:
        """The answer: a class, or yes and no."""
        return Choice(self.yes or [], self.no) if self.label is None else self.label


class UndoIn(Strict):
    """Take back one of your own votes, named by its key."""

    kind: Literal["undo"] = "undo"
    key: Key
    vote: Key


class SkipIn(Strict):
    """Skip an item; it will not be offered to you again."""

    kind: Literal["skip"] = "skip"
    key: Key
    item: ItemId


class FlagIn(Strict):
    """A word to the lead about an item; it stays open to votes, yours too."""

    kind: Literal["flag"] = "flag"
    key: Key
    item: ItemId
    note: Note


class BrokenIn(Strict):
    """A report that the page cannot show an item."""

    kind: Literal["broken"] = "broken"
    key: Key
    item: ItemId


AnyOperation = VoteIn | UndoIn | SkipIn | FlagIn | BrokenIn
OperationIn = Annotated[AnyOperation, Field(discriminator="kind")]


class VotesIn(Strict):
    """Several votes, written together."""

    votes: Annotated[list[VoteIn], Field(min_length=1, max_length=MOST_OPERATIONS)]


class UndosIn(Strict):
    """Several undos, written together."""

    undos: Annotated[list[UndoIn], Field(min_length=1, max_length=MOST_OPERATIONS)]


class SyncBody(Strict):
    """A request of the vote page: its operations, and how many items it wants in reserve."""

    operations: Annotated[list[OperationIn], Field(max_length=MOST_OPERATIONS)] = []
    wanted: Annotated[int, Field(ge=0, le=MOST_AHEAD)] = 5
    holding: Annotated[list[ItemId], Field(max_length=MOST_AHEAD)] = []


class InviteIn(Strict):
    """Invite a new user."""

    role: Literal["admin", "annotator"] = "annotator"
    note: Annotated[str, StringConstraints(max_length=200)] = ""
    hours: Annotated[float, Field(gt=0, le=24 * 30)] = 72


class TokenIn(Strict):
    """A name to recognise the token by. One for Label Studio stands in an address and opens nothing else."""

    name: Name
    purpose: Literal["programs", "label-studio"] = "programs"


class AccountChange(Strict):
    """Open or close an account, or change what it may do; what is left out stays."""

    active: bool | None = None
    role: Literal["admin", "annotator"] | None = None


class PasswordIn(Strict):
    """Your present password and the new one."""

    present: Annotated[str, StringConstraints(max_length=1_000)]
    new: Annotated[str, StringConstraints(max_length=1_000)]


class DecisionIn(Strict):
    """A lead's decision about an item: a label, or yes and no as in a vote; neither takes it back."""

    item: ItemId
    label: Label | None = None
    yes: Labels | None = None
    no: Labels | None = None

    @property
    def said(self) -> str | Choice | None:
        """The answer, or None."""
        if self.label is not None or (self.yes is None and self.no is None):
            return self.label
        return Choice(self.yes or [], self.no)


class ItemIn(Strict):
    """An item."""

    item: ItemId


class ClassIn(Strict):
    """A class after the change; ``was`` lists the present classes that are merged into it.

    Colour, description and examples (ids of items) are what people see; what is left out stays.
    """

    name: Label
    was: Annotated[list[Label], Field(max_length=MOST_CLASSES)] = []
    colour: Annotated[str, StringConstraints(pattern="^(#[0-9a-f]{6})?$")] | None = None
    description: Annotated[str, StringConstraints(max_length=LONGEST_DESCRIPTION)] | None = None
    examples: Annotated[list[ItemId], Field(max_length=MOST_EXAMPLES)] | None = None


class ClassesIn(Strict):
    """All classes in their order. ``revision``: refuse if there were changes since."""

    classes: Annotated[list[ClassIn], Field(min_length=2, max_length=MOST_CLASSES)]
    revision: Annotated[int, Field(ge=0, le=2**53)] | None = None


class ProjectChange(Strict):
    """Settings to change; those that are left out stay. ``revision``: refuse if there were changes since."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=200)] = ""
    question: Annotated[str, StringConstraints(max_length=LONGEST_QUESTION)] = ""
    guidelines: Annotated[str, StringConstraints(max_length=LONGEST_GUIDELINES)] = ""
    status: Literal["running", "paused", "finished"] = "running"
    mode: Literal["blind", "assisted"] = "blind"
    strategy: Annotated[str, StringConstraints(max_length=200)] = ""
    overlap: Annotated[int, Field(ge=1, le=MOST_OVERLAP)] = 1
    uniform_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    gold_share: Annotated[float, Field(ge=0, lt=1)] = 0.0
    left_out: Annotated[list[Name], Field(max_length=MOST_ROWS)] = []
    revision: Annotated[int, Field(ge=0, le=2**53)] | None = None


# ---------------------------------------------------------------------------------------------------- answers
class OutcomesOut(BaseModel):
    """In the order of the request."""

    outcomes: list[Outcome]


class SyncOut(OutcomesOut):
    """Answer to the vote page."""

    items: list[Card]
    progress: Progress
    status: str
    revision: int


class ClassNoteOut(BaseModel):
    """What voters are told about a class."""

    name: str
    colour: str
    description: str
    examples: list[str]


class ProjectOut(BaseModel):
    """The project: its question, classes and guidelines."""

    title: str
    question: str
    kind: str
    rest: str
    classes: list[str]
    class_notes: list[ClassNoteOut]
    mode: str
    strategy: str
    overlap: int
    items: int
    guidelines: str
    status: str
    uniform_share: float
    gold_share: float
    left_out: list[str]
    preparing: bool
    revision: int


class SoftLabelOut(BaseModel):
    """A soft label with its evidence and intervals."""

    row: int
    item: str
    p: list[float]
    evidence: float
    lower: list[float]
    upper: list[float]
    votes: int
    verdict: str


class SoftLabelsOut(BaseModel):
    """Soft labels as they are now; ``refined`` says whether nothing came in since the last refinement."""

    classes: list[str]
    confidence_level: float
    refined: bool
    items: list[SoftLabelOut]


class ItemsOut(BaseModel):
    """A page of items."""

    total: int
    items: list[Card]


class ReasonOut(BaseModel):
    """One part of a soft label: a vote, or another source."""

    source: str
    row: int | None
    item: str | None
    label: str
    annotator: str | None
    weight: float


class WhyOut(BaseModel):
    """A soft label and the votes behind it."""

    label: SoftLabelOut
    card: Card
    votes: list[ReasonOut]


class EntryOut(BaseModel):
    """One line of the vote log; ``label`` is the class, or of several classes JSON with yes and no."""

    id: int
    kind: Literal["vote", "undo", "skip", "flag", "broken"]
    key: str
    annotator: str
    item: str
    label: str | None
    weight: float
    undoes: int | None
    created_at: float
    origin: str
    note: str | None


class LogOut(BaseModel):
    """A page of the vote log."""

    entries: list[EntryOut]


class InviteOut(BaseModel):
    """The link is shown once; the database keeps only its hash."""

    link: str
    expires_at: float


class TokenOut(BaseModel):
    """The token is shown once."""

    token: str
    address: str | None = None  # for Label Studio: of its model


class PeopleOut(BaseModel):
    """Accounts, invitations, own tokens and the last lines of the audit log."""

    accounts: list[dict[str, Any]]
    invitations: list[dict[str, Any]]
    tokens: list[dict[str, Any]]
    audit: list[dict[str, Any]]


class Problem(BaseModel):
    """An error: what went wrong and what to do."""

    detail: Any
