"""Options that several commands share, so that the same thing has the same name everywhere.

A group is a dataclass whose fields are options; `softspread.cli.runs.command` spreads it over a command's
signature.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from softspread.intervals.registry import INTERVALS

USUAL_STRENGTH = "1e-4"  # breaks ties


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """Of every command."""

    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the table.")] = (
        False
    )
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no table; errors still show.")
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False


@dataclass(frozen=True, slots=True)
class ItemOptions:
    """Where the items come from."""

    embeddings: Annotated[
        Path | None, typer.Option("--embeddings", "-e", help="Items as vectors: .npy, .npz or .parquet.")
    ] = None
    ids: Annotated[
        Path | None, typer.Option(help="Ids of the items, row by row: .txt, .csv, .npy, .parquet or .jsonl.")
    ] = None
    id_column: Annotated[str | None, typer.Option(help="Column (or .npz array) with the ids.")] = None
    vector_column: Annotated[
        str | None,
        typer.Option(help="Column (or .npz array) with the vectors, or a pattern such as 'emb_*'."),
    ] = None
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", help="Folder that keeps options, graph and fit for later runs."),
    ] = None


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """How items are tied."""

    n_neighbors: Annotated[str, typer.Option(help="Neighbours per item, or 'auto'.")] = "20"
    bandwidth: Annotated[
        str, typer.Option(help="Width of the kernel: 'kth', 'mean' or a number, sigma squared.")
    ] = "kth"
    index: Annotated[str, typer.Option(help="Search: auto, exact, tree, brute, faiss or pynndescent.")] = (
        "auto"
    )
    threads: Annotated[int | None, typer.Option(min=1, help="How many to use; all cores unless given.")] = (
        None
    )


@dataclass(frozen=True, slots=True)
class VoteOptions:
    """Where the votes come from, and how they are read."""

    votes: Annotated[
        Path | None,
        typer.Option("--votes", "-v", help="Votes: .csv, .tsv, .parquet, .jsonl, or Label Studio's .json."),
    ] = None
    votes_format: Annotated[str, typer.Option(help="auto, long, wide, counts or labelstudio.")] = "auto"
    item_column: Annotated[
        str | None, typer.Option(help="Column that names the item (Label Studio: field of the data).")
    ] = None
    label_column: Annotated[
        str | None, typer.Option(help="Column that names the class (Label Studio: name of the choices).")
    ] = None
    annotator_column: Annotated[str | None, typer.Option(help="Column that names the annotator.")] = None
    multi_choice: Annotated[
        str,
        typer.Option(help="Annotations with several choices: refuse, split into parts of a vote, or skip."),
    ] = "refuse"
    classes: Annotated[
        str | None, typer.Option(help="All classes in order: 'cat,dog', or a .txt file. Else those found.")
    ] = None
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out votes on unknown items or classes.")
    ] = False


PriorOption = Annotated[
    Path | None,
    typer.Option(
        help="Predictions to start from: .npy (items x classes), a soft-label file, or 'votes': a classifier "
        "of them."
    ),
]


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How votes are spread."""

    alpha: Annotated[
        str, typer.Option(help="How far votes travel, 0 to 1, or 'auto': by held-out votes.")
    ] = "auto"
    prior: PriorOption = None
    prior_strength: Annotated[
        str | None,
        typer.Option(
            help="How many votes the prior counts as, or 'auto', the default with --prior; else 1e-4."
        ),
    ] = None
    annotator_model: Annotated[str, typer.Option(help="auto, none, consistency or confusion.")] = "auto"

    @property
    def strength(self) -> str:
        """The prior's strength as given, else what is usual with and without a prior."""
        if self.prior_strength is not None:
            return self.prior_strength
        return USUAL_STRENGTH if self.prior is None else "auto"


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """How uncertainty is told."""

    interval: Annotated[str, typer.Option(help=f"{', '.join(INTERVALS.names())}.")] = "wilson"
    confidence: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9
