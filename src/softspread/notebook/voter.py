"""Votes in a notebook: what the widget asks, what the estimator is told, what comes back.

    widget: {operations, holding, wanted}  ->  est.update, est.undo  ->  {cards, progress, what moved}

The widget holds a few cards ahead, so that the next item is there at once. It numbers what people do; an
answer says up to which number all is done.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from softspread._common import validation
from softspread._common.kinds import MULTILABEL
from softspread._common.types import BoolArray, FloatArray, RandomState
from softspread._common.wording import counted
from softspread.errors import InputError, SoftspreadError
from softspread.notebook.contents import NAME, Content, Contents, as_content, read_contents
from softspread.notebook.widget import build_widget
from softspread.queries.pool import Strategy
from softspread.votes.keys import UNSURE_WEIGHT, class_keys
from softspread.votes.votes import Votes

MOST_AHEAD = 8  # cards that a widget may hold
# Items; beyond, only the voted item's own move is shown: all of them would take too long
MOST_COUNTED = 50_000
MOVED = 0.01  # change of a probability that counts as a move
LONGEST_NAME, LONGEST_NOTE = 200, 1_000  # characters


@dataclass(frozen=True, slots=True)
class Step:
    """Something that undo takes back."""

    card: str
    votes: tuple[Any, Any, str | None, float | None] | None  # item, label or labels, annotator, weight


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to the widget: plain values, and the bytes of pictures."""

    content: dict[str, Any]
    buffers: list[bytes]


class Voter:
    """Voting in a notebook: a small page whose votes go into a fitted estimator, which shows what they moved.

    Made by ``est.vote_here()`` and shown as the last line of a cell. Needs
    ``pip install "softspread[notebook]"``.

    Parameters
    ----------
    est : estimator
        A fitted estimator with ``update``, ``undo`` and ``query``.
    items : folder, sequence, mapping or callable, optional
        What people see, see :meth:`SoftLabeler.vote_here`.
    which : array-like, optional
        Items to vote on, in this order; by default the estimator's own query.
    annotator : str, optional
        Who votes; can be changed in the widget.
    question : str
        What people are asked.
    strategy : str or function
        Of the query.
    random_state : int, Generator or None
        Seeds the query.

    Attributes
    ----------
    widget : anywidget.AnyWidget
        What Jupyter shows, for layouts of ipywidgets.

    See Also
    --------
    SoftLabeler.vote_here : Makes one.

    Examples
    --------
    >>> from softspread import SoftLabeler
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> lab = SoftLabeler(n_neighbors=2).fit(X, ["cat", None, None, "dog"])
    >>> lab.vote_here()
    Voter(0 votes on 4 items; classes: cat, dog)
    """

    def __init__(
        self,
        est: BaseEstimator,
        items: Contents | None = None,
        *,
        which: ArrayLike | None = None,
        annotator: str | None = None,
        question: str = "Which class is it?",
        strategy: str | Strategy = "uncertainty",
        random_state: RandomState = None,
    ) -> None:
        self._est: Any = est
        self._question, self._strategy = str(question), strategy
        self._classes: list[Any] = np.asarray(est.classes_).tolist()
        if len(self._classes) < 2:
            raise InputError(
                f"a vote needs two or more classes, the estimator knows {self._classes}; pass classes to fit."
            )
        self._several = getattr(est, "kind", None) == MULTILABEL
        self._annotator = _checked_name(annotator)
        self._find = read_contents(items, est.n_items_)
        ids = np.arange(est.n_items_) if est.item_ids_ is None else np.asarray(est.item_ids_)
        self._rows: dict[Hashable, int] = {item: row for row, item in enumerate(ids.tolist())}
        self._listed: list[Any] | None = None
        if which is not None:
            rows = validation.rows_of_items(validation.names(which, "item"), est.item_ids_, est.n_items_)
            self._listed = ids[pd.unique(rows)].tolist()
        self._rng = None if random_state is None else validation.generator(random_state)
        self._cards: dict[str, Any] = {}  # number of a card -> item
        self._out: list[str] = []  # cards handed out, not yet voted on or skipped
        self._steps: list[Step] = []
        self._notes: list[tuple[Any, str]] = []

    # ------------------------------------------------------------------------------------------------ results
    @property
    def votes(self) -> Votes:
        """The votes cast here that were not taken back."""
        cast = [step.votes for step in self._steps if step.votes is not None]
        items, labels, names, weights = [list(part) for part in zip(*cast, strict=True)] or [[], [], [], []]
        named = names if any(name is not None for name in names) else None
        if self._several:
            return Votes.from_multilabel(labels, items, named, classes=self._classes)
        return Votes.from_pairs(items, labels, named, weights)

    @property
    def notes(self) -> pd.DataFrame:
        """Notes about items: columns item and note."""
        return pd.DataFrame(self._notes, columns=["item", "note"])

    @cached_property
    def widget(self) -> Any:
        """The widget that Jupyter shows."""
        return build_widget(self._about(), self.hear)

    def _repr_mimebundle_(self, **how: Any) -> Any:
        return self.widget._repr_mimebundle_(**how)

    def __repr__(self) -> str:
        names = ", ".join(str(name) for name in self._classes[:10])
        return f"Voter({counted(self._n_votes, 'vote')} on {self._est.n_items_} items; classes: {names})"

    @property
    def _n_votes(self) -> int:
        return sum(step.votes is not None for step in self._steps)

    def _about(self) -> dict[str, Any]:
        """What stays the same."""
        names = [str(name) for name in self._classes]
        keys = class_keys(names)
        return {
            "question": self._question,
            "classes": [{"name": name, "key": key} for name, key in zip(names, keys, strict=True)],
            "several": self._several,
            "annotator": self._annotator or "",
        }

    # ------------------------------------------------------------------------------------------------ traffic
    def hear(self, message: Mapping[str, Any]) -> Reply:
        """Do what the widget asks, in its order, and say what came of it.

        Parameters
        ----------
        message : mapping
            ``view``: who asks. ``operations``: each with ``number`` and ``kind`` ("vote", "skip", "undo",
            "note"). ``holding``: cards that the view has. ``wanted``: how many it wants to have.

        Returns
        -------
        Reply
            ``done``: the last number. ``cards``, ``votes``, ``left``, ``moved``, ``back``, ``problem``.

        Examples
        --------
        >>> from softspread import SoftLabeler
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=2).fit(X, [0, -1, -1, 1])
        >>> voter = lab.vote_here(which=[1])
        >>> card = voter.hear({"wanted": 1}).content["cards"][0]["card"]
        >>> vote = {"kind": "vote", "number": 1, "card": card, "column": 0}
        >>> voter.hear({"operations": [vote]}).content["votes"], lab.vote_counts_[1].tolist()
        (1, [1.0, 0.0])
        """
        found: dict[str, Any] = {"moved": None, "back": None, "problem": None}
        done = 0
        for operation in message.get("operations", ()):
            done = int(operation["number"])
            try:
                found |= self._do(operation)
            except SoftspreadError as error:
                found["problem"] = f"Not counted: {error}"
        cards, buffers = self._hand_out(set(message.get("holding", ())), int(message.get("wanted", 0)), found)
        left = None if self._listed is None else len(self._listed) + len(self._out)
        state = {
            "view": message.get("view"),
            "done": done,
            "cards": cards,
            "votes": self._n_votes,
            "left": left,
        }
        state["steps"] = len(self._steps)
        return Reply(found | state, buffers)

    def _do(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        kind = operation["kind"]
        if kind == "undo":
            return self._undo()
        card = operation["card"]
        if kind == "note":
            self._notes.append((self._cards[card], str(operation["note"])[:LONGEST_NOTE]))
            return {}
        if card not in self._out:
            raise InputError("this item was done in another view of this cell.")
        if kind == "skip":
            self._out.remove(card)
            self._steps.append(Step(card, None))
            return {}
        if kind != "vote":
            raise InputError(f"operations are vote, skip, undo and note, got {kind!r}.")
        return self._vote(card, operation)

    def _vote(self, card: str, operation: Mapping[str, Any]) -> dict[str, Any]:
        item = self._cards[card]
        if "annotator" in operation:
            self._annotator = _checked_name(operation["annotator"])
        if self._several:
            label: Any = [self._classes[column] for column in operation["columns"]]
            weight = None
        else:
            label = self._classes[operation["column"]]
            weight = UNSURE_WEIGHT if operation.get("unsure") else 1.0
        before = self._known(item)
        self._tell("update", (item, label, self._annotator, weight))
        self._out.remove(card)
        self._steps.append(Step(card, (item, label, self._annotator, weight)))
        chosen = operation["columns"] if self._several else [operation["column"]]
        return {"moved": self._moved(item, before, chosen)}

    def _undo(self) -> dict[str, Any]:
        if not self._steps:
            raise InputError("there is nothing to take back.")
        step = self._steps[-1]
        if step.votes is not None:
            self._tell("undo", step.votes)
        self._steps.pop()
        self._out.insert(0, step.card)
        label = None if step.votes is None else step.votes[1]
        taken = None if label is None else ", ".join(map(str, label)) if self._several else str(label)
        return {"back": {"card": step.card, "label": taken}, "moved": None}

    def _tell(self, do: str, votes: tuple[Any, Any, str | None, float | None]) -> None:
        """Let the estimator take in a vote, or take it back."""
        item, label, annotator, weight = votes
        names = None if annotator is None else [annotator]
        getattr(self._est, do)([item], [label], names, None if weight is None else [weight])

    # -------------------------------------------------------------------------------------------------- moves
    def _known(self, item: Any) -> tuple[FloatArray, FloatArray | None]:
        """Soft label of one item, and of all items where there are not too many."""
        est = self._est
        return est.soft_labels_of([item])[0], est.predict_proba() if est.n_items_ <= MOST_COUNTED else None

    def _moved(
        self, item: Any, before: tuple[FloatArray, FloatArray | None], chosen: list[int]
    ) -> dict[str, Any]:
        """The effect of a vote: the item's soft label, and how many items moved or changed their class."""
        after = self._known(item)
        width = len(self._classes)  # a class that another cell added is none that people see here
        moved: dict[str, Any] = {
            "before": before[0][:width].tolist(),
            "after": after[0][:width].tolist(),
            "chosen": chosen,
            "others": None,
        }
        if before[1] is not None and after[1] is not None and before[1].shape == after[1].shape:
            others = np.abs(after[1] - before[1]).max(axis=1) >= MOVED
            moved["others"] = int(others.sum())
            moved["changed"] = int(self._answers_differ(before[1], after[1]).sum())
        return moved

    def _answers_differ(self, before: FloatArray, after: FloatArray) -> BoolArray:
        if self._several:
            return np.asarray(((before >= 0.5) != (after >= 0.5)).any(axis=1))
        return np.asarray(before.argmax(axis=1) != after.argmax(axis=1))

    # -------------------------------------------------------------------------------------------------- cards
    def _hand_out(
        self, holding: set[str], wanted: int, found: dict[str, Any]
    ) -> tuple[list[dict[str, Any]], list[bytes]]:
        """Cards that the view lacks, those that are out already first."""
        missing = min(wanted, MOST_AHEAD) - len(self._out)
        if missing > 0:
            try:
                for item in self._next(missing):
                    number = str(len(self._cards))
                    self._cards[number] = item
                    self._out.append(number)
            except SoftspreadError as error:
                found["problem"] = found["problem"] or str(error)
        cards: list[dict[str, Any]] = []
        buffers: list[bytes] = []
        for number in self._out[:MOST_AHEAD] if wanted else ():
            if number not in holding:
                card, data = self._card(number)
                if data:
                    card["buffer"] = len(buffers)
                    buffers.append(data)
                cards.append(card)
        return cards, buffers

    def _card(self, number: str) -> tuple[dict[str, Any], bytes]:
        item = self._cards[number]
        shown = self._content(item)
        return {
            "card": number,
            "name": str(item),
            "kind": shown.kind,
            "text": shown.text,
            "type": shown.media_type,
        }, shown.data

    def _content(self, item: Any) -> Content:
        row = self._rows.get(item)
        try:
            return as_content(self._find(item, row), str(item))
        except (IndexError, KeyError):  # of what the user gave
            return Content(NAME, str(item))

    def _next(self, size: int) -> Iterable[Any]:
        """The next items to vote on."""
        if self._listed is not None:
            taken, self._listed = self._listed[:size], self._listed[size:]
            return taken
        seen = list(dict.fromkeys([*self._cards.values(), *self._voted_before()]))
        size = min(size, self._est.n_items_ - len(seen))
        if size <= 0:
            return []
        picked = self._est.query(size, self._strategy, exclude=seen or None, random_state=self._rng)
        return list(np.asarray(picked).tolist())

    def _voted_before(self) -> list[Any]:
        """Items on which the same person voted before: a second vote would replace the first."""
        if self._annotator is None:
            return []
        votes = self._est.votes_
        if votes.annotators is None:
            return []
        mine = votes.annotators == self._annotator
        return list(np.asarray(votes.items)[mine].tolist())


def _checked_name(annotator: Any) -> str | None:
    """A person's name; None where it is empty."""
    name = "" if annotator is None else str(annotator).strip()
    if len(name) > LONGEST_NAME:
        raise InputError(f"a name may have at most {LONGEST_NAME} characters, got {len(name)}.")
    return name or None
