"""Local push: move residual into the answer where it is largest; touches only what a vote reaches.

x_u += r_u,  r_v += alpha S_vu r_u,  r_u = 0,   until |r_u| <= floor sqrt(d_u)    theory: [push], [push bound]
"""

import numpy as np

from softspread._common.progress import Advance
from softspread._common.types import FloatArray, IntArray
from softspread._kernels.push import NO_BUDGET, PushScratch, push, push_scratch
from softspread._kernels.system import System
from softspread.diffusion.solver import GraphSolver, Solution, no_progress


def push_residual(
    system: System,
    x: FloatArray,
    r: FloatArray,
    starts: IntArray,
    floor: float,
    edge_budget: int,
    scratch: PushScratch,
) -> tuple[float, int, int]:
    """Push one column from the given nodes.

    Returns the level reached and how many nodes and edges were touched.

    x and r change in place; every touched |r_u| / root_u ends at or below the level.
    """
    scratch.touched[: len(starts)] = starts
    scratch.mark[starts] = 1
    level, n_touched, edges = push(system, x, r, floor, edge_budget, len(starts), scratch)
    scratch.mark[scratch.touched[:n_touched]] = 0
    return float(level), int(n_touched), int(edges)


class PushSolver(GraphSolver):
    """Fast for single columns with few entries and moderate alpha; every column on its own."""

    name = "push"

    def solve(self, B: FloatArray, tol: float, advance: Advance = no_progress) -> Solution:
        X, edges = np.zeros(B.T.shape), 0
        system, scratch = self.graph.inner_system(self.alpha), push_scratch(self.graph.n_items)
        for x, r in zip(X, B.T.copy(), strict=True):
            # |r_u| <= floor sqrt(d_u) everywhere makes |r|_2 <= floor sqrt(sum d)
            floor = tol * float(np.linalg.norm(r) / np.linalg.norm(system.root))
            edges += push_residual(system, x, r, np.flatnonzero(r), floor, NO_BUDGET, scratch)[2]
            advance(1)
        X = np.ascontiguousarray(X.T)
        return self.measured(X, B, tol, edges)
