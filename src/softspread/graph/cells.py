"""Neighbours by cells: cut the items into small cells, then look into the cells nearest to each item.

    X (n, d)  ->  Cells: rows sorted by cell, centres, cells near each cell  ->  nearest rows of any queries

A tree of balanced cuts gives the first centres; every item then moves to the centre nearest to it, twice
(k-means), which is what makes a search in few cells accurate. Which cells are near a cell is a search for
neighbours among centres, done in the same way. How many cells to visit is tuned on a sample.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from softspread._common.progress import progress_bar
from softspread._common.threads import Workers
from softspread._common.types import AnyArray, IntArray, Neighbors
from softspread._kernels.cells import (
    assign_items,
    describe_cells,
    scan_within,
    split_nodes,
    visit_cells,
)
from softspread.graph.neighbors import (
    TARGET_RECALL,
    TIE,
    blocks,
    centred_singles,
    fill_gaps,
    measured_neighbors,
)

SingleArray = NDArray[np.float32]
ListArray = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class CellRule:
    """How items are cut into cells, and how many cells a search visits."""

    # At most, before items move: smaller cells mean more centres, larger ones more distances
    cell_items: int = 32
    near_cells: int = 192  # listed per cell to begin with
    listed_for_moves: int = 64  # looked at to find the nearest centre
    # Items on which visits are tuned: with 256, luck ended the tuning of a million items at a recall of .9988
    tuning_sample: int = 1_024
    fewest_visits: int = 8  # where tuning starts: too few for the target nearly everywhere
    listed_per_visit: int = 4  # of the cells listed for its own cell, an item visits the nearest quarter
    patience: float = 2.5  # tuning ends when this many times the visits find nothing better
    # Of one cell: copies of one item share a centre, and all of them would be compared with each other
    most_items: int = 256
    all_pairs: int = 2_048  # rows up to which one cell that holds all is as quick
    centre_visits: int = 48  # at least; a centre's list need not be perfect
    part: int = 2_048  # items per task of a thread
    sample_part: int = 32  # the same for exact searches
    nodes: int = 64  # nodes of one level of the tree per task, at least

    def parts(self, n: int) -> list[slice]:
        """Rows in the pieces that threads take."""
        return list(blocks(n, self.part))


RULE = CellRule()


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Items in small cells; the unit in which neighbours are searched."""

    rows: SingleArray  # (n, d)  items sorted by cell
    order: IntArray  # (n,)  the number of each of them
    starts: IntArray  # (n_cells + 1,)  first row of each cell
    centres: SingleArray  # (n_cells, d)
    radii: SingleArray  # (n_cells,)  farthest row from the centre
    near: ListArray  # (n_cells, m)  cells near each cell, itself among them, nearest first, padded with -1
    rule: CellRule  # by which they were cut

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return len(self.radii)

    def homes(self) -> ListArray:
        """The cell of each row."""
        return np.repeat(np.arange(self.n_cells, dtype=np.int32), np.diff(self.starts))


def cut_into_cells(
    X: SingleArray, workers: Workers, rule: CellRule = RULE, n_near: int | None = None
) -> Cells:
    """Cells of items that are close together, the same for any number of threads.

    Each lists ``n_near`` cells near it; None = as the rule says.
    """
    if len(X) <= rule.all_pairs:
        return _one_cell(X, rule)
    order, starts = _tree(X, workers, rule)
    homes = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    cells = _gathered(X, order, homes, rule.listed_for_moves, workers, rule)
    for n_listed in (rule.listed_for_moves, rule.near_cells if n_near is None else n_near):
        cells = _moved(cells, n_listed, workers)
    return cells


def nearest_in_cells(
    cells: Cells, queries: SingleArray, homes: ListArray, n_nearest: int, n_visits: int, workers: Workers
) -> tuple[ListArray, SingleArray]:
    """The nearest rows of some queries among the cells near each.

    Parameters
    ----------
    cells : Cells
        What to search.
    queries : (q, d) single precision
        In the units of ``cells.rows``; best sorted by home.
    homes : (q,) int
        A cell close to each query, such as its own: the centres near this cell are looked at.
    n_nearest : int
        Rows to find per query; a query that is a row finds itself, too.
    n_visits : int
        Cells to visit per query.
    workers : Workers
        Threads to use.

    Returns
    -------
    ids, squared : (q, n_nearest)
        Rows of ``cells.rows`` in no order and their squared distances; -1 and infinity where the visited
        cells hold too few.
    """
    ids = np.empty((len(queries), n_nearest), dtype=np.int32)
    squared = np.empty((len(queries), n_nearest), dtype=np.float32)

    def work(part: slice) -> None:
        visit_cells(
            queries[part],
            homes[part],
            cells.rows,
            cells.starts,
            cells.centres,
            cells.radii,
            cells.near,
            n_visits,
            ids[part],
            squared[part],
        )

    workers.run(work, cells.rule.parts(len(queries)))
    return ids, squared


def true_in_cells(
    cells: Cells, queries: SingleArray, homes: ListArray, n_nearest: int, workers: Workers
) -> tuple[ListArray, SingleArray]:
    """As :func:`nearest_in_cells`, but exact; for samples, as every centre is looked at."""
    ids, squared = nearest_in_cells(cells, queries, homes, n_nearest, cells.rule.fewest_visits, workers)
    limits = squared.max(axis=1)

    def work(part: slice) -> None:
        scan_within(
            queries[part],
            limits[part],
            cells.rows,
            cells.starts,
            cells.centres,
            cells.radii,
            ids[part],
            squared[part],
        )

    workers.run(work, blocks(len(queries), cells.rule.sample_part))
    return ids, squared


def search_cells(
    X: AnyArray,
    n_neighbors: int,
    workers: Workers,
    rng: np.random.Generator,
    show: bool,
    rule: CellRule = RULE,
) -> Neighbors:
    """Approximate search in the cells nearest to each item.

    The number of cells to visit is tuned on one sample, recall measured on another.
    """
    n = len(X)
    cells = cut_into_cells(centred_singles(X), workers, rule)
    sample = np.sort(rng.choice(n, min(n, rule.tuning_sample), replace=False))
    cells, n_visits = _tuned(cells, sample, n_neighbors + 1, workers)
    homes = cells.homes()
    found = np.empty((n, n_neighbors + 1), dtype=np.int64)
    with progress_bar("neighbours (cells)", n, show) as advance:
        for rows in blocks(n, 50_000):
            ids, _ = nearest_in_cells(
                cells, cells.rows[rows], homes[rows], n_neighbors + 1, n_visits, workers
            )
            found[cells.order[rows]] = np.where(ids < 0, -1, cells.order[ids])
            advance(rows.stop - rows.start)
    fill_gaps(X, found, workers)
    details: dict[str, float | int | str] = {"cells": cells.n_cells, "visits": n_visits}
    return measured_neighbors(
        X, found, n_neighbors, workers, rng, "cells", details, spent=cells.order[sample]
    )


def _tuned(cells: Cells, sample: IntArray, n_nearest: int, workers: Workers) -> tuple[Cells, int]:
    """The fewest visits that reach the target recall on some rows, and lists long enough for them."""
    queries, homes = cells.rows[sample], cells.homes()[sample]
    limit = true_in_cells(cells, queries, homes, n_nearest, workers)[1].max(axis=1, keepdims=True) * (1 + TIE)
    rule = cells.rule
    n_visits = kept = min(rule.fewest_visits, cells.n_cells)
    best = -1.0
    while True:
        cells = _listed(cells, rule.listed_per_visit * n_visits, workers)
        recall = float(
            (nearest_in_cells(cells, queries, homes, n_nearest, n_visits, workers)[1] <= limit).mean()
        )
        if recall > best:
            best, kept = recall, n_visits
        if recall >= TARGET_RECALL or n_visits >= min(cells.n_cells, rule.patience * kept):
            return cells, kept
        n_visits = min(cells.n_cells, n_visits + max(2, n_visits // 4))


def _listed(cells: Cells, n_near: int, workers: Workers) -> Cells:
    """The same cells with at least this many near ones listed for each, if they exist."""
    if min(n_near, cells.n_cells) <= cells.near.shape[1]:
        return cells
    return replace(cells, near=_near_lists(cells.centres, 2 * n_near, workers, cells.rule))


def _one_cell(X: SingleArray, rule: CellRule) -> Cells:
    n = len(X)
    zero = np.zeros(1, dtype=np.float32)
    everywhere = np.full(1, np.inf, dtype=np.float32)
    starts, near = np.array([0, n], dtype=np.int64), np.zeros((1, 1), dtype=np.int32)
    return Cells(X, np.arange(n), starts, np.tile(zero, (1, X.shape[1])), everywhere, near, rule)


def _tree(X: SingleArray, workers: Workers, rule: CellRule) -> tuple[IntArray, IntArray]:
    """Items in the order of the leaves of a tree of balanced cuts, and where each leaf starts."""
    n = len(X)
    order, keys = np.arange(n), np.empty(n, dtype=np.float32)
    n_nodes = 1
    while n > rule.cell_items * n_nodes:
        step = max(1, min(rule.nodes, n_nodes // workers.n_threads))
        level = n_nodes
        parts = [slice(node, min(level, node + step)) for node in range(0, level, step)]
        workers.run(lambda part: split_nodes(X, order, keys, level, part.start, part.stop), parts)  # noqa: B023
        n_nodes *= 2
    return order, n * np.arange(n_nodes + 1) // n_nodes


def _described(
    rows: SingleArray, starts: IntArray, workers: Workers, rule: CellRule
) -> tuple[SingleArray, SingleArray]:
    n_cells = len(starts) - 1
    centres = np.empty((n_cells, rows.shape[1]), dtype=np.float32)
    radii = np.empty(n_cells, dtype=np.float32)
    workers.run(
        lambda part: describe_cells(rows, starts, centres, radii, part.start, part.stop), rule.parts(n_cells)
    )
    return centres, radii


def _moved(cells: Cells, n_listed: int, workers: Workers) -> Cells:
    """Every item in the cell whose centre is nearest."""
    homes = cells.homes()
    workers.run(
        lambda part: assign_items(cells.rows, homes, cells.centres, cells.near, part.start, part.stop),
        cells.rule.parts(len(homes)),
    )
    nearby_first = np.argsort(homes, kind="stable")
    return _gathered(
        cells.rows, nearby_first, homes[nearby_first], n_listed, workers, cells.rule, cells.order
    )


def _gathered(
    X: SingleArray,
    order: IntArray,
    homes: ListArray,
    n_near: int,
    workers: Workers,
    rule: CellRule,
    numbers: IntArray | None = None,
) -> Cells:
    """Cells of the items X[order], whose cells are ``homes``, in rising order; X[i] is item numbers[i]."""
    starts = np.flatnonzero(np.diff(homes, prepend=-1, append=homes[-1] + 1))
    sizes = np.diff(starts)
    if sizes.max() > rule.most_items:
        pieces = [np.arange(first, last, rule.most_items) for first, last in pairwise(starts.tolist())]
        starts = np.append(np.concatenate(pieces), starts[-1])
    rows = X[order]
    centres, radii = _described(rows, starts, workers, rule)
    near = _near_lists(centres, n_near, workers, rule)
    return Cells(rows, order if numbers is None else numbers[order], starts, centres, radii, near, rule)


def _near_lists(centres: SingleArray, n_near: int, workers: Workers, rule: CellRule) -> ListArray:
    """The centres nearest to each centre, itself among them, nearest first."""
    n_near = min(n_near, len(centres))
    cells = cut_into_cells(centres, workers, rule)
    n_visits = min(cells.n_cells, max(rule.centre_visits, rule.listed_per_visit * n_near // rule.cell_items))
    cells = _listed(cells, rule.listed_per_visit * n_visits, workers)
    ids, squared = nearest_in_cells(cells, cells.rows, cells.homes(), n_near, n_visits, workers)
    ranked = np.take_along_axis(ids, np.argsort(squared, axis=1, kind="stable"), axis=1)
    near = np.empty_like(ranked)
    near[cells.order] = np.where(ranked < 0, -1, cells.order[ranked])
    return near
