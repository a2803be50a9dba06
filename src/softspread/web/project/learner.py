"""The page's model: a fit of the library's own estimator, which then follows the log.

votes that stand  ->  SoftLabeler  ->  Learned  ->  soft labels of any rows, moved by every further vote
"""

import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.annotators.pull import Pull, estimate_pull, own_share
from softspread.errors import SoftspreadWarning
from softspread.estimators.fitted import parts_of
from softspread.estimators.labeler import SoftLabeler
from softspread.graph.graph import Graph
from softspread.intervals.labels import labels_in
from softspread.intervals.task import Posteriors
from softspread.posterior.explain import Explanation, explain_blend
from softspread.posterior.live import LiveBlend, Moved
from softspread.posterior.posterior import Posterior
from softspread.spreading.evidence import SoftLabels
from softspread.votes.reading import NamedVotes, Names
from softspread.votes.table import VoteTable
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

    def follow(self, older: "Learned") -> None:
        """Take over what an older fit on the same graph has found about single items."""
        self.live.take_scales(older.live.known_scales())

    # ------------------------------------------------------------------------------------------------ answers
    @property
    def at_fit(self) -> Posterior:
        """The posterior as of the fit, which also says how wide intervals must be."""
        return self.parts.live.at_fit

    def posterior(self, turn: AbstractContextManager[object]) -> Posterior:
        """The posterior of all items by now; the lock is taken a piece at a time."""
        return self.live.posterior_of(self.live.moved(slice(None), turn)) if self.n_since else self.at_fit

    def labels(self, moved: Moved, ids: AnyArray, level: float) -> SoftLabels:
        """Soft labels with intervals and verdicts of what was read; ``ids`` are those of its items."""
        found = Posteriors(self.live.posterior_of(moved), self.at_fit)
        return labels_in(found, ids, self.labeler.classes_, level)

    def explain(self, votes: VoteTable, row: int) -> Explanation:
        """What one soft label is made of by now; ``votes`` are all that stand, as they were cast."""
        return explain_blend(self.live, self.parts.counted(votes), row, len(self.labeler.classes_))

    def ready(self) -> "Learned":
        """Compute ahead what the first answer needs."""
        first = np.zeros(1, dtype=np.int64)
        self.labels(self.live.moved(first), first, CONFIDENCE_LEVEL)
        return self


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

    def fit(self, stop: int | None = None) -> SoftLabeler:
        """`softspread spread` on the votes that stand after the first ``stop`` entries of the log."""
        return self.fit_corrected(stop)[0]

    def fit_corrected(self, stop: int | None = None) -> tuple[SoftLabeler, Pull | None]:
        """The fit, and how far suggestions pulled its votes: those that agree with one count less."""
        table, shown = self._votes_and_shown(stop)
        labeler, pull = self._fit_votes(table), shown.pull()
        if pull is None:
            return labeler, None
        for _ in range(PULL_ROUNDS if pull.lower > 0 else 0):  # else nothing says that there is a pull
            p = labeler.predict_proba()[table.rows, np.maximum(shown.suggested, 0)]
            share = own_share(p, shown.agrees, shown.seen, pull.value)
            counted = table.with_weights(table.weights * share)
            counted.repeats = table.repeats
            labeler = self._fit_votes(counted)
        return labeler, pull

    def pull(self, stop: int | None = None) -> Pull | None:
        """How far suggestions pulled the votes that stand after the first ``stop`` entries."""
        return self._votes_and_shown(stop)[1].pull()

    def _votes_and_shown(self, stop: int | None) -> tuple[VoteTable, "Shown"]:
        table, places = self.history.standing_votes(stop)
        suggested, seen = (part[places] for part in self.history.columns("suggested", "seen"))
        known = suggested >= 0
        return table, Shown(suggested, known, known & seen, known & (suggested == table.columns))

    def _fit_votes(self, table: VoteTable) -> SoftLabeler:
        votes = NamedVotes(table, self.names)
        labeler = SoftLabeler(alpha=self.alpha, prior=self.prior, n_jobs=self.n_jobs)
        with warnings.catch_warnings():  # what it would warn of, the dashboard says
            warnings.simplefilter("ignore", SoftspreadWarning)
            return labeler.fit(self.graph, votes, features=self.features)

    def learn(self, stop: int) -> Learned:
        """A fit that can follow the log from entry ``stop`` on."""
        labeler, pull = self.fit_corrected(stop)
        return Learned(labeler, stop, pull).ready()


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
