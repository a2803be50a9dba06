"""From options to a fitted estimator; with a workspace, only what changed is computed.

files  ->  items (graph, ids), votes  ->  est.fit
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from softspread._common import validation
from softspread._common.archive import pack_names, read_archive, unpack_names, write_archive
from softspread._common.atomic import write_text
from softspread._common.digests import hash_file, hash_values
from softspread._common.types import AnyArray, IntArray
from softspread._common.versions import version_of, versions
from softspread.cli.options import FitOptions, GraphOptions, ItemOptions, VoteOptions
from softspread.cli.runs import Run, needed
from softspread.errors import InputError
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.graph import Graph, knn_graph
from softspread.io.embeddings import Embeddings, read_embeddings
from softspread.io.matching import MatchedVotes, match_votes, read_classes
from softspread.io.soft_labels import read_soft_labels
from softspread.io.votes import VoteFile, VoteReading, read_votes

CACHE_VERSION = 1  # raise when the same inputs and options no longer give the same entry
PRIOR_OF_VOTES = "votes"  # in place of a file
MANY_ITEMS = 50_000  # from here on a step takes long enough for a bar
Made = TypeVar("Made")
FILE_LIBRARIES = ("faiss-cpu", "pandas", "pyarrow")  # soft labels from files depend on these too


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items of a job."""

    X: AnyArray | Graph
    item_ids: AnyArray | None
    source: str
    key: str  # of the embeddings' content and of how they are read
    graph_key: str | None  # None where the number of neighbours is still open

    @property
    def n_items(self) -> int:
        """How many there are."""
        return self.X.n_items if isinstance(self.X, Graph) else len(self.X)

    @property
    def names(self) -> AnyArray:
        """Ids, or positions where there are none."""
        return np.arange(self.n_items) if self.item_ids is None else self.item_ids

    def rows_of(self, names: Any) -> IntArray:
        """Positions of named items."""
        return validation.rows_of_items(validation.names(names, "item"), self.item_ids, self.n_items)

    def find(self, text: str) -> Any:
        """The id that a person typed."""
        if self.item_ids is not None and self.item_ids.dtype.kind not in "iu":
            return text
        try:
            return int(text)
        except ValueError as error:
            raise InputError(
                f"items are numbers here, got {text!r}; take one from the output of spread."
            ) from error


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Everything that a command may want to tell about a fit."""

    est: ProbabilisticLabelSpreading
    items: Items
    votes: MatchedVotes
    vote_file: VoteFile


# ------------------------------------------------------------------------------------------------------ parts
def load_items(run: Run, options: ItemOptions) -> Items:
    """The items as vectors."""
    path = needed(options.embeddings, "--embeddings")
    with run.stage("embeddings") as tell:
        found, key = _embeddings(run, path, options)
        tell(f"{len(found.X):,} items in {found.X.shape[1]} dimensions, {found.source}")
    return Items(found.X, found.item_ids, found.source, key, None)


def tie_items(run: Run, items: Items, how: GraphOptions) -> Items:
    """The items as a graph, where ``how`` fixes the number of neighbours; else as they are."""
    if how.n_neighbors == "auto" or isinstance(items.X, Graph):
        return items
    graph, graph_key = _graph(run, items.X, items.key, how)
    return dataclasses.replace(items, X=graph, graph_key=graph_key)


def _embeddings(run: Run, path: Path, options: ItemOptions) -> tuple[Embeddings, str]:
    def read() -> Embeddings:
        return read_embeddings(
            path, id_column=options.id_column, vector_column=options.vector_column, ids=options.ids
        )

    if run.workspace is None:
        return read(), ""
    if not path.is_file() or (options.ids is not None and not options.ids.is_file()):
        return read(), ""  # which says what is wrong
    ids_key = None if options.ids is None else hash_file(options.ids)
    key = hash_values(CACHE_VERSION, hash_file(path), options.id_column, options.vector_column, ids_key)
    if path.suffix.lower() == ".npy" and options.ids is None:
        return read(), key  # nothing to decode
    found = run.workspace.cached("embeddings", key, _load_embeddings, lambda _: read(), _store_embeddings)
    return found, key


def _store_embeddings(path: Path, found: Embeddings) -> None:
    arrays = {"X": found.X}
    was_object = found.item_ids is not None and found.item_ids.dtype == object
    if found.item_ids is not None:
        arrays["item_ids"] = pack_names(found.item_ids)
    write_archive(path, "embeddings", CACHE_VERSION, {"source": found.source, "objects": was_object}, arrays)


def _load_embeddings(path: Path) -> Embeddings:
    header, arrays = read_archive(path, "embeddings", CACHE_VERSION)
    item_ids = unpack_names(arrays["item_ids"], header["objects"]) if "item_ids" in arrays else None
    return Embeddings(arrays["X"], item_ids, header["source"])


def _graph(run: Run, X: AnyArray, key: str, how: GraphOptions) -> tuple[Graph, str]:
    n_neighbors = auto_or_number("n-neighbors", how.n_neighbors, int)
    bandwidth = (
        how.bandwidth if how.bandwidth in ("kth", "mean") else number("bandwidth", how.bandwidth, float)
    )
    graph_key = hash_values(CACHE_VERSION, key, n_neighbors, bandwidth, how.index, run.common.seed)

    def build() -> Graph:
        show = run.shows_bars and len(X) >= MANY_ITEMS
        return knn_graph(
            X,
            n_neighbors,
            bandwidth,
            how.index,
            n_jobs=how.threads,
            random_state=run.common.seed,
            verbose=show,
        )

    with run.stage("graph", own_bars=len(X) >= MANY_ITEMS) as tell:
        if run.workspace is None:
            graph = build()
        else:
            graph = _remembered(
                run, "graph", graph_key, Graph.load, build, lambda path, made: made.save(path)
            )
        tell(describe_graph(graph))
    return graph, graph_key


def _remembered(
    run: Run,
    kind: str,
    key: str,
    load_entry: Callable[[Path], Made],
    make: Callable[[], Made],
    store: Callable[[Path, Made], None],
) -> Made:
    """An entry of the workspace, with the warnings that came up when it was made: they hold for a later run
    as well.
    """
    workspace = run.workspace
    assert workspace is not None
    told = workspace.entry("warnings", f"{kind}-{key}")

    def make_and_note(_: Path) -> Made:
        n_before = len(run.warnings)
        made = make()
        write_text(told, json.dumps(run.warnings[n_before:]))
        return made

    def load_and_tell(path: Path) -> Made:
        texts = json.loads(told.read_text(encoding="utf-8"))
        found = load_entry(path)
        for text in texts:
            run.warn(text)
        return found

    return workspace.cached(kind, key, load_and_tell, make_and_note, store)


def describe_graph(graph: Graph) -> str:
    """The facts of a graph in a few words."""
    parts = "component" if graph.n_components == 1 else "components"
    recall = f", recall {graph.recall_:.4f} ({graph.index})" if graph.recall_ < 1 else ""
    alone = f", {graph.n_isolated:,} isolated items" if graph.n_isolated else ""
    near = "" if graph.n_neighbors is None else f"{graph.n_neighbors} neighbours, "
    return f"{near}{graph.n_edges // 2:,} edges, {graph.n_components:,} {parts}{alone}{recall}"


def load_votes(
    run: Run, options: VoteOptions, items: Items, classes: Sequence[str] | None = None
) -> tuple[MatchedVotes, VoteFile]:
    """Votes on the items; what is not found is told or refused. ``classes`` are known from elsewhere, or
    None.
    """
    path = needed(options.votes, "--votes")
    reading = VoteReading(
        options.votes_format,
        options.item_column,
        options.label_column,
        options.annotator_column,
        options.multi_choice,
    )
    with run.stage("votes") as tell:
        file = read_votes(path, reading)
        named = classes if classes is not None else read_classes(options.classes)
        matched = match_votes(file, items.item_ids, items.n_items, named, options.skip_unknown)
        tell(f"{len(matched.votes):,} votes for {len(matched.classes)} classes ({file.votes_format})")
    for trouble in matched.unknown:
        run.warn(f"left out: {trouble}")
    for what, count in file.notes.items():
        run.note(f"left out: {count:,} {what}")
    return matched, file


def fit(
    run: Run,
    item_options: ItemOptions,
    graph_options: GraphOptions,
    vote_options: VoteOptions,
    options: FitOptions,
) -> Job:
    """Everything from the files to soft labels."""
    settings = fit_settings(options, graph_options)
    needed(vote_options.votes, "--votes")
    items = load_items(run, item_options)
    votes, file = load_votes(
        run, vote_options, items
    )  # before the graph: mistakes in a file should not cost minutes
    items = tie_items(run, items, graph_options)
    make = _fitting(run, items, votes, settings, options.prior)
    large = items.n_items >= MANY_ITEMS
    with run.stage("spreading", own_bars=large) as tell:
        if run.workspace is None:
            est = make()
        else:
            votes_key = hash_values(
                hash_file(file.path), *(str(value) for value in dataclasses.astuple(vote_options)[1:])
            )
            prior_key = None if options.prior is None else _prior_key(options.prior)
            key = hash_values(
                CACHE_VERSION,
                items.key,
                items.graph_key,
                votes_key,
                prior_key,
                sorted(settings.items()),
                version_of("softspread"),
            )
            est = _remembered(run, "fit", key, _load_fit, make, _store_fit)
        tell(f"alpha {est.alpha_:g}{' (chosen)' if est.tuning_ is not None else ''}")
    if options.prior is not None and est.prior is None:
        run.note("the classifier of the votes is left out: held-out votes are foretold better without it")
    if run.workspace is not None and run.workspace.reused:
        run.note(f"reused from {run.workspace.folder}: {', '.join(run.workspace.reused)}")
    return Job(est, items, votes, file)


def _store_fit(path: Path, est: ProbabilisticLabelSpreading) -> None:
    from softspread.estimators.storage import save

    save(est, path)


def _load_fit(path: Path) -> ProbabilisticLabelSpreading:
    from softspread.estimators.storage import load

    est = load(path)
    if not isinstance(est, ProbabilisticLabelSpreading):
        raise InputError(f"{path} holds another kind of estimator.")
    return est


def fit_settings(options: FitOptions, graph: GraphOptions) -> dict[str, Any]:
    """Parameters of the estimator."""
    return {
        "alpha": auto_or_number("alpha", options.alpha, float),
        "n_neighbors": auto_or_number("n-neighbors", graph.n_neighbors, int),
        "bandwidth": graph.bandwidth
        if graph.bandwidth in ("kth", "mean")
        else number("bandwidth", graph.bandwidth, float),
        "prior_strength": auto_or_number("prior-strength", options.strength, float),
        "annotator_model": options.annotator_model,
        "index": graph.index,
        "n_jobs": graph.threads,
    }


def _fitting(
    run: Run, items: Items, votes: MatchedVotes, settings: dict[str, Any], prior: Path | None
) -> Callable[[], ProbabilisticLabelSpreading]:
    def fit_with(table: AnyArray | None) -> ProbabilisticLabelSpreading:
        est = ProbabilisticLabelSpreading(
            **settings,
            prior=table,
            random_state=run.common.seed,
            verbose=run.shows_bars and items.n_items >= MANY_ITEMS,
        )
        return est.fit(items.X, votes.votes, item_ids=items.item_ids, classes=votes.classes)

    def make() -> ProbabilisticLabelSpreading:
        if prior is None:
            return fit_with(None)
        helped = fit_with(make_prior(run, prior, items, votes))
        if not _of_votes(prior) or settings["prior_strength"] != "auto":
            return helped
        from softspread.estimators.priors import better_of

        return better_of(fit_with(None), helped)

    return make


def _of_votes(prior: Path) -> bool:
    return str(prior) == PRIOR_OF_VOTES


def _prior_key(prior: Path) -> str:
    return PRIOR_OF_VOTES if _of_votes(prior) else hash_file(prior)


def make_prior(run: Run, prior: Path, items: Items, votes: MatchedVotes) -> AnyArray:
    """What ``--prior`` asks for: a file's predictions, or those of a classifier trained on the votes."""
    if not _of_votes(prior):
        return read_prior(prior, items, votes.classes)
    from softspread.estimators.priors import classifier_prior

    X = items.X.features if isinstance(items.X, Graph) else items.X
    return classifier_prior(
        X, votes.votes, item_ids=items.item_ids, classes=votes.classes, random_state=run.common.seed
    )


def read_prior(path: Path, items: Items, classes: AnyArray) -> AnyArray:
    """(n, n_classes) probabilities: an array in the order of items and classes, or soft labels by name."""
    if path.suffix.lower() == ".npy":
        return read_embeddings(path).X
    labels = read_soft_labels(path, needs_evidence=False)
    by_name = {str(label): column for column, label in enumerate(labels.classes.tolist())}
    missing = [str(label) for label in classes.tolist() if str(label) not in by_name]
    if missing:
        raise InputError(f"{path} lacks the classes {', '.join(map(repr, missing[:5]))} that the votes name.")
    names, found = items.names, labels.ids
    if names.dtype.kind not in "iu" or found.dtype.kind not in "iu":
        names, found = (
            np.array([str(name) for name in part.tolist()], dtype=object) for part in (names, found)
        )
    rows = validation.lookup(found).get_indexer(validation.lookup(names))
    if (rows < 0).any():
        raise InputError(f"{path} lacks {int((rows < 0).sum()):,} of the {len(names):,} items.")
    return np.asarray(labels.p[rows][:, [by_name[str(label)] for label in classes.tolist()]])


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


# -------------------------------------------------------------------------------------------------- the facts
def facts_of(job: Job) -> dict[str, Any]:
    """What went in and what was chosen, ready for JSON; the same inputs and versions give the same."""
    est, votes = job.est, job.votes.votes
    graph = est.graph_
    named = (
        None
        if votes.annotators is None
        else len({name for name in votes.annotators.tolist() if name is not None})
    )
    tuning = est.tuning_
    return {
        "n_items": job.items.n_items,
        "classes": est.classes_.tolist(),
        "votes": {
            "read": job.votes.n_read,
            "used": len(votes),
            "skipped": job.votes.n_skipped,
            "left_out": dict(job.vote_file.notes),
            "items_with_votes": int(est.vote_counts_.any(axis=1).sum()),
            "annotators": named,
            "format": job.vote_file.votes_format,
        },
        "parameters": {
            "alpha": est.alpha_,
            "n_neighbors": est.n_neighbors_,
            "bandwidth": est.bandwidth,
            "prior": est.prior is not None,
            "prior_strength": est.prior_strength_,
            "annotator_model": est.annotator_model,
            "scaling": est.scaling,
            "tol": est.tol,
            "random_state": est.random_state,
        },
        "chosen_by": None if tuning is None else tuning.summary(),
        "graph": {
            "edges": graph.n_edges // 2,
            "components": graph.n_components,
            "isolated": graph.n_isolated,
            "recall": graph.recall_,
            "index": graph.index,
            "sigma2": graph.sigma2,
        },
        "versions": versions(*FILE_LIBRARIES),
    }
