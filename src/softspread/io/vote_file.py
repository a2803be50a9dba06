"""Votes as they stand in a file, and how to read them: what every reader of votes makes and takes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from softspread._common.kinds import SINGLE
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread._common.validation import objects
from softspread.io.tables import numbers_if_whole


@dataclass(frozen=True, slots=True)
class VoteReading:
    """How to read a votes file; None and "auto" look for the usual names."""

    votes_format: str = "auto"
    item_column: str | None = None  # or, of a Label Studio export, the field of a task's data
    label_column: str | None = None  # or, of a Label Studio export, the name of the choices
    annotator_column: str | None = None
    multi_choice: str = "refuse"  # several choices: "refuse", "split" into parts of a vote, or "skip"
    repeats: str = "last"  # of one annotator's votes on one item the last stands, or "keep": all count
    kind: str = SINGLE  # or "multilabel": yes or no for several classes
    rest: str = "no"  # what a list of labels says about those that it leaves out: "no" or "nothing"


@dataclass(frozen=True, slots=True, eq=False)
class VoteFile:
    """Votes as they stand in a file."""

    path: Path  # of several files the first
    votes_format: str
    items: AnyArray  # (m,) objects
    labels: AnyArray  # (m,) objects
    annotators: AnyArray | None = None  # (m,) objects, None where nobody is named
    weights: FloatArray | None = None  # (m,)
    created_at: AnyArray | None = None
    is_text: bool = True  # whole numbers are written as text, as in CSV
    classes: AnyArray | None = None  # where the file fixes them: columns of counts
    notes: Mapping[str, int] = field(default_factory=dict)  # what was left out, and how often
    more_paths: tuple[Path, ...] = ()  # of further files whose votes are in here
    repeats: str = "last"  # as in VoteReading
    # (m,) of several classes: yes or no to the label; None while the label is a list that was not opened yet
    answers: AnyArray | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        return (self.path, *self.more_paths)

    @property
    def source(self) -> str:
        """The files, for messages."""
        return ", ".join(map(str, self.paths))

    def __len__(self) -> int:
        return len(self.items)

    def take(self, which: IntArray | BoolArray) -> "VoteFile":
        """Some of the votes, by number or by mask."""
        columns = ("items", "labels", "annotators", "weights", "created_at", "answers")
        given = {name: getattr(self, name) for name in columns}
        return replace(self, **{name: values[which] for name, values in given.items() if values is not None})


def joined_files(files: Sequence[VoteFile]) -> VoteFile:
    """The votes of several files as one, in their order."""
    if len(files) == 1:
        return files[0]
    counts: Counter[str] = Counter()
    for file in files:
        counts.update(file.notes)
    fixed = [file.classes for file in files if file.classes is not None]
    classes = list(dict.fromkeys(name for part in fixed for name in part.tolist()))
    return VoteFile(
        files[0].path,
        ", ".join(dict.fromkeys(file.votes_format for file in files)),
        np.concatenate([file.items for file in files]),
        np.concatenate(_labels(files)),
        _together([file.annotators for file in files], files),
        None
        if all(file.weights is None for file in files)
        else np.concatenate([np.ones(len(f)) if f.weights is None else f.weights for f in files]),
        _together([file.created_at for file in files], files),
        all(file.is_text for file in files),
        objects(classes) if len(fixed) == len(files) else None,
        dict(counts),
        tuple(path for file in files for path in file.paths)[1:],
        answers=_together([file.answers for file in files], files),
    )


def _labels(files: Sequence[VoteFile]) -> list[AnyArray]:
    """Labels of each file: 1 of a CSV file is the 1 of a Parquet file beside it, unless that holds text."""
    typed = [label for file in files if not file.is_text for label in file.labels]
    text = [label for file in files if file.is_text for label in file.labels]
    if not typed or not text or all(isinstance(label, str) for label in typed):
        return [file.labels for file in files]
    if numbers_if_whole(objects(text)).dtype.kind != "i":
        return [file.labels for file in files]
    return [objects([int(label) for label in file.labels]) if file.is_text else file.labels for file in files]


def _together(parts: Sequence[AnyArray | None], files: Sequence[VoteFile]) -> AnyArray | None:
    """A column of all files, None where a file lacks it."""
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [
            objects([None] * len(file)) if part is None else part
            for part, file in zip(parts, files, strict=True)
        ]
    )
