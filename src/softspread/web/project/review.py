"""Items for a lead to review: disagreements, surprising votes, items that were skipped, flagged or not shown.

    log, soft labels  ->  items, the most pressing first;  people: votes, speed;  agreement: one number

Pure functions of the log in memory; names and pictures are added by `service`.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.votes.table import VoteTable
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
    """Column by row of what a lead has decided."""
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


def disagreements(table: VoteTable, n_classes: int) -> IntArray:
    """Rows on which people disagree: those with the smallest majority first, then those with most votes."""
    rows, counts = counts_of(table, n_classes)
    total, most = counts.sum(axis=1), counts.max(axis=1)
    order = np.lexsort((-total, most / total))
    return np.asarray(rows[order][(most < total)[order]][:LONGEST_LIST])


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


def agreement(table: VoteTable, n_classes: int) -> dict[str, Any]:
    """Krippendorff's alpha (nominal) over items with two or more people; None where they say too little.

    Fleiss' kappa asks for the same number of votes on each item, which no project here has; alpha is its
    generalisation to any numbers.
    """
    rows, counts = counts_of(table, n_classes)
    several = counts[counts.sum(axis=1) >= 2]
    items, votes = len(several), int(several.sum())
    if not items or (several.sum(axis=0) > 0).sum() < 2:
        return {"alpha": None, "items": items, "votes": votes, "of_items": len(rows)}
    with needs_extra("web", "agreement needs krippendorff"):
        import krippendorff
    alpha = krippendorff.alpha(value_counts=several.astype(int), level_of_measurement="nominal")
    return {"alpha": float(alpha), "items": items, "votes": votes, "of_items": len(rows)}


def listed(history: History, table: VoteTable, probability: AnyArray, n_classes: int) -> dict[str, Any]:
    """Rows of all lists by name; for surprising votes their numbers in the table."""
    return {
        "disagreements": [(row, None) for row in disagreements(table, n_classes).tolist()],
        "surprising": surprising(table, np.asarray(probability)).tolist(),
        "skipped": spoken_of(history, SKIP),
        "flagged": spoken_of(history, FLAG),
        "broken": spoken_of(history, BROKEN),
        "decided": [(row, None) for row in decisions(history)][-LONGEST_LIST:],
    }
