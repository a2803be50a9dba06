"""Local solves that tell how large a profile is before it is scaled.

(I - alpha S) x = e_q on a set P that grows around q until M_qq is certain        theory: [scale certificate]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softspread._common.types import FloatArray, IndexArray, IntArray
from softspread._kernels.system import compiled

MAX_ROUNDS = 200  # a growing set needs about ten; the cap only guards against rounding at extreme tolerances
GROWTH = 1.4  # new members per round, as a multiple of |P|; best of 0.7, 1, 1.4 and 2 at 10k and 1M items
GOAL_SHARE = 0.05  # of the wanted |r|**2 may be left inside P
OUTSIDE_SHARE = 0.02  # or this share of the present |r|**2, whichever is more

CUT_STEPS = 2  # bits of the mantissa that distinguish sizes of r: thresholds a factor of 1.14 to 1.25 apart
CUT_SHIFT = 52 - CUT_STEPS
N_CUTS = 256  # sizes of r, 64 octaves below the largest possible residual
# Numbers that the certificate needs; with ONWARD more, what is left of r.M r is known better
CERTIFICATE, ONWARD = 5, 2
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


class ScaleGoal(NamedTuple):
    """The accuracy that the scales must have."""

    delta: float  # certified accuracy
    want_peak: bool  # the largest entry, not only the seed's own
    max_degree: float  # of all items


def local_work(n: int, rows: int, nodes: int, edges: int) -> LocalWork:
    """Scratch memory for sets of ``rows`` members, ``edges`` entries and ``nodes`` nodes at most."""
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


@compiled
def _size_of(bits):
    """Size class of a residual with these bits: 0 for the largest, N_CUTS - 1 for all small ones."""
    largest = np.int64(1023 + 1) << CUT_STEPS  # residuals are below 2
    size = largest - ((bits & np.int64(0x7FFFFFFFFFFFFFFF)) >> CUT_SHIFT)
    return min(max(size, 0), N_CUTS - 1)


@compiled
def _size_to_add(work, n_members, n_outside, square_sum, first_round):
    """The last size of residuals to add to P, so that P does not overshoot."""
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


@compiled
def _add_members(system, work, largest_size, n_met, n_members, n_edges):
    """Move the nodes with large residuals into P, copying their rows; stop early when memory runs out."""
    indptr, indices, weights, _, _ = system
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


@compiled
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


@compiled
def _refresh_outside(work, n_met, n_members, alpha):
    """Residual outside P from x, and how many nodes have a residual of each size.

    Returns x.r, |r|**2 and the number of nodes outside.
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


@compiled
def _runner_up(work, n_members, degrees, degree_above):
    """Largest x among the nodes that could outdo the seed: those with a degree above ``degree_above``."""
    best = 0.0
    for a in range(1, n_members):
        if work.x[a] > best and degrees[work.node[work.member[a]]] > degree_above:
            best = work.x[a]
    return best


@compiled
def _onward(system, work, n_met, n_members):
    """r.S r and |S r|**2 on the nodes met: where the residual flows next. Overwrites the directions p."""
    indptr, indices, weights, _, _ = system
    p = work.p
    for k in range(n_met):
        p[k] = work.residual[k]
    for a in range(n_members):
        p[work.member[a]] = work.r[a]
    product = 0.0
    squares = 0.0
    for a in range(n_members):
        flow = 0.0
        for edge in range(work.start[a], work.end[a]):
            flow += work.value[edge] * p[work.column[edge]]
        product += work.r[a] * flow
        squares += flow * flow
    for k in range(n_met):
        if work.inside[k] == 0:
            u = work.node[k]
            flow = 0.0
            for edge in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
                local = work.local_of[indices[edge]]
                if local >= 0:
                    flow += weights[edge] * p[local]
            product += p[k] * flow
            squares += flow * flow
    return product, squares


@compiled
def local_scale(system, degrees, goal, seed, work, out):
    """Grow P around one seed until M[seed, seed] (and the largest entry, if wanted) is known to ``delta``.

    ``out`` receives x_q + x.r, |r|**2, the runner-up (0 if the seed is the peak for sure), the size of P, and
    1 if memory ran out before the certificate was reached (then the values are only the best so far); if it
    is longer than that, also r.S r and |S r|**2 on the nodes met.

    Returns how many nodes were met. Theory: [scale certificate], [peak bound].
    """
    alpha = system.alpha
    delta, want_peak, max_degree = goal
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
    wanted = delta * (1.0 - alpha)  # of |r|**2
    degree_above = degrees[seed] / (alpha * alpha) if alpha > 0.0 else np.inf
    check_peak = want_peak and max_degree > degree_above
    for rounds in range(MAX_ROUNDS):
        target = GOAL_SHARE * wanted
        if n_outside > 0:
            size = _size_to_add(work, n_members, n_outside, square_sum, rounds == 0)
            n_met, n_members, n_edges, failed = _add_members(system, work, size, n_met, n_members, n_edges)
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
                wanted = min(wanted, delta * delta * spread)
        if done or failed:
            break
    else:
        failed = True
    out[0] = value
    out[1] = square_sum
    out[2] = runner_up
    out[3] = n_members
    out[4] = 1.0 if failed else 0.0
    if len(out) > CERTIFICATE:
        out[5], out[6] = _onward(system, work, n_met, n_members)
    return n_met


@compiled
def local_scales(system, degrees, goal, seeds, work, out):
    """:func:`local_scale` for each seed, see there."""
    for s in range(len(seeds)):
        n_met = local_scale(system, degrees, goal, seeds[s], work, out[s])
        for k in range(n_met):
            work.local_of[work.node[k]] = -1
