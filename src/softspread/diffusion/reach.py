"""Which items a vote on a given item reaches, and how much of it arrives there, without solving for scales.

    phi_q / max(phi_q), where a push down to ``floor`` arrives                 theory: [profile], [push bound]

Good enough to compare items with each other; for profiles with proven errors see ``profiles``. The work does
not depend on the number of items.
"""

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread._kernels.push import push_profiles, push_scratch
from softspread.diffusion.diffusion import Diffusion

Reach = tuple[IntArray, FloatArray]  # rows of the items reached, and what each receives, at most 1


class LocalReach:
    """Relative profiles of a few items at a time; rows are the user's. Memory: about 30 bytes per item."""

    def __init__(self, diffusion: Diffusion, floor: float) -> None:
        self._diffusion, self._floor = diffusion, floor
        n = diffusion.n_items
        self._x, self._r, self._scratch = np.zeros(n), np.zeros(n), push_scratch(n)

    def __call__(self, rows: IntArray) -> list[Reach]:
        """One pair for each row: the items that a vote there reaches, and their shares of its peak."""
        diffusion, graph = self._diffusion, self._diffusion.graph
        seeds = graph.rank[rows].astype(np.uint32)
        system = graph.inner_csr, diffusion.inner_root, diffusion.alpha
        sizes, nodes, values, _ = push_profiles(*system, seeds, self._floor, self._x, self._r, self._scratch)
        if graph.normalization == "random_walk":
            values = values / diffusion.inner_root[nodes]
        ends = np.cumsum(sizes)[:-1]
        tiny = np.finfo(np.float64).tiny
        return [
            (reached, phi / phi.max(initial=tiny))
            for reached, phi in zip(np.split(graph.order[nodes], ends), np.split(values, ends), strict=True)
        ]
