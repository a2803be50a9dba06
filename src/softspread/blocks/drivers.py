"""Where tasks run: in this process, one after the other, or on a cluster (``cluster``).

Driver.run(job, stage, numbers)      blocks of one stage, in any order
Driver.solve(job, first, last, ...)  Chebyshev steps of all blocks, up to a checkpoint
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from softspread.blocks.job import Job
from softspread.blocks.solve import Operators, Vectors, right_side, run_segment
from softspread.blocks.tasks import run_task


class Driver(Protocol):
    """Runs tasks without knowing what they do."""

    n_threads: int  # of one task

    def run(self, job: Job, stage: str, numbers: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
        """Make blocks of a stage; yields each number as it is done, with what was repaired on the way."""
        ...

    def solve(self, job: Job, spans: Sequence[tuple[int, int]], n_columns: int) -> Iterator[int]:
        """Steps of the solve by segments, each with a checkpoint; yields the last step of each."""
        ...


class Serial:
    """One block after the other, each with all threads."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def run(self, job: Job, stage: str, numbers: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
        """Make blocks of a stage in order."""
        for number in numbers:
            yield number, run_task(job, stage, number)

    def solve(self, job: Job, spans: Sequence[tuple[int, int]], n_columns: int) -> Iterator[int]:
        """Steps with the vectors of all blocks in this process."""
        if not spans:
            return
        room = int(job.facts["room"])
        rights = {block: right_side(job, block) for block in range(job.layout.n_blocks)}
        vectors = Vectors(job, rights, n_columns, spans[0][0], room // 2)
        operators = Operators(job, room // 2)
        for first, last in spans:
            run_segment(job, vectors, operators, first, last, final=last == spans[-1][1])
            yield last
