"""Which items a vote on a given item reaches, and how much of it arrives there, without solving for scales.

    phi_q / max(phi_q), where a push down to ``floor`` arrives                 theory: [profile], [push bound]

Good enough to compare items with each other; for profiles with proven errors see ``profiles``. The work does
not depend on the number of items.
"""

import numpy as np

from softspread import _kernels
from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.push import PushWork

Reach = tuple[IntArray, FloatArray]  # rows of the items reached, and what each receives, at most 1


class LocalReach:
    """Relative profiles of a few items at a time; rows are the user's. Memory: about 30 bytes per item."""

    def __init__(self, diffusion: Diffusion, floor: float) -> None:
        graph = diffusion.graph
        self._graph, self._root, self._alpha, self._floor = graph, diffusion.root, diffusion.alpha, floor
        n = graph.n_items
        self._work, self._x, self._r = PushWork(n), np.zeros(n), np.zeros(n)

    def __call__(self, rows: IntArray) -> list[Reach]:
        """One pair for each row: the items that a vote there reaches, and their shares of its peak."""
        graph, work = self._graph, self._work
        sizes, nodes, values = _kernels.push_profiles(
            graph.indptr,
            graph.indices,
            graph.weights,
            self._root,
            self._alpha,
            graph.rank[rows].astype(np.uint32),
            self._floor,
            self._x,
            self._r,
            work.touched,
            work.mark,
            work.queue,
            work.queued,
        )
        if graph.normalization == "random_walk":
            values = values / self._root[nodes]
        ends = np.cumsum(sizes)[:-1]
        tiny = np.finfo(np.float64).tiny
        return [
            (reached, phi / phi.max(initial=tiny))
            for reached, phi in zip(np.split(graph.order[nodes], ends), np.split(values, ends), strict=True)
        ]
