"""Which votes are people's and which are models': language models and classifiers that vote beside people.

Votes, model_annotators  ->  people's votes, models' votes

The rule that of one person's votes on an item the last stands is about people: a model that is asked several
times gives several samples, and all of them count.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from softspread._common.types import AnyArray, BoolArray
from softspread.errors import InputError
from softspread.votes.standing import KEEP
from softspread.votes.votes import Votes


class Split(NamedTuple):
    """Who said what; both with the classes that either names."""

    people: Votes
    models: Votes


def names_of_models(given: Any) -> tuple[Any, ...]:
    """The names of models, each once; one name alone is refused, as its letters would be names."""
    if isinstance(given, str):
        raise InputError(f"model_annotators must be a list of names, got {given!r}; pass [{given!r}].")
    if not isinstance(given, Iterable):
        raise InputError(f"model_annotators must be a list of names, got {type(given).__name__}.")
    return tuple(dict.fromkeys(np.asarray(list(given), dtype=object).tolist()))


def said_by(annotators: AnyArray | None, names: Iterable[Any], n_votes: int) -> BoolArray:
    """(n_votes,) which votes were cast by one of these."""
    if annotators is None:
        return np.zeros(n_votes, dtype=bool)
    wanted = set(names)
    return np.array([name in wanted for name in annotators.tolist()], dtype=bool)


def check_models(y: Any, names: tuple[Any, ...]) -> None:
    """Refuse votes that name nobody, and models that cast none: a misspelt one would count as a person."""
    if not isinstance(y, Votes) or (len(y) and y.annotators is None):
        raise InputError(
            "model_annotators names who cast votes, and y names nobody; pass Votes with annotators, such as "
            "Votes.from_pairs(items, labels, annotators)."
        )
    who = [] if y.annotators is None else list(dict.fromkeys(y.annotators.tolist()))
    missing = [name for name in names if name not in who]
    if missing and len(y):
        shown = [name for name in who if name is not None][:10]
        raise InputError(
            f"model_annotators names {missing[0]!r}, by whom there is no vote; votes are by {shown}"
            f"{' and others' if len(who) > len(shown) else ''}."
        )


def split_votes(votes: Votes, names: tuple[Any, ...]) -> Split:
    """People's votes and models', which all count."""
    theirs = said_by(votes.annotators, names, len(votes))
    return Split(_part(votes, ~theirs), replace(_part(votes, theirs), repeats=KEEP))


def _part(votes: Votes, which: BoolArray) -> Votes:
    """Some of the votes, with the classes of all."""

    def of(values: AnyArray | None) -> Any:
        return None if values is None else values[which]

    return replace(
        votes,
        items=votes.items[which],
        labels=votes.labels[which],
        weights=votes.weights[which],
        annotators=of(votes.annotators),
        created_at=of(votes.created_at),
        answers=of(votes.answers),
        classes=votes.class_names(),
    )
