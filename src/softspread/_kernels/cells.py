"""Cells of items that are close together: cut, assign, and search cell by cell.

Rows of one cell stand side by side in blocks: sixteen rows, feature by feature, padded with infinity. One
query is compared with all rows of a block at once, which is one instruction per feature on processors with
wide registers. All distances are squared and in single precision.
"""

import numpy as np

from softspread._kernels.system import compiled

LANES = 16  # rows of a block
SPLIT_SAMPLE = 64  # items of a node that its two means are taken from
SPLIT_ROUNDS = 3  # of two means; the cut only needs a good direction
ROUNDING = np.float32(1e-5)  # share by which a radius is enlarged, so that no rounding hides an item
HALF = np.float32(0.5)


@compiled
def block_squared(x, block, squared):
    """Squared distances of x to the rows of one block, (d, LANES); four features share a pass."""
    d = x.shape[0]
    whole = d // 4 * 4
    for lane in range(LANES):
        squared[lane] = 0
    for t in range(0, whole, 4):
        a, b, c, e = x[t], x[t + 1], x[t + 2], x[t + 3]
        for lane in range(LANES):
            to_a, to_b = a - block[t, lane], b - block[t + 1, lane]
            to_c, to_e = c - block[t + 2, lane], e - block[t + 3, lane]
            squared[lane] += to_a * to_a + to_b * to_b + to_c * to_c + to_e * to_e
    for t in range(whole, d):
        for lane in range(LANES):
            gap = x[t] - block[t, lane]
            squared[lane] += gap * gap


@compiled
def pack_listed(rows, listed, packed):
    """Lay the listed rows side by side in blocks and count them; the list is padded with -1."""
    n = listed.shape[0]
    while n > 0 and listed[n - 1] < 0:
        n -= 1
    for place in range(packed.shape[0] * LANES):
        block, lane = packed[place // LANES], place % LANES
        for t in range(rows.shape[1]):
            block[t, lane] = rows[listed[place], t] if place < n else np.float32(np.inf)
    return n


@compiled
def pack_cells(rows, starts, blocks, packed, first, last):
    """Lay the rows of the cells from first to last side by side; ``blocks`` says where each cell starts."""
    for cell in range(first, last):
        listed = np.arange(starts[cell], starts[cell + 1])
        pack_listed(rows, listed, packed[blocks[cell] : blocks[cell + 1]])


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
def scan_blocks(x, blocks, first_row, squared, ids, gaps):
    """Offer the rows of some blocks to the heap of x; the first of them is row ``first_row``."""
    for block in range(blocks.shape[0]):
        block_squared(x, blocks[block], gaps)
        nearer = 0
        for lane in range(LANES):
            nearer += gaps[lane] < squared[0]
        if nearer > 0:
            for lane in range(LANES):
                if gaps[lane] < squared[0]:
                    replace_farthest(squared, ids, gaps[lane], first_row + block * LANES + lane)
            if squared[0] == 0:  # of many copies it does not matter which are found
                return


@compiled
def assign_items(X, items, homes, centres, near):
    """Move items to the nearest of the centres near their present one; quick where their homes rise."""
    packed = np.empty((-(-near.shape[1] // LANES), X.shape[1], LANES), dtype=np.float32)
    squared = np.empty(packed.shape[0] * LANES, dtype=np.float32)
    home, own, n_listed = -1, 0, 0
    for item in items:
        if homes[item] != home:
            home, own = homes[item], 0
            n_listed = pack_listed(centres, near[home], packed)
            while own < n_listed and near[home, own] != home:  # copies of a centre may come before it ...
                own += 1
        if own == n_listed:
            continue  # ... and fill the list: none is nearer
        for block in range(packed.shape[0]):
            block_squared(X[item], packed[block], squared[block * LANES : (block + 1) * LANES])
        nearest = own
        for place in range(n_listed):
            if squared[place] < squared[nearest]:
                nearest = place
        homes[item] = near[home, nearest]


@compiled
def average_cells(rows, starts, centres, first, last):
    """Means of the cells from first to last."""
    for cell in range(first, last):
        total = np.zeros(rows.shape[1])
        for row in range(starts[cell], starts[cell + 1]):
            for c in range(rows.shape[1]):
                total[c] += rows[row, c]
        for c in range(rows.shape[1]):
            centres[cell, c] = total[c] / (starts[cell + 1] - starts[cell])


@compiled
def measure_cells(rows, starts, centres, radii, spreads, first, last):
    """How far the rows of the cells from first to last are from the centre: at most, and mean square."""
    for cell in range(first, last):
        farthest, total = np.float32(0), np.float32(0)
        for row in range(starts[cell], starts[cell + 1]):
            squared = np.float32(0)
            for c in range(rows.shape[1]):
                gap = rows[row, c] - centres[cell, c]
                squared += gap * gap
            farthest = max(farthest, squared)
            total += squared
        radii[cell] = np.sqrt(farthest) * (1 + ROUNDING)
        spreads[cell] = total / max(1, starts[cell + 1] - starts[cell])


@compiled
def visit_cells(queries, homes, packed, blocks, starts, centres, radii, spreads, near, reach, ids, squared):
    """The nearest rows of each query, from cells near its home.

    A cell is visited if its centre is no farther than what has been found lets expect of its rows, and if
    the triangle inequality does not rule all of them out:

        |x - centre|^2 <= reach (limit + spread / 2),   |x - centre| - radius < sqrt(limit)

    where the limit is the squared distance of the farthest row kept, infinite until enough have been seen.

    Parameters
    ----------
    queries : (q, d), best sorted by home
    homes : (q,), a cell close to each query
    packed : (blocks, d, LANES), rows of each cell side by side
    blocks, starts : (cells + 1,), first block and first row of each cell
    centres, radii, spreads : (cells, d), (cells,), (cells,)
    near : (cells, m), cells near each cell, nearest first, padded with -1
    reach : larger ones visit more cells
    ids, squared : (q, k), to be filled: rows in the order of a heap; -1 and infinity where too few were seen
    """
    listed = np.empty((-(-near.shape[1] // LANES), queries.shape[1], LANES), dtype=np.float32)
    to_centres = np.empty(listed.shape[0] * LANES, dtype=np.float32)
    gaps = np.empty(LANES, dtype=np.float32)
    home, n_listed = -1, 0
    for query in range(queries.shape[0]):
        x, found, limits = queries[query], ids[query], squared[query]
        found[:] = -1
        limits[:] = np.inf
        if homes[query] != home:
            home = homes[query]
            n_listed = pack_listed(centres, near[home], listed)
        for block in range(listed.shape[0]):
            block_squared(x, listed[block], to_centres[block * LANES : (block + 1) * LANES])
        for place in range(n_listed):
            if limits[0] == 0:
                break
            cell = near[home, place]
            if to_centres[place] <= reach * (limits[0] + HALF * spreads[cell]):
                gap = np.sqrt(to_centres[place]) - radii[cell]
                if gap <= 0 or gap * gap < limits[0]:
                    rows = packed[blocks[cell] : blocks[cell + 1]]
                    scan_blocks(x, rows, starts[cell], limits, found, gaps)


@compiled
def scan_within(queries, limits, packed, blocks, starts, centres, radii, ids, squared):
    """The nearest rows of each query, exactly, given a limit on the squared distance of the farthest of them.

    Every cell that may hold a row within the limit is scanned; arguments as for :func:`visit_cells`.
    """
    gaps = np.empty(LANES, dtype=np.float32)
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
                rows = packed[blocks[cell] : blocks[cell + 1]]
                scan_blocks(x, rows, starts[cell], squared[query], ids[query], gaps)


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
