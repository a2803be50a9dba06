"""The voting project as an object, without HTTP: next item, record a vote, read soft labels.

log -> history, ledger -> live state -> queue, analyst
             ^ writer: the only one who adds
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.digests import digest_array
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError, SoftspreadError, StoreError
from softspread.estimators.labeler import REFIT, RefitRule
from softspread.graph.graph import Graph
from softspread.votes.reading import Names
from softspread.votes.table import VoteTable
from softspread.web.log.answers import Choice
from softspread.web.log.clock import SteadyClock
from softspread.web.log.entry import (
    BROKEN,
    DECIDED,
    FLAG,
    IMPORTED,
    LONGEST_KEY,
    LONGEST_NOTE,
    NOBODY,
    SKIP,
    SPOKEN,
    UNDO,
    VOTE,
    VOTES_ADDED,
    Entry,
    Outcome,
)
from softspread.web.log.history import History
from softspread.web.log.ledger import Ledger
from softspread.web.log.store import Store
from softspread.web.log.suggestions import written
from softspread.web.log.writer import Writer
from softspread.web.project.additions import Contents, keep, with_additions
from softspread.web.project.analyst import Analyst, latency, records, timeline
from softspread.web.project.changes import LEARNED, Changes, ConflictError, read_changes, write_changes
from softspread.web.project.classes import WantedClass, regrouped, rename
from softspread.web.project.in_words import learned_from
from softspread.web.project.item_map import ItemMap, load_or_map
from softspread.web.project.items import ItemSource
from softspread.web.project.learner import CONFIDENCE_LEVEL, Learner
from softspread.web.project.live_state import LiveState
from softspread.web.project.queue import Queue, QueueRule
from softspread.web.project.review import (
    agreement,
    answer_in_words,
    decisions,
    listed,
    people,
    people_votes,
    probability_of,
)
from softspread.web.project.saved_graph import load_or_build
from softspread.web.project.settings import FINISHED, GRAPH_FILE, RUNNING, Settings
from softspread.web.project.snapshots import load_learned, save_learned
from softspread.web.project.thread_priority import lower_priority

MAP_FILE = "map.npz"
MOST_AHEAD = 20  # items that one user may hold
MOST_NOTES = 200  # shown at once
DECISION_WEIGHT = 5.0  # votes: more than the people who usually look at one item
IMPORTED_AT_ONCE = 200  # votes: a commit each
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Card:
    """An item as a page shows it."""

    row: int
    item: str
    text: str | None
    picture: bool
    hint: list[float] | None = None  # soft label, only in assisted mode
    media: str | None = None  # "audio" or "video"


@dataclass(frozen=True)
class Progress:
    """How much a user has done."""

    voted: int
    skipped: int
    share: float = 0.0  # of the votes that the project wants, by everybody


class Service:
    """One project. :meth:`start` before use, :meth:`stop` after.

    Parameters
    ----------
    X : (n, d) embeddings of the items
    graph : over these items, with their features; None = built or loaded
    prior : (n, n_classes) probabilities from elsewhere, such as a model's; None = none
    features : (n, f) unreduced features for further classifiers; None = none
    """

    def __init__(
        self,
        settings: Settings,
        items: ItemSource,
        X: AnyArray,
        *,
        graph: Graph | None = None,
        prior: AnyArray | None = None,
        features: AnyArray | None = None,
        clock: Callable[[], float] = time.time,
        refit: RefitRule = REFIT,
    ) -> None:
        self.settings, self._started_with, self._refit = settings, settings, refit
        self.changes = Changes({})
        self._changing = threading.Lock()  # one change after the other
        self._present = self._wanted = with_additions(settings.data_dir, Contents(items, X))
        self.items, self._features = self._present.items, features
        self._graph = graph if len(self.items) == len(items) else None
        self._prior: FloatArray | None = None
        if prior is not None:
            n, n_classes = len(items), len(settings.classes)
            one = validation.prior_per_class(prior, n_classes, n) if settings.several else None
            self._prior = validation.prior(prior, n, n_classes) if one is None else one
        self._take_settings(settings)
        self.page_revision = 0  # of what an open vote page shows
        self._prepared = threading.Condition()
        self._preparing, self._stopping = False, False
        self._preparer = threading.Thread(
            target=self._prepare_forever, name="softspread-prepare", daemon=True
        )
        self.clock = SteadyClock(clock)
        self.gold: dict[int, int] = {}  # number of the right answer by row
        self._check_gold()
        self.map: ItemMap | None = None
        self.version = 0  # counts what a dashboard would notice
        self._listeners: list[Callable[[], None]] = []
        self.started_from = ""  # "log" or "snapshot"
        self._mapper = threading.Thread(target=self._draw_map, name="softspread-map", daemon=True)

    def _check_gold(self) -> None:
        answers = self.settings.answers()
        for item, said in self.settings.gold:
            try:
                self.row_of(item)
                answers.text_of(said)
            except InputError as error:
                raise InputError(f"gold answers: {error}") from error

    def _read_gold(self) -> dict[int, int]:
        answers = self.history.answers
        gold = self.settings.gold
        return {self.row_of(item): answers.number(answers.text_of(said)) for item, said in gold}

    # ------------------------------------------------------------------------------------------ start and end
    def start(self) -> None:
        """Open the log, bring the state up to it, begin to answer."""
        self.settings.data_dir.mkdir(parents=True, exist_ok=True)
        self.store = Store(self.settings.url)
        self.store.start()
        try:
            self.changes = read_changes(self.store)
            settings = self.changes.applied_to(self._started_with)
            self._take_settings(settings)
            self.page_revision = self.changes.revision
            self.history = self._read_log(settings, self.items)
            self.graph = self._graph or self._graph_of(self._present)
            self.learner = self._new_learner(settings, self.history, self.items, self.graph)
            self.state = LiveState(self.learner, self.history, self.items.ids, refit=self._refit)
            self.clock.not_before(self.history.last_time)
            self.ledger = Ledger(self._place_of)
            self.ledger.read(self.history)
            learned = load_learned(settings.data_dir, self.learner)
            self.started_from = "log" if learned is None else "snapshot"
            self.state.begin(learned)
            if learned is None:
                self._save_learned()
            self.queue = self._new_queue(settings, self.history, self.state)
            self._follow_decisions()
            self.queue.start()
            self.analyst = Analyst(self.state, self.history, self.gold, self._changed, self._save_learned)
            self.writer = Writer(self.store, self.history, self.ledger, self.clock, self._on_growth)
            self.writer.start()
            self.analyst.start()
            self._mapper.start()
            self._preparer.start()
        except BaseException:
            self.store.close()
            raise

    def stop(self) -> None:
        """Write what waits, save the state, close the database."""
        with self._prepared:
            self._stopping = True
            self._prepared.notify_all()
        self._preparer.join()
        self.writer.stop()
        self.queue.stop()
        self.state.stop()
        self.analyst.stop()
        self.store.close()

    # ------------------------------------------------------------------------------------------------ changes
    def change(self, values: dict[str, Any], revision: int | None = None) -> None:
        """Change settings while people vote; they are in the database when this returns.

        Parameters
        ----------
        values : fields of the settings, those of `changes.CHANGEABLE`
        revision : the revision that the sender has seen; refused if there were changes since. None: any
        """
        with self._changing:
            if revision is not None and revision != self.changes.revision:
                raise ConflictError("someone changed the settings meanwhile; reload the page and try again.")
            changes = self.changes.and_then(values)
            self._adopt(changes)
        self._changed()

    def change_classes(self, wanted: Sequence[WantedClass], revision: int | None = None) -> None:
        """Rename, merge, order, add or describe classes; names hold as soon as the page has learned again."""
        target = self._target
        if target.several and any(len(one.was) > 1 for one in wanted):
            raise InputError(
                "classes cannot be merged where an item may have several: an answer may say yes to one and "
                "nothing about the other. Rename, order, add or describe them."
            )
        names, merged = rename(target.classes, dict(target.merged), wanted)
        notes = [one.note(target.notes) for one in wanted]
        for item in (item for note in notes for item in note.examples):
            self.row_of(item)
        values = {"classes": list(names), "merged": [list(pair) for pair in merged.items()]}
        self.change(values | {"class_notes": [list(note) for note in notes]}, revision)

    def add_items(self, embeddings: Path, contents: Path | None = None) -> int:
        """Add items while people vote; how many.

        On return they are on the disk; they are handed out as soon as the page has learned again.

        Parameters
        ----------
        embeddings : file with ids, as many dimensions as the items so far
        contents : a .zip with pictures, texts, sounds or films, or a table with item and text; None: bare ids
        """
        if self._features is not None:
            raise InputError("this project has unreduced features; add items to both files and start again.")
        with self._changing:
            before = len(self._wanted.items)
            self._wanted = keep(self._started_with.data_dir, self._wanted, embeddings, contents)
            with self._prepared:
                self._preparing = True
                self._prepared.notify_all()
        self._changed()
        return len(self._wanted.items) - before

    @property
    def _target(self) -> Settings:
        """The settings that the database asks for; those in force may be behind."""
        return self.changes.applied_to(self._started_with)

    def _adopt(self, changes: Changes) -> None:
        """Keep changes and put them in force, or have what must be learned for them prepared."""
        target = changes.applied_to(self._started_with)
        write_changes(self.store, changes)
        self.changes = changes
        now = {name: getattr(self.settings, name) for name in LEARNED}
        settings = replace(target, **now)
        if _queue_rule(settings) != _queue_rule(self.settings):
            self.queue.set_rule(_queue_rule(settings))
        self.settings = settings
        with self._prepared:
            self._preparing = settings != target or self._wanted is not self._present
            if not self._preparing:
                self.page_revision = changes.revision
            self._prepared.notify_all()

    # ------------------------------------------------------------------------- changes that must be learned
    @property
    def preparing(self) -> bool:
        """Whether a change waits until the page has learned for it."""
        return self._preparing

    def wait_until_prepared(self, seconds: float) -> bool:
        """Wait until no change is being prepared; False if that takes longer."""
        with self._prepared:
            return self._prepared.wait_for(lambda: not self._preparing, seconds)

    def _prepare_forever(self) -> None:
        """Learn beside the voting for what a lead has changed, then put it in force in one step."""
        lower_priority()
        while True:
            with self._prepared:
                self._prepared.wait_for(lambda: self._preparing or self._stopping)
                if self._stopping:
                    return
            try:
                self._prepare()
            except (SoftspreadError, ArithmeticError, MemoryError):
                logger.exception("a change of the project could not be prepared; a restart tries again")
                with self._prepared:
                    self._preparing = False
                    self._prepared.notify_all()

    def _prepare(self) -> None:
        target, wanted = self._target, self._wanted
        history = self._read_log(target, wanted.items)
        graph = self.graph if wanted is self._present else self._graph_of(wanted)
        learner = self._new_learner(target, history, wanted.items, graph)
        state = LiveState(learner, history, wanted.items.ids, refit=self._refit)
        state.begin()
        older = self.queue, self.state, self.analyst
        with self._changing, self.writer.paused():
            now = self._target
            if wanted is not self._wanted or any(getattr(now, n) != getattr(target, n) for n in LEARNED):
                state.stop()  # changed again meanwhile: once more
                return
            history.take_blocks(self.store.read_log(history.last_id))
            self._take_settings(now)
            grown = wanted is not self._present
            self._present, self.items, self.graph = wanted, wanted.items, graph
            if history.unknown != self.history.unknown:  # votes in the log name items that came only now
                self.ledger.read(history)
            queue = self._new_queue(self.settings, history, state)
            queue.take_over(self.queue)
            self.history, self.learner, self.state, self.queue = history, learner, state, queue
            self.analyst = Analyst(state, history, self.gold, self._changed, self._save_learned)
            self._follow_decisions()
            self.writer.follow(history)
        state.notify()
        queue.start()
        self.analyst.start()
        with self._prepared:
            self.page_revision, self._preparing = self.changes.revision, False
            self._prepared.notify_all()
        self._save_learned()
        self._changed()
        for part in older:
            part.stop()
        if grown:
            self._draw_map()

    def _take_settings(self, settings: Settings) -> None:
        self.settings, self.classes = settings, list(settings.classes)

    def _graph_of(self, contents: Contents) -> Graph:
        path, mark = self.settings.data_dir / GRAPH_FILE, digest_array(contents.X).hex()
        return load_or_build(path, contents.X, mark, self.settings.n_neighbors, self.settings.seed)

    def _read_log(self, settings: Settings, items: ItemSource) -> History:
        history = History(items.index, settings.answers(), settings.left_out)
        history.take_blocks(self.store.read_log())
        return history

    def _new_learner(self, settings: Settings, history: History, items: ItemSource, graph: Graph) -> Learner:
        prior = self._prior
        if prior is not None and settings.classes != self._started_with.classes:
            before, merged = self._started_with.classes, dict(settings.merged)
            prior = regrouped(prior, before, settings.classes, merged, several=settings.several)
        if prior is not None and len(prior) < len(items):  # nothing is known about items that were added
            even = 0.5 if settings.several else 1 / prior.shape[1]
            new = np.full((len(items) - len(prior), prior.shape[1]), even)
            prior = np.concatenate([prior, new])
        names = Names(len(items), np.asarray(items.ids), np.array(settings.classes, dtype=object))
        alpha, n_jobs, kind = settings.alpha, settings.n_jobs, settings.kind
        return Learner(graph, history, names, alpha, prior, self._features, n_jobs, kind)

    def _new_queue(self, settings: Settings, history: History, state: LiveState) -> Queue:
        seed = settings.seed if settings.seed is None else [settings.seed, len(history)]
        return Queue(
            history.counts(len(self.items)),
            self.ledger,
            state.choosing,
            _queue_rule(settings),
            rng=np.random.default_rng(seed),  # other draws after a restart than before
            gold=list(self.gold),
            prepare=state.prepare,
        )

    def _save_learned(self) -> None:
        save_learned(self.settings.data_dir, self.state.learned)

    def _draw_map(self) -> None:
        lower_priority()
        try:
            X = self._present.X
            self.map = load_or_map(self.settings.data_dir / MAP_FILE, X, digest_array(X).hex())
            self._changed()
        except StoreError as error:
            logger.warning("no map: %s", error)

    # ----------------------------------------------------------------------------------------- after a commit
    def _place_of(self, entry: Entry) -> tuple[int, int]:
        row = self.items.row_of(entry.item)
        return -1 if row is None else row, self.history.answers.number(entry.label)

    def _on_growth(self, start: int) -> None:
        """The log has entries from ``start`` on that nobody here has seen."""
        kind, rows, annotator = (
            part[start:].tolist() for part in self.history.columns("kind", "row", "annotator")
        )
        names = self.history.annotators
        done = zip(kind, rows, annotator, strict=True)
        added = {k: VOTES_ADDED[k] for k in VOTES_ADDED if k not in SPOKEN}
        counts = self.history.counts_votes_of
        self.queue.voted([(names[a], r, added[k] * counts(names[a])) for k, r, a in done if k in added])
        if any(names[number] == DECIDED for number in set(annotator)):
            self._follow_decisions()
        self.state.notify()
        self._changed()

    def _follow_decisions(self) -> None:
        """What a lead has decided is a known answer, like those of the gold file."""
        known = self._read_gold() | decisions(self.history)
        self.gold.clear()
        self.gold.update(known)
        self.queue.set_gold(list(known))

    def _changed(self) -> None:
        self.version += 1
        self.wake_listeners()

    def wake_listeners(self) -> None:
        """Have everyone who listens look again."""
        for listener in list(self._listeners):
            listener()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` (quickly, from any thread) at every change; the answer ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # --------------------------------------------------------------------------------------------- operations
    def row_of(self, item: str) -> int:
        """The row of an item id, or an error that names it."""
        row = self.items.row_of(item)
        if row is None:
            raise InputError(f"there is no item {item!r}.")
        return row

    def vote(
        self,
        annotator: str,
        item: str,
        label: str | Choice,
        key: str,
        *,
        unsure: bool = False,
        origin: str = "api",
        shown: Mapping[str, float] | None = None,
    ) -> Entry:
        """A vote, ready to be submitted: one line of the log, also where it is about several classes.

        ``shown`` is the suggestion that stood beside the item.
        """
        self._check_open()
        made = self._with_choice(self._vote(annotator, item, label, key, unsure, origin))
        suggestion = self._suggestion(annotator, item, shown)
        return made if suggestion is None else replace(made, shown=suggestion)

    def _check_open(self) -> None:
        if self.settings.status == FINISHED:
            raise InputError("this project is finished and takes no votes; a lead can open it again.")

    def _vote(
        self, annotator: str, item: str, said: str | Choice, key: str, unsure: bool, origin: str
    ) -> Entry:
        label = self.history.answers.text_of(said)
        weight = self.settings.unsure_weight if unsure else 1.0
        self.row_of(item)
        return Entry(VOTE, _checked_key(key), annotator, item, label, weight, origin=origin)

    def skip(self, annotator: str, item: str, key: str, *, origin: str = "api") -> Entry:
        """A skip, ready to be submitted."""
        self._check_open()
        return self._with_choice(Entry(SKIP, _checked_key(key), annotator, item, origin=origin))

    def flag(self, annotator: str, item: str, note: str, key: str, *, origin: str = "api") -> Entry:
        """A word to the lead about an item, ready to be submitted; it stays open to votes."""
        self._check_open()
        note = note.strip()
        if not 1 <= len(note) <= LONGEST_NOTE or "\0" in note:
            raise InputError(f"a note must have 1 to {LONGEST_NOTE:,} characters, got {len(note):,}.")
        self.row_of(item)
        return Entry(FLAG, _checked_key(key), annotator, item, origin=origin, note=note)

    def broken(self, annotator: str, item: str, key: str, *, origin: str = "api") -> Entry:
        """A report that an item cannot be shown, ready to be submitted."""
        self.row_of(item)
        return Entry(BROKEN, _checked_key(key), annotator, item, origin=origin)

    def _with_choice(self, entry: Entry) -> Entry:
        """With how its item was chosen, where the page handed it out."""
        pick = self.queue.how(entry.annotator, self.row_of(entry.item))
        if pick is None:
            return entry
        return replace(entry, chosen=pick.chosen, probability=pick.probability)

    def undo(self, annotator: str, vote_key: str, key: str, *, origin: str = "api") -> Entry:
        """An undo of the annotator's own vote, named by its key, ready to be submitted."""
        self._check_open()
        return Entry(UNDO, _checked_key(key), annotator, origin=origin, undoes_key=vote_key)

    def decide(self, lead: str, item: str, label: str | Choice, key: str) -> list[Entry]:
        """A lead's decision about an item in place of an earlier one, ready to be submitted.

        A vote of nobody with `DECISION_WEIGHT`, and a known answer like those of the gold file.
        """
        made = self._vote(DECIDED, item, label, key, False, DECIDED)
        new = replace(made, weight=DECISION_WEIGHT, chosen=DECIDED, note=f"by {lead}")
        return [*self.take_back_decision(item, f"undo-{key}"[:LONGEST_KEY]), new]

    def take_back_decision(self, item: str, key: str) -> list[Entry]:
        """The undo of a decision, ready to be submitted; nothing where there is none."""
        number = self.ledger.standing.get(DECIDED, {}).get(self.row_of(item))
        if number is None:
            return []
        (vote,) = self.store.entries(number - 1, 1)
        return [Entry(UNDO, key, DECIDED, origin=DECIDED, undoes_key=vote.key)]

    def ask_again(self, item: str) -> None:
        """Have someone else vote on an item once more; forgotten by a restart."""
        self.queue.ask_again(self.row_of(item))

    def submit(self, entries: Sequence[Entry]) -> "Future[list[Outcome]]":
        """Have entries written; the answer comes after the commit."""
        return self.writer.submit(entries)

    def assign(self, annotator: str, wanted: int, holding: Sequence[str] = ()) -> list[Card]:
        """The next items for a user; those that the page holds only if their hints may have changed."""
        if self.settings.status != RUNNING:
            return []
        held = [row for row in map(self.items.row_of, holding) if row is not None]
        rows = self.queue.assign(annotator, min(wanted, MOST_AHEAD), held[:MOST_AHEAD])
        if self.settings.mode == "assisted":
            return self.cards(rows, hints=True, annotator=annotator)
        return self.cards([row for row in rows if row not in held])

    def _withheld(self, annotator: str, row: int) -> bool:
        """Whether a person gets an item without its suggestion: at random, the same after a restart."""
        word = hashlib.blake2b(f"{annotator}\0{self.items.ids[row]}".encode(), digest_size=8).digest()
        return int.from_bytes(word) < self.settings.withheld_share * 2**64

    def _suggestion(self, annotator: str, item: str, shown: Mapping[str, float] | None) -> str | None:
        """The suggestion for the log: the one seen, or in assisted mode the one withheld at random."""
        if shown is not None:
            return written(shown, seen=True)
        row = self.row_of(item)
        handed_out = self.queue.how(annotator, row) is not None
        if self.settings.mode != "assisted" or not handed_out or not self._withheld(annotator, row):
            return None
        p = self.state.soft_labels(np.array([row])).p[0]
        return written(dict(zip(self.classes, p.tolist(), strict=True)), seen=False)

    def cards(self, rows: Sequence[int], hints: bool = False, annotator: str | None = None) -> list[Card]:
        """Items as a page shows them, with soft labels only where asked; for a person some are withheld."""
        labels = self.state.soft_labels(np.array(rows, dtype=np.int64)) if hints else None
        shown = [None] * len(rows) if labels is None else labels.p.tolist()
        if hints and annotator is not None:
            shown = [
                None if self._withheld(annotator, row) else p for row, p in zip(rows, shown, strict=True)
            ]
        items = self.items
        return [
            Card(
                row, str(items.ids[row]), items.text(row), items.has_picture(row), hint, items.media_kind(row)
            )
            for row, hint in zip(rows, shown, strict=True)
        ]

    def progress(self, annotator: str) -> Progress:
        """How much a user has done."""
        voted, skipped = self.ledger.seen_by(annotator)
        return Progress(len(voted), len(skipped), self.queue.done)

    # ------------------------------------------------------------------------------------------------ answers
    def soft_labels(self, rows: Sequence[int], level: float = CONFIDENCE_LEVEL) -> list[dict[str, Any]]:
        """Soft labels, evidence and intervals of some items as they are now, ready for JSON."""
        chosen = np.array(rows, dtype=np.int64)
        labels = self.state.soft_labels(chosen, level)
        return records(
            {
                "row": chosen.tolist(),
                "item": labels.ids.tolist(),
                "p": labels.p.tolist(),
                "evidence": labels.evidence.tolist(),
                "lower": np.asarray(labels.lower).tolist(),
                "upper": np.asarray(labels.upper).tolist(),
                "verdict": np.asarray(labels.verdict).tolist(),
                "votes": np.maximum(0, self.queue.counts[chosen]).astype(int).tolist(),
            }
        )

    def explain(self, row: int, top: int = 10) -> list[dict[str, Any]]:
        """What one soft label is made of, heaviest first; all shares of a class sum to its probability.

        Where items may have several classes the shares of "cat" and of "not cat" sum to 1.
        """
        several = self.settings.several
        made = []
        for place, found in enumerate(self.state.explain(row)):
            part = found.top(top)
            listed, rows = part.rows >= 0, part.rows.tolist()
            names = [None] * len(rows) if part.annotators is None else np.asarray(part.annotators).tolist()
            labels = [f"not {self.classes[place]}", self.classes[place]] if several else self.classes
            made += records(
                {
                    "source": np.asarray(part.sources).tolist(),
                    "row": [row if known else None for row, known in zip(rows, listed, strict=True)],
                    "item": [
                        str(self.items.ids[row]) if known else None
                        for row, known in zip(rows, listed, strict=True)
                    ],
                    "label": [labels[column] for column in part.columns],
                    "annotator": [name if known else None for name, known in zip(names, listed, strict=True)],
                    "weight": part.weights.tolist(),
                }
            )
        return sorted(made, key=lambda one: -one["weight"])[:top]

    def search(self, text: str, offset: int = 0, limit: int = 20) -> IntArray:
        """Rows whose id holds the text, whatever its case; all rows for an empty text."""
        if not text:
            return np.arange(offset, min(offset + limit, len(self.items)), dtype=np.int64)
        found = self.items.index.to_series().str.contains(text, case=False, regex=False).to_numpy()
        rows = np.flatnonzero(found)
        exact = self.items.row_of(text)
        if exact is not None:
            rows = np.concatenate([[exact], rows[rows != exact]])
        return np.asarray(rows[offset : offset + limit])

    def counts(self) -> dict[str, Any]:
        """The numbers on top of the dashboard."""
        voted = self.queue.counts
        total = int(max(0.0, voted.sum()))
        return {
            "items": len(self.items),
            "votes": total,
            "voted_items": int((voted > 0).sum()),
            "people": sum(1 for name, held in self.ledger.standing.items() if held and name not in NOBODY),
            "applied": int(self.state.applied),
            "logged": len(self.history),
            "unknown": self.history.unknown,
            "leases": self.queue.n_leased,
            "latency": latency(list(self.state.latencies)),
        }

    def dashboard(self) -> dict[str, Any]:
        """Everything the dashboard shows but the map."""
        overview = dict(self.analyst.overview)
        for name in ("ambiguous", "least_known"):
            rows = overview.get(name, [])
            pairs = zip(self.cards(rows), self.soft_labels(rows), strict=True)
            overview[name] = [{**vars(card), **label} for card, label in pairs]
        return {
            "version": self.version,
            "title": self.settings.title,
            "status": self.settings.status,
            "classes": self.classes,
            "kind": self.settings.kind,
            "counts": self.counts(),
            "overview": overview,
            "timeline": timeline(self.history),
            "annotators": self.analyst.annotators,
            "learned": learned_from(self.state.learned),
            **self.analyst.quality,
        }

    def review(self) -> dict[str, Any]:
        """Everything that a lead may want to look at again, with people and their agreement."""
        votes, answers = people_votes(self.history), self.history.answers
        rows, place = np.unique(votes.rows, return_inverse=True)
        p = self.state.soft_labels(rows).p if len(rows) else np.empty((0, len(self.classes)))
        lists = listed(self.history, votes, probability_of(votes, p[place], answers))
        shown = {name: self._looked_at(found, votes) for name, found in lists.items() if name != "surprising"}
        names = [] if votes.annotators is None else votes.annotators.tolist()
        said = {
            number: answer_in_words(answers.choice(votes.columns[number])) for number in lists["surprising"]
        }
        shown["surprising"] = [
            card | {"annotator": names[number], "voted": said[number]}
            for number in lists["surprising"]
            for card in self._looked_at([(int(votes.rows[number]), None)], votes)
        ]
        return {
            "lists": shown,
            "notes": self._notes(),
            "people": [asdict(person) for person in people(self.history)],
            "agreement": agreement(votes, answers),
            "done": self.queue.done,
            "missing": self.queue.missing,
            "left_out": self._target.left_out,
            "preparing": self.preparing,
        }

    def _looked_at(self, found: Sequence[tuple[int, int | None]], votes: VoteTable) -> list[dict[str, Any]]:
        """Items with their votes, soft labels and decisions, ready for JSON."""
        rows = [row for row, _ in found]
        decided, answers = decisions(self.history), self.history.answers
        made = []
        for (row, times), card, label in zip(found, self.cards(rows), self.soft_labels(rows), strict=True):
            cast, choice = votes.columns[votes.rows == row], decided.get(row)
            more = {"people": times, "counts": answers.counts(cast).tolist(), "cast": len(cast)}
            said = None if choice is None else answers.choice(choice)
            made.append(vars(card) | label | more | {"decided": _for_json(said)})
        return made

    def _notes(self) -> list[dict[str, Any]]:
        """The last words about items, newest first."""
        kept = [entry for entry in self.store.spoken(FLAG, MOST_NOTES) if entry.item in self.items.index]
        return [
            {"item": entry.item, "annotator": entry.annotator, "note": entry.note, "at": entry.created_at}
            for entry in kept
        ]

    def map_places(self) -> bytes:
        """Rows (uint32) and places (float32 x, y) of the shown items; empty while the map is being drawn."""
        if self.map is None:
            return b""
        return self.map.rows.astype("<u4").tobytes() + self.map.places.astype("<f4").tobytes()

    def map_values(self) -> bytes:
        """Evidence and uncertainty (float32), then class (uint16), in the order of the places."""
        seen = self.analyst
        if self.map is None or not len(seen.p):  # a new analyst, after a change, has not looked yet
            return b""
        rows = self.map.rows
        top = seen.p[rows].argmax(axis=1)
        if self.settings.several:  # a number beyond the classes: none of them
            top = np.where(seen.p[rows].max(axis=1) >= 0.5, top, len(self.classes))
        parts = [seen.evidence[rows].astype("<f4"), seen.width[rows].astype("<f4"), top.astype("<u2")]
        return b"".join(part.tobytes() for part in parts)

    def import_votes(
        self, items: Any, labels: Any, annotators: Any, weights: Any, mark: str, answers: Any = None
    ) -> int:
        """Import votes from elsewhere, once per ``mark``; how many were new.

        Parameters
        ----------
        answers : yes or no to each label, where items may have several; those of a person on an item become
            one vote
        """
        if self.store.fact(f"import {mark}") is not None:
            return 0
        if (answers is not None) != self.settings.several:
            raise InputError("these votes are of another kind than the project's; see --kind.")
        if weights is not None and (np.asarray(weights) <= 0).any():
            raise InputError("imported votes must have weights above 0.")
        names = [None] * len(items) if annotators is None else list(annotators)
        who = [IMPORTED if name is None or pd.isna(name) else str(name) for name in names]
        cast = pd.DataFrame({"item": map(str, items), "label": map(str, labels), "who": who})
        cast["weight"] = 1.0 if weights is None else weights
        entries = []
        for number, ((item, name, weight), said) in enumerate(_said_at_once(cast, answers)):
            made = self._vote(name, item, said, f"import-{mark}-{number}", False, IMPORTED)
            entries.append(replace(made, weight=float(weight)))
        new = 0
        for start in range(0, len(entries), IMPORTED_AT_ONCE):
            outcomes = self.submit(entries[start : start + IMPORTED_AT_ONCE]).result()
            new += sum(outcome.status == "accepted" for outcome in outcomes)
        self.store.set_fact(f"import {mark}", new)
        return new


def _said_at_once(cast: pd.DataFrame, answers: Any) -> Iterator[tuple[tuple[str, str, float], str | Choice]]:
    """Each vote with its item, person and weight; a second answer to a question begins another vote."""
    about = ["item", "who", "weight"]
    if answers is None:
        yield from zip(cast[about].itertuples(index=False, name=None), cast["label"], strict=True)
        return
    cast = cast.assign(yes=np.asarray(answers, dtype=bool))
    cast["again"] = cast.groupby([*about, "label"], sort=False).cumcount()
    for _, part in cast.groupby([*about, "again"], sort=False):
        yes, no = (part["label"][part["yes"] == wanted].tolist() for wanted in (True, False))
        yield next(part[about].itertuples(index=False, name=None)), Choice(yes, no)


def _for_json(said: str | Choice | None) -> str | dict[str, Any] | None:
    return said._asdict() if isinstance(said, Choice) else said


def _queue_rule(settings: Settings) -> QueueRule:
    return QueueRule(
        settings.strategy,
        settings.overlap,
        settings.lease_seconds,
        settings.gold_share,
        settings.uniform_share,
    )


def _checked_key(key: str) -> str:
    if not 1 <= len(key) <= LONGEST_KEY or not key.isprintable():
        raise InputError(f"a key must be 1 to {LONGEST_KEY} printable characters, got {len(key)}.")
    return key
