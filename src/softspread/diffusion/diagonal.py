"""What an item keeps of its own votes: the diagonal of M = (I - alpha S)^-1, in one place.

    phi_qq = M_qq / s_q        theory: [leave one out], [scale]

Leaving an item's own votes out of its mass takes nothing but phi_qq. Close to alpha = 1, where a single M_qq
costs many milliseconds, most are read off a sample.
"""

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.scales import ScaleFinder
from softspread.diffusion.solver import MOST_COLUMNS

LARGEST_DELTA = 1e-2  # accuracy of the diagonal where a sample stands for all
HINT_ALPHA = 0.9  # cheap scales that tell which of the costly ones are large
WHOLE_ALPHA = 0.995  # from here a loose solve over the whole graph takes less than a local one
SCALES_WORK, FEWEST_SCALES = 20_000, 32  # so many times (1 - alpha) are found, and read off for the rest
CHECKED_SCALES, CHECK_FACTOR = 8, 1e-2  # so many are found this much more tightly, to correct the others


def diagonal(diffusion: Diffusion, rows: IntArray) -> FloatArray:
    """M_qq of the symmetric system, (len(rows),), as well as the diffusion's scales are known."""
    return diffusion.at(scaling="source", accuracy=diffusion.accuracy).scales(rows)


def own_reach(diffusion: Diffusion, rows: IntArray) -> FloatArray:
    """phi_qq after scaling: what an item receives from one vote of its own, (len(rows),).

    It is 1 where the voted item is the peak of its profile. With u_i = M_iq / sqrt(d_i) and p the largest
    probability of a step from another item to q, u_i <= u_q alpha p / (1 - alpha + alpha p) for i != q: few
    need a closer look.
    """
    reach = np.ones(len(rows))
    if diffusion.scaling == "source" or diffusion.alpha == 0.0 or len(rows) == 0:
        return reach
    if diffusion.scaling == "none":
        return diagonal(diffusion, rows)
    if diffusion.graph.normalization == "symmetric":
        unsure = np.flatnonzero(_peak_bound(diffusion, rows) > 1)
        if len(unsure):
            own = diagonal(diffusion, rows[unsure]) / diffusion.scales(rows[unsure])
            reach[unsure] = np.minimum(own, 1.0)
    return reach


def _peak_bound(diffusion: Diffusion, rows: IntArray) -> FloatArray:
    """Proven: no entry of a profile but the seed's own exceeds this multiple of the seed's own."""
    graph, alpha, root = diffusion.graph, diffusion.alpha, diffusion.root
    rows = graph.rank[rows]
    S = graph.inner_operator()[rows]
    # from a neighbour to the seed
    steps = S.data * np.repeat(root[rows], np.diff(S.indptr)) / root[S.indices]
    seed = np.repeat(np.arange(len(rows)), np.diff(S.indptr))
    p = np.zeros(len(rows))
    np.maximum.at(p, seed, steps)
    bound: FloatArray = alpha * p / (1 - alpha + alpha * p) * float(root.max(initial=1.0)) / root[rows]
    return bound


def rough_scales(
    diffusion: Diffusion, rows: IntArray, hint: FloatArray | None
) -> tuple[FloatArray, FloatArray, float]:
    """Scales, own reach and the share of error for alpha close to 1, where one vote is a small part of all.

    The seed's own entry stands for the peak, and a sample for all: larger at one alpha is larger at the next.

    Parameters
    ----------
    hint : (len(rows),) M_qq at another alpha; None finds it at alpha 0.9
    """
    from scipy.optimize import isotonic_regression  # slow to load, and only needed here

    n_sample = min(len(rows), max(FEWEST_SCALES, int(SCALES_WORK * (1 - diffusion.alpha))))
    sample = np.linspace(0, len(rows) - 1, n_sample).astype(np.int64)
    known = _rough_diagonal(diffusion, rows[sample], LARGEST_DELTA)
    checked = np.unique(np.linspace(0, n_sample - 1, CHECKED_SCALES).astype(np.int64))
    ratios = _rough_diagonal(diffusion, rows[sample[checked]], LARGEST_DELTA * CHECK_FACTOR) / known[checked]
    known *= np.median(ratios)  # a loose solve is off the same way everywhere
    noise = float(np.abs(ratios / np.median(ratios) - 1).max())
    own = known
    if n_sample < len(rows):
        if hint is None:
            hint = _local_diagonal(diffusion.at(HINT_ALPHA), rows, LARGEST_DELTA)
        by_hint = np.argsort(hint[sample], kind="stable")
        rising = isotonic_regression(np.log(known[by_hint])).x
        own = np.exp(np.interp(hint, hint[sample[by_hint]], rising))
        noise += float(np.sqrt(np.mean((own[sample] / known - 1) ** 2)))
        own[sample] = known
    ones = np.ones(len(rows))
    return (ones, own, noise) if diffusion.scaling == "none" else (own, ones, noise)


def _rough_diagonal(diffusion: Diffusion, rows: IntArray, delta: float) -> FloatArray:
    """M_qq by local solves, or, closer to 1, by loose solves over the whole graph, theory [scale
    certificate].
    """
    alpha = diffusion.alpha
    if alpha <= WHOLE_ALPHA:
        return _local_diagonal(diffusion, rows, delta)
    own = np.empty(len(rows))
    inner = diffusion.graph.rank[rows]
    tol = float(np.sqrt(delta * (1 - alpha * alpha)))
    for first in range(0, len(rows), MOST_COLUMNS):
        part = inner[first : first + MOST_COLUMNS]
        columns = np.arange(len(part))
        B = np.zeros((diffusion.n_items, len(part)))
        B[part, columns] = 1.0
        found = diffusion.inner_solve(B, tol)
        left = np.einsum("ij,ij->j", found.X + found.R / (1 - alpha * alpha), found.R)
        own[first : first + MOST_COLUMNS] = found.X[part, columns] + left
    return own


def _local_diagonal(diffusion: Diffusion, rows: IntArray, delta: float) -> FloatArray:
    """M_qq by local solves, in the middle of what is proven."""
    finder = ScaleFinder(
        diffusion.graph, diffusion.alpha, "source", "certified", delta, diffusion.solver, diffusion.workers
    )
    return finder.scales(diffusion.graph.rank[rows])
