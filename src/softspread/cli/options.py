"""Options that several commands share, each defined once, so that it has the same name and help everywhere.

A group is a dataclass whose fields are options; `softspread.cli.runner.command` spreads it over a command's
signature. Groups also check what can be checked before the numerical libraries are loaded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.io.votes import VoteReading

# What {name} in a help text stands for: names that other packages may extend, looked up when help is shown.
CHOICES = {
    "intervals": "softspread.intervals.registry:INTERVALS",
    "strategies": "softspread.queries.registry:STRATEGIES",
}
WEAK_PRIOR = "1e-4"  # a prior of this strength only breaks ties


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options of every command."""

    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", help="Folder that keeps options and results for later runs."),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Fixes every random choice.")] = 0
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no progress and no text; errors still show.")
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

    def file(self) -> Path:
        """The file of embeddings; a missing option, file or ending is refused."""
        from softspread.io.tables import EMBEDDING_ENDINGS, check_source

        return check_source(needed(self.embeddings, "--embeddings"), EMBEDDING_ENDINGS, "embeddings")


ThreadsOption = Annotated[int | None, typer.Option(min=1, help="How many to use; default: all cores.")]


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
    threads: ThreadsOption = None

    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters."""
        width = self.bandwidth
        return {
            "n_neighbors": auto_or_number("n-neighbors", self.n_neighbors, int),
            "bandwidth": width if width in ("kth", "mean") else number("bandwidth", width, float),
            "index": self.index,
            "n_jobs": self.threads,
        }


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

    def file(self) -> Path:
        """The file of votes; a missing option, file or ending is refused."""
        from softspread.io.tables import VOTE_ENDINGS, check_source

        return check_source(needed(self.votes, "--votes"), VOTE_ENDINGS, "votes")

    def reading(self) -> "VoteReading":
        """How the file is read."""
        from softspread.io.votes import VoteReading

        return VoteReading(
            self.votes_format, self.item_column, self.label_column, self.annotator_column, self.multi_choice
        )


PriorOption = Annotated[
    Path | None,
    typer.Option(
        help="Predictions to start from: .npy (items x classes), a soft-label file, or 'votes' for those of "
        "a classifier trained on the votes."
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

    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters, without the prior itself."""
        usual = WEAK_PRIOR if self.prior is None else "auto"
        return {
            "alpha": auto_or_number("alpha", self.alpha, float),
            "prior_strength": auto_or_number("prior-strength", self.prior_strength or usual, float),
            "annotator_model": self.annotator_model,
        }


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """How uncertainty is reported."""

    interval: Annotated[str, typer.Option(help="{intervals}.")] = "wilson"
    confidence: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9


FormatOption = Annotated[
    str,
    typer.Option("--format", help="auto, parquet, csv, tsv, jsonl, weighted, huggingface or labelstudio."),
]
SOFT_LABELS_OUT = typer.Option(
    "--out", "-o", help="Where to: .parquet, .csv, .tsv, .jsonl, .json, or a folder's name."
)


@dataclass(frozen=True, slots=True)
class FitInputs:
    """Everything that a fit needs."""

    items: ItemOptions
    votes: VoteOptions
    graph: GraphOptions
    fit: FitOptions

    def check_files(self) -> None:
        """Refuse missing options, files and endings."""
        self.items.file()
        self.votes.file()

    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters, without the prior itself."""
        return self.graph.parameters() | self.fit.parameters()


def fill_in(help_text: str) -> str:
    """A help text with the choices that its {names} stand for."""
    for name, place in CHOICES.items():
        if f"{{{name}}}" in help_text:
            module, attribute = place.split(":")
            names = getattr(import_module(module), attribute).names()
            help_text = help_text.replace(f"{{{name}}}", ", ".join(names))
    return help_text


def needed(value: Path | None, option: str) -> Path:
    """The value of an option that may also come from a workspace, but must come."""
    if value is None:
        raise InputError(f"{option} is missing; give it, or set it in the softspread.toml of a --workspace.")
    return value


def auto_or_number(name: str, text: str, kind: Callable[[str], Any]) -> Any:
    """The word auto, or a number."""
    return text if text == "auto" else number(name, text, kind, "'auto' or ")


def number(name: str, text: str, kind: Callable[[str], Any], otherwise: str = "") -> Any:
    """A number that was typed."""
    try:
        return kind(text)
    except ValueError as error:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"--{name} must be {otherwise}{what}, got {text!r}.") from error
