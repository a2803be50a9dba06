"""Every compiled loop: plain arrays in, plain arrays out, nothing of ours imported.

All kernels see the symmetric operator S in the graph's inner numbering as three CSR arrays: ``indptr``
(int64), ``indices`` (uint32: signed indices would cost a wrap-around test per edge) and ``weights``
(float64). They release the interpreter lock, so that threads of a pool can share the rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
IndexArray = NDArray[np.uint32]

_COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": {"contract", "reassoc", "nsz", "arcp"}}

# ---------------------------------------------------------------------------------------- conjugate gradients
# ``width`` is a tuple with one entry per column: its length is part of its type, so the inner loops over
# columns have a
# constant length and are unrolled. One compilation per number of columns, kept on disk.


@njit(**_COMPILED)
def apply_system(indptr, indices, weights, alpha, P, out, first, last, width, dots):
    """Rows ``first:last`` of out = (I - alpha S) P, and the column sums of P * out over these rows."""
    n_columns = len(width)
    total = np.zeros(n_columns)
    product = np.empty(n_columns)
    for row in range(first, last):
        for c in range(n_columns):
            product[c] = 0.0
        for edge in range(indptr[row], indptr[row + 1]):
            weight = weights[edge]
            neighbor = indices[edge]
            for c in range(n_columns):
                product[c] += weight * P[neighbor, c]
        for c in range(n_columns):
            value = P[row, c] - alpha * product[c]
            out[row, c] = value
            total[c] += P[row, c] * value
    for c in range(n_columns):
        dots[c] = total[c]


@njit(**_COMPILED)
def step_along(X, R, P, AP, step, first, last, width, squares):
    """X += step P and R -= step AP on rows ``first:last``, and the column sums of R**2 over these rows."""
    n_columns = len(width)
    total = np.zeros(n_columns)
    for row in range(first, last):
        for c in range(n_columns):
            X[row, c] += step[c] * P[row, c]
            value = R[row, c] - step[c] * AP[row, c]
            R[row, c] = value
            total[c] += value * value
    for c in range(n_columns):
        squares[c] = total[c]


@njit(**_COMPILED)
def turn_direction(P, R, ratio, first, last, width):
    """P = R + ratio P on rows ``first:last``."""
    for row in range(first, last):
        for c in range(len(width)):
            P[row, c] = R[row, c] + ratio[c] * P[row, c]


# ----------------------------------------------------------------------------------------------- local scales


MAX_ROUNDS = 200  # a growing set needs about ten; the cap only guards against rounding at extreme tolerances
GROWTH = (
    1.4  # new members per round, as a multiple of |P|; measured best of 0.7, 1, 1.4 and 2 at 10k and 1M items
)
GOAL_SHARE = 0.05  # of the wanted |r|**2 may be left inside P
OUTSIDE_SHARE = 0.02  # or this share of the present |r|**2, whichever is more
PUSH_LEVEL = 0.5  # each level of the push is this much finer than the one before ...
LEVEL_COST = 2.0  # ... and costs about this much more


CUT_STEPS = 2  # bits of the mantissa that tell sizes of r apart: thresholds a factor of 1.14 to 1.25 apart
CUT_SHIFT = 52 - CUT_STEPS
N_CUTS = 256  # sizes of r told apart, 64 octaves below the largest possible residual
LEAST_SHARE = 0.05  # of the mean r**2 outside: smaller residuals are not worth a row


class LocalWork(NamedTuple):
    """Scratch memory of one thread for :func:`local_scales`.

    A local number stands for a node met so far, a place for a member of the set P on which the system is
    solved. Bounds of rows are unsigned: a loop between signed ones tests each index for wrapping around, and
    is not vectorised.
    """

    local_of: NDArray[np.int32]  # (n,)            local number of a node, -1 = not met
    node: IndexArray  # (nodes,)                   node of a local number
    inside: NDArray[np.uint8]  # (nodes,)          1 = in P
    residual: FloatArray  # (nodes,)               residual of a node outside P
    bits: IntArray  # (nodes,)                     the same memory, as bits
    p: FloatArray  # (nodes,)                      search direction, zero outside P
    member: IndexArray  # (rows,)                  local number of a place
    start: IndexArray  # (rows,)                   first ...
    end: IndexArray  # (rows,)                     ... and last + 1 entry of a copied row
    column: IndexArray  # (edges,)                 local number of a copied entry
    value: FloatArray  # (edges,)
    x: FloatArray  # (rows,)                       solution on P
    r: FloatArray  # (rows,)                       residual e_q - (I - alpha S) x on P
    ap: FloatArray  # (rows,)
    cuts: IntArray  # (N_CUTS,)                    how many nodes outside P have a residual of each size


def local_work(n: int, rows: int, nodes: int, edges: int) -> LocalWork:
    """Scratch memory for sets of up to ``rows`` members with ``edges`` entries, meeting up to ``nodes``
    nodes.
    """
    residual = np.empty(nodes)
    return LocalWork(
        local_of=np.full(n, -1, dtype=np.int32),
        node=np.empty(nodes, dtype=np.uint32),
        inside=np.empty(nodes, dtype=np.uint8),
        residual=residual,
        bits=residual.view(np.int64),
        p=np.empty(nodes),
        member=np.empty(rows, dtype=np.uint32),
        start=np.empty(rows, dtype=np.uint32),
        end=np.empty(rows, dtype=np.uint32),
        column=np.empty(edges, dtype=np.uint32),
        value=np.empty(edges),
        x=np.empty(rows),
        r=np.empty(rows),
        ap=np.empty(rows),
        cuts=np.empty(N_CUTS, dtype=np.int64),
    )


@njit(**_COMPILED)
def _size_of(bits):
    """Number of the size that a residual with these bits has, 0 for the largest, N_CUTS - 1 for all small
    ones.
    """
    largest = np.int64(1023 + 1) << CUT_STEPS  # residuals are below 2
    size = largest - ((bits & np.int64(0x7FFFFFFFFFFFFFFF)) >> CUT_SHIFT)
    return min(max(size, 0), N_CUTS - 1)


@njit(**_COMPILED)
def _size_to_add(work, n_members, n_outside, square_sum, first_round):
    """Sizes up to this one are worth adding to P, such that P does not overshoot."""
    limit = max(32.0, GROWTH * n_members)
    mean = square_sum / n_outside
    count = 0
    for size in range(N_CUTS):
        count += work.cuts[size]
        # Residuals of the next size lie about this low; octaves are cut linearly, so a little above at times.
        smallest = 2.0 ** (1.0 - (size + 1) / 2**CUT_STEPS)
        if count > limit and count > work.cuts[size]:
            return size - 1
        if not first_round and smallest * smallest < LEAST_SHARE * mean:
            return size
    return N_CUTS - 1


@njit(**_COMPILED)
def _add_members(indptr, indices, weights, work, largest_size, n_met, n_members, n_edges):
    """Move the nodes with large residuals into P, copying their rows; stop early when memory runs out."""
    for k in range(n_met):
        if work.inside[k] == 0 and _size_of(work.bits[k]) <= largest_size:
            u = work.node[k]
            degree = indptr[u + 1] - indptr[u]
            if (
                n_members == len(work.member)
                or n_edges + degree > len(work.column)
                or n_met + degree > len(work.node)
            ):
                return n_met, n_members, n_edges, True
            work.inside[k] = 1
            work.member[n_members] = k
            work.x[n_members] = 0.0
            work.r[n_members] = work.residual[k]
            work.start[n_members] = n_edges
            for edge in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
                v = indices[edge]
                local = work.local_of[v]
                if local < 0:
                    local = n_met
                    n_met += 1
                    work.local_of[v] = local
                    work.node[local] = v
                    work.inside[local] = 0
                    work.residual[local] = 0.0
                    work.p[local] = 0.0
                work.column[n_edges] = local
                work.value[n_edges] = weights[edge]
                n_edges += 1
            work.end[n_members] = n_edges
            n_members += 1
    return n_met, n_members, n_edges, False


@njit(**_COMPILED)
def _solve_inside(work, n_members, alpha, target):
    """Conjugate gradients on P from the present x until the squared residual inside is at most ``target``.

    Rows are taken whole: outside P the search direction is zero, and to multiply costs less than to ask.
    """
    x, r, p, ap, member = work.x, work.r, work.p, work.ap, work.member
    squares = 0.0
    for a in range(n_members):
        p[member[a]] = r[a]
        squares += r[a] * r[a]
    for _ in range(n_members + 200):
        if squares <= target:
            break
        curvature = 0.0
        for a in range(n_members):
            inside = 0.0
            for edge in range(work.start[a], work.end[a]):
                inside += work.value[edge] * p[work.column[edge]]
            own = p[member[a]]
            ap[a] = own - alpha * inside
            curvature += own * ap[a]
        step = squares / curvature
        previous = squares
        squares = 0.0
        for a in range(n_members):
            x[a] += step * p[member[a]]
            r[a] -= step * ap[a]
            squares += r[a] * r[a]
        ratio = squares / previous
        for a in range(n_members):
            p[member[a]] = r[a] + ratio * p[member[a]]


@njit(**_COMPILED)
def _refresh_outside(work, n_met, n_members, alpha):
    """Residual outside P from x, and how many nodes have a residual of each size; x.r, |r|**2, nodes
    outside.
    """
    residual = work.residual
    for k in range(n_met):
        residual[k] = 0.0
    correction = 0.0
    square_sum = 0.0
    for a in range(n_members):
        correction += work.x[a] * work.r[a]
        square_sum += work.r[a] * work.r[a]
        flow = alpha * work.x[a]
        for edge in range(work.start[a], work.end[a]):
            residual[work.column[edge]] += work.value[edge] * flow
    for size in range(N_CUTS):
        work.cuts[size] = 0
    for k in range(n_met):
        if work.inside[k] == 0:
            square_sum += residual[k] * residual[k]
            work.cuts[_size_of(work.bits[k])] += 1
    return correction, square_sum, n_met - n_members


@njit(**_COMPILED)
def _runner_up(work, n_members, degrees, degree_above):
    """Largest x among the nodes that could outdo the seed: those with a degree above ``degree_above``."""
    best = 0.0
    for a in range(1, n_members):
        if work.x[a] > best and degrees[work.node[work.member[a]]] > degree_above:
            best = work.x[a]
    return best


@njit(**_COMPILED)
def local_scale(indptr, indices, weights, degrees, alpha, seed, delta, want_peak, max_degree, work, out):
    """Grow P around one seed until M[seed, seed] (and the largest entry, if wanted) is known to ``delta``.

    ``out`` receives x_q + x.r, |r|**2, the runner-up (0 if the seed is the peak for sure), the size of P, and
    1 if memory ran out before the certificate was reached (then the values are only the best so far).
    Theory: [scale certificate], [peak bound].
    """
    work.local_of[seed] = 0
    work.node[0] = seed
    work.inside[0] = 0
    work.p[0] = 0.0
    work.residual[0] = 1.0
    work.cuts[:] = 0
    work.cuts[_size_of(work.bits[0])] = 1
    n_met = 1
    n_members = 0
    n_edges = 0
    n_outside = 1
    square_sum = 1.0
    value = 0.0
    runner_up = 0.0
    failed = False
    spread = (1.0 - alpha) * (1.0 - alpha * alpha)
    goal = delta * (1.0 - alpha)  # of |r|**2
    degree_above = degrees[seed] / (alpha * alpha) if alpha > 0.0 else np.inf
    check_peak = want_peak and max_degree > degree_above
    for rounds in range(MAX_ROUNDS):
        target = GOAL_SHARE * goal
        if n_outside > 0:
            size = _size_to_add(work, n_members, n_outside, square_sum, rounds == 0)
            n_met, n_members, n_edges, failed = _add_members(
                indptr, indices, weights, work, size, n_met, n_members, n_edges
            )
            target = max(target, OUTSIDE_SHARE * square_sum)
        _solve_inside(work, n_members, alpha, target)
        correction, square_sum, n_outside = _refresh_outside(work, n_met, n_members, alpha)
        value = work.x[0] + correction
        lowest = value + square_sum / (1.0 + alpha)
        done = square_sum * alpha / (1.0 - alpha * alpha) <= delta * lowest
        runner_up = 0.0
        if done and check_peak and alpha * alpha > (1.0 - alpha * alpha) * lowest:
            reach = np.sqrt(square_sum / spread)  # no entry of M e_q is further than this from x
            best = _runner_up(work, n_members, degrees, degree_above)
            if best + reach > lowest:  # another item may be the peak: its value must be known as well
                runner_up = best
                done = reach <= delta * lowest
                goal = min(goal, delta * delta * spread)
        if done or failed:
            break
    else:
        failed = True
    out[0] = value
    out[1] = square_sum
    out[2] = runner_up
    out[3] = n_members
    out[4] = 1.0 if failed else 0.0
    return n_met


@njit(**_COMPILED)
def local_scales(indptr, indices, weights, degrees, alpha, seeds, delta, want_peak, max_degree, work, out):
    """:func:`local_scale` for each seed, see there."""
    for s in range(len(seeds)):
        n_met = local_scale(
            indptr, indices, weights, degrees, alpha, seeds[s], delta, want_peak, max_degree, work, out[s]
        )
        for k in range(n_met):
            work.local_of[work.node[k]] = -1


# ------------------------------------------------------------------------------------------------------- push


@njit(**_COMPILED)
def push(
    indptr, indices, weights, root, alpha, x, r, floor, edge_budget, n_touched, touched, mark, queue, queued
):
    """Move residual r into x, largest first in levels, until |r_u| <= floor root_u everywhere or the budget
    is spent.

    Keeps (I - alpha S) x + r constant. ``touched[:n_touched]`` lists the nodes whose residual may be above
    the floor (``mark`` 1 for them) and grows as residual spreads. Returns the level reached (every touched
    |r_u| / root_u is at most that), the number of touched nodes and the number of edges visited.
    """
    size = len(queue)
    level = 0.0
    for t in range(n_touched):
        u = touched[t]
        level = max(level, abs(r[u]) / root[u])
    edges = 0
    cost = 0
    while level > floor and edges + LEVEL_COST * cost <= edge_budget:
        before = edges
        next_level = max(floor, level * PUSH_LEVEL)
        head = 0
        waiting = 0
        for t in range(n_touched):
            u = touched[t]
            if abs(r[u]) > next_level * root[u]:
                queue[(head + waiting) % size] = u
                queued[u] = 1
                waiting += 1
        # A level is always finished, so that what is reported holds.
        while waiting > 0:
            u = queue[head]
            head = (head + 1) % size
            waiting -= 1
            queued[u] = 0
            amount = r[u]
            x[u] += amount
            r[u] = 0.0
            for edge in range(indptr[u], indptr[u + 1]):
                v = indices[edge]
                r[v] += alpha * weights[edge] * amount
                if mark[v] == 0:
                    mark[v] = 1
                    touched[n_touched] = v
                    n_touched += 1
                if queued[v] == 0 and abs(r[v]) > next_level * root[v]:
                    queued[v] = 1
                    queue[(head + waiting) % size] = v
                    waiting += 1
            edges += indptr[u + 1] - indptr[u]
        level = next_level
        cost = edges - before
    return level, n_touched, edges


# ------------------------------------------------------------------------------------------------- neighbours


@njit(cache=True, nogil=True)
def drop_self(found, first_row, out):
    """Each row of ``found`` without the item itself, or without its last entry where the item is absent."""
    k = out.shape[1]
    for row in range(found.shape[0]):
        filled = 0
        for j in range(found.shape[1]):
            if filled < k and found[row, j] != first_row + row:
                out[row, filled] = found[row, j]
                filled += 1


@njit(cache=True, nogil=True)
def squared_distances(X, queries, neighbors, out):
    """|queries[i] - X[neighbors[i, j]]|**2 in double precision."""
    for row in range(neighbors.shape[0]):
        for j in range(neighbors.shape[1]):
            other = neighbors[row, j]
            total = 0.0
            for c in range(X.shape[1]):
                difference = np.float64(queries[row, c]) - np.float64(X[other, c])
                total += difference * difference
            out[row, j] = total


@njit(cache=True, nogil=True)
def sort_rows(keys, values):
    """Sort each row of both by key, then value; insertion sort, as rows are short and nearly sorted."""
    for row in range(keys.shape[0]):
        for j in range(1, keys.shape[1]):
            key = keys[row, j]
            value = values[row, j]
            i = j
            while i > 0 and (
                keys[row, i - 1] > key or (keys[row, i - 1] == key and values[row, i - 1] > value)
            ):
                keys[row, i] = keys[row, i - 1]
                values[row, i] = values[row, i - 1]
                i -= 1
            keys[row, i] = key
            values[row, i] = value


@njit(**_COMPILED)
def push_profiles(indptr, indices, weights, root, alpha, seeds, floor, x, r, touched, mark, queue, queued):
    """Push e_q for each seed down to ``floor``; returns entries per seed, their nodes and their values of M
    e_q.

    ``x`` and ``r`` must be zero and are zero again at the end.
    """
    sizes = np.empty(len(seeds), dtype=np.int64)
    nodes = np.empty(1024, dtype=np.int64)
    values = np.empty(1024)
    filled = 0
    for s in range(len(seeds)):
        seed = seeds[s]
        r[seed] = 1.0
        touched[0] = seed
        mark[seed] = 1
        _, n_touched, _ = push(
            indptr, indices, weights, root, alpha, x, r, floor, 1 << 62, 1, touched, mark, queue, queued
        )
        if filled + n_touched > len(nodes):
            room = max(2 * len(nodes), filled + n_touched)
            more_nodes = np.empty(room, dtype=np.int64)
            more_values = np.empty(room)
            more_nodes[:filled] = nodes[:filled]
            more_values[:filled] = values[:filled]
            nodes, values = more_nodes, more_values
        start = filled
        for t in range(n_touched):
            u = touched[t]
            if x[u] > 0.0:
                nodes[filled] = u
                values[filled] = x[u]
                filled += 1
            x[u] = 0.0
            r[u] = 0.0
            mark[u] = 0
        sizes[s] = filled - start
    return sizes, nodes[:filled].copy(), values[:filled].copy()


# -------------------------------------------------------------------------------------------- sums of squares


@njit(**_COMPILED)
def _push_from(indptr, indices, weights, root, alpha, seed, floor, x, r, touched, mark, queue, queued):
    """Push e_seed; returns the number of touched nodes, an estimate of M[seed, seed] and the edges visited.

    The estimate x_q + x.r + |r|**2 / (1 - alpha**2) is off by second order in r only, theory [scale
    certificate].
    """
    r[seed] = 1.0
    touched[0] = seed
    mark[seed] = 1
    _, n_touched, edges = push(
        indptr, indices, weights, root, alpha, x, r, floor, 1 << 62, 1, touched, mark, queue, queued
    )
    correction = 0.0
    left = 0.0
    for t in range(n_touched):
        u = touched[t]
        correction += x[u] * r[u]
        left += r[u] * r[u]
    return n_touched, x[seed] + correction + left / (1.0 - alpha * alpha), edges


@njit(**_COMPILED)
def push_sums(
    indptr,
    indices,
    weights,
    root,
    alpha,
    seeds,
    sources,
    item_factor,
    vote_sums,
    features,
    lipschitz,
    floor,
    x,
    r,
    touched,
    mark,
    queue,
    queued,
    sums,
    own,
):
    """Add what the votes on each seed bring to every item they reach; returns the edges visited.

    phi = x_u sources[s] item_factor[u]; ``vote_sums[s]`` holds the sum of the seed's vote weights and of
    their squares. ``sums[u]`` grows by weight phi, weight**2 phi**2 and, unless ``lipschitz`` is negative,
    weight phi min(1, L dist). ``own[s]`` becomes M[seed, seed]. ``x`` and ``r`` must be zero and are zero
    again at the end.
    """
    work = 0
    for s in range(len(seeds)):
        seed = seeds[s]
        n_touched, own[s], edges = _push_from(
            indptr, indices, weights, root, alpha, seed, floor, x, r, touched, mark, queue, queued
        )
        work += edges
        for t in range(n_touched):
            u = touched[t]
            if x[u] > 0.0:
                phi = x[u] * sources[s] * item_factor[u]
                sums[u, 0] += vote_sums[s, 0] * phi
                sums[u, 1] += vote_sums[s, 1] * phi * phi
                if lipschitz >= 0.0:
                    squared = 0.0
                    for c in range(features.shape[1]):
                        difference = np.float64(features[u, c]) - np.float64(features[seed, c])
                        squared += difference * difference
                    sums[u, 2] += vote_sums[s, 0] * phi * min(1.0, lipschitz * np.sqrt(squared))
            x[u] = 0.0
            r[u] = 0.0
            mark[u] = 0
    return work


@njit(**_COMPILED)
def push_gather(
    indptr,
    indices,
    weights,
    root,
    alpha,
    targets,
    sources,
    item_factor,
    vote_sums,
    floor,
    x,
    r,
    touched,
    mark,
    queue,
    queued,
    out,
):
    """What all votes bring to each target, by one push from the target: M is symmetric.

    ``sources`` and ``vote_sums`` are per item (0 where nobody voted). ``out[t]`` receives the sums of weight
    phi and of weight**2 phi**2, M[target, target], and the sums of M and M**2 over the items reached. Returns
    the edges visited.
    """
    work = 0
    for s in range(len(targets)):
        target = targets[s]
        n_touched, own, edges = _push_from(
            indptr, indices, weights, root, alpha, target, floor, x, r, touched, mark, queue, queued
        )
        work += edges
        out[s, :] = 0.0
        out[s, 2] = own
        for t in range(n_touched):
            u = touched[t]
            value = x[u]
            phi = value * sources[u] * item_factor[target]
            out[s, 0] += vote_sums[u, 0] * phi
            out[s, 1] += vote_sums[u, 1] * phi * phi
            out[s, 3] += value
            out[s, 4] += value * value
            x[u] = 0.0
            r[u] = 0.0
            mark[u] = 0
    return work
