"""The last fit in a file of its own, so that a restart need not learn from the whole log again.

Learned  ->  data folder/learned-<entries of the log>.npz  ->  Learned, if it is a fit of this log

The log is the truth: a file is used only if its votes are those that stood at that entry.
"""

import logging
from pathlib import Path

import numpy as np

from softspread.annotators.pull import Pull
from softspread.errors import SoftspreadError
from softspread.estimators.fitted import parts_of
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.storage import load, save
from softspread.votes.table import VoteTable
from softspread.web.project.learner import AnyLearned, Learner, questions_of

logger = logging.getLogger(__name__)
PATTERN = "learned-*.npz"


def save_learned(folder: Path, learned: AnyLearned) -> None:
    """Write the fit, then remove older ones; a fit that cannot be written does no harm."""
    path = folder / f"learned-{learned.entries}.npz"
    try:
        save(learned.labeler, path)
        for other in folder.glob(PATTERN):
            if other != path:
                other.unlink(missing_ok=True)
    except (SoftspreadError, OSError) as error:
        logger.warning("the fit is not saved, the next start learns from the log: %s", error)


def load_learned(folder: Path, learner: Learner) -> AnyLearned | None:
    """The fit in the folder, or None where there is none of this log, these items and these settings."""
    for path in sorted(folder.glob(PATTERN), key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            entries, labeler = int(path.stem.removeprefix("learned-")), load(path)
            if isinstance(labeler, SoftLabeler) and _suits(labeler, entries, learner):
                asked = learner.asked(entries)
                pulls, fitted = [shown.pull() for _, shown in asked], questions_of(labeler)
                tables = [table for table, _ in asked]
                if all(map(_has_seen, fitted, tables, pulls)):
                    return learner.learned(labeler, entries, pulls).ready()
            logger.warning("%s is of other votes, items or settings; learning from the log", path.name)
        except (SoftspreadError, ValueError) as error:
            logger.warning("%s cannot be used (%s); learning from the log", path.name, error)
    return None


def _suits(labeler: SoftLabeler, entries: int, learner: Learner) -> bool:
    """Whether a fit is about these items and classes, with these settings."""
    return (
        entries <= len(learner.history)
        and labeler.kind == learner.kind
        and labeler.classes_.tolist() == learner.names.classes.tolist()
        and labeler.alpha == learner.alpha
        and labeler.graph_.digest() == learner.graph.digest()
        and _same(labeler.prior, learner.prior)
        and all(_same(parts_of(one).features, learner.features) for one in questions_of(labeler))
    )


def _same(first: object, second: object) -> bool:
    """Whether both are none or hold the same numbers."""
    if first is None or second is None:
        return first is second
    return np.array_equal(np.asarray(first), np.asarray(second))


def _has_seen(labeler: SoftLabeler, cast: VoteTable, pull: Pull | None) -> bool:
    """Whether a fit has seen these votes; some may count less, as suggestions pulled them."""
    fitted, discounted = parts_of(labeler).votes, pull is not None and pull.lower > 0
    same = len(fitted) == len(cast) and all(
        np.array_equal(getattr(fitted, name), getattr(cast, name))
        for name in ("rows", "columns", "annotators")
    )
    if same and discounted:
        return bool(((fitted.weights > 0) & (fitted.weights <= cast.weights)).all())
    return same and np.array_equal(fitted.weights, cast.weights)
