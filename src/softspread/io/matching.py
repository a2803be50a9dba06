"""Votes of a file meet the items: ids are matched as text, unknown items and classes are counted and shown.

VoteFile + ids (n,) + classes  ->  rows and columns with their names, and what was not found
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, IntArray
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.io.formats import check_source
from softspread.io.ids import are_positions, as_text, rows_of_ids
from softspread.io.tables import numbers_if_whole, shown
from softspread.io.text import read_text
from softspread.io.vote_file import VoteFile
from softspread.votes.class_names import warn_of_near_equal
from softspread.votes.models import check_models, said_by
from softspread.votes.reading import NamedVotes, Names
from softspread.votes.standing import votes_that_stand
from softspread.votes.table import VoteTable
from softspread.votes.votes import Votes


@dataclass(frozen=True, slots=True, eq=False)
class MatchedVotes:
    """Votes on known items for known classes, and the others."""

    file: VoteFile
    found: NamedVotes  # ready for an estimator of these items
    n_skipped: int = 0
    unknown: tuple[str, ...] = field(default=())  # one sentence for each kind of trouble
    whole: Votes | None = None  # of several classes, or with models among those who voted: all that was cast
    models: tuple[object, ...] = field(default=())  # annotators that are models, by their names here

    @property
    def given(self) -> "NamedVotes | Votes":
        """The votes in the form that an estimator of this kind takes as y."""
        return self.found if self.whole is None else self.whole

    @property
    def classes(self) -> AnyArray:
        """(n_classes,) in the order of columns."""
        return self.found.names.classes

    @property
    def votes(self) -> Votes:
        """The votes with the ids of their items and the names of their classes."""
        return self.found.names.votes(self.found.table)


def read_classes(text: str | None) -> list[str] | None:
    """Class names from ``a,b,c``, or from a text file with one per line.

    Examples
    --------
    >>> read_classes("cat, dog")
    ['cat', 'dog']
    """
    if text is None:
        return None
    if text.lower().endswith(".txt"):
        source = check_source(Path(text), (".txt",), "class names")
        names = [line.strip() for line in read_text(source).splitlines() if line.strip()]
    else:
        names = [name.strip() for name in text.split(",")]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names or "" in names or twice:
        trouble = f"{shown(twice)} more than once" if twice else "an empty name"
        raise InputError(
            f"classes must be distinct names like cat,dog or a .txt file with one per line; got {trouble}."
        )
    return names


def match_votes(
    file: VoteFile,
    item_ids: AnyArray | None,
    n_items: int,
    classes: Sequence[str] | None = None,
    skip_unknown: bool = False,
    hint: str = "Correct the file, or leave them out by --skip-unknown.",
    models: Sequence[str] = (),
) -> MatchedVotes:
    """Bring votes and items together.

    Parameters
    ----------
    item_ids : (n,) ids of the items; None = votes name positions 0 to n - 1
    classes : ordered class names as text; None = those found, sorted (numbers as numbers)
    skip_unknown : leave votes on unknown items or for unknown classes out; otherwise they are refused
    hint : what to do, for that message
    models : annotators that are models, compared as text: ``found`` holds the votes of people alone
    """
    ids = None if item_ids is None else validation.item_ids(item_ids, n_items)
    rows = rows_of_ids(file.items, ids, n_items)
    known = rows >= 0
    if ids is None and not known.any() and not are_positions(as_text(file.items)).any():
        raise InputError(
            f"{file.source} names items like {shown(file.items[:2])}, but the embeddings have no ids. Give "
            "them by --ids, one per row of the embeddings."
        )
    labels, class_array = _labels_and_classes(file, classes)
    if classes is None:
        warn_of_near_equal(class_array.tolist())
    columns = validation.lookup(class_array).get_indexer(validation.lookup(labels))
    allowed = columns >= 0
    keep = known & allowed
    troubles = []
    if not known.all():
        where = f"positions 0 to {n_items - 1:,}" if ids is None else f"ids such as {shown(ids[:2])}"
        troubles.append(
            f"{int((~known).sum()):,} of {len(file):,} votes name unknown items: {shown(file.items[~known])} "
            f"(the {n_items:,} items have {where})."
        )
    if not allowed.all():
        troubles.append(
            f"{int((~allowed).sum()):,} of {len(file):,} votes name classes that are not in the list: "
            f"{shown(labels[~allowed])} (allowed: {shown(class_array)})."
        )
    if troubles and not skip_unknown:
        raise InputError(f"{file.source}: {' '.join(troubles)} {hint}")
    if not keep.any():
        raise InputError(f"{file.source}: no vote is left. {' '.join(troubles)}")
    names = Names(n_items, ids, class_array)
    table, whole, found_models = _tables(file.take(keep), rows[keep], columns[keep], names, models)
    n_left_out = int((~keep).sum())
    return MatchedVotes(file, NamedVotes(table, names), n_left_out, tuple(troubles), whole, found_models)


def _tables(
    file: VoteFile, rows: IntArray, columns: IntArray, names: Names, models: Sequence[str]
) -> tuple[VoteTable, Votes | None, tuple[object, ...]]:
    """Votes of people, all that was cast where an estimator wants that, and the models."""
    who = None if file.annotators is None else validation.annotator_names(file.annotators)
    weights = np.ones(len(file)) if file.weights is None else file.weights
    table, found_models, whole = VoteTable(rows, columns, weights, who), _models_among(who, models), None
    if file.answers is not None or models:
        items, labels, times = names.items(rows), names.classes[columns], file.created_at
        whole = Votes(items, labels, weights, who, times, names.classes, file.repeats, file.answers)
        if models:
            check_models(whole, found_models)
    if file.answers is None:
        names.check_retractions(table)
        people = ~said_by(who, found_models, len(table))
        times = None if file.created_at is None else file.created_at[people]
        table = votes_that_stand(table.take(people), file.repeats, times, stacklevel=4)
    return table, whole, found_models


def _models_among(annotators: AnyArray | None, models: Sequence[str]) -> tuple[object, ...]:
    """The names of models as the votes have them; one that cast no vote stays as it was given."""
    by_text = {} if annotators is None else {str(name): name for name in annotators.tolist()}
    return tuple(by_text.get(name, name) for name in models)


def _labels_and_classes(file: VoteFile, classes: Sequence[str] | None) -> tuple[AnyArray, AnyArray]:
    """Labels and classes in the same type: numbers where all of them are whole numbers."""
    labels, named = file.labels, None if classes is None else objects(classes)
    if not file.is_text:
        labels = validation.names(labels, f"{file.source}: label")
    else:
        whole = numbers_if_whole(labels)
        if named is None or numbers_if_whole(named).dtype.kind == whole.dtype.kind:
            labels = whole
    if named is not None and labels.dtype.kind in "iu":
        return labels, numbers_if_whole(named)
    if named is not None:
        by_text = {str(label): label for label in validation.distinct_sorted(labels).tolist()}
        return labels, objects([by_text.get(name, name) for name in named])
    if file.classes is None:
        return labels, validation.distinct_sorted(labels)
    whole = numbers_if_whole(file.classes)
    return labels, whole if whole.dtype.kind == labels.dtype.kind else file.classes
