"""Scales that no region settles: columns of M over the whole graph, sixteen at a time.

M_qq = x_q + x.r + |r|^2 / (1 - alpha^2)  from one Chebyshev solve per item     theory: [scale certificate]
"""

from typing import Any

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread.blocks.chebyshev import RightSide, omegas, steps_for
from softspread.blocks.job import Job
from softspread.blocks.scales import scales_delta
from softspread.blocks.solve import Operators, Vectors
from softspread.diffusion.solver import MOST_COLUMNS, entry_bound

TIGHT = 0.1  # of the accuracy asked of scales; a digit more costs only some steps


def find_far_scales(job: Job, _: int) -> dict[str, Any]:
    """Stage "far", one block: scales of the items that are still open, by solves over all blocks."""
    places = np.array(sorted(job.facts["open"]), dtype=np.int64)
    room = int(job.facts["room"])
    operators = Operators(job, room // 2)
    scales, errors = np.empty(len(places)), np.empty(len(places))
    for first in range(0, len(places), MOST_COLUMNS):
        part = slice(first, first + MOST_COLUMNS)
        scales[part], errors[part] = _solve_columns(job, places[part], operators, room)
    facts = {"error": float(errors.max(initial=0.0)), "solves": len(places)}
    return job.store.write("far", 0, {"places": places, "scales": scales}, facts)


def _solve_columns(
    job: Job, places: IntArray, operators: Operators, room: int
) -> tuple[FloatArray, FloatArray]:
    """Scale and relative error bound for each of a few items."""
    alpha, delta = job.facts["alpha"], TIGHT * scales_delta(job)
    tol = max(delta * float(np.sqrt((1 - alpha) * (1 - alpha * alpha))), 1e-7)
    rights = {block: _units(job, block, places) for block in range(job.layout.n_blocks)}
    vectors = Vectors(job, rights, len(places), 0, room // 2)
    squares = np.zeros((3, len(places)))
    with job.workers() as workers:
        for omega in omegas(alpha, steps_for(alpha, tol)):
            vectors.advance(omega, operators, workers)
        for block in range(job.layout.n_blocks):
            squares += vectors.squares(block, operators(block), workers)
    columns = np.arange(len(places))
    at = vectors.x[places, columns].astype(np.float64)
    own = at + squares[2] + squares[1] / (1 - alpha * alpha)
    vectors.x[places, columns] = 0.0
    other = (
        vectors.x.max(axis=0).astype(np.float64) if job.settings.scaling == "peak" else np.zeros(len(places))
    )
    reach = np.array([entry_bound(alpha, float(np.sqrt(left))) for left in squares[1]])
    bound = np.where(other + reach > own, reach, squares[1] * alpha / (1 - alpha * alpha))
    scale = np.maximum(own, other)
    return scale, bound / scale


def _units(job: Job, block: int, places: IntArray) -> RightSide:
    """The unit vectors of a few items, as far as they lie in a block."""
    start, end = job.layout.starts[block : block + 2]
    mine = np.flatnonzero((places >= start) & (places < end))
    values = np.zeros((len(mine), len(places)))
    values[np.arange(len(mine)), mine] = 1.0
    return RightSide(places[mine] - int(start), values)
