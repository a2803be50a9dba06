"""From options to a fitted estimator; with a workspace, only what changed is computed.

    files  ->  items (graph, ids), votes  ->  est.fit

Votes are read before the graph is built: a mistake in a file should not cost minutes.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, IntArray
from softspread._common.validation import objects
from softspread._common.versions import version_of
from softspread.cli.options import FitInputs, GraphOptions, ItemOptions, VoteOptions
from softspread.cli.runner import Run
from softspread.errors import InputError
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.io.embeddings import Embeddings, read_embeddings
from softspread.io.ids import rows_of_ids
from softspread.io.matching import MatchedVotes, match_votes, read_classes
from softspread.io.soft_labels import read_prior
from softspread.io.tables import shown
from softspread.io.votes import read_vote_files

CACHE_VERSION = 1  # raise when the same inputs and options no longer give the same entry
PRIOR_OF_VOTES = "votes"  # in place of a file, which would have an ending
MANY_ITEMS = 50_000  # from here on a step takes long enough for a progress bar


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items to label."""

    X: AnyArray | Graph
    item_ids: AnyArray | None
    source: str
    made_from: tuple[Any, ...]  # the files and settings that they depend on

    @property
    def n_items(self) -> int:
        """How many there are."""
        return self.X.n_items if isinstance(self.X, Graph) else len(self.X)

    @property
    def names(self) -> AnyArray:
        """Ids, or positions where there are none."""
        return np.arange(self.n_items) if self.item_ids is None else self.item_ids

    @property
    def are_many(self) -> bool:
        """Whether steps take long enough for a progress bar."""
        return self.n_items >= MANY_ITEMS

    def rows_of(self, ids: Any) -> IntArray:
        """Positions of items by their ids, which are compared as text; an unknown one is refused."""
        rows = rows_of_ids(objects(ids), self.item_ids, self.n_items)
        if (rows < 0).any():
            raise InputError(
                f"{shown(objects(ids)[rows < 0])} are not among the {self.n_items} item ids such as "
                f"{shown(self.names[:2])}."
            )
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted estimator with what it was fitted on."""

    est: ProbabilisticLabelSpreading
    items: Items
    votes: MatchedVotes


# ---------------------------------------------------------------------------------------------- items, graph
def load_items(run: Run, options: ItemOptions) -> Items:
    """The items as vectors."""
    path, ids = options.file(), options.ids
    made_from = (CACHE_VERSION, path, options.id_column, options.vector_column, ids)

    def read() -> Embeddings:
        return read_embeddings(
            path, id_column=options.id_column, vector_column=options.vector_column, ids=ids
        )

    with run.stage("embeddings") as tell:
        if path.suffix.lower() == ".npy" and ids is None:
            found = read()  # nothing to decode
        else:
            found = run.remember("embeddings", made_from, Embeddings.load, read, Embeddings.save)
        tell(f"{len(found.X):,} items in {found.X.shape[1]} dimensions, {found.source}")
    return Items(found.X, found.item_ids, found.source, made_from)


def build_graph(run: Run, items: Items, options: GraphOptions) -> Items:
    """The items as a graph where the number of neighbours is given; else as they are."""
    parameters, X = options.parameters(), items.X
    if parameters["n_neighbors"] == "auto" or isinstance(X, Graph):
        return items
    chosen = (parameters["n_neighbors"], parameters["bandwidth"], parameters["index"], run.seed)
    made_from = items.made_from + chosen

    def build() -> Graph:
        show = run.shows_bars and items.are_many
        return knn_graph(X, **parameters, random_state=run.seed, verbose=show)

    with run.stage("graph", own_bars=items.are_many) as tell:
        graph = run.remember("graph", made_from, Graph.load, build, Graph.save)
        tell(graph.describe())
    return dataclasses.replace(items, X=graph, made_from=made_from)


def graph_facts(graph: Graph) -> dict[str, Any]:
    """What is worth knowing about a graph, ready for JSON."""
    return {
        "edges": graph.n_edges // 2,
        "components": graph.n_components,
        "isolated": graph.n_isolated,
        "recall": graph.recall_,
        "index": graph.index,
        "sigma2": graph.sigma2,
    }


# ----------------------------------------------------------------------------------------------- votes, prior
def load_votes(
    run: Run,
    options: VoteOptions,
    item_ids: AnyArray | None,
    n_items: int,
    classes: Sequence[str] | None = None,
) -> MatchedVotes:
    """Votes on the items; unknown items and classes are refused or, on request, left out.

    Parameters
    ----------
    classes : known from elsewhere; None = those of the options, or of the file
    """
    with run.stage("votes") as tell:
        file = read_vote_files(options.file(), how=options.reading())
        named = classes if classes is not None else read_classes(options.classes)
        matched = match_votes(file, item_ids, n_items, named, options.skip_unknown)
        tell(f"{len(matched.found.table):,} votes for {len(matched.classes)} classes ({file.votes_format})")
    for trouble in matched.unknown:
        run.warn(f"left out: {trouble}")
    for what, count in file.notes.items():
        run.note(f"left out: {count:,} {what}")
    return matched


def make_prior(run: Run, prior: Path, items: Items, votes: MatchedVotes) -> AnyArray:
    """(n, n_classes) predictions of a file, or of a classifier trained on the votes."""
    if prior.name != PRIOR_OF_VOTES:
        return read_prior(prior, items.names, votes.classes)
    from softspread.estimators.priors import classifier_prior  # loads scipy.stats

    X = items.X.features if isinstance(items.X, Graph) else items.X
    return classifier_prior(np.asarray(X), votes.found, random_state=run.seed)


# -------------------------------------------------------------------------------------------------------- fit
def fit(run: Run, inputs: FitInputs) -> Fit:
    """Everything from the files to a fitted estimator."""
    parameters, prior = inputs.parameters(), inputs.fit.prior
    items = load_items(run, inputs.items)
    votes = load_votes(run, inputs.votes, items.item_ids, items.n_items)
    items = build_graph(run, items, inputs.graph)
    of_votes = prior is not None and prior.name == PRIOR_OF_VOTES

    def fit_with(table: AnyArray | None) -> ProbabilisticLabelSpreading:
        show = run.shows_bars and items.are_many
        est = ProbabilisticLabelSpreading(**parameters, prior=table, random_state=run.seed, verbose=show)
        return est.fit(items.X, votes.found)

    def make() -> ProbabilisticLabelSpreading:
        if prior is None:
            return fit_with(None)
        helped = fit_with(make_prior(run, prior, items, votes))
        if not of_votes or parameters["prior_strength"] != "auto":
            return helped
        from softspread.estimators.priors import better_of

        return better_of(fit_with(None), helped)

    votes_key = (votes.file.path, *dataclasses.astuple(inputs.votes)[1:], votes.classes.tolist())
    prior_key = PRIOR_OF_VOTES if of_votes else prior
    chosen = (sorted(parameters.items()), run.seed, version_of("softspread"))
    made_from = (*items.made_from, *votes_key, prior_key, *chosen)
    with run.stage("spreading", own_bars=items.are_many) as tell:
        est = run.remember("fit", made_from, _load_fit, make, _save_fit)
        tell(f"alpha {est.alpha_:g}{' (chosen)' if est.tuning_ is not None else ''}")
    if prior is not None and est.prior is None:
        run.note("the classifier of the votes is left out: held-out votes are predicted better without it")
    if run.workspace is not None and run.reused:
        run.note(f"reused from {run.workspace.folder}: {', '.join(run.reused)}")
    return Fit(est, items, votes)


def _save_fit(est: ProbabilisticLabelSpreading, path: Path) -> None:
    from softspread.estimators.storage import save

    save(est, path)


def _load_fit(path: Path) -> Any:
    from softspread.estimators.storage import load

    return load(path)
