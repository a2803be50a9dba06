"""Cells: compiled = plain Python = numpy, on small whole numbers, which no rounding touches."""

import numpy as np
import pytest

from kernel_twins import same_as_python
from softspread._kernels.cells import (
    LANES,
    _two_means,
    assign_items,
    average_cells,
    block_squared,
    measure_cells,
    pack_cells,
    pack_listed,
    part_at,
    replace_farthest,
    scan_blocks,
    scan_within,
    split_nodes,
    visit_cells,
)


def whole_numbers(shape, seed=0, most=6):
    """Features whose squared distances are exact in single precision."""
    return np.random.default_rng(seed).integers(-most, most, shape).astype(np.float32)


def all_squared(queries, rows):
    """Squared distances of all pairs."""
    return ((queries[:, None] - rows[None]) ** 2).sum(axis=2)


def blocks_of(rows):
    """The rows side by side."""
    packed = np.empty((-(-len(rows) // LANES), rows.shape[1], LANES), np.float32)
    pack_listed(rows, np.arange(len(rows)), packed)
    return packed


def cells_of(rows, starts):
    """Blocks, their starts, centres, radii and spreads of cells."""
    blocks = np.concatenate([[0], np.cumsum(-(-np.diff(starts) // LANES))])
    packed = np.empty((blocks[-1], rows.shape[1], LANES), np.float32)
    n_cells = len(starts) - 1
    pack_cells(rows, starts, blocks, packed, 0, n_cells)
    centres = np.zeros((n_cells, rows.shape[1]), np.float32)
    radii, spreads = np.zeros((2, n_cells), np.float32)
    average_cells(rows, starts, centres, 0, n_cells)
    measure_cells(rows, starts, centres, radii, spreads, 0, n_cells)
    return packed, blocks, centres, radii, spreads


@pytest.mark.parametrize("d", [1, 4, 7, 20])
def test_a_block_is_compared_at_once(d):
    """Every lane holds the squared distance of its row; that of padding is infinite."""
    rows = whole_numbers((LANES - 2, d))
    block = blocks_of(rows)[0]
    (_, _, squared), _ = same_as_python(block_squared, lambda: (rows[3], block, np.empty(LANES, np.float32)))
    np.testing.assert_array_equal(squared[:-2], all_squared(rows[3:4], rows)[0])
    assert np.isinf(squared[-2:]).all()


@pytest.mark.parametrize("n_listed", [0, 1, LANES, LANES + 3])
def test_listed_rows_stand_side_by_side(n_listed):
    """In the order of the list, whose padding is left out."""
    rows, listed = whole_numbers((30, 3)), np.full(LANES + 4, -1)
    listed[:n_listed] = np.random.default_rng(2).permutation(30)[:n_listed]
    (_, _, packed), count = same_as_python(
        pack_listed, lambda: (rows, listed, np.zeros((2, 3, LANES), np.float32))
    )
    lanes = packed.transpose(0, 2, 1).reshape(2 * LANES, 3)
    assert count == n_listed
    np.testing.assert_array_equal(lanes[:n_listed], rows[listed[:n_listed]])
    assert np.isinf(lanes[n_listed:]).all()


def test_cells_are_packed_one_after_another():
    """A cell begins a block of its own; one without items has none."""
    rows, starts = whole_numbers((40, 2)), np.array([0, 20, 20, 23, 40])
    blocks = np.array([0, 2, 2, 3, 5])
    (_, _, _, packed, _, _), _ = same_as_python(
        pack_cells, lambda: (rows, starts, blocks, np.zeros((5, 2, LANES), np.float32), 0, 4)
    )
    lanes = packed.transpose(0, 2, 1)
    np.testing.assert_array_equal(lanes[:2].reshape(-1, 2)[:20], rows[:20])
    np.testing.assert_array_equal(lanes[2, :3], rows[20:23])
    np.testing.assert_array_equal(lanes[3:].reshape(-1, 2)[:17], rows[23:])
    assert np.isinf(lanes[2, 3:]).all()


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_a_heap_keeps_the_nearest(size):
    """After many offers the heap holds the smallest, the largest of them on top."""
    values = np.random.default_rng(1).permutation(60).astype(np.float32)

    def keep(push):
        squared, ids = np.full(size, np.inf, dtype=np.float32), np.full(size, -1, dtype=np.int32)
        for number, value in enumerate(values):
            if value < squared[0]:
                push(squared, ids, value, number)
        return squared, ids

    squared, ids = keep(replace_farthest)
    np.testing.assert_array_equal((squared, ids), keep(replace_farthest.py_func))
    same_as_python(replace_farthest, lambda: (squared.copy(), ids.copy(), np.float32(-1), 7))
    assert squared[0] == squared.max()
    np.testing.assert_array_equal(np.sort(squared), np.arange(size))
    np.testing.assert_array_equal(values[ids], squared)


@pytest.mark.parametrize("n", [1, LANES, LANES + 5, 3 * LANES])
def test_a_scan_offers_every_row_once(n):
    """Also where the last block is not full."""
    rows = whole_numbers((n, 3))
    query = np.full(3, 20, np.float32)  # no copy of a row

    def arguments():
        k = 4 * LANES
        heap = np.full(k, np.inf, np.float32), np.full(k, -1, np.int32)
        return query, blocks_of(rows), 100, *heap, np.empty(LANES, np.float32)

    (_, _, _, squared, ids, _), _ = same_as_python(scan_blocks, arguments)
    assert sorted(ids[ids >= 0].tolist()) == list(range(100, 100 + n))
    np.testing.assert_array_equal(squared[ids >= 0], all_squared(query[None], rows)[0, ids[ids >= 0] - 100])


def test_a_scan_ends_when_enough_copies_are_found():
    """Which of many copies are found does not matter."""
    rows = np.ones((5 * LANES, 2), np.float32)

    def arguments():
        heap = np.full(3, np.inf, np.float32), np.full(3, -1, np.int32)
        return rows[0], blocks_of(rows), 0, *heap, np.empty(LANES, np.float32)

    (_, _, _, squared, ids, _), _ = same_as_python(scan_blocks, arguments)
    assert not squared.any()
    assert ((ids >= 0) & (ids < LANES)).all()


def test_items_move_to_the_nearest_centre_near_theirs():
    """Only the items named move; none to a copy of its centre, even if copies fill the list."""
    X, centres = whole_numbers((30, 3)), whole_numbers((6, 3), seed=3)
    centres[4] = centres[5] = centres[1]
    near = np.array([[0, 1, 2], [4, 1, 0], [2, 4, 3], [3, 2, 4], [4, 1, -1], [4, 1, -1]], dtype=np.int32)
    homes, items = np.arange(30, dtype=np.int32) % 6, np.arange(3, 30)
    (_, _, moved, _, _), _ = same_as_python(assign_items, lambda: (X, items, homes.copy(), centres, near))
    np.testing.assert_array_equal(moved[:3], homes[:3])
    squared = all_squared(X, centres)
    for item in items:
        known = near[homes[item]][near[homes[item]] >= 0]
        assert squared[item, moved[item]] == squared[item, known].min()
        if squared[item, moved[item]] == squared[item, homes[item]]:
            assert moved[item] == homes[item]


def test_cells_are_described_by_mean_radius_and_spread():
    """No row is farther from its centre than the radius says, one is about as far; no items, no extent."""
    rows, starts = whole_numbers((12, 3)), np.array([0, 4, 5, 12, 12])
    (_, _, centres, _, _), _ = same_as_python(
        average_cells, lambda: (rows, starts, np.zeros((4, 3), np.float32), 0, 3)
    )
    (*_, radii, spreads, _, _), _ = same_as_python(
        measure_cells,
        lambda: (rows, starts, centres, np.ones(4, np.float32), np.ones(4, np.float32), 0, 4),
    )
    for cell in range(3):
        members = rows[starts[cell] : starts[cell + 1]]
        np.testing.assert_allclose(centres[cell], members.mean(axis=0), rtol=1e-6)
        squared = ((members.astype(float) - centres[cell]) ** 2).sum(axis=1)
        assert np.sqrt(squared.max()) <= radii[cell] <= np.sqrt(squared.max()) * (1 + 3e-5)
        np.testing.assert_allclose(spreads[cell], squared.mean(), rtol=1e-5)
    assert radii[3] == spreads[3] == 0


@pytest.mark.parametrize("reach", [0.25, 0.5, 1.0, 3.0, np.inf])
def test_visits_find_the_nearest_rows_of_the_cells_within_reach(reach):
    """Cell after cell of the list, as written; leaving cells out by their radius changes nothing."""
    rows = whole_numbers((80, 2), most=30)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    starts = np.array([0, 3, 20, 50, 50, 80])
    packed, blocks, centres, radii, spreads = cells_of(rows[:, :], np.array([0, 3, 20, 50, 80]))
    blocks = np.insert(blocks, 3, blocks[3])  # a cell without items between the last two
    centres, radii, spreads = (np.insert(part, 3, 0, axis=0) for part in (centres, radii, spreads))
    near = np.array([[0, 1, 2, 3, 4], [1, 0, 2, 4, -1], [2, 1, 4, 3, 0], [3, 2, 1, 0, 4], [4, 3, 2, 1, 0]])
    queries, homes = rows[::3] + 1, np.repeat(np.arange(5), np.diff(starts))[::3].astype(np.int32)

    def arguments():
        found = np.empty((len(queries), 4), np.int32), np.empty((len(queries), 4), np.float32)
        how = centres, radii, spreads, near.astype(np.int32), np.float32(reach)
        return queries, homes, packed, blocks, starts, *how, *found

    (*_, ids, squared), _ = same_as_python(visit_cells, arguments)
    for row, x in enumerate(queries):
        best = np.full(4, np.inf)
        for cell in near[homes[row]][near[homes[row]] >= 0]:
            limit = best.max()
            if limit > 0 and ((x - centres[cell]) ** 2).sum() <= reach * (limit + spreads[cell] / 2):
                members = rows[starts[cell] : starts[cell + 1]]
                best = np.sort(np.concatenate([best, ((members - x) ** 2).sum(axis=1)]))[:4]
        np.testing.assert_array_equal(np.sort(squared[row]), best)
        found = ids[row][ids[row] >= 0]
        assert len(set(found.tolist())) == len(found) == np.isfinite(best).sum()


def test_a_scan_within_a_limit_is_exact():
    """Cells that cannot hold a neighbour are left out, and only these."""
    rows = whole_numbers((40, 2), most=30)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    starts = np.arange(0, 41, 5)
    packed, blocks, centres, radii, _ = cells_of(rows, starts)
    queries = rows[::7] + 1
    true = np.sort(all_squared(queries, rows), axis=1)[:, :3]

    def arguments():
        found = np.empty((len(queries), 3), np.int32), np.empty((len(queries), 3), np.float32)
        return queries, true[:, -1].copy(), packed, blocks, starts, centres, radii, *found

    (*_, squared), _ = same_as_python(scan_within, arguments)
    np.testing.assert_array_equal(np.sort(squared, axis=1), true)


@pytest.mark.parametrize("keys", [[3, 1, 2, 2, 0], [1, 1, 1, 1], [5], list(range(9)), list(range(9))[::-1]])
def test_parting_puts_the_smaller_half_first(keys):
    """Any number of ties, sorted or not."""
    n = len(keys)

    def arguments():
        return np.array(keys, dtype=np.float32), np.arange(n), 0, n, n // 2

    (parted, values, *_), _ = same_as_python(part_at, arguments)
    assert (parted[: n // 2, None] <= parted[None, n // 2 :]).all()
    np.testing.assert_array_equal(parted, np.array(keys, dtype=np.float32)[values])


@pytest.mark.parametrize("n_nodes", [1, 2, 4])
def test_nodes_are_cut_in_halves_by_a_plane(n_nodes):
    """Each keeps its items; along the direction of the cut one half lies before the other."""
    X = whole_numbers((40, 3), most=50)

    def arguments():
        return X, np.arange(40), np.empty(40, np.float32), n_nodes, 0, n_nodes

    (_, order, keys, *_), _ = same_as_python(split_nodes, arguments)
    for node in range(n_nodes):
        first, middle, last = (40 * part // (2 * n_nodes) for part in (2 * node, 2 * node + 1, 2 * node + 2))
        assert sorted(order[first:last].tolist()) == list(range(first, last))
        assert keys[first:middle].max() <= keys[middle:last].min()


def test_two_means_point_from_one_group_to_the_other():
    """Two far groups: the direction between their means."""
    X = np.concatenate([whole_numbers((20, 2), most=3), whole_numbers((20, 2), most=3) + np.array([100, 0])])

    def arguments():
        return X.astype(np.float32), np.arange(40), 0, 40, np.empty(2, np.float32)

    fast, _ = same_as_python(_two_means, arguments)
    np.testing.assert_allclose(np.abs(fast[-1]), [100, 0], atol=1e-3)


def test_coinciding_items_have_no_direction():
    """Zero, so that any half is as good."""
    normal = np.ones(3, np.float32)
    _two_means(np.ones((5, 3), np.float32), np.arange(5), 0, 5, normal)
    assert not normal.any()
