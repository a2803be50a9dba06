"""Cells of items that are close together: cut, assign, and search cell by cell.

Rows of one cell stand one after another, so a search reads memory in order, and four distances at a time
share the reads of the item they are taken from. All distances are squared and in single precision.
"""

import numpy as np

from softspread._kernels.system import compiled

SPLIT_SAMPLE = 64  # items of a node that its two means are taken from
SPLIT_ROUNDS = 3  # of two means; the cut only needs a good direction
ROUNDING = np.float32(1e-5)  # share by which a radius is enlarged, so that no rounding hides an item


@compiled
def four_squared(x, rows, a, b, c, d):
    """Squared distances of x to four rows; the reads of x are shared."""
    to_a = to_b = to_c = to_d = np.float32(0)
    for t in range(x.shape[0]):
        value = x[t]
        gap = value - rows[a, t]
        to_a += gap * gap
        gap = value - rows[b, t]
        to_b += gap * gap
        gap = value - rows[c, t]
        to_c += gap * gap
        gap = value - rows[d, t]
        to_d += gap * gap
    return to_a, to_b, to_c, to_d


@compiled
def replace_farthest(squared, ids, value, number):
    """Put a nearer item in the place of the farthest; both arrays are one heap, the farthest on top."""
    size = squared.shape[0]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and squared[child + 1] > squared[child]:
            child += 1
        if squared[child] <= value:
            break
        squared[place] = squared[child]
        ids[place] = ids[child]
        place = child
    squared[place] = value
    ids[place] = number


@compiled
def scan_rows(x, rows, first, last, squared, ids):
    """Offer the rows from first to last to the heap of x."""
    whole = first + (last - first) // 4 * 4
    for row in range(first, last, 4):
        # beyond the end the last row stands in, and its copies are not offered
        b, c, d = min(row + 1, last - 1), min(row + 2, last - 1), min(row + 3, last - 1)
        to_a, to_b, to_c, to_d = four_squared(x, rows, row, b, c, d)
        if to_a < squared[0]:
            replace_farthest(squared, ids, to_a, row)
        if to_b < squared[0] and (row < whole or row + 1 < last):
            replace_farthest(squared, ids, to_b, row + 1)
        if to_c < squared[0] and (row < whole or row + 2 < last):
            replace_farthest(squared, ids, to_c, row + 2)
        if to_d < squared[0] and row < whole:
            replace_farthest(squared, ids, to_d, row + 3)


@compiled
def insert_sorted(keys, values, key, value):
    """Put a key smaller than the last into a sorted list, whose last entry goes."""
    place = keys.shape[0] - 1
    while place > 0 and keys[place - 1] > key:
        keys[place] = keys[place - 1]
        values[place] = values[place - 1]
        place -= 1
    keys[place] = key
    values[place] = value


@compiled
def nearest_centres(x, centres, listed, squared, chosen):
    """The nearest of the listed centres, nearest first; the list itself is padded with -1."""
    squared[:] = np.inf
    n = listed.shape[0]
    while n > 0 and listed[n - 1] < 0:
        n -= 1
    last = squared.shape[0] - 1
    for j in range(0, n, 4):
        b, c, d = min(j + 1, n - 1), min(j + 2, n - 1), min(j + 3, n - 1)
        to_a, to_b, to_c, to_d = four_squared(x, centres, listed[j], listed[b], listed[c], listed[d])
        if to_a < squared[last]:
            insert_sorted(squared, chosen, to_a, listed[j])
        if j + 1 < n and to_b < squared[last]:
            insert_sorted(squared, chosen, to_b, listed[b])
        if j + 2 < n and to_c < squared[last]:
            insert_sorted(squared, chosen, to_c, listed[c])
        if j + 3 < n and to_d < squared[last]:
            insert_sorted(squared, chosen, to_d, listed[d])


@compiled
def assign_items(X, homes, centres, near, first, last):
    """Walk each item to the nearest of the centres near its present one, until it stays."""
    squared = np.empty(1, dtype=np.float32)
    chosen = np.empty(1, dtype=np.int32)
    for item in range(first, last):
        reached = np.float32(np.inf)
        while True:
            nearest_centres(X[item], centres, near[homes[item]], squared, chosen)
            if not squared[0] < reached:
                break
            reached = squared[0]
            homes[item] = chosen[0]


@compiled
def describe_cells(rows, starts, centres, radii, first, last):
    """Mean and farthest distance from it, of the cells from first to last."""
    for cell in range(first, last):
        begin, end = starts[cell], starts[cell + 1]
        centre = centres[cell]
        total = np.zeros(rows.shape[1])
        for row in range(begin, end):
            for c in range(rows.shape[1]):
                total[c] += rows[row, c]
        for c in range(rows.shape[1]):
            centre[c] = total[c] / (end - begin)
        farthest = np.float32(0)
        for row in range(begin, end):
            squared = np.float32(0)
            for c in range(rows.shape[1]):
                gap = rows[row, c] - centre[c]
                squared += gap * gap
            farthest = max(farthest, squared)
        radii[cell] = np.sqrt(farthest) * (1 + ROUNDING)


@compiled
def visit_cells(queries, homes, rows, starts, centres, radii, near, n_visits, ids, squared):
    """The nearest rows of each query, from the cells whose centres are nearest to it.

    A cell is left out if all its rows are farther away than what has been found, by the triangle inequality.

    Parameters
    ----------
    queries : (q, d)
    homes : (q,), a cell close to each query, where the walk to the nearest centre begins
    rows : (n, d), sorted by cell
    starts : (cells + 1,), first row of each cell
    centres, radii : (cells, d), (cells,)
    near : (cells, m), cells near each cell, nearest first, padded with -1
    n_visits : cells to visit per query
    ids, squared : (q, k), to be filled: rows in the order of a heap; -1 and infinity where too few were seen
    """
    to_centres = np.empty(n_visits, dtype=np.float32)
    chosen = np.empty(n_visits, dtype=np.int32)
    for query in range(queries.shape[0]):
        x, found, limits = queries[query], ids[query], squared[query]
        found[:] = -1
        limits[:] = np.inf
        home, reached = homes[query], np.float32(np.inf)
        while True:  # the lists of a nearer cell fit better, so walk on to the nearest
            nearest_centres(x, centres, near[home], to_centres, chosen)
            if chosen[0] == home or not to_centres[0] < reached:
                break
            home, reached = chosen[0], to_centres[0]
        for visit in range(n_visits):
            if to_centres[visit] == np.inf:
                break
            cell = chosen[visit]
            gap = np.sqrt(to_centres[visit]) - radii[cell]
            if gap <= 0 or gap * gap < limits[0]:
                scan_rows(x, rows, starts[cell], starts[cell + 1], limits, found)


@compiled
def scan_within(queries, limits, rows, starts, centres, radii, ids, squared):
    """The nearest rows of each query, exactly, given a limit on the squared distance of the farthest of them.

    Every cell that may hold a row within the limit is scanned; arguments as for :func:`visit_cells`.
    """
    for query in range(queries.shape[0]):
        x, limit = queries[query], limits[query]
        ids[query] = -1
        squared[query] = np.inf
        for cell in range(centres.shape[0]):
            to_centre = np.float32(0)
            for c in range(x.shape[0]):
                gap = x[c] - centres[cell, c]
                to_centre += gap * gap
            gap = np.sqrt(to_centre) - radii[cell]
            if gap <= 0 or gap * gap <= limit:
                scan_rows(x, rows, starts[cell], starts[cell + 1], squared[query], ids[query])


@compiled
def _two_means(X, order, first, last, normal):
    """The direction between two means of a sample of a node, found from two far items; 0 if all coincide."""
    d = X.shape[1]
    size = last - first
    n_sample = min(SPLIT_SAMPLE, size)
    one, far = order[first], order[first]
    farthest = np.float32(-1)
    for s in range(n_sample):
        other = order[first + s * size // n_sample]
        squared = np.float32(0)
        for c in range(d):
            gap = X[other, c] - X[one, c]
            squared += gap * gap
        if squared > farthest:
            farthest, far = squared, other
    means = np.empty((2, d), dtype=np.float32)
    means[0], means[1] = X[one], X[far]
    sums = np.empty((2, d), dtype=np.float32)
    counts = np.empty(2, dtype=np.int64)
    for _ in range(SPLIT_ROUNDS):
        sums[:] = 0
        counts[:] = 0
        for s in range(n_sample):
            other = order[first + s * size // n_sample]
            margin = np.float32(0)
            for c in range(d):
                middle = np.float32(0.5) * (means[0, c] + means[1, c])
                margin += (X[other, c] - middle) * (means[1, c] - means[0, c])
            side = 1 if margin > 0 else 0
            counts[side] += 1
            for c in range(d):
                sums[side, c] += X[other, c]
        if counts[0] == 0 or counts[1] == 0:
            break
        for side in range(2):
            for c in range(d):
                means[side, c] = sums[side, c] / counts[side]
    for c in range(d):
        normal[c] = means[1, c] - means[0, c]


@compiled
def part_at(keys, values, first, last, middle):
    """Reorder both from first to last so that no key before the middle is larger than one after it."""
    low, high = first, last - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@compiled
def split_nodes(X, order, keys, n_nodes, first_node, last_node):
    """Cut nodes of one level of the tree in two halves; node i holds the i-th of n_nodes equal shares."""
    n = X.shape[0]
    normal = np.empty(X.shape[1], dtype=np.float32)
    for node in range(first_node, last_node):
        first, last = n * node // n_nodes, n * (node + 1) // n_nodes
        _two_means(X, order, first, last, normal)
        for i in range(first, last):
            item = order[i]
            key = np.float32(0)
            for c in range(X.shape[1]):
                key += X[item, c] * normal[c]
            keys[i] = key
        part_at(keys, order, first, last, n * (2 * node + 1) // (2 * n_nodes))
