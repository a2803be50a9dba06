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
    from softspread.io.vote_file import VoteReading

# What {name} in a help text stands for: names that other packages may extend, looked up when help is shown.
CHOICES = {
    "encoders": "softspread.embedding.encoders.registry:ENCODERS",
    "intervals": "softspread.intervals.registry:INTERVALS",
    "output_formats": "softspread.io.formats:OUTPUT_FORMATS",
    "reducers": "softspread.embedding.reducers.registry:REDUCERS",
    "searches": "softspread.graph.registry:SEARCHES",
    "solvers": "softspread.diffusion.registry:SOLVERS",
    "strategies": "softspread.queries.registry:STRATEGIES",
    "vote_formats": "softspread.io.formats:VOTE_FORMATS",
}
WEAK_PRIOR = "1e-4"  # a prior of this strength only breaks ties


def option(help_text: str, *names: str, **limits: Any) -> Any:
    """An option with its help; its names where they are not those of the parameter."""
    return typer.Option(*names, help=help_text, **limits)


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options of every command."""

    workspace: Annotated[
        Path | None,
        option("Folder that keeps options and results for later runs.", "--workspace", "-w"),
    ] = None
    seed: Annotated[int, option("Fixes every random choice.", min=0)] = 0
    as_json: Annotated[bool, option("Print one JSON document instead of text.", "--json")] = False
    quiet: Annotated[bool, option("Print no progress and no text; errors still show.", "--quiet", "-q")] = (
        False
    )
    debug: Annotated[bool, option("Show the traceback of an error.", "--debug")] = False


@dataclass(frozen=True, slots=True)
class ItemOptions:
    """Where the items come from."""

    embeddings: Annotated[
        Path | None, option("Items as vectors: .npy, .npz or .parquet.", "--embeddings", "-e")
    ] = None
    ids: Annotated[
        Path | None, option("Ids of the items, row by row: .txt, .csv, .npy, .parquet or .jsonl.")
    ] = None
    id_column: Annotated[str | None, option("Column (or .npz array) with the ids.")] = None
    vector_column: Annotated[
        str | None,
        option("Column (or .npz array) with the vectors, or a pattern such as 'emb_*'."),
    ] = None

    def file(self) -> Path:
        """The file of embeddings; a missing option, file or ending is refused."""
        from softspread.io.formats import EMBEDDING_ENDINGS, check_source

        return check_source(needed(self.embeddings, "--embeddings"), EMBEDDING_ENDINGS, "embeddings")


ThreadsOption = Annotated[int | None, option("How many to use; default: all cores.", min=1)]


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """How items are tied."""

    n_neighbors: Annotated[str, option("Neighbours per item, or 'auto'.")] = "20"
    bandwidth: Annotated[str, option("Width of the kernel: 'kth', 'mean' or a number, sigma squared.")] = (
        "kth"
    )
    index: Annotated[str, option("Neighbour search: {searches}.")] = "auto"
    threads: ThreadsOption = None

    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters."""
        from softspread.graph.registry import SEARCHES

        width = self.bandwidth
        return {
            "n_neighbors": auto_or_number("n-neighbors", self.n_neighbors, int),
            "bandwidth": width if width in ("kth", "mean") else number("bandwidth", width, float),
            "index": SEARCHES.check(self.index),
            "n_jobs": self.threads,
        }


@dataclass(frozen=True, slots=True)
class VoteOptions:
    """Where the votes come from, and how they are read."""

    votes: Annotated[
        Path | None,
        option("Votes: .csv, .tsv, .parquet, .jsonl, or Label Studio's .json.", "--votes", "-v"),
    ] = None
    votes_format: Annotated[str, option("{vote_formats}.")] = "auto"
    item_column: Annotated[
        str | None, option("Column that names the item (Label Studio: field of the data).")
    ] = None
    label_column: Annotated[
        str | None, option("Column that names the class (Label Studio: name of the choices).")
    ] = None
    annotator_column: Annotated[str | None, option("Column that names the annotator.")] = None
    multi_choice: Annotated[
        str,
        option("Annotations with several choices: refuse, split into parts of a vote, or skip."),
    ] = "refuse"
    classes: Annotated[
        str | None, option("All classes in order: 'cat,dog', or a .txt file. Else those found.")
    ] = None
    skip_unknown: Annotated[
        bool, option("Leave out votes on unknown items or classes.", "--skip-unknown")
    ] = False

    def file(self) -> Path:
        """The file of votes; a missing option, file or ending is refused."""
        from softspread.io.formats import VOTE_ENDINGS, check_source

        return check_source(needed(self.votes, "--votes"), VOTE_ENDINGS, "votes")

    def reading(self) -> "VoteReading":
        """How the file is read."""
        from softspread.io.vote_file import VoteReading

        return VoteReading(
            self.votes_format, self.item_column, self.label_column, self.annotator_column, self.multi_choice
        )


PriorOption = Annotated[
    Path | None,
    option(
        "Predictions to start from: .npy (items x classes), a soft-label file, or 'votes' for those of "
        "a classifier trained on the votes."
    ),
]


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How votes are spread."""

    alpha: Annotated[str, option("How far votes travel, 0 to 1, or 'auto': by held-out votes.")] = "auto"
    prior: PriorOption = None
    prior_strength: Annotated[
        str | None,
        option("How many votes the prior counts as, or 'auto', the default with --prior; else 1e-4."),
    ] = None
    annotator_model: Annotated[str, option("auto, none, consistency or confusion.")] = "auto"
    solver: Annotated[str, option("How the linear system is solved: {solvers}.")] = "auto"

    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters, without the prior itself."""
        from softspread.diffusion.registry import SOLVERS

        usual = WEAK_PRIOR if self.prior is None else "auto"
        return {
            "alpha": auto_or_number("alpha", self.alpha, float),
            "prior_strength": auto_or_number("prior-strength", self.prior_strength or usual, float),
            "annotator_model": self.annotator_model,
            "solver": SOLVERS.check(self.solver),
        }


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """How uncertainty is reported."""

    interval: Annotated[str, option("{intervals}.")] = "posterior"
    confidence: Annotated[float, option("Level of the intervals.")] = 0.9


FormatOption = Annotated[
    str,
    option("{output_formats}.", "--format"),
]
SOFT_LABELS_OUT = option("Where to: .parquet, .csv, .tsv, .jsonl, .json, or a folder's name.", "--out", "-o")


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
            found = getattr(import_module(module), attribute)
            choices = found if isinstance(found, tuple) else found.names()
            help_text = help_text.replace(f"{{{name}}}", ", ".join(choices))
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
