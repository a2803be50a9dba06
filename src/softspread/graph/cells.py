"""Neighbours by cells: cut the items into small cells, then look into the cells nearest to each item.

    X (n, d)  ->  Cells: rows sorted by cell, centres, cells near each cell  ->  nearest rows of any queries

A tree of balanced cuts gives the first centres; every item then moves to the centre nearest to it, twice
(k-means), which is what makes a search in few cells accurate. Which cells are near a cell is a search for
neighbours among centres, done in the same way. Which of them an item visits depends on how near its
neighbours are; how far to reach is tuned on a sample.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from softspread._common.progress import progress_bar
from softspread._common.threads import Workers
from softspread._common.types import AnyArray, IntArray, Neighbors
from softspread._kernels.cells import (
    LANES,
    assign_items,
    average_cells,
    measure_cells,
    pack_cells,
    scan_within,
    split_nodes,
    visit_cells,
)
from softspread.graph.neighbors import (
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
    near_cells: int = 384  # listed per cell to begin with
    listed_for_moves: int = 64  # looked at to find the nearest centre
    # Items on which lists and reach are tuned, and the recall on them. The least reach that has it is taken,
    # so luck counts: with 1,024 items and .9995, another 512 of a million had .9990.
    tuning_sample: int = 2_048
    target: float = 0.9998
    unlisted: float = 0.6  # share of the misses allowed that short lists may cause: their length follows
    # Of so many items, one is compared with all centres at most: in many dimensions all would have to be
    items_per_stray: int = 64
    first_reach: float = 1.0  # of the search that limits an exact one
    list_sample: int = 256  # centres on which the search for near centres is tuned ...
    list_recall: float = 0.999  # ... to this recall: a list need not be perfect
    # Of one cell: copies of one item share a centre, and all of them would be compared with each other
    most_items: int = 256
    all_pairs: int = 2_048  # rows up to which one cell that holds all is as quick
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
    packed: SingleArray  # (n_blocks, d, LANES)  rows of each cell side by side
    blocks: IntArray  # (n_cells + 1,)  first block of each cell
    radii: SingleArray  # (n_cells,)  farthest row from the centre
    spreads: SingleArray  # (n_cells,)  mean squared distance from the centre
    centres: SingleArray  # (n_cells, d)
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
    numbers, starts = _tree(X, workers, rule)
    rows, homes = X[numbers], np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    for n_listed in (rule.listed_for_moves, rule.near_cells if n_near is None else n_near):
        starts = _starts(homes, rule.most_items)
        homes = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        centres = _averages(rows, starts, workers, rule)
        near, of_centres = _near_lists(centres, n_listed, workers, rule)
        nearest = np.ascontiguousarray(near[:, : rule.listed_for_moves])
        _settle(rows, homes, centres, nearest, workers, rule)
        _call_strays(rows, homes, centres, nearest, of_centres, workers)
        nearby_first = np.argsort(homes, kind="stable")
        rows, numbers, homes = rows[nearby_first], numbers[nearby_first], homes[nearby_first]
    starts = np.searchsorted(homes, np.arange(len(centres) + 1))
    return Cells(rows, numbers, starts, *_packed(rows, starts, centres, workers, rule), centres, near, rule)


def nearest_in_cells(
    cells: Cells, queries: SingleArray, homes: ListArray, n_nearest: int, reach: float, workers: Workers
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
    reach : float
        How far to look for cells, see :func:`~softspread._kernels.cells.visit_cells`; infinity visits all
        that are listed and may hold a neighbour.
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
            cells.packed,
            cells.blocks,
            cells.starts,
            cells.centres,
            cells.radii,
            cells.spreads,
            cells.near,
            np.float32(reach),
            ids[part],
            squared[part],
        )

    workers.run(work, cells.rule.parts(len(queries)))
    return ids, squared


def true_in_cells(
    cells: Cells, queries: SingleArray, homes: ListArray, n_nearest: int, workers: Workers
) -> tuple[ListArray, SingleArray]:
    """As :func:`nearest_in_cells`, but exact; for samples, as every centre is looked at."""
    ids, squared = nearest_in_cells(cells, queries, homes, n_nearest, cells.rule.first_reach, workers)
    limits = squared.max(axis=1)

    def work(part: slice) -> None:
        scan_within(
            queries[part],
            limits[part],
            cells.packed,
            cells.blocks,
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

    How far to reach is tuned on one sample, recall measured on another.
    """
    n = len(X)
    cells = cut_into_cells(centred_singles(X), workers, rule)
    sample = np.sort(rng.choice(n, min(n, rule.tuning_sample), replace=False))
    cells, reach = _tuned(cells, sample, n_neighbors + 1, rule.target, workers)
    homes = cells.homes()
    found = np.empty((n, n_neighbors + 1), dtype=np.int64)
    with progress_bar("neighbours (cells)", n, show) as advance:
        for rows in blocks(n, 50_000):
            ids, _ = nearest_in_cells(cells, cells.rows[rows], homes[rows], n_neighbors + 1, reach, workers)
            found[cells.order[rows]] = np.where(ids < 0, -1, cells.order[ids])
            advance(rows.stop - rows.start)
    fill_gaps(X, found, workers)
    details: dict[str, float | int | str] = {"cells": cells.n_cells, "listed": cells.near.shape[1]}
    if np.isfinite(reach):  # JSON knows no infinity
        details["reach"] = reach
    return measured_neighbors(
        X, found, n_neighbors, workers, rng, "cells", details, spent=cells.order[sample]
    )


def _tuned(
    cells: Cells, sample: IntArray, n_nearest: int, target: float, workers: Workers
) -> tuple[Cells, float]:
    """Lists long enough, and the least reach, for a recall on some rows; a search finds no less than that."""
    if cells.n_cells == 1:
        return cells, np.inf
    queries, homes = cells.rows[sample], cells.homes()[sample]
    ids, squared = true_in_cells(cells, queries, homes, n_nearest, workers)
    true = cells.homes()[ids]
    allowed = (1 - target) * ids.size
    missing = int(cells.rule.unlisted * allowed)
    while True:
        places = _places_in_lists(true, cells.near[homes], cells.n_cells)
        places[squared.max(axis=1) == 0] = 0  # any copies will do, and the first cell holds some
        n_listed = int(np.sort(places, axis=None)[-1 - missing]) + 1
        if n_listed <= cells.n_cells or cells.near.shape[1] == cells.n_cells:
            break
        cells = _listed(cells, 2 * cells.near.shape[1], workers)
    cells = replace(cells, near=np.ascontiguousarray(cells.near[:, :n_listed]))
    gaps = queries[:, None] - cells.centres[true]
    expected = squared.max(axis=1, keepdims=True) + cells.spreads[true] / 2
    needed = np.einsum("ijk,ijk->ij", gaps, gaps) / np.maximum(expected, np.finfo(np.float32).tiny)
    needed = np.sort(np.where(places < n_listed, needed, np.inf), axis=None)
    return cells, float(needed[-1 - int(allowed)]) * (1 + TIE)


def _places_in_lists(wanted: ListArray, lists: ListArray, n_cells: int) -> IntArray:
    """Where each wanted cell stands in the list of its row; ``n_cells`` where it does not."""
    places, place = np.empty(wanted.shape, dtype=np.int64), np.full(n_cells, n_cells)
    for row, (those, listed) in enumerate(zip(wanted, lists, strict=True)):
        known = listed[listed >= 0]
        place[known] = np.arange(len(known))
        places[row] = place[those]
        place[known] = n_cells
    return places


def _listed(cells: Cells, n_near: int, workers: Workers) -> Cells:
    """The same cells with this many near ones listed for each, if they exist."""
    return replace(cells, near=_near_lists(cells.centres, n_near, workers, cells.rule)[0])


def _one_cell(X: SingleArray, rule: CellRule) -> Cells:
    starts, near = np.array([0, len(X)]), np.zeros((1, 1), dtype=np.int32)
    centre = np.zeros((1, X.shape[1]), dtype=np.float32)
    return Cells(
        X, np.arange(len(X)), starts, *_packed(X, starts, centre, Workers(1), rule), centre, near, rule
    )


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


def _starts(homes: ListArray, most: int) -> IntArray:
    """Where each cell that has items starts, in rising order of cells; large ones are cut in pieces."""
    starts = np.flatnonzero(np.diff(homes, prepend=-1, append=homes[-1] + 1))
    if np.diff(starts).max() > most:
        pieces = [np.arange(first, last, most) for first, last in pairwise(starts.tolist())]
        starts = np.append(np.concatenate(pieces), starts[-1])
    return starts


def _averages(rows: SingleArray, starts: IntArray, workers: Workers, rule: CellRule) -> SingleArray:
    centres = np.empty((len(starts) - 1, rows.shape[1]), dtype=np.float32)
    workers.run(
        lambda part: average_cells(rows, starts, centres, part.start, part.stop), rule.parts(len(centres))
    )
    return centres


def _settle(
    rows: SingleArray,
    homes: ListArray,
    centres: SingleArray,
    near: ListArray,
    workers: Workers,
    rule: CellRule,
) -> None:
    """Walk every item from centre to nearer centre until it stays."""
    moving = np.arange(len(rows))
    while len(moving):
        before = homes[moving]
        workers.run(
            lambda part: assign_items(rows, moving[part], homes, centres, near),  # noqa: B023
            rule.parts(len(moving)),
        )
        moving = moving[homes[moving] != before]
        moving = moving[np.argsort(homes[moving], kind="stable")]


def _call_strays(
    rows: SingleArray,
    homes: ListArray,
    centres: SingleArray,
    near: ListArray,
    of_centres: Cells,
    workers: Workers,
) -> None:
    """Move outliers to the nearest of all centres, which their walk may have missed.

    It cannot have where the farthest centre of the list is twice as far from the home as the item.
    """
    gaps = centres - centres[near[:, -1]]
    listed = np.einsum("ij,ij->i", gaps, gaps)
    gaps = rows - centres[homes]
    excess = 4 * np.einsum("ij,ij->i", gaps, gaps) - listed[homes]
    strays = np.flatnonzero(excess > 0)
    most = max(1, len(rows) // of_centres.rule.items_per_stray)
    if len(strays) > most:
        strays = np.sort(strays[np.argsort(-excess[strays], kind="stable")[:most]])
    place = np.empty(len(centres), dtype=np.int64)
    place[of_centres.order] = of_centres.homes()
    found, _ = true_in_cells(of_centres, rows[strays], place[homes[strays]].astype(np.int32), 1, workers)
    homes[strays] = of_centres.order[found[:, 0]]


def _packed(
    rows: SingleArray, starts: IntArray, centres: SingleArray, workers: Workers, rule: CellRule
) -> tuple[SingleArray, IntArray, SingleArray, SingleArray]:
    """The rows of each cell side by side, its first block, radius and spread."""
    n_cells = len(starts) - 1
    blocks = np.concatenate([[0], np.cumsum(-(-np.diff(starts) // LANES))])
    packed = np.empty((blocks[-1], rows.shape[1], LANES), dtype=np.float32)
    radii, spreads = np.empty((2, n_cells), dtype=np.float32)

    def work(part: slice) -> None:
        pack_cells(rows, starts, blocks, packed, part.start, part.stop)
        measure_cells(rows, starts, centres, radii, spreads, part.start, part.stop)

    workers.run(work, rule.parts(n_cells))
    return packed, blocks, radii, spreads


def _near_lists(
    centres: SingleArray, n_near: int, workers: Workers, rule: CellRule
) -> tuple[ListArray, Cells]:
    """The centres nearest to each centre, itself among them, nearest first; and the centres in cells."""
    n_near = min(n_near, len(centres))
    cells = cut_into_cells(centres, workers, rule)
    sample = np.linspace(0, len(centres) - 1, min(rule.list_sample, len(centres))).astype(np.int64)
    cells, reach = _tuned(cells, sample, n_near, rule.list_recall, workers)
    ids, squared = nearest_in_cells(cells, cells.rows, cells.homes(), n_near, reach, workers)
    ranked = np.take_along_axis(ids, np.argsort(squared, axis=1, kind="stable"), axis=1)
    near = np.empty_like(ranked)
    near[cells.order] = np.where(ranked < 0, -1, cells.order[ranked])
    return near, cells
