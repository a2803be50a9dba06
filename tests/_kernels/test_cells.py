"""Cells: compiled = plain Python = numpy, on small whole numbers, which no rounding touches."""

import numpy as np
import pytest

from kernel_twins import same_as_python
from softspread._kernels.cells import (
    _two_means,
    assign_items,
    describe_cells,
    four_squared,
    insert_sorted,
    nearest_centres,
    part_at,
    replace_farthest,
    scan_rows,
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


@pytest.mark.parametrize("d", [1, 7, 20])
def test_four_squared_distances_at_once(d):
    """The four are those of the rows named."""
    rows = whole_numbers((6, d))
    _, found = same_as_python(four_squared, lambda: (rows[0], rows, 1, 5, 5, 2))
    np.testing.assert_array_equal(found, all_squared(rows[:1], rows[[1, 5, 5, 2]])[0])


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


@pytest.mark.parametrize(("first", "last"), [(0, 1), (2, 5), (0, 8), (3, 10), (4, 4)])
def test_a_scan_offers_every_row_once(first, last):
    """Also where the rows are no multiple of four."""
    rows = whole_numbers((10, 3))

    def arguments():
        k = 12
        return rows[0], rows, first, last, np.full(k, np.inf, np.float32), np.full(k, -1, np.int32)

    (_, _, _, _, squared, ids), _ = same_as_python(scan_rows, arguments)
    assert sorted(ids[ids >= 0].tolist()) == list(range(first, last))
    np.testing.assert_array_equal(squared[ids >= 0], all_squared(rows[:1], rows)[0, ids[ids >= 0]])


@pytest.mark.parametrize("n_listed", [0, 1, 3, 6, 9])
def test_the_nearest_listed_centres_come_first(n_listed):
    """Only those listed, nearest first; nothing where the list is too short."""
    centres = whole_numbers((12, 4))
    listed = np.full(10, -1, dtype=np.int32)
    listed[:n_listed] = np.random.default_rng(2).permutation(12)[:n_listed]

    def arguments():
        return centres[0] + 1, centres, listed, np.empty(4, np.float32), np.full(4, -1, np.int32)

    (x, _, _, squared, chosen), _ = same_as_python(nearest_centres, arguments)
    expected = np.sort(all_squared(x[None], centres[listed[:n_listed]])[0])[:4]
    np.testing.assert_array_equal(squared[: len(expected)], expected)
    np.testing.assert_array_equal(all_squared(x[None], centres[chosen[: len(expected)]])[0], expected)
    assert np.isinf(squared[len(expected) :]).all()


def test_items_walk_to_a_centre_nearer_than_all_near_it():
    """From list to list; each step is one to a nearer centre."""
    X, centres = whole_numbers((30, 3)), whole_numbers((5, 3), seed=3)
    near = np.array([[0, 1, 2], [1, 0, -1], [2, 4, 3], [3, 2, 4], [4, 2, -1]], dtype=np.int32)
    homes = np.arange(30, dtype=np.int32) % 5
    (_, moved, _, _, _, _), _ = same_as_python(assign_items, lambda: (X, homes.copy(), centres, near, 3, 30))
    np.testing.assert_array_equal(moved[:3], homes[:3])
    squared = all_squared(X, centres)
    for item in range(3, 30):
        known = near[moved[item]][near[moved[item]] >= 0]
        assert squared[item, moved[item]] == squared[item, known].min()
        assert squared[item, moved[item]] <= squared[item, homes[item]]


def test_cells_are_described_by_mean_and_radius():
    """No row is farther from its centre than the radius says, and one is about as far."""
    rows = whole_numbers((12, 3))
    starts = np.array([0, 4, 5, 12])

    def arguments():
        return rows, starts, np.zeros((3, 3), np.float32), np.zeros(3, np.float32), 0, 3

    fast, _ = same_as_python(describe_cells, arguments)
    for cell in range(3):
        members = rows[starts[cell] : starts[cell + 1]]
        np.testing.assert_allclose(fast[2][cell], members.mean(axis=0), rtol=1e-6)
        farthest = np.sqrt(((members.astype(float) - fast[2][cell]) ** 2).sum(axis=1)).max()
        assert farthest <= fast[3][cell] <= farthest * (1 + 3e-5)


@pytest.mark.parametrize("n_visits", [1, 2, 4])
def test_visits_find_the_nearest_rows_of_the_nearest_cells(n_visits):
    """Leaving cells out by their radius changes nothing."""
    rows = whole_numbers((20, 2), most=30)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    starts = np.array([0, 3, 9, 15, 20])
    centres, radii = np.zeros((4, 2), np.float32), np.zeros(4, np.float32)
    describe_cells(rows, starts, centres, radii, 0, 4)
    near = np.tile(np.arange(4, dtype=np.int32), (4, 1))
    queries = rows[::3] + 1

    def arguments():
        q, k = len(queries), 4
        ids, squared = np.empty((q, k), np.int32), np.empty((q, k), np.float32)
        homes = np.zeros(q, np.int32)
        return queries, homes, rows, starts, centres, radii, near, n_visits, ids, squared

    (*_, ids, squared), _ = same_as_python(visit_cells, arguments)
    for row, x in enumerate(queries):
        cells = np.argsort(((centres - x) ** 2).sum(axis=1), kind="stable")[:n_visits]
        seen = np.concatenate([np.arange(starts[cell], starts[cell + 1]) for cell in cells])
        expected = np.sort(((rows[seen] - x) ** 2).sum(axis=1))[:4]
        np.testing.assert_array_equal(np.sort(squared[row])[: len(expected)], expected)
        found = ids[row][ids[row] >= 0]
        assert len(set(found.tolist())) == len(found) == len(expected)


def test_a_scan_within_a_limit_is_exact():
    """Cells that cannot hold a neighbour are left out, and only these."""
    rows = whole_numbers((40, 2), most=30)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    starts = np.arange(0, 41, 5)
    centres, radii = np.zeros((8, 2), np.float32), np.zeros(8, np.float32)
    describe_cells(rows, starts, centres, radii, 0, 8)
    queries = rows[::7] + 1
    true = np.sort(all_squared(queries, rows), axis=1)[:, :3]

    def arguments():
        found = np.empty((len(queries), 3), np.int32), np.empty((len(queries), 3), np.float32)
        return queries, true[:, -1].copy(), rows, starts, centres, radii, *found

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


def test_insertion_keeps_a_list_sorted():
    """The last entry goes."""

    def arguments():
        return np.array([1, 3, 8], np.float32), np.array([10, 30, 80], np.int32), np.float32(2), 20

    (keys, values, *_), _ = same_as_python(insert_sorted, arguments)
    np.testing.assert_array_equal(keys, [1, 2, 3])
    np.testing.assert_array_equal(values, [10, 20, 30])
