"""Soft labels of one block after another, with the columns of a file written from memory.

    mass (b, n_classes), prior, strength  ->  p, evidence, interval, verdict  ->  part-00007.parquet

Parts are written into a folder beside the target, which gets its name when all of them are there.
"""

import io
from typing import Any

import numpy as np

from softspread._common.digests import digest
from softspread.blocks.inputs import read_classes, read_given
from softspread.blocks.job import Job
from softspread.blocks.solve import n_steps, stage_after
from softspread.blocks.store import BlockStore, DamagedBlockError
from softspread.intervals.registry import INTERVALS
from softspread.intervals.task import IntervalTask
from softspread.intervals.uncertainty import split_uncertainty_of
from softspread.io.soft_labels import write_parquet_part
from softspread.spreading.evidence import Evidence, SoftLabels

UNFINISHED = ".unfinished"


def part_name(block: int) -> str:
    """File of a block in the folder of results."""
    return f"part-{block:05d}.parquet"


def parts_folder(job: Job) -> BlockStore:
    """Where parts wait until all of them are there."""
    return BlockStore(job.facts["out"] + UNFINISHED, job.store.key)


def labels_of_block(job: Job, block: int) -> SoftLabels:
    """Soft labels, intervals and verdicts of one block."""
    classes = read_classes(job)
    mass = job.store.read(stage_after(n_steps(job)), block, ["x"])["x"].astype(np.float64)
    ids, prior = read_given(job, block, len(classes))
    evidence = Evidence(np.maximum(mass, 0.0), np.zeros(len(mass)))
    p = evidence.soft_labels(prior, job.facts["prior_strength"])
    task = IntervalTask(p, evidence.mass, job.settings.confidence_level)
    lower, upper = INTERVALS.find(job.settings.interval)(task)
    labels = SoftLabels(ids, classes, p, evidence.total, lower, upper)
    verdict = split_uncertainty_of(labels).verdict
    return SoftLabels(ids, classes, p, evidence.total, lower, upper, verdict=verdict)


def write_part(job: Job, block: int) -> dict[str, Any]:
    """Stage "labels": the part of one block, and what is worth adding up."""
    labels = labels_of_block(job, block)
    file = io.BytesIO()
    write_parquet_part(file, labels)
    content = file.getvalue()
    parts_folder(job).write_bytes(content, part_name(block))
    words, counts = np.unique(np.asarray(labels.verdict), return_counts=True)
    facts = {
        "digest": digest([content]).hex(),
        "items": len(labels),
        "evidence": float(labels.evidence.sum()),
        "verdicts": dict(zip(words.tolist(), counts.tolist(), strict=True)),
    }
    return job.store.write("labels", block, {}, facts)


def check_part(job: Job, block: int) -> None:
    """Raise :class:`DamagedBlockError` where a part is missing or is not what was written."""
    content = parts_folder(job).read_bytes(part_name(block))
    if content is None:
        raise DamagedBlockError("labels", block, f"no {part_name(block)}")
    if digest([content]).hex() != job.store.facts("labels", block)["digest"]:
        raise DamagedBlockError("labels", block, f"{part_name(block)} has changed")
