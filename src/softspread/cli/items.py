"""The items of a command: read, tied into a graph, and joined by further ones (``--add NEW``).

    files  ->  items (vectors, ids)  ->  graph                       from the workspace, if there is one
    graph of the items + new items   ->  the graph of all            which is not built again

Edges and soft labels are those of all items at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.threads import Workers, count_threads
from softspread._common.types import AnyArray, IntArray
from softspread._common.validation import objects
from softspread._common.wording import counted
from softspread.cli.options import GraphOptions, ItemOptions
from softspread.cli.runner import Run
from softspread.errors import InputError
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.graph.growing import with_items
from softspread.io.embeddings import Embeddings, read_embeddings
from softspread.io.ids import rows_of_ids
from softspread.io.tables import shown
from softspread.votes.table import joined

CACHE_VERSION = 2  # raise when the same inputs and options no longer give the same entry
MANY_ITEMS = 50_000  # from here on a step takes long enough for a progress bar
SHOWN = 3  # items that lie far from all others


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


def load_items(run: Run, options: ItemOptions) -> Items:
    """The items as vectors."""
    paths, ids = options.files(), options.ids
    made_from = (CACHE_VERSION, *paths, options.id_column, options.vector_column, ids)

    def read() -> Embeddings:
        return read_embeddings(
            *paths, id_column=options.id_column, vector_column=options.vector_column, ids=ids
        )

    with run.stage("embeddings") as tell:
        if len(paths) == 1 and paths[0].suffix.lower() == ".npy" and ids is None:
            found = read()  # nothing to decode
        else:
            found = run.remember("embeddings", made_from, Embeddings.load, read, Embeddings.save)
        tell(f"{len(found.X):,} items in {found.X.shape[1]} dimensions, {found.source}")
    return Items(found.X, found.item_ids, found.source, made_from)


def build_graph(run: Run, items: Items, options: GraphOptions) -> Items:
    """The items as a graph where the number of neighbours is given; else as they are."""
    parameters, X = options.parameters, items.X
    if parameters["n_neighbors"] == "auto" or isinstance(X, Graph):
        return items
    named = ("n_neighbors", "bandwidth", "index", "metric")
    chosen = (*(parameters[name] for name in named), run.seed)
    made_from = items.made_from + chosen

    def build() -> Graph:
        show = run.shows_bars and items.are_many
        return knn_graph(X, **parameters, random_state=run.seed, verbose=show)

    with run.stage("graph", own_bars=items.are_many) as tell:
        graph = run.remember("graph", made_from, Graph.load, build, Graph.save)
        tell(graph.describe())
    return replace(items, X=graph, made_from=made_from)


def graph_facts(graph: Graph) -> dict[str, Any]:
    """Facts about a graph, ready for JSON."""
    return {
        "edges": graph.n_edges // 2,
        "components": graph.n_components,
        "isolated": graph.n_isolated,
        "recall": graph.recall_,
        "index": graph.index,
        "metric": graph.metric,
        "sigma2": graph.sigma2,
    }


# ------------------------------------------------------------------------------------------------ new items
def load_added(run: Run, options: ItemOptions, paths: Sequence[Path], items: Items) -> list[Items]:
    """The items of every further file; all must have vectors of the same length, and ids that are new."""
    found: list[Items] = []
    known = items
    for path in paths:
        new = load_items(run, replace(options, embeddings=[path], ids=None))
        known = together(known, new)
        found.append(new)
    return found


def together(items: Items, new: Items) -> Items:
    """All items, one after the other."""
    X, more = np.asarray(items.X), np.asarray(new.X)
    if X.shape[1] != more.shape[1]:
        raise InputError(
            f"the items of --add have {more.shape[1]} dimensions, those of --embeddings {X.shape[1]}; "
            "embed new items the same way."
        )
    if (items.item_ids is None) != (new.item_ids is None):
        sides = ("--embeddings", "--add") if items.item_ids is None else ("--add", "--embeddings")
        raise InputError(
            f"the items of {sides[0]} have no ids, those of {sides[1]} have some; "
            "give ids for all or for none."
        )
    ids = None
    if items.item_ids is not None and new.item_ids is not None:
        twice = np.isin(objects(new.item_ids).astype(str), items.item_ids.astype(str))
        if twice.any():
            raise InputError(
                f"{counted(int(twice.sum()), 'item')} of --add with an id that is known already, such as "
                f"{shown(new.item_ids[twice][:2])}; add only items that are new."
            )
        ids = joined(items.item_ids, new.item_ids)
    made_from = (*items.made_from, "add", *new.made_from)
    return Items(np.concatenate([X, more.astype(X.dtype)]), ids, items.source, made_from)


def grow_graph(run: Run, items: Items, added: Sequence[Items], options: GraphOptions) -> Items:
    """The graph of the items, joined by the new ones file by file."""
    if options.parameters["n_neighbors"] == "auto":
        raise InputError("--add joins a graph with a number of neighbours; add --n-neighbors 20.")
    whole, grown = items, build_graph(run, items, options)
    for new in added:
        whole = together(whole, new)
        grown = _joined(run, grown, new, whole, options)
    return grown


def _joined(run: Run, grown: Items, new: Items, whole: Items, options: GraphOptions) -> Items:
    graph, wanted = grown.X, options.parameters["n_neighbors"]
    assert isinstance(graph, Graph)  # build_graph made it
    made_from = (*grown.made_from, "add", *new.made_from)

    def make() -> Graph:
        with Workers(count_threads(options.threads)) as workers:
            return with_items(graph, np.asarray(new.X), wanted, workers)

    with run.stage("new items") as tell:
        found = run.remember("graph", made_from, Graph.load, make, Graph.save)
        tell(f"{new.n_items:,} joined, {found.describe()}")
    return Items(found, whole.item_ids, whole.source, made_from)


def warn_of_far_items(run: Run, est: Any, n_before: int) -> None:
    """New items far from all others: votes hardly reach them."""
    novelty = est.novelty_
    far = novelty["item"].to_numpy()[n_before:][novelty["far"].to_numpy()[n_before:]]
    if len(far):
        run.warn(
            f"{counted(len(far), 'new item')} far from all others, such as {shown(far[:SHOWN])}: votes "
            "hardly reach them. Look at them, or vote on them."
        )
