"""Inputs of a run besides embeddings: votes, names, a prior. The driver's process holds them.

votes that stand + ids + classes + prior  ->  "votes", "names" and "prior", "ids" by block, for the tasks
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.archive import pack_names, unpack_names
from softspread._common.digests import digest, digest_array
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.blocks.job import Job
from softspread.votes.reading import Names
from softspread.votes.table import VoteTable


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Votes as rows and columns, what these are called, and a prior."""

    votes: VoteTable
    names: Names
    prior: AnyArray | None  # (n, n_classes); a memory map stays on disk

    def digests(self) -> dict[str, str]:
        """What a run depends on, by name."""
        votes, names = self.votes, self.names
        people = b"" if votes.annotators is None else pack_names(votes.annotators, may_be_none=True)
        found = {"votes": digest([votes.rows, votes.columns, votes.weights, people])}
        found["classes"] = digest([pack_names(names.classes)])
        found["ids"] = digest([b"" if names.item_ids is None else pack_names(names.item_ids)])
        found["prior"] = b"" if self.prior is None else digest_array(np.asarray(self.prior))
        return {name: value.hex() for name, value in found.items()}

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.names.classes)

    def prior_of(self, rows: IntArray) -> FloatArray | None:
        """(len(rows), n_classes) checked prior of some items; None where none was given."""
        return None if self.prior is None else validation.prior(self.prior[rows], len(rows), self.n_classes)

    def write_names(self, job: Job, _: int) -> dict[str, Any]:
        """Stage "names", one block: the classes."""
        classes = self.names.classes
        return job.store.write(
            "names", 0, {"classes": pack_names(classes)}, {"objects": classes.dtype == object}
        )

    def write_block(self, job: Job, block: int) -> dict[str, Any]:
        """Stage "given": ids and prior of one block."""
        rows, arrays = job.store.read("vectors", block, ["rows"])["rows"], {}
        ids = self.names.item_ids
        if ids is not None:
            arrays["ids"] = pack_names(ids[rows])
        prior = self.prior_of(rows)
        if prior is not None:
            arrays["prior"] = prior
        return job.store.write("given", block, arrays, {"objects": ids is not None and ids.dtype == object})


def write_votes(job: Job, counted: VoteTable, n_classes: int) -> None:
    """Stage "votes": the voted items of each block, and what stands on them, as it counts."""
    voted, place = np.unique(counted.rows, return_inverse=True)
    compact = VoteTable(place, counted.columns, counted.weights)
    counts = compact.counts(len(voted), n_classes)
    stands = (counts != 0).any(axis=1)
    voted, counts = voted[stands], counts[stands]
    for block in range(job.layout.n_blocks):
        rows = job.store.read("vectors", block, ["rows"])["rows"]
        here = np.flatnonzero(np.isin(rows, voted, assume_unique=True))
        found = np.searchsorted(voted, rows[here])
        job.store.write("votes", block, {"here": here, "counts": counts[found]})


def votes_of_block(job: Job, block: int) -> tuple[IntArray, FloatArray]:
    """Positions of a block's voted items, (m,), and what stands on them, (m, n_classes)."""
    found = job.store.read("votes", block)
    return found["here"], found["counts"]


def read_classes(job: Job) -> AnyArray:
    """The classes in the order of columns."""
    return unpack_names(job.store.read("names", 0)["classes"], job.store.facts("names", 0)["objects"])


def read_given(job: Job, block: int, n_classes: int) -> tuple[AnyArray, FloatArray]:
    """Ids and prior of a block's items; positions and a uniform prior where nothing was given."""
    found = job.store.read("given", block)
    rows = job.store.read("vectors", block, ["rows"])["rows"]
    ids = unpack_names(found["ids"], job.store.facts("given", block)["objects"]) if "ids" in found else rows
    prior = found.get("prior")
    return ids, np.full((len(rows), n_classes), 1 / n_classes) if prior is None else prior
