"""Sums of squares over whole profiles by random signs.

    E (sum_j sign_j a_j)^2 = sum_j a_j^2   for independent signs, for every item in one solve

Exact up to 2000 items, by the dense inverse; above, a push to an affordable floor would lose
the wide profiles of alpha 0.99.
"""

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import RULE, ProfileRule, dense_inverse

# columns of random signs: a sum of squares is known to sqrt(2 / 16), its mean over many items far better
PROBES = 16
# From this many voted items on half the columns: the share of the error that calibrated intervals read from
# them then varies by 1.5 % with the signs (21,000 voted items), their mean width by .3 %
FEW_PROBES, MANY_VOTED = 8, 20_000
PROBE_TOL = 1e-4  # of the solves for random signs, whose squares are estimates anyway
LEAST_SQUARES = 1e-12  # a sum of squares below this is what rounding leaves of a difference


class RandomSigns:
    """Signs for voted items and for all items; drawn once, so that alphas are compared with the same."""

    def __init__(self, rng: np.random.Generator, n_voted: int, n_items: int) -> None:
        n_probes = PROBES if n_voted < MANY_VOTED else FEW_PROBES
        self.voted = _signs(rng, n_voted, n_probes)
        self.inner_items = _signs(rng, n_items, n_probes)


def _signs(rng: np.random.Generator, n: int, n_probes: int) -> FloatArray:
    return np.where(rng.random((n, n_probes)) < 0.5, -1.0, 1.0)


def squares_and_reach(
    diffusion: Diffusion,
    rows: IntArray,
    squares: FloatArray,
    own: FloatArray,
    signs: RandomSigns,
    scales: FloatArray | None = None,
    rule: ProfileRule = RULE,
) -> tuple[FloatArray, float]:
    """Sum of w^2 phi^2 over other items' votes at each voted item, (v,), and the mean reach of the items.

    Reach is the effective number of other items in a profile, (sum_i M_iq)^2 / sum_i M_iq^2 over i != q.

    Parameters
    ----------
    rows : (v,) distinct voted items
    squares : (v,) sum of the squared weights of their votes
    own : (v,) phi_qq
    scales : (v,) instead of the items' own
    """
    graph, n = diffusion.graph, diffusion.n_items
    sources = diffusion.sources(rows, scales=scales)
    factor = diffusion.inner_error_factor()[graph.rank[rows]]
    diagonal = own / (sources * factor)
    if n <= rule.dense_items:
        M = dense_inverse(diffusion)[rows]
        phi = M[:, rows] * sources * factor[:, None]
        received = (phi * phi) @ squares - squares * own**2
        total, total_squares = M.sum(axis=1) - diagonal, (M * M).sum(axis=1) - diagonal**2
    else:
        amounts = signs.voted * np.sqrt(squares)[:, None]
        arrived = diffusion.spread(rows, amounts, scales=scales, tol=PROBE_TOL).mass(rows)
        received = ((arrived - amounts * own[:, None]) ** 2).mean(axis=1)
        inner, B = graph.rank[rows], np.column_stack([signs.inner_items, np.ones(n)])
        X = diffusion.solver.solve(B, PROBE_TOL).X[inner] - diagonal[:, None] * B[inner]
        total, total_squares = X[:, -1], (X[:, :-1] ** 2).mean(axis=1)
    reach = np.divide(total**2, total_squares, out=np.zeros(len(rows)), where=total_squares > LEAST_SQUARES)
    return np.maximum(received, 0.0), float(reach.mean())
