"""A Label Studio project that uses this server as its model.

    labelling setup  ->  names of its tags         task     ->  row of an item, or counted as unmatched
    annotations      ->  votes, skips and undos    our items ->  the project's own tasks, with predictions

Nothing here knows HTTP. A part of a message that makes no sense is passed over.
"""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from softspread._common.columns import ITEM_NAMES
from softspread.errors import InputError
from softspread.io.label_studio import LabelStudioNames
from softspread.web.log.answers import Choice
from softspread.web.log.entry import Entry
from softspread.web.project.service import Service

ORIGIN, MARK = (
    "label-studio",
    "ls:",
)  # of the votes; of their annotators, as no account has a colon in its name
FACT = "label studio"
LONGEST_VALUE = 2_000  # characters of a data field that could name an item
LONGEST_NUMBER = 24  # characters of an annotation's number and of its time in a key
AT_ONCE = 400  # keys looked for by one statement
MOST_REMEMBERED = 100_000  # tasks
ID_FIELD = "softspread_item"  # of the tasks that we export
ID_FIELDS = (ID_FIELD, *ITEM_NAMES)
CREATED = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED")
UPDATED = "ANNOTATION_UPDATED"
DELETED = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
UPLOAD = re.compile(r"/data/upload/\d+/[0-9a-f]{8}-([^/]+)")  # how Label Studio stores an uploaded file
LOCAL_FILES = "/data/local-files"  # ?d=path below a folder of Label Studio's machine
TAG = re.compile(r"<(\w+)\b([^>]*)>")
ATTRIBUTE = re.compile(r"""\b(name|toName|value)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True, slots=True)
class Setup:
    """The project's names of tags and fields."""

    from_name: str = "label"  # the Choices tag
    to_name: str = "item"  # the tag that shows the item ...
    field: str = "item"  # ... and the field of a task's data that it shows


def setup_of(config: str) -> Setup:
    """The names in a labelling setup; read as text, never as XML.

    Examples
    --------
    >>> setup_of('<View><Image name="pic" value="$url"/><Choices name="kind" toName="pic"/></View>')
    Setup(from_name='kind', to_name='pic', field='url')
    """
    tags = [(tag, _attributes(text)) for tag, text in TAG.findall(config)]
    choices = next((found for tag, found in tags if tag == "Choices"), {})
    usual = Setup()
    to_name = choices.get("toName", usual.to_name)
    shows = next((found.get("value", "") for _, found in tags if found.get("name") == to_name), "")
    field = shows[1:] if shows.startswith("$") and len(shows) > 1 else usual.field
    return Setup(choices.get("name", usual.from_name), to_name, field)


def _attributes(text: str) -> dict[str, str]:
    return {name: first or second for name, first, second in ATTRIBUTE.findall(text)}


class LabelStudio:
    """State of the project that sends tasks and annotations. Safe to use from any thread."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._setup = Setup(**(service.store.fact(FACT) or {}))
        self._files: dict[str, int | None] = {}  # stored file name -> row, None: several items
        self._named = 0  # items that are in it
        self._shown: dict[int, str] = {}  # row -> what the project's task shows
        self._matched: set[str] = set()  # numbers of tasks
        self._unmatched: dict[str, str] = {}  # number of a task -> what it shows
        self._lock = threading.Lock()

    # ------------------------------------------------------------------------------------------------- names
    def learn_setup(self, config: Any) -> None:
        """Remember the names of a labelling setup, also after a restart."""
        if not isinstance(config, str) or not config:
            return
        with self._lock:
            setup = setup_of(config)
            if setup != self._setup:
                self._service.store.set_fact(FACT, asdict(setup))
                self._setup = setup

    @property
    def names(self) -> LabelStudioNames:
        """How exported tasks must look for the project to take them."""
        ids = self._service.items.ids
        with self._lock:
            shown = {str(ids[row]): value for row, value in self._shown.items()}
            setup = self._setup
        return LabelStudioNames(setup.field, setup.from_name, setup.to_name, shown, ID_FIELD)

    @property
    def setup(self) -> Setup:
        """The names in use."""
        return self._setup

    # ------------------------------------------------------------------------------------------------- tasks
    def row_of(self, task: Any) -> int | None:
        """Which of our items a task is about; one that is about none is counted."""
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict):
            return None
        named = [data[name] for name in ID_FIELDS if name in data]
        values = [str(value) for value in [*named, *data.values()] if isinstance(value, int | str)]
        values = [value for value in values if 0 < len(value) <= LONGEST_VALUE]
        found = (row for value in values if (row := self._row_named(value)) is not None)
        row = next(found, None)
        self._remember(str(task.get("id")), row, data, values)
        return row

    def _row_named(self, value: str) -> int | None:
        for candidate in candidates(value):
            row = self._service.items.row_of(candidate)
            if row is not None:
                return row
        upload = UPLOAD.search(unquote(urlsplit(value).path))
        return None if upload is None else self._by_file_name(upload[1])

    def _by_file_name(self, stored: str) -> int | None:
        ids = self._service.items.ids
        if self._named < len(ids):  # more may have been added
            files: dict[str, int | None] = {}
            for row, item in enumerate(ids.tolist()):
                name = stored_name(PurePosixPath(item).name)
                files[name] = None if name in files else row
            self._files, self._named = files, len(ids)
        return self._files.get(stored_name(stored))

    def _remember(self, number: str, row: int | None, data: Mapping[str, Any], values: Sequence[str]) -> None:
        with self._lock:
            if row is None:
                if len(self._unmatched) < MOST_REMEMBERED:
                    self._unmatched[number] = values[0] if values else ""
                return
            self._unmatched.pop(number, None)
            if len(self._matched) < MOST_REMEMBERED:
                self._matched.add(number)
                value = data.get(self._setup.field)
                if isinstance(value, str):
                    self._shown[row] = value

    def seen(self) -> dict[str, Any] | None:
        """Tasks seen since the start: how many are items of ours, how many are not, and one of those."""
        with self._lock:
            if not self._matched and not self._unmatched:
                return None
            example = next(iter(self._unmatched.values()), None)
            return {"matched": len(self._matched), "unmatched": len(self._unmatched), "example": example}

    # -------------------------------------------------------------------------------------------- annotations
    def operations(
        self, action: str, tasks: Any, annotations: Any, repeated: bool = True
    ) -> tuple[list[Entry], list[str]]:
        """Entries that an event adds to the log, and reasons for its other parts.

        Parameters
        ----------
        tasks, annotations : one of each or a list, as the event has them; of deleted ones only the number
        repeated : with those that the log has already, which it will answer
        """
        found = [one for one in _listed(annotations) if isinstance(one.get("id"), int | str)]
        if action in DELETED:
            return list(self._taken_back(found)), []
        if action not in (*CREATED, UPDATED):
            return [], []
        known = self._written(found)
        rows = {task.get("id"): self.row_of(task) for task in _listed(tasks)}
        only = next(iter(rows.values())) if len(rows) == 1 else None
        made: list[Entry] = []
        refused: list[str] = []
        standing: dict[tuple[str, int], str] = {}  # keys of the votes that this event brings
        for annotation in found:
            row, key = rows.get(annotation.get("task"), only), _key(annotation)
            if key in known:
                made += [known[key]] * repeated
                continue
            if row is None:
                continue
            try:
                made += self._said(annotation, row, standing)
            except InputError as error:
                refused.append(str(error))
        return made, refused

    def annotated(self, tasks: Sequence[Mapping[str, Any]]) -> list[Entry]:
        """Entries from annotations that come with tasks: those made before the connection caused no event."""
        annotations = [one for task in tasks for one in _listed(task.get("annotations"))]
        return self.operations(CREATED[1], tasks, annotations, repeated=False)[0]

    def _taken_back(self, annotations: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
        bases = {_base(annotation) for annotation in annotations}
        people = [name for name in self._service.history.annotators if name.startswith(MARK)]
        start = next(iter(bases)) if len(bases) == 1 else "ls-"
        for who, key in self._service.store.keys_starting(people, start):
            if f"{key.rpartition('-')[0]}-" in bases:
                yield self._undo(who, key)

    def _said(
        self, annotation: Mapping[str, Any], row: int, standing: dict[tuple[str, int], str]
    ) -> Iterator[Entry]:
        """Entries for one annotation as it is now, which replace its earlier ones."""
        service, (who, key) = self._service, _key(annotation)
        versions = [old for _, old in service.store.keys_starting([who], _base(annotation))]
        item = str(service.items.ids[row])
        said = answer_of(annotation, self._setup.from_name, several=service.settings.several)
        cancelled = bool(annotation.get("was_cancelled"))
        vote = None if said is None or cancelled else service.vote(who, item, said, key, origin=ORIGIN)
        before = standing.pop((who, row), None) or self._key_of_vote(who, row)
        for old in dict.fromkeys([*versions, *([before] if before and vote else [])]):
            yield self._undo(who, old)
        if vote is not None:
            standing[who, row] = key
            yield vote
        elif cancelled:
            yield service.skip(who, item, key, origin=ORIGIN)

    def _written(self, annotations: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Entry]:
        """Of these annotations those that the log has in exactly this form, taken back since or not."""
        keys = [_key(annotation) for annotation in annotations]
        with self._service.store.reading() as connection:
            parts = (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))
            found = [self._service.store.find(connection, part) for part in parts]
        return {key: entry for part in found for key, entry in part.items()}

    def _key_of_vote(self, who: str, row: int) -> str | None:
        """Of someone's vote that stands on an item, such as one of an annotation whose end we missed."""
        number = self._service.ledger.seen_by(who)[0].get(row)
        return None if number is None else self._service.store.entries(number - 1, 1)[0].key

    def _undo(self, who: str, key: str) -> Entry:
        return self._service.undo(who, key, f"{key}-undo", origin=ORIGIN)


def candidates(value: str) -> Iterator[str]:
    """Possible ids of the item that a field shows: the value, its path, every end of that path.

    Examples
    --------
    >>> list(candidates("/data/local-files/?d=pets/cat.png"))
    ['/data/local-files/?d=pets/cat.png', 'pets/cat.png', 'cat.png']
    """
    yield value
    path = value
    if "://" in value or value.startswith("/"):
        address = urlsplit(value)
        path = unquote(address.path)
        if path.rstrip("/").endswith(LOCAL_FILES):
            path = parse_qs(address.query).get("d", [path])[0]
    if path != value:
        yield path
    parts = path.strip("/").split("/")
    for start in range(len(parts)):
        if (end := "/".join(parts[start:])) not in (value, path):
            yield end


def stored_name(name: str) -> str:
    """A file's name as Label Studio keeps it: spaces become underscores, odd letters go.

    Examples
    --------
    >>> stored_name("my cat (1).png")
    'my_cat_1.png'
    """
    return re.sub(r"[^-\w.]", "", name.strip().replace(" ", "_"))


def annotator_of(annotation: Mapping[str, Any]) -> str:
    """A name for the log; the colon distinguishes it from our own accounts."""
    who = annotation.get("completed_by", "unknown")
    if isinstance(who, dict):
        who = who.get("id", who.get("email", "unknown"))
    return f"{MARK}{str(who).encode('ascii', 'backslashreplace').decode()[:60]}"


def answer_of(annotation: Mapping[str, Any], from_name: str, *, several: bool) -> str | Choice | None:
    """What an annotation says; ``several``: any number of choices is an answer, also none.

    Otherwise the one choice, or None where there is none or more than one.

    Where the setup has several sets of choices, only those called ``from_name`` count.
    """
    given = annotation.get("result")
    results = [one for one in (given if isinstance(given, list) else []) if isinstance(one, dict)]
    ours = [one for one in results if one.get("from_name") == from_name] or results
    values = [one["value"] for one in ours if isinstance(one.get("value"), dict)]
    chosen = [name for value in values for name in (value.get("choices") or [])]
    if several:
        return Choice(list(dict.fromkeys(map(str, chosen))))
    return str(chosen[0]) if len(chosen) == 1 else None


def _key(annotation: Mapping[str, Any]) -> tuple[str, str]:
    """The annotator, and the key of this version: a changed annotation gets another one."""
    stamp = str(annotation.get("updated_at") or annotation.get("created_at") or "")
    return annotator_of(annotation), _base(annotation) + re.sub("[^0-9]", "", stamp)[:LONGEST_NUMBER]


def _base(annotation: Mapping[str, Any]) -> str:
    """Prefix of the keys of an annotation's votes."""
    return f"ls-{str(annotation['id'])[:LONGEST_NUMBER]}-"


def _listed(given: Any) -> list[dict[str, Any]]:
    """The objects among one or several."""
    return [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, dict)]
