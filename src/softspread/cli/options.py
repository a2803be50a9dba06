"""Options that several commands share, each defined once, so that it has the same name and help everywhere.

A group is a dataclass whose fields are options; `softspread.cli.runner.command` spreads it over a command's
signature. Groups also check what can be checked before the numerical libraries are loaded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.io.vote_file import VoteReading

# What {name} in a help text stands for: names that other packages may extend, looked up when help is shown.
CHOICES = {
    "encoders": "softspread.embedding.encoders.registry:ENCODERS",
    "intervals": "softspread.intervals.registry:INTERVALS",
    "kinds": "softspread._common.kinds:VOTE_KINDS",
    "methods": "softspread.estimators.methods:METHODS",
    "output_formats": "softspread.io.formats:OUTPUT_FORMATS",
    "reducers": "softspread.embedding.reducers.registry:REDUCERS",
    "searches": "softspread.graph.registry:SEARCHES",
    "solvers": "softspread.diffusion.registry:SOLVERS",
    "strategies": "softspread.queries.registry:STRATEGIES",
    "vote_formats": "softspread.io.formats:VOTE_FORMATS",
}
Given = TypeVar("Given", Path, list[Path])
PRIOR_OF_VOTES = "votes"  # in place of a file, which would have an ending
WEAK_PRIOR = "1e-4"  # a prior of this strength only breaks ties


def option(help_text: str, *names: str, **limits: Any) -> Any:
    """An option with its help; its names where they are not those of the parameter."""
    return typer.Option(*names, help=help_text, **limits)


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options of every command."""

    workspace: Annotated[
        Path | None,
        option("Folder with options (softspread.toml) and a cache for later runs.", "--workspace", "-w"),
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
        list[Path] | None,
        option(
            "Items as vectors: .npy, .npz or .parquet; several files are taken together.",
            "--embeddings",
            "-e",
            metavar="FILE",
        ),
    ] = None
    ids: Annotated[
        Path | None, option("Ids of the items, row by row: .txt, .csv, .npy, .parquet or .jsonl.")
    ] = None
    id_column: Annotated[str | None, option("Column (or .npz array) with the ids.")] = None
    vector_column: Annotated[
        str | None,
        option("Column (or .npz array) with the vectors, or a pattern such as 'emb_*'."),
    ] = None

    def files(self) -> list[Path]:
        """The files of embeddings; a missing option, file or ending is refused."""
        from softspread.io.formats import EMBEDDING_ENDINGS, check_sources

        return check_sources(needed(self.embeddings, "--embeddings"), EMBEDDING_ENDINGS, "embeddings")


ThreadsOption = Annotated[int | None, option("How many to use; default: all cores.", min=1)]


@dataclass(frozen=True)
class GraphOptions:
    """How neighbours are found."""

    n_neighbors: Annotated[str, option("Neighbours per item; with --method pls also 'auto'.")] = "20"
    bandwidth: Annotated[str, option("Width of the kernel: 'kth', 'mean' or a number, sigma squared.")] = (
        "kth"
    )
    index: Annotated[str, option("Neighbour search: {searches}.")] = "auto"
    metric: Annotated[
        str, option("Distance of items: 'euclidean', 'cosine' (directions only) or 'inner_product'.")
    ] = "euclidean"
    threads: ThreadsOption = None

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters."""
        from softspread.graph.registry import METRICS, SEARCHES

        width, neighbors = self.bandwidth, auto_or_number("n-neighbors", self.n_neighbors, int)
        if neighbors != "auto" and neighbors < 1:
            raise InputError(f"--n-neighbors must be at least 1, got {neighbors}; 20 is the default.")
        if self.metric not in METRICS:
            raise InputError(f"--metric must be one of {', '.join(METRICS)}, got {self.metric!r}.")
        return {
            "n_neighbors": neighbors,
            "bandwidth": width if width in ("kth", "mean") else number("bandwidth", width, float),
            "index": SEARCHES.check(self.index),
            "metric": self.metric,
            "n_jobs": self.threads,
        }


@dataclass(frozen=True, slots=True)
class VoteOptions:
    """Where the votes come from, and how they are read."""

    votes: Annotated[
        list[Path] | None,
        option(
            "Votes: .csv, .tsv, .xlsx, .parquet, .jsonl, or an export of Label Studio, Argilla or Prodigy; "
            "several files are taken together.",
            "--votes",
            "-v",
            metavar="FILE",
        ),
    ] = None
    votes_format: Annotated[str, option("{vote_formats}.")] = "auto"
    kind: Annotated[
        str,
        option(
            "What a vote says: {kinds}. multilabel: yes or no for several classes; ordinal: --classes have "
            "an order; rating: a number."
        ),
    ] = "single"
    rest: Annotated[
        str,
        option("With --kind multilabel, what a list of labels says about the others: no or nothing."),
    ] = "no"
    scale: Annotated[str | None, option("With --kind rating, lowest and highest possible, such as 1,5.")] = (
        None
    )
    item_column: Annotated[
        str | None, option("Column that names the item (in exports: field of its data).")
    ] = None
    label_column: Annotated[
        str | None, option("Column that names the class (in exports: name of the question).")
    ] = None
    annotator_column: Annotated[str | None, option("Column that names the annotator.")] = None
    multi_choice: Annotated[
        str,
        option("Annotations with several choices: refuse, split into parts of a vote, or skip."),
    ] = "refuse"
    repeats: Annotated[
        str,
        option("Several votes of one person on one item: the last stands, or keep: all count."),
    ] = "last"
    classes: Annotated[
        str | None, option("All classes in order: 'cat,dog', or a .txt file. Else those found.")
    ] = None
    skip_unknown: Annotated[
        bool, option("Leave out votes on unknown items or classes.", "--skip-unknown")
    ] = False

    def files(self) -> list[Path]:
        """The files of votes; a missing option, file or ending is refused."""
        from softspread.io.formats import VOTE_ENDINGS, check_sources

        return check_sources(needed(self.votes, "--votes"), VOTE_ENDINGS, "votes")

    def reading(self) -> "VoteReading":
        """How the file is read."""
        from softspread.io.vote_file import VoteReading

        return VoteReading(
            self.votes_format,
            self.item_column,
            self.label_column,
            self.annotator_column,
            self.multi_choice,
            self.repeats,
            self.kind,
            self.rest,
        )

    def check_kind(self, *, ratings: bool = False) -> None:
        """Refuse unknown kinds, ratings where soft labels are needed, and options of another kind."""
        from softspread._common.kinds import KINDS, MULTILABEL, RATING, VOTE_KINDS

        allowed = VOTE_KINDS if ratings else KINDS
        if self.kind not in allowed:
            only = " Ratings are spread by 'softspread spread'." if self.kind == RATING else ""
            raise InputError(f"--kind must be one of {', '.join(allowed)}, got {self.kind!r}.{only}")
        if self.rest != "no" and self.kind != MULTILABEL:
            raise InputError("--rest is about lists of labels; add --kind multilabel, or leave it out.")
        if self.scale is not None and self.kind != RATING:
            raise InputError("--scale is about ratings; add --kind rating, or leave it out.")


PriorOption = Annotated[
    Path | None,
    option(
        "Predictions to start from: .npy (items x classes) or a soft-label file; with --method pls also "
        "'votes', a classifier trained on the votes."
    ),
]


@dataclass(frozen=True)
class FitOptions:
    """How votes become soft labels."""

    method: Annotated[
        str,
        option("{methods}. blend weighs several experts by held-out votes, pls is the paper's spreading."),
    ] = "auto"
    features: Annotated[
        Path | None,
        option("Unreduced features of the same items, for the blend's classifiers: .npy, .npz or .parquet."),
    ] = None
    add: Annotated[
        list[Path] | None,
        option(
            "Further items, which join the graph of --embeddings: .npy, .npz or .parquet; may be repeated.",
            metavar="FILE",
        ),
    ] = None
    alpha: Annotated[
        str, option("How far votes travel, 0 to 1, or 'auto': by held-out votes, the blend at several.")
    ] = "auto"
    prior: PriorOption = None
    prior_strength: Annotated[
        str | None,
        option("With --method pls: how many votes the prior counts as, or 'auto', the default with --prior."),
    ] = None
    annotator_model: Annotated[str, option("auto, none, consistency or confusion.")] = "auto"
    model_annotators: Annotated[
        str | None,
        option(
            "Annotators that are models, such as 'gpt,claude': never counted as people, but as far as "
            "people's votes bear them out."
        ),
    ] = None
    solver: Annotated[str, option("With --method pls, how the linear system is solved: {solvers}.")] = "auto"

    @property
    def of_votes(self) -> bool:
        """Whether the prior is a classifier of the votes."""
        return self.prior is not None and self.prior.name == PRIOR_OF_VOTES

    @property
    def models(self) -> list[str]:
        """The names of annotators that are models."""
        names = [] if self.model_annotators is None else self.model_annotators.split(",")
        if not all(name.strip() for name in names):
            raise InputError(
                f"--model-annotators must be names like gpt,claude, got {self.model_annotators!r}."
            )
        return [name.strip() for name in names]

    def check_files(self) -> None:
        """Refuse missing files and wrong endings."""
        from softspread.io.formats import EMBEDDING_ENDINGS, PRIOR_ENDINGS, check_source, check_sources

        if self.add:
            check_sources(self.add, EMBEDDING_ENDINGS, "items to add")
        if self.features is not None:
            check_source(self.features, EMBEDDING_ENDINGS, "features")
        if self.prior is not None and not self.of_votes and not self.prior.is_dir():
            check_source(self.prior, PRIOR_ENDINGS, "predictions to start from")

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters, without the prior itself."""
        from softspread.annotators.models import ANNOTATOR_MODELS
        from softspread.diffusion.registry import SOLVERS
        from softspread.estimators.methods import BLEND, method_of

        if self.annotator_model not in ANNOTATOR_MODELS:
            allowed = ", ".join(ANNOTATOR_MODELS)
            raise InputError(f"--annotator-model must be one of {allowed}, got {self.annotator_model!r}.")
        alpha = auto_or_number("alpha", self.alpha, float)
        if alpha != "auto" and not 0 <= alpha < 1:
            raise InputError(
                f"--alpha must be at least 0 and below 1, got {self.alpha}; 0 means no spreading, try 0.9."
            )
        shared = {"alpha": alpha, "annotator_model": self.annotator_model}
        if method_of(self.method) == BLEND:
            self._refuse_options_of_spreading()
            return shared
        if self.models:
            raise InputError(
                "--model-annotators are sources of --method blend; --method pls takes votes of people alone: "
                "leave one out."
            )
        if self.features is not None:
            raise InputError(
                "--features are for the classifiers of --method blend; --method pls has none: leave one out."
            )
        usual = WEAK_PRIOR if self.prior is None else "auto"
        strength = auto_or_number("prior-strength", self.prior_strength or usual, float)
        return shared | {"prior_strength": strength, "solver": SOLVERS.check(self.solver)}

    def _refuse_options_of_spreading(self) -> None:
        given = {
            "--prior votes": self.of_votes and "it has classifiers of the votes already",
            "--prior-strength": self.prior_strength is not None and "held-out votes say what a prior counts",
            "--solver": self.solver != "auto" and "it solves at several alphas, by conjugate gradients",
        }
        for name, reason in given.items():
            if reason:
                raise option_of_spreading(name, reason)


ConfidenceOption = Annotated[float, option("Level of the intervals, between 0 and 1.")]


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """How uncertainty is reported."""

    interval: Annotated[str, option("{intervals}.")] = "posterior"
    confidence: ConfidenceOption = 0.9

    def check(self, method: str) -> None:
        """Refuse a level, a name, or a name that the method has no intervals for."""
        from softspread.estimators.methods import BLEND, method_of
        from softspread.intervals.registry import INTERVALS, OF_ONE_ALPHA

        check_confidence(self.confidence)
        INTERVALS.check(self.interval)
        if self.interval in OF_ONE_ALPHA and method_of(method) == BLEND:
            raise option_of_spreading(f"--interval {self.interval}", "it has no single alpha to judge by")


@dataclass(frozen=True, slots=True)
class SizeOptions:
    """Data larger than memory."""

    memory_limit: Annotated[
        str | None,
        option("Work in blocks on disk within this memory, such as 8GB; with --method pls.", metavar="SIZE"),
    ] = None
    cluster: Annotated[
        str | None,
        option(
            "Work in blocks on Dask: 'local', or the scheduler's address tcp://host:8786.", metavar="WHERE"
        ),
    ] = None
    work: Annotated[
        str | None,
        option("Folder for blocks and checkpoints, any fsspec URL; default: --out with the ending .blocks."),
    ] = None
    block_items: Annotated[
        int | None, option("Items per block; default: what the memory limit allows, at most 100,000.", min=2)
    ] = None
    restart: Annotated[bool, option("Remove what another run has left in the work folder.", "--restart")] = (
        False
    )

    @property
    def in_blocks(self) -> bool:
        """Whether items are worked on in blocks."""
        return self.memory_limit is not None or self.cluster is not None

    def check(self) -> None:
        """Refuse options of a run in blocks where there is none."""
        given = {"--work": self.work, "--block-items": self.block_items, "--restart": self.restart or None}
        named = [name for name, value in given.items() if value is not None]
        if named and not self.in_blocks:
            raise InputError(f"{named[0]} is for a run in blocks; add --memory-limit 8GB or --cluster local.")


FormatOption = Annotated[
    str,
    option("{output_formats}.", "--format"),
]
SOFT_LABELS_OUT = option(
    "Where to: .parquet (extra parquet), .csv, .tsv, .jsonl, .json, or a folder's name.", "--out", "-o"
)


@dataclass(frozen=True)
class FitInputs:
    """Everything that a fit needs."""

    items: ItemOptions
    votes: VoteOptions
    graph: GraphOptions
    fit: FitOptions

    def check(self, *, needs_votes: bool = True, ratings: bool = False) -> None:
        """Refuse missing options, files, endings, and values that no fit takes: before anything is read."""
        self.votes.check_kind(ratings=ratings)
        if self.fit.models and self.votes.kind == "rating":
            raise InputError("--model-annotators name a class; ratings are people's: leave it out.")
        if self.fit.add and self.votes.kind == "rating":
            raise InputError("--add is for classes; give all items by --embeddings, which may be repeated.")
        self.items.files()
        if needs_votes or self.votes.votes:
            self.votes.files()
        self.fit.check_files()
        _ = self.parameters  # reading them checks them

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters, without the prior itself."""
        from softspread.estimators.methods import BLEND, method_of

        found = self.fit.parameters | self.graph.parameters
        if found["n_neighbors"] == "auto" and method_of(self.fit.method) == BLEND:
            raise option_of_spreading("--n-neighbors auto", "it needs a number, 20 by default")
        if self.votes.kind == "single":
            return found
        if method_of(self.fit.method) != BLEND:
            raise InputError(
                f"--method pls takes votes for one class each; leave it out for --kind {self.votes.kind}."
            )
        return found | {"kind": self.votes.kind}


def option_of_spreading(name: str, reason: str) -> InputError:
    """The refusal of an option that only the paper's method takes."""
    return InputError(
        f"{name} is for --method pls; the blend, the default, takes none: {reason}. Leave it out, or add "
        "--method pls."
    )


def check_confidence(level: float) -> None:
    """Refuse a level that is not a probability, before anything is read."""
    if not 0 < level < 1:
        hint = f"; did you mean {level / 100:g}?" if 50 <= level < 100 else "."
        raise InputError(f"--confidence must be strictly between 0 and 1, got {level:g}{hint}")


def fill_in(help_text: str) -> str:
    """A help text with the choices that its {names} stand for."""
    for name, place in CHOICES.items():
        if f"{{{name}}}" in help_text:
            module, attribute = place.split(":")
            found = getattr(import_module(module), attribute)
            choices = found if isinstance(found, tuple) else found.names()
            help_text = help_text.replace(f"{{{name}}}", ", ".join(choices))
    return help_text


def needed(value: Given | None, option: str) -> Given:
    """The value of an option that may also come from a workspace, but must come."""
    if not value:
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
