"""The page's model: a fit of the library's own estimator, which then follows the log.

votes that stand  ->  SoftLabeler  ->  Learned  ->  soft labels of any rows, moved by every further vote

Where items may have several classes there is one `Learned` per question, and `LearnedEach` around them.
"""

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softspread._common.kinds import MULTILABEL, SINGLE
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.annotators.pull import Pull, estimate_pull, own_share
from softspread.errors import SoftspreadWarning
from softspread.estimators.fitted import parts_of
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.multilabel import several_in
from softspread.graph.graph import Graph
from softspread.intervals.labels import labels_in
from softspread.intervals.task import Posteriors
from softspread.posterior.explain import Explanation, explain_blend
from softspread.posterior.live import LiveBlend, Moved
from softspread.posterior.posterior import Posterior
from softspread.spreading.evidence import SoftLabels
from softspread.votes.multilabel import ANSWERS
from softspread.votes.reading import NamedVotes, Names
from softspread.votes.standing import KEEP
from softspread.votes.table import VoteTable
from softspread.votes.votes import Votes
from softspread.web.log.answers import Answers
from softspread.web.log.history import History

CONFIDENCE_LEVEL = 0.9  # of the estimators too
PULL_ROUNDS = 4  # fits after the first: shares of votes and soft labels settle together
TINY = 60  # items of the project that compiled loops are tried on


class Learned:
    """A fit to the first entries of the log, and the votes that came after them.

    One thread may add votes; others read under the lock that they share with it.

    Parameters
    ----------
    labeler : fitted; stays as it is
    entries : how many entries of the log it has seen
    """

    def __init__(self, labeler: SoftLabeler, entries: int, pull: Pull | None = None) -> None:
        self.labeler, self.entries = labeler, entries
        self.pull = pull  # of the suggestions that people saw; None: they saw none
        self.parts = parts_of(labeler)
        self._discounted = discounts(self.parts.votes) if pull is not None else {}
        self.n_votes = len(self.parts.votes)  # at the fit
        self.n_since = 0  # votes and undos since
        self.live = LiveBlend(self.parts.live.blend, self.parts.diffusion)

    # ------------------------------------------------------------------------------------ following the votes
    def add(self, votes: VoteTable, share: float = 1.0) -> None:
        """Add votes as they were cast; with a ``share`` below 1 each gets less work."""
        if len(votes):
            self.n_since += len(votes)
            self.live.add(self.parts.counted(self._as_counted(votes)), share)

    def _as_counted(self, votes: VoteTable) -> VoteTable:
        """An undo takes back as much as the vote counted for in the fit."""
        if not self._discounted or votes.annotators is None:
            return votes
        keys = zip(votes.rows.tolist(), votes.columns.tolist(), votes.annotators.tolist(), strict=True)
        counted = [self._discounted.get(key) for key in keys]
        weights = [
            weight if weight > 0 or found is None else -found
            for weight, found in zip(votes.weights.tolist(), counted, strict=True)
        ]
        return votes.with_weights(np.array(weights))

    def follow(self, older: "AnyLearned") -> None:
        """Take over what an older fit on the same graph has found about single items."""
        self.live.take_scales(older.each[0].live.known_scales())

    # ------------------------------------------------------------------------------------------------ answers
    @property
    def each(self) -> "tuple[Learned, ...]":
        """The fit of each question; here there is one."""
        return (self,)

    @property
    def at_fit(self) -> Posterior:
        """The posterior as of the fit, which also says how wide intervals must be."""
        return self.parts.live.at_fit

    def posterior(self, turn: AbstractContextManager[object]) -> Posterior:
        """The posterior of all items by now; the lock is taken a piece at a time."""
        return self.live.posterior_of(self.live.moved(slice(None), turn)) if self.n_since else self.at_fit

    def labels(self, moved: Sequence[Moved], ids: AnyArray, level: float) -> SoftLabels:
        """Soft labels with intervals and verdicts of what was read; ``ids`` are those of its items."""
        found = Posteriors(self.live.posterior_of(moved[0]), self.at_fit)
        return labels_in(found, ids, self.labeler.classes_, level)

    def explain(self, votes: VoteTable, row: int) -> list[Explanation]:
        """What one soft label is made of by now; ``votes`` are all that stand, as they were cast."""
        return [explain_blend(self.live, self.parts.counted(votes), row, len(self.labeler.classes_))]

    def ready(self) -> "Learned":
        """Compute ahead what the first answer needs."""
        first = np.zeros(1, dtype=np.int64)
        self.labels([self.live.moved(first)], first, CONFIDENCE_LEVEL)
        return self


class LearnedEach:
    """The fits of several questions about the same items, and the votes that came after them.

    Parameters
    ----------
    labeler : fitted, of kind "multilabel"; stays as it is
    entries : how many entries of the log it has seen
    n_votes : answers that stood at the fit; each is about one or several questions
    """

    def __init__(
        self,
        labeler: SoftLabeler,
        entries: int,
        answers: Answers,
        n_votes: int,
        pulls: Sequence[Pull | None] = (),
    ) -> None:
        self.labeler, self.entries, self.n_votes, self.n_since = labeler, entries, n_votes, 0
        self._answers = answers
        questions = list(labeler.questions_.values())
        each = zip(questions, pulls or [None] * len(questions), strict=True)
        self.each = tuple(Learned(one, entries, pull) for one, pull in each)
        for one in self.each[1:]:
            one.live.share_scales(self.each[0].live)

    @property
    def pull(self) -> Pull | None:
        """Of the suggestions on the question where they pulled most; None: nobody saw one."""
        found = [one.pull for one in self.each if one.pull is not None]
        return max(found, key=lambda pull: pull.value, default=None)

    def add(self, votes: VoteTable, share: float = 1.0) -> None:
        """Add answers as they were cast, to each question that they say something about."""
        self.n_since += len(votes)
        for question, one in enumerate(self.each):
            one.add(self._answers.about(votes, question), share)

    def follow(self, older: "AnyLearned") -> None:
        """Take over what an older fit on the same graph has found about single items."""
        self.each[0].follow(older)  # all questions share the scales

    def labels(self, moved: Sequence[Moved], ids: AnyArray, level: float) -> SoftLabels:
        """P(yes) of each class with intervals and verdicts of what was read."""
        parts = zip(self.labeler.classes_.tolist(), self.each, moved, strict=True)
        found = {name: one.labels([mine], ids, level) for name, one, mine in parts}
        return several_in(found, self.labeler.classes_)

    def explain(self, votes: VoteTable, row: int) -> list[Explanation]:
        """What P(yes) and P(no) of each class are made of by now."""
        about = self._answers.about
        return [one.explain(about(votes, place), row)[0] for place, one in enumerate(self.each)]

    def ready(self) -> "LearnedEach":
        """Compute ahead what the first answer needs."""
        for one in self.each:
            one.ready()
        return self


AnyLearned = Learned | LearnedEach


class Shown(NamedTuple):
    """What suggestions stood beside the votes, (m,) each."""

    suggested: IntArray  # column of the class that led; -1: nothing is known
    known: BoolArray
    seen: BoolArray  # not withheld
    agrees: BoolArray  # the vote with the suggestion

    def pull(self) -> Pull | None:
        """How far they pulled the votes; None where nobody saw one."""
        if not self.seen.any():
            return None
        return estimate_pull(self.agrees[self.known], self.seen[self.known])


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """How the project's votes are learned from; the same for the page and for its exports."""

    graph: Graph  # with the items' features, which classifiers of the votes look at
    history: History
    names: Names
    alpha: float | str = "auto"
    prior: FloatArray | None = None  # (n, n_classes) of a model or zero-shot
    features: AnyArray | None = None  # (n, f) unreduced
    n_jobs: int | None = 1
    kind: str = SINGLE

    def fit(self, stop: int | None = None) -> SoftLabeler:
        """`softspread spread` on the votes that stand after the first ``stop`` entries of the log."""
        return self.fit_corrected(stop)[0]

    def fit_corrected(self, stop: int | None = None) -> tuple[SoftLabeler, list[Pull | None]]:
        """The fit, and how far suggestions pulled the votes on each question: those that agree count less."""
        asked = self.asked(stop)
        tables = [table for table, _ in asked]
        labeler, pulls = self._fit_votes(tables), [shown.pull() for _, shown in asked]
        pulled = any(pull is not None and pull.lower > 0 for pull in pulls)
        for _ in range(PULL_ROUNDS if pulled else 0):  # else nothing says that there is a pull
            parts = zip(asked, pulls, questions_of(labeler), strict=True)
            labeler = self._fit_votes([_corrected(*votes, pull, one) for votes, pull, one in parts])
        return labeler, pulls

    def asked(self, stop: int | None = None) -> list[tuple[VoteTable, "Shown"]]:
        """The votes on each question that stand after ``stop`` entries, and the suggestions beside them."""
        table, places = self.history.standing_votes(stop)
        suggested, seen = (part[places] for part in self.history.columns("suggested", "seen"))
        answers, found = self.history.answers, []
        for question in range(answers.n_questions):
            which = answers.said(table.columns, question) >= 0
            votes, named = answers.about(table, question), answers.said(suggested[which], question)
            known = named >= 0
            found.append((votes, Shown(named, known, known & seen[which], known & (named == votes.columns))))
        return found

    def _fit_votes(self, tables: Sequence[VoteTable]) -> SoftLabeler:
        labeler = SoftLabeler(alpha=self.alpha, prior=self.prior, n_jobs=self.n_jobs, kind=self.kind)
        with warnings.catch_warnings():  # what it would warn of, the dashboard says
            warnings.simplefilter("ignore", SoftspreadWarning)
            if self.kind != MULTILABEL:
                return labeler.fit(self.graph, NamedVotes(tables[0], self.names), features=self.features)
            votes, ids = self._answers_in(tables), self.names.item_ids
            return labeler.fit(self.graph, votes, features=self.features, item_ids=ids)

    def _answers_in(self, tables: Sequence[VoteTable]) -> Votes:
        """The votes on all questions in one list."""
        whole, labels = VoteTable.empty(), np.repeat(self.names.classes, list(map(len, tables)))
        for table in tables:
            whole.append(table)
        items, yes = self.names.items(whole.rows), ANSWERS[whole.columns]
        names, who = self.names.classes, whole.annotators
        return Votes(items, labels, whole.weights, who, classes=names, repeats=KEEP, answers=yes)

    def learn(self, stop: int) -> AnyLearned:
        """A fit that can follow the log from entry ``stop`` on."""
        labeler, pulls = self.fit_corrected(stop)
        return self.learned(labeler, stop, pulls).ready()

    def learned(self, labeler: SoftLabeler, stop: int, pulls: Sequence[Pull | None]) -> AnyLearned:
        """A fit to the first ``stop`` entries, ready to follow."""
        if self.kind != MULTILABEL:
            return Learned(labeler, stop, pulls[0])
        n_votes = int(self.history.standing(stop).sum())
        return LearnedEach(labeler, stop, self.history.answers, n_votes, pulls)


def questions_of(labeler: SoftLabeler) -> list[SoftLabeler]:
    """The fit of each question: of each class, or the whole one."""
    return list(labeler.questions_.values()) if labeler.kind == MULTILABEL else [labeler]


def _corrected(table: VoteTable, shown: Shown, pull: Pull | None, labeler: SoftLabeler) -> VoteTable:
    """The votes with what is left of their weights where a suggestion may have decided them."""
    if pull is None or pull.lower <= 0:
        return table
    p = labeler.predict_proba()[table.rows, np.maximum(shown.suggested, 0)]
    share = own_share(p, shown.agrees, shown.seen, pull.value)
    counted = table.with_weights(table.weights * share)
    counted.repeats = table.repeats
    return counted


def discounts(votes: VoteTable) -> dict[tuple[int, int, str], float]:
    """What each vote of a person counted for, by item, class and name."""
    if votes.annotators is None:
        return {}
    keys = zip(votes.rows.tolist(), votes.columns.tolist(), votes.annotators.tolist(), strict=True)
    return dict(zip(keys, votes.weights.tolist(), strict=True))


def rows_once(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The rows in ascending order, each once, and where each of those asked for is among them."""
    found, back = np.unique(rows, return_inverse=True)
    return found, back
