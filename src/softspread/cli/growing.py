"""``--add NEW``: further items join the graph of the others, which is not built again.

    graph of the items (from the workspace, if there is one) + new items  ->  the graph of all

Edges and soft labels are those of all items at once.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.threads import Workers, count_threads
from softspread._common.wording import counted
from softspread.cli.fitting import Items, build_graph, load_items
from softspread.cli.options import GraphOptions, ItemOptions
from softspread.cli.runner import Run
from softspread.errors import InputError
from softspread.graph.graph import Graph
from softspread.graph.growing import with_items
from softspread.io.tables import shown
from softspread.votes.table import joined

SHOWN = 3  # items that lie far from all others


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
            f"{new.source} has {more.shape[1]} dimensions, the items that are there have {X.shape[1]}; embed "
            "new items the same way."
        )
    if (items.item_ids is None) != (new.item_ids is None):
        which = (items.source, new.source) if items.item_ids is None else (new.source, items.source)
        raise InputError(
            f"{which[0]} has no ids and {which[1]} has some; give ids for all items or for none."
        )
    ids = None
    if items.item_ids is not None and new.item_ids is not None:
        twice = np.isin(validation.objects(new.item_ids).astype(str), items.item_ids.astype(str))
        if twice.any():
            raise InputError(
                f"{counted(int(twice.sum()), 'id')} of {new.source} are known already: "
                f"{shown(new.item_ids[twice][:2])}. Add only items that are new."
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
