"""Mass of all items: Chebyshev steps over all blocks, in segments that end with a checkpoint.

    checkpoint k (x, previous per block)  ->  steps, block by block  ->  checkpoint k + s  ->  ...  ->  mass

What a step of one block needs of others is their ``boundary``: the rows that anybody else touches. A driver
runs a segment: :func:`run_segment` keeps the vectors of all blocks in this process, the one of ``cluster``
leaves them where they were computed. Both call the same functions of one block.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.blocks.chebyshev import RightSide, omegas, residual_of_block, step_block, steps_for
from softspread.blocks.inputs import votes_of_block
from softspread.blocks.job import Job
from softspread.blocks.operator import BlockOperator, read_operator
from softspread.errors import StoreError

SEGMENT = 24  # steps between two checkpoints
SOLVE_SHARE = 0.1  # of tol, as a fit in memory solves


class State(NamedTuple):
    """The vectors of one block after some steps."""

    x: AnyArray  # (b, columns) float32
    previous: AnyArray  # (b, columns) float32, one step before


def n_steps(job: Job) -> int:
    """Steps of the whole solve."""
    return steps_for(job.facts["alpha"], SOLVE_SHARE * job.settings.tol)


def segments(total: int, size: int = SEGMENT) -> list[tuple[int, int]]:
    """First step and last + 1 of each segment.

    Examples
    --------
    >>> segments(50, 24)
    [(0, 24), (24, 48), (48, 50)]
    """
    return [(first, min(total, first + size)) for first in range(0, total, size)]


def stage_after(step: int) -> str:
    """Name of the checkpoint after this many steps."""
    return f"mass-{step:04d}"


def right_side(job: Job, block: int) -> RightSide:
    """Right-hand side of a block: counts over scales, theory [mass]."""
    here, counts = votes_of_block(job, block)
    found = job.store.read("scales", block, ["scales"])["scales"]
    far = job.store.read("far", 0)
    unknown = np.flatnonzero(np.isnan(found))
    places = here[unknown] + int(job.layout.starts[block])
    found[unknown] = far["scales"][np.searchsorted(far["places"], places)]
    return RightSide(here, counts / found[:, None])


def start_of(job: Job, block: int, step: int, n_columns: int) -> State:
    """The state after some steps, from its checkpoint; zeros at the start."""
    if step == 0:
        size = int(np.diff(job.layout.starts)[block])
        return State(*(np.zeros((size, n_columns), dtype=np.float32) for _ in range(2)))
    return State(**job.store.read(stage_after(step), block, State._fields))


def step(
    operator: BlockOperator,
    alpha: float,
    omega: float,
    state: State,
    halo: AnyArray,
    right: RightSide,
    workers: Workers,
) -> State:
    """One step of one block."""
    previous = np.array(state.previous)  # what another task may still read is not written over
    return State(step_block(operator, alpha, omega, state.x, halo, previous, right, workers), state.x)


def boundary_of(operator: BlockOperator, state: State) -> AnyArray:
    """The rows that other blocks touch."""
    return np.asarray(state.x[operator.boundary])


def halo_of(
    job: Job, operator: BlockOperator, pieces: dict[int, tuple[IntArray, AnyArray]], n_columns: int
) -> AnyArray:
    """(h, columns) the halo of a block, from the boundaries of the blocks that it touches.

    Parameters
    ----------
    pieces : by block, its boundary rows and their values
    """
    out = np.empty((len(operator.halo), n_columns), dtype=np.float32)
    home = job.layout.block_of(operator.halo)
    for block, (boundary, values) in pieces.items():
        mine = np.flatnonzero(home == block)
        out[mine] = values[np.searchsorted(boundary, operator.halo[mine] - job.layout.starts[block])]
    return out


def save_state(
    job: Job, block: int, after: int, state: State, squares: Sequence[FloatArray] | FloatArray | None = None
) -> dict[str, Any]:
    """Write one block of a checkpoint, with the sums that measure the residual."""
    facts = {} if squares is None else {"asked": squares[0].tolist(), "left": squares[1].tolist()}
    return job.store.write(stage_after(after), block, state._asdict(), facts)


class Vectors:
    """x and previous of all blocks in one process, in memory or in a file, and the right sides."""

    def __init__(self, job: Job, rights: dict[int, RightSide], n_columns: int, first: int, room: int) -> None:
        n = job.source.n_items
        self.job, self.rights, self.n_columns = job, rights, n_columns
        self.x, self.previous = (self._empty(n, name, room) for name in ("x", "previous"))
        for block in range(job.layout.n_blocks):
            part = self.rows(block)
            self.x[part], self.previous[part] = start_of(job, block, first, n_columns)

    def _empty(self, n: int, name: str, room: int) -> AnyArray:
        shape = n, self.n_columns
        if 8 * n * self.n_columns <= room or not self.job.store.is_local:
            return np.empty(shape, dtype=np.float32)
        return mapped_file(Path(self.job.store.path(f"scratch-{name}.bin")), shape)

    def rows(self, block: int) -> slice:
        """Places of a block."""
        return slice(*(int(edge) for edge in self.job.layout.starts[block : block + 2]))

    def advance(self, omega: float, operators: Any, workers: Workers) -> None:
        """One step of every block; the new vector takes the memory of the old one but one."""
        alpha = self.job.facts["alpha"]
        for block in range(self.job.layout.n_blocks):
            part, operator = self.rows(block), operators(block)
            halo = self.x[operator.halo]
            step_block(
                operator, alpha, omega, self.x[part], halo, self.previous[part], self.rights[block], workers
            )
        self.x, self.previous = self.previous, self.x

    def squares(self, block: int, operator: BlockOperator, workers: Workers) -> FloatArray:
        """Column sums of b^2, r^2 and x r over one block."""
        x, alpha = self.x[self.rows(block)], self.job.facts["alpha"]
        return np.array(
            residual_of_block(operator, alpha, x, self.x[operator.halo], self.rights[block], workers)
        )


def mapped_file(path: Path, shape: tuple[int, int]) -> AnyArray:
    """A table in a file that takes all its room now: a disk that fills up later would kill the process."""
    try:
        with path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, 4 * shape[0] * shape[1]))
    except OSError as error:
        path.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}. Check the folder and the free space."
        ) from error
    return np.memmap(path, dtype=np.float32, mode="r+", shape=shape)


class Operators:
    """Operators of blocks, those that fit kept in memory."""

    def __init__(self, job: Job, room: int) -> None:
        self._job, self._room, self._kept = job, room, dict[int, BlockOperator]()

    def __call__(self, block: int) -> BlockOperator:
        """The operator of one block."""
        if block in self._kept:
            return self._kept[block]
        operator = read_operator(self._job, block)
        size = sum(array.nbytes for array in operator)
        if size <= self._room:
            self._room -= size
            self._kept[block] = operator
        return operator


def run_segment(
    job: Job, vectors: Vectors, operators: Operators, first: int, last: int, *, final: bool
) -> None:
    """Some steps of all blocks in this process, and the checkpoint after them."""
    factors = omegas(job.facts["alpha"], last)
    with job.workers() as workers:
        for number in range(first, last):
            vectors.advance(factors[number], operators, workers)
        for block in range(job.layout.n_blocks):
            part = vectors.rows(block)
            squares = vectors.squares(block, operators(block), workers) if final else None
            save_state(job, block, last, State(vectors.x[part], vectors.previous[part]), squares)
