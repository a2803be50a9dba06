"""Which items a vote on a given item reaches, and how much of it arrives there, without solving for scales.

    phi_q / max(phi_q), where a push down to ``floor`` arrives                 theory: [profile], [push bound]
    sum_i phi_iq w_i for all items q together, by one solve

Good enough to compare items with each other; for profiles with proven errors see ``profiles``. The work for
one item does not depend on the number of items.
"""

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import FloatArray, IntArray
from softspread._kernels.push import push_profiles, unit_push
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.push import push_residual
from softspread.graph.graph import Graph

Reach = tuple[IntArray, FloatArray]  # rows of the items reached, and what each receives, at most 1


class LocalReach:
    """Relative profiles of a few items at a time; rows are the user's. Memory: about 30 bytes per item."""

    def __init__(self, diffusion: Diffusion, floor: float) -> None:
        self._graph, self._floor = diffusion.graph, floor
        self._system, self._unit = diffusion.graph.inner_system(diffusion.alpha), unit_push(diffusion.n_items)

    def __call__(self, rows: IntArray) -> list[Reach]:
        """One pair for each row: the items that a vote there reaches, and their shares of its peak."""
        graph = self._graph
        seeds = graph.rank[rows].astype(np.uint32)
        sizes, nodes, values, _ = push_profiles(self._system, seeds, self._floor, self._unit)
        if graph.normalization == "random_walk":
            values = values / self._system.root[nodes]
        ends, tiny = np.cumsum(sizes)[:-1], np.finfo(np.float64).tiny
        parts = zip(np.split(graph.order[nodes], ends), np.split(values, ends), strict=True)
        return [(reached, phi / phi.max(initial=tiny)) for reached, phi in parts]


class LocalColumns:
    """A lower bound of what one item receives from votes on others, at any alpha, by one push from the item.

    M is symmetric, so a push from the item answers for all votes. Entries are those of the unscaled profile:
    a vote's share is this over its item's scale. Memory: about 30 bytes per item.

    Parameters
    ----------
    graph : the graph
    floor : pushes end where |r_u| <= floor sqrt(d_u) everywhere ...
    edges : ... or when about this many edges were visited
    """

    def __init__(self, graph: Graph, floor: float, edges: int) -> None:
        self._graph, self._floor, self._edges = graph, floor, edges
        self._unit = unit_push(graph.n_items)

    def __call__(self, alpha: float, row: int, rows: IntArray) -> FloatArray:
        """(len(rows),) what arrives at ``row`` from a unit source at each of ``rows``; never too much."""
        return self.with_level(alpha, row, rows)[0]

    def with_level(self, alpha: float, row: int, rows: IntArray) -> tuple[FloatArray, float]:
        """The same, and the level at which the push ended: the floor, or more where edges ran out."""
        graph, (x, r, scratch) = self._graph, self._unit
        system, seed, inner = graph.inner_system(alpha), graph.rank[row], graph.rank[rows]
        r[seed] = 1.0
        level, n_touched, _ = push_residual(system, x, r, seed[None], self._floor, self._edges, scratch)
        found = x[inner]
        touched = scratch.touched[:n_touched]
        x[touched] = r[touched] = 0.0
        if graph.normalization == "random_walk":
            found *= system.root[inner] / system.root[seed]
        return np.asarray(found), level


def weighted_reach(diffusion: Diffusion, weights: FloatArray, tol: float = 1e-3) -> FloatArray:
    """(n,) what a vote on each item brings to all others together: sum over i != q of phi_iq w_i.

    M is symmetric, so one solve with the weights on the right answers for all items. What a vote leaves at
    its own item, M_qq, is taken as 1 / (1 - alpha^2 sum_j S_qj^2), as if walks came back at once or never:
    results are up to a third too large, nearly alike for all items.
    """
    graph, alpha = diffusion.graph, diffusion.alpha
    operator = graph.inner_operator()
    squares = csr_array((operator.data**2, operator.indices, operator.indptr), shape=operator.shape)
    returns = squares @ np.ones(diffusion.n_items)
    own = 1 / np.maximum(1 - alpha * alpha * returns, 1 - alpha * alpha)
    factor = graph.inner_root if graph.normalization == "random_walk" else np.ones(diffusion.n_items)
    inner = weights[graph.order]
    arrived = diffusion.solver.solve((inner / factor)[:, None], tol).X[:, 0] * factor
    return graph.to_user_order(np.maximum(arrived / own - inner, 0.0))
