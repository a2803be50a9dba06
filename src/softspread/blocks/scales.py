"""Scales of voted items, block by block: the certificate of ``diffusion.scales`` on a part of the graph.

    seeds of a block  ->  a region around them  ->  local solves  ->  those that hit the wall: a larger region
                      ->  what is still open: the whole graph, some columns at a time ("far" scales)

An answer is taken only with its certificate, so it does not matter how large the region was.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread._kernels.local_scales import ScaleGoal, local_scales
from softspread.blocks.inputs import votes_of_block
from softspread.blocks.job import Job
from softspread.blocks.regions import Region, grow_region
from softspread.diffusion.diffusion import scale_accuracy
from softspread.diffusion.scales import ScaleRule, fitted_remainder, read_local_solves


@dataclass(frozen=True, slots=True)
class RegionRule:
    """How large the regions are."""

    rings: tuple[int, ...] = (2, 4, 7)  # of neighbours around the seeds, one try after the other
    rows_per_item: float = 8.0  # largest region, in blocks
    seeds: int = 4_096  # of a try beyond the first: fewer seeds may have wider regions


RULE, SCALES = RegionRule(), ScaleRule()


def region_around(job: Job, seeds: IntArray, rings: int) -> Region:
    """The surroundings of some items, as large as the rule allows."""
    most = int(RULE.rows_per_item * job.settings.block_items)
    return grow_region(job, seeds, job.facts["alpha"], rings, most)


def solve_in(region: Region, job: Job, seeds: IntArray, delta: float, rule: ScaleRule = SCALES) -> FloatArray:
    """(len(seeds), 5) what the local solves of some items give, see ``local_scale``."""
    numbers = region.numbers(seeds).astype(np.uint32)
    goal = ScaleGoal(delta, job.settings.scaling == "peak", job.facts["most_degree"])
    out = np.zeros((len(seeds), 5))

    def work(part: slice) -> None:
        scratch = region.work(rule.local_rows)
        local_scales(region.system, region.degrees, goal, numbers[part], scratch, out[part])

    share = -(-len(seeds) // job.n_threads)
    with job.workers() as workers:
        workers.run(work, [slice(first, first + share) for first in range(0, len(seeds), share)])
    return out


def scales_delta(job: Job) -> float:
    """Certified accuracy to ask for."""
    return max(scale_accuracy(job.facts["alpha"], job.settings.tol), SCALES.smallest_delta)


def fit_remainder(job: Job, _: int, rule: ScaleRule = SCALES) -> dict[str, Any]:
    """Stage "remainder", one block: the multiple k in r.M r = k |r|^2, over a sample of all items."""
    n, delta, alpha = job.source.n_items, scales_delta(job), job.facts["alpha"]
    sample = np.unique(np.linspace(0, n - 1, min(n, rule.sample)).astype(np.int64))
    home, found = job.layout.block_of(sample), []
    for block in np.unique(home):  # one after the other, so that no more than its surroundings are in memory
        region = region_around(job, sample[home == block], RULE.rings[-1])
        accuracies = (delta, delta * rule.sample_factor)
        found.append([solve_in(region, job, sample[home == block], accuracy) for accuracy in accuracies])
    loose, tight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    multiple, error = fitted_remainder(loose, tight, alpha)
    return job.store.write("remainder", 0, {}, {"multiple": multiple, "error": min(error, 1e300)})


def find_scales(job: Job, block: int) -> dict[str, Any]:
    """Stage "scales": the scales of a block's voted items; NaN where no region sufficed."""
    here, _ = votes_of_block(job, block)
    scales, errors = np.ones(len(here)), np.zeros(len(here))
    if len(here) and job.facts["alpha"] > 0 and job.settings.scaling != "none":
        scales, errors = _scales_of(job, here + int(job.layout.starts[block]))
    arrays = {"here": here, "scales": scales, "errors": errors}
    open_ones = np.flatnonzero(np.isnan(scales))
    facts = {"open": (here[open_ones] + int(job.layout.starts[block])).tolist()}
    return job.store.write("scales", block, arrays, facts | {"error": float(np.nanmax(errors, initial=0.0))})


def _scales_of(job: Job, seeds: IntArray) -> tuple[FloatArray, FloatArray]:
    """Scale and relative error bound of each seed."""
    scales, errors = np.full(len(seeds), np.nan), np.zeros(len(seeds))
    left = np.arange(len(seeds))
    for attempt, rings in enumerate(RULE.rings):
        size = max(1, len(left)) if attempt == 0 else RULE.seeds
        still: list[IntArray] = []
        for first in range(0, len(left), size):
            mine = left[first : first + size]
            found = solve_in(region_around(job, seeds[mine], rings), job, seeds[mine], scales_delta(job))
            multiple = job.facts["multiple"]
            _, scale, error, failed = read_local_solves(found, job.facts["alpha"], multiple)
            good = mine[~failed]
            scales[good], errors[good] = scale[~failed], (error / scale)[~failed]
            still.append(mine[failed])
        left = np.concatenate(still) if still else left[:0]
    return scales, errors
