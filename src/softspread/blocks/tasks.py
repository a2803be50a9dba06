"""The stages of a run by name; each makes one block, the same one every time.

    cells -> assign -> gathered -> vectors -> (lists -> merged ->) neighbors -> halves -> affinity -> operator
    remainder -> scales -> far -> [solve] -> labels

:func:`run_task` is all that a driver calls. A block that cannot be read is made again at once.
"""

from collections.abc import Callable
from typing import Any

from softspread.blocks import far, labels, neighbors, operator, partition, scales
from softspread.blocks.job import Job
from softspread.blocks.store import DamagedBlockError
from softspread.errors import StoreError

Task = Callable[[Job, int], dict[str, Any]]
TASKS: dict[str, Task] = {
    "cells": partition.find_cells,
    "assign": partition.assign_chunk,
    "gathered": partition.gather_group,
    "vectors": partition.order_block,
    "lists": neighbors.search_cell,
    "merged": neighbors.merge_lists,
    "neighbors": neighbors.refine_lists,
    "exact": neighbors.exact_lists,
    "recall": neighbors.measure_recall,
    "halves": operator.halve_edges,
    "affinity": operator.add_halves,
    "operator": operator.normalize_block,
    "remainder": scales.fit_remainder,
    "scales": scales.find_scales,
    "far": far.find_far_scales,
    "labels": labels.write_part,
}
MOST_REPAIRS = 100  # of one task: a disk that damages more should be replaced


def task_of(job: Job, stage: str) -> Task | None:
    """What makes a block of a stage; None where only the driver can."""
    exact = stage == "neighbors" and job.settings.index in neighbors.EXACT
    return TASKS.get("exact" if exact else stage)


def run_task(job: Job, stage: str, number: int) -> list[str]:
    """Make one block; returns the damaged blocks that had to be made again.

    Raises :class:`DamagedBlockError` for a block that no task makes: the driver knows how.
    """
    repaired: list[str] = []
    _run(job, stage, number, repaired)
    return repaired


def _run(job: Job, stage: str, number: int, repaired: list[str]) -> None:
    task = task_of(job, stage)
    while True:
        try:
            if task is None:
                raise StoreError(f"no task makes blocks of {stage!r}.")
            task(job, number)
            return
        except DamagedBlockError as damaged:
            if task_of(job, damaged.stage) is None:
                raise
            repaired.append(str(damaged))
            if len(repaired) > MOST_REPAIRS:
                raise StoreError(
                    f"{len(repaired)} blocks were damaged; check the disk. The last: {damaged}"
                ) from damaged
            _run(job, damaged.stage, damaged.number, repaired)
