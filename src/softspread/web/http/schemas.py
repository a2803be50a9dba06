"""What travels: requests and answers of the API."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from softspread.web.log.accounts import LONGEST_PASSWORD
from softspread.web.log.models import LONGEST_ITEM, LONGEST_KEY, LONGEST_NAME
from softspread.web.project.service import MOST_AHEAD

MOST_OPERATIONS = 100  # in one request
MOST_ROWS = 1_000  # items in one answer

Key = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_KEY, pattern=r"^[\x21-\x7e]+$")]
ItemId = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ITEM)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Strict(BaseModel):
    """A request: unknown fields are refused, so that a typing error does not go unnoticed."""

    model_config = ConfigDict(extra="forbid")


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """How OpenAPI describes a body that is read by hand."""
    return {
        "required": True,
        "content": {"application/json": {"schema": _inlined(model.model_json_schema())}},
    }


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


class VoteIn(Strict):
    """One vote. The key is yours: send the same vote twice with the same key and it counts once."""

    kind: Literal["vote"] = "vote"
    key: Key
    item: ItemId
    label: Label
    unsure: bool = False


class UndoIn(Strict):
    """Take back one of your own votes, named by its key."""

    kind: Literal["undo"] = "undo"
    key: Key
    vote: Key


class SkipIn(Strict):
    """Let an item go by; it will not be offered to you again."""

    kind: Literal["skip"] = "skip"
    key: Key
    item: ItemId


OperationIn = Annotated[VoteIn | UndoIn | SkipIn, Field(discriminator="kind")]


class VotesIn(Strict):
    """Several votes, written together."""

    votes: Annotated[list[VoteIn], Field(min_length=1, max_length=MOST_OPERATIONS)]


class UndosIn(Strict):
    """Several undos, written together."""

    undos: Annotated[list[UndoIn], Field(min_length=1, max_length=MOST_OPERATIONS)]


class SyncBody(Strict):
    """What the vote page sends: what was done, and how many items it wants to have at hand."""

    operations: Annotated[list[OperationIn], Field(max_length=MOST_OPERATIONS)] = []
    wanted: Annotated[int, Field(ge=0, le=MOST_AHEAD)] = 5
    holding: Annotated[list[ItemId], Field(max_length=MOST_AHEAD)] = []


class OutcomeOut(BaseModel):
    """What became of an operation; accepted and repeated ones stand in the log."""

    status: Literal["accepted", "repeated", "refused"]
    id: int | None
    item: str
    reason: str


class OutcomesOut(BaseModel):
    """In the order of the request."""

    outcomes: list[OutcomeOut]


class CardOut(BaseModel):
    """An item as a page shows it."""

    row: int
    item: str
    text: str | None
    picture: bool
    hint: list[float] | None = None  # soft label, only in assisted mode


class ProgressOut(BaseModel):
    """How much one user has done."""

    voted: int
    skipped: int


class SyncOut(BaseModel):
    """Answer to the vote page."""

    outcomes: list[OutcomeOut]
    items: list[CardOut]
    progress: ProgressOut


class ProjectOut(BaseModel):
    """What is voted on."""

    title: str
    question: str
    classes: list[str]
    mode: str
    strategy: str
    overlap: int
    items: int


class SoftLabelOut(BaseModel):
    """A soft label with its evidence and intervals."""

    row: int
    item: str
    p: list[float]
    evidence: float
    lower: list[float]
    upper: list[float]
    votes: int


class SoftLabelsOut(BaseModel):
    """Soft labels as they are now; ``refined`` says whether nothing came in since the last refinement."""

    classes: list[str]
    confidence_level: float
    refined: bool
    items: list[SoftLabelOut]


class ItemsOut(BaseModel):
    """A page of items."""

    total: int
    items: list[CardOut]


class ReasonOut(BaseModel):
    """One vote behind a soft label and its share."""

    row: int
    item: str
    label: str
    annotator: str
    weight: float


class WhyOut(BaseModel):
    """A soft label and the votes behind it."""

    label: SoftLabelOut
    card: CardOut
    votes: list[ReasonOut]


class EntryOut(BaseModel):
    """One line of the vote log."""

    id: int
    kind: Literal["vote", "undo", "skip"]
    key: str
    annotator: str
    item: str
    label: str | None
    weight: float
    undoes: int | None
    created_at: float
    origin: str


class LogOut(BaseModel):
    """A page of the vote log."""

    entries: list[EntryOut]


class InviteIn(Strict):
    """Ask someone in."""

    role: Literal["admin", "annotator"] = "annotator"
    note: Annotated[str, StringConstraints(max_length=200)] = ""
    hours: Annotated[float, Field(gt=0, le=24 * 30)] = 72


class InviteOut(BaseModel):
    """The link is shown once; the database keeps only its fingerprint."""

    link: str
    expires_at: float


class LoginIn(Strict):
    """Name and password."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
    password: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PASSWORD)]


class TokenIn(Strict):
    """A name to recognise the token by."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


class TokenOut(BaseModel):
    """The token is shown once."""

    token: str


class ActiveIn(Strict):
    """Open or close an account."""

    active: bool


class PeopleOut(BaseModel):
    """Accounts, invitations, own tokens and the last notes of the audit log."""

    accounts: list[dict[str, Any]]
    invitations: list[dict[str, Any]]
    tokens: list[dict[str, Any]]
    audit: list[dict[str, Any]]


class Problem(BaseModel):
    """What went wrong and what to do."""

    detail: Any
