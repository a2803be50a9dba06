"""Items for a lead to review: disagreements, surprising votes, items that were skipped, flagged or not shown.

    log, soft labels  ->  items, the most pressing first;  people: votes, speed;  agreement: one number

Pure functions of the log in memory; names and pictures are added by `service`.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.extras import needs_extra
from softspread._common.types import FloatArray, IntArray
from softspread.votes.table import VoteTable
from softspread.web.log.answers import Answers, Choice
from softspread.web.log.entry import BROKEN, DECIDED, FLAG, SKIP, VOTE
from softspread.web.log.history import History

LONGEST_LIST = 50  # items of one kind
UNEXPECTED = 0.25  # a vote surprises if its class has less probability now
PAUSE_SECONDS = 300.0  # a longer gap between two votes is a break, not work


@dataclass(frozen=True, slots=True)
class Person:
    """How much someone has done, and how fast."""

    name: str
    votes: int
    skips: int
    notes: int
    seconds_per_vote: float | None  # median while at work; None with fewer than two votes
    votes_per_hour: float | None
    last_at: float | None


def people_votes(history: History) -> VoteTable:
    """Standing votes of named people; neither decisions nor votes of files without names."""
    table = history.standing_votes()[0]
    if table.annotators is None:
        return table.take(slice(0))
    return table.take(np.array([name is not None for name in table.annotators], dtype=bool))


def decisions(history: History) -> dict[int, int]:
    """Number of the answer by row, of what a lead has decided."""
    if DECIDED not in history.annotators:
        return {}
    mine = history.annotators.index(DECIDED)
    rows, columns, annotator = history.columns("row", "column", "annotator")
    stands = history.standing()
    found = stands & (annotator[: len(stands)] == mine)
    places = np.flatnonzero(found)
    return dict(zip(rows[places].tolist(), columns[places].tolist(), strict=True))


def counts_of(table: VoteTable, n_classes: int) -> tuple[IntArray, FloatArray]:
    """Rows with votes, and how many votes each class has there."""
    rows, place = np.unique(table.rows, return_inverse=True)
    counts = np.zeros((len(rows), n_classes))
    np.add.at(counts, (place, table.columns), 1.0)
    return rows, counts


def asked(table: VoteTable, answers: Answers) -> list[tuple[VoteTable, int]]:
    """The votes on each question, and how many classes it has: all of them, or no and yes."""
    several = answers.n_questions > 1
    width = 2 if several else len(answers.classes)
    return [(answers.about(table, question), width) for question in range(answers.n_questions)]


def disagreements(table: VoteTable, answers: Answers) -> IntArray:
    """Rows on which people disagree: those with the smallest majority first, then those with most votes.

    Of several classes the one on which people disagree most decides.
    """
    found = [counts_of(votes, width) for votes, width in asked(table, answers)]
    rows = np.concatenate([mine for mine, _ in found])
    total = np.concatenate([counts.sum(axis=1) for _, counts in found])
    most = np.concatenate([counts.max(axis=1) for _, counts in found])
    order = np.lexsort((-total, most / total))
    torn = rows[order][(most < total)[order]]
    first = np.sort(np.unique(torn, return_index=True)[1])
    return np.asarray(torn[first][:LONGEST_LIST])


def probability_of(table: VoteTable, p: FloatArray, answers: Answers) -> FloatArray:
    """(m,) probability of what each vote says, by the soft labels of its items; of several classes the least.

    Parameters
    ----------
    p : (m, n_classes) soft label of each vote's item
    """
    if answers.n_questions == 1:
        return np.asarray(p[np.arange(len(table)), table.columns])
    least = np.ones(len(table))
    for question in range(answers.n_questions):
        said = answers.said(table.columns, question)
        chance = np.where(said == 1, p[:, question], 1 - p[:, question])
        least = np.where(said < 0, least, np.minimum(least, chance))
    return least


def answer_in_words(said: str | Choice) -> str:
    """An answer as a lead reads it.

    Examples
    --------
    >>> answer_in_words(Choice(["cat", "dog"], ["cow"]))
    'cat, dog, not cow'
    """
    if isinstance(said, str):
        return said
    return ", ".join([*said.yes, *(f"not {name}" for name in said.no or ())])


def surprising(table: VoteTable, probability: FloatArray) -> IntArray:
    """Numbers of the votes with a small ``probability``, one per item, the smallest first."""
    order = np.argsort(probability, kind="stable")
    _, first = np.unique(table.rows[order], return_index=True)
    found = order[np.sort(first)]
    return np.asarray(found[probability[found] < UNEXPECTED][:LONGEST_LIST])


def spoken_of(history: History, kind: int) -> list[tuple[int, int]]:
    """(row, how many people) of skips, flags or reports, most people first."""
    kinds, rows, annotator = history.columns("kind", "row", "annotator")
    pairs = set(zip(rows[kinds == kind].tolist(), annotator[kinds == kind].tolist(), strict=True))
    return Counter(row for row, _ in pairs).most_common(LONGEST_LIST)


def people(history: History) -> list[Person]:
    """Everybody in the log, who has voted most first."""
    kind, annotator, created = history.columns("kind", "annotator", "created_at")
    stands = history.standing()
    known = len(stands)
    found = []
    for number, name in enumerate(history.annotators):
        mine = annotator[:known] == number
        times = created[:known][mine & (kind[:known] == VOTE)]
        gaps = np.diff(times)
        gaps = gaps[gaps < PAUSE_SECONDS]
        found.append(
            Person(
                name,
                int((mine & stands).sum()),
                int((mine & (kind[:known] == SKIP)).sum()),
                int((mine & (kind[:known] == FLAG)).sum()),
                float(np.median(gaps)) if len(gaps) else None,
                3600 * len(gaps) / float(gaps.sum()) if len(gaps) and gaps.sum() > 0 else None,
                float(times[-1]) if len(times) else None,
            )
        )
    return sorted((one for one in found if one.name != DECIDED), key=lambda one: -one.votes)


def agreement(table: VoteTable, answers: Answers) -> dict[str, Any]:
    """Krippendorff's alpha (nominal) over items with two or more people; None where they say too little.

    Fleiss' kappa asks for the same number of votes on each item, which no project here has; alpha is its
    generalisation to any numbers. Of several classes it is the mean of those that are known, with each class.
    """
    found = [_agreement_of(*counts_of(votes, width)) for votes, width in asked(table, answers)]
    if answers.n_questions == 1:
        return found[0]
    known = [one["alpha"] for one in found if one["alpha"] is not None]
    widest = max(found, key=lambda one: int(one["votes"]))
    alpha = float(np.mean(known)) if known else None
    each = zip(answers.classes, found, strict=True)
    return widest | {"alpha": alpha, "classes": [{"name": name, "alpha": one["alpha"]} for name, one in each]}


def _agreement_of(rows: IntArray, counts: FloatArray) -> dict[str, Any]:
    several = counts[counts.sum(axis=1) >= 2]
    items, votes = len(several), int(several.sum())
    if not items or (several.sum(axis=0) > 0).sum() < 2:
        return {"alpha": None, "items": items, "votes": votes, "of_items": len(rows)}
    with needs_extra("web", "agreement needs krippendorff"):
        import krippendorff
    alpha = krippendorff.alpha(value_counts=several.astype(int), level_of_measurement="nominal")
    return {"alpha": float(alpha), "items": items, "votes": votes, "of_items": len(rows)}


def listed(history: History, table: VoteTable, probability: FloatArray) -> dict[str, Any]:
    """Rows of all lists by name; for surprising votes their numbers in the table."""
    return {
        "disagreements": [(row, None) for row in disagreements(table, history.answers).tolist()],
        "surprising": surprising(table, probability).tolist(),
        "skipped": spoken_of(history, SKIP),
        "flagged": spoken_of(history, FLAG),
        "broken": spoken_of(history, BROKEN),
        "decided": [(row, None) for row in decisions(history)][-LONGEST_LIST:],
    }
