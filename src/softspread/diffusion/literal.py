"""The paper's loop, one solve per vote: the reference that everything faster is compared with.

Y[:, c] += w phi_q  for each vote (q, c) of weight w                                 theory: [profile], [mass]
"""

import numpy as np

from softspread._common.progress import Advance
from softspread._common.types import FloatArray
from softspread.diffusion.diffusion import PROFILE_TOL, Diffusion
from softspread.diffusion.solver import no_progress
from softspread.votes.table import VoteTable


def literal_mass(
    diffusion: Diffusion,
    votes: VoteTable,
    n_classes: int,
    advance: Advance = no_progress,
    tol: float = PROFILE_TOL,
) -> FloatArray:
    """Algorithm 1, lines 8 to 15: (n, n_classes), one solve per vote. Slow; the reference for all else.

    ``tol`` is the relative residual of each solve; the paper's is 1e-6.
    """
    mass = np.zeros((diffusion.n_items, n_classes))
    entries = zip(votes.rows.tolist(), votes.columns.tolist(), votes.weights.tolist(), strict=True)
    for row, column, weight in entries:
        mass[:, column] += weight * diffusion.literal_profile(row, tol)
        advance(1)
    return mass
