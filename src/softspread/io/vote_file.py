"""Votes as they stand in a file, and how to read them: what every reader of votes makes and takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from softspread._common.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class VoteReading:
    """How to read a votes file; None and "auto" look for the usual names."""

    votes_format: str = "auto"
    item_column: str | None = None  # or, of a Label Studio export, the field of a task's data
    label_column: str | None = None  # or, of a Label Studio export, the name of the choices
    annotator_column: str | None = None
    multi_choice: str = "refuse"  # several choices: "refuse", "split" into parts of a vote, or "skip"


@dataclass(frozen=True, slots=True, eq=False)
class VoteFile:
    """Votes as they stand in a file."""

    path: Path
    votes_format: str
    items: AnyArray  # (m,) objects
    labels: AnyArray  # (m,) objects
    annotators: AnyArray | None = None  # (m,) objects, None where nobody is named
    weights: FloatArray | None = None  # (m,)
    created_at: AnyArray | None = None
    is_text: bool = True  # whole numbers are written as text, as in CSV
    classes: AnyArray | None = None  # where the file fixes them: columns of counts
    notes: Mapping[str, int] = field(default_factory=dict)  # what was left out, and how often

    def __len__(self) -> int:
        return len(self.items)
