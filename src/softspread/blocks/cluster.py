"""The same tasks on a Dask cluster: it schedules, moves and repeats them; blocks and checkpoints are files.

    stage of blocks        one task per block, as soon as a worker is free
    segment of the solve   one static graph: step of some blocks <- their last state and others' boundaries

A step of one block takes some milliseconds, as long as the scheduler needs for a task. So the blocks are
dealt out in as many parts as there are threads, and a task makes a step of all blocks of a part.

A worker that dies takes only its tasks with it, which Dask runs again elsewhere; a lost scheduler ends the
run, and the next call goes on from the files. There are no sums over all items between steps, so no step
waits for the slowest block, only for the neighbours.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from softspread._common.extras import needs_extra
from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray
from softspread._common.versions import versions
from softspread.blocks.chebyshev import RightSide, omegas, residual_of_block
from softspread.blocks.job import Job
from softspread.blocks.operator import BlockOperator, read_operator
from softspread.blocks.solve import State, boundary_of, halo_of, right_side, save_state, start_of, step
from softspread.blocks.tasks import run_task
from softspread.errors import InputError, SoftspreadError, StoreError

if TYPE_CHECKING:
    from distributed import Client

LIBRARIES = ("dask", "distributed", "fsspec", "pyarrow")
QUIET_WORKERS = {"distributed.worker.profile.enabled": False}  # nobody looks at samples taken every 10 ms
LOCAL_WORKERS = 2  # processes of ``--cluster local``, one thread each


class OnCluster:
    """Runs tasks on the workers of a Dask client, one thread per task."""

    n_threads = 1

    def __init__(self, client: "Client") -> None:
        self.client = client
        check_versions(client)

    def run(self, job: Job, stage: str, numbers: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
        """Make blocks of a stage, each on the worker that is free first."""
        from distributed import as_completed

        with lost_cluster_explained():
            shared = self.client.submit(_same, job, pure=False)  # told to each worker once, not to each task
            tasks = {
                self.client.submit(run_task, shared, stage, number, pure=False): number for number in numbers
            }
            try:
                for done in as_completed(list(tasks)):
                    yield tasks[done], done.result()
            finally:
                self.client.cancel(list(tasks))

    def solve(self, job: Job, spans: Sequence[tuple[int, int]], n_columns: int) -> Iterator[int]:
        """Each segment is one graph that ends with a checkpoint."""
        for first, last in spans:
            with lost_cluster_explained():
                n_threads = sum(self.client.nthreads().values())
                parts = parts_of(np.diff(job.layout.starts), max(1, n_threads))
                saved = self.client.compute(
                    segment_graph(job, first, last, n_columns, parts, final=last == spans[-1][1])
                )
                self.client.gather(saved)
            yield last


def _same(job: Job) -> Job:
    return job


def parts_of(sizes: AnyArray, n_parts: int) -> list[list[int]]:
    """Blocks dealt out in at most so many parts with about equally many items, neighbouring numbers together.

    Examples
    --------
    >>> parts_of(np.array([3, 1, 2, 2, 4]), 3)
    [[0, 1], [2, 3], [4]]
    """
    middle = (np.cumsum(sizes) - sizes / 2) / np.sum(sizes)
    part = np.minimum((middle * n_parts).astype(np.int64), n_parts - 1)
    return [np.flatnonzero(part == number).tolist() for number in np.unique(part)]


def segment_graph(
    job: Job, first: int, last: int, n_columns: int, parts: list[list[int]], *, final: bool
) -> list[Any]:
    """Delayed writes of all blocks of the checkpoint after some steps, a task for each part of the blocks."""
    from dask.delayed import delayed

    shared = delayed(job, pure=False)
    factors, touched = omegas(job.facts["alpha"], last), job.facts["touched"]
    home = {block: number for number, part in enumerate(parts) for block in part}
    others = [
        sorted({home[other] for block in part for other in touched[block]} - {number})
        for number, part in enumerate(parts)
    ]
    fixed = [delayed(_fixed_task, pure=False)(shared, part) for part in parts]
    start, move = delayed(_start_task, pure=False), delayed(_step_task, pure=False)
    edge, save = delayed(_edge_task, pure=False), delayed(_save_task, pure=False)
    states = [start(shared, first, n_columns, held) for held in fixed]
    for number in range(first, last):
        edges = [edge(held, state) for held, state in zip(fixed, states, strict=True)]
        states = [
            move(shared, factors[number], held, state, [edges[other] for other in near])
            for held, state, near in zip(fixed, states, others, strict=True)
        ]
    edges = [edge(held, state) if final else None for held, state in zip(fixed, states, strict=True)]
    return [
        save(shared, last, held, state, [edges[other] for other in near] if final else None)
        for held, state, near in zip(fixed, states, others, strict=True)
    ]


Fixed = dict[int, tuple[BlockOperator, RightSide]]  # what stays the same in all steps of some blocks
States = dict[int, State]
Edges = dict[int, tuple[AnyArray, AnyArray]]  # boundaries and their values


def _fixed_task(job: Job, part: list[int]) -> Fixed:
    return {block: (read_operator(job, block), right_side(job, block)) for block in part}


def _start_task(job: Job, first: int, n_columns: int, fixed: Fixed) -> States:
    return {block: start_of(job, block, first, n_columns) for block in fixed}


def _edge_task(fixed: Fixed, states: States) -> Edges:
    """The boundaries of some blocks and their values: all that leaves a worker in a step."""
    return {
        block: (operator.boundary, boundary_of(operator, states[block]))
        for block, (operator, _) in fixed.items()
    }


def _halos(job: Job, fixed: Fixed, states: States, edges: list[Edges]) -> Iterator[tuple[int, AnyArray]]:
    """The halo of each of some blocks, from their own boundaries and those of the other parts."""
    known = _edge_task(fixed, states)
    for found in edges:
        known |= found
    for block, (operator, _) in fixed.items():
        pieces = {other: known[other] for other in job.facts["touched"][block]}
        yield block, halo_of(job, operator, pieces, states[block].x.shape[1])


def _step_task(job: Job, omega: float, fixed: Fixed, states: States, edges: list[Edges]) -> States:
    alpha, moved = job.facts["alpha"], dict[int, State]()
    for block, halo in _halos(job, fixed, states, edges):
        operator, right = fixed[block]
        moved[block] = step(operator, alpha, omega, states[block], halo, right, Workers(1))
    return moved


def _save_task(job: Job, after: int, fixed: Fixed, states: States, edges: list[Edges] | None) -> None:
    squares = dict[int, Sequence[FloatArray]]()
    if edges is not None:
        alpha = job.facts["alpha"]
        for block, halo in _halos(job, fixed, states, edges):
            operator, right = fixed[block]
            squares[block] = residual_of_block(operator, alpha, states[block].x, halo, right, Workers(1))
    for block, state in states.items():
        save_state(job, block, after, state, squares.get(block))


def check_versions(client: "Client") -> None:
    """Refuse workers whose libraries differ from ours: they might compute something else."""
    ours = versions(*LIBRARIES)
    with lost_cluster_explained():
        theirs = client.run(versions, *LIBRARIES)
    if not theirs:
        raise InputError(
            "the cluster has no workers; start some, such as 'dask worker tcp://SCHEDULER:8786'."
        )
    for worker, found in theirs.items():
        differing = [name for name in ours if found.get(name) != ours[name]]
        if differing:
            listed = ", ".join(f"{name} {found.get(name)} (here {ours[name]})" for name in differing)
            raise InputError(
                f"worker {worker} has other versions: {listed}. Install the same ones on all workers and "
                "here, such as from one lock file or container, and start the workers again."
            )


@contextmanager
def lost_cluster_explained() -> Iterator[None]:
    """Say what to do when the scheduler is gone, or a task has killed worker after worker."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except SoftspreadError:
        raise
    except KilledWorker as error:
        raise StoreError(
            f"a task has lost several workers one after the other ({error}). They may lack memory: lower "
            "the memory limit, so that blocks are smaller, and run again with restart."
        ) from error
    except (FutureCancelledError, CommClosedError, TimeoutError, OSError) as error:
        raise StoreError(
            f"the connection to the cluster is lost ({type(error).__name__}: {error}). What is done is in "
            "the work folder: start the cluster again and repeat the same call, which goes on from there."
        ) from error


@contextmanager
def connected(address: str, memory_limit: int) -> Iterator["Client"]:
    """A client for ``local``, which starts two processes here, or for the address of a scheduler."""
    with needs_extra("cluster", "--cluster needs dask and distributed"):
        import dask
        from distributed import Client, LocalCluster
    if address == "local":
        with (
            dask.config.set(QUIET_WORKERS),
            LocalCluster(
                n_workers=LOCAL_WORKERS,
                threads_per_worker=1,
                processes=True,
                memory_limit=memory_limit,
                dashboard_address=None,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    if not address.startswith(("tcp://", "tls://", "ucx://", "ws://", "wss://")):
        raise InputError(f"--cluster must be 'local' or an address like tcp://host:8786, got {address!r}.")
    with lost_cluster_explained():
        client = Client(address, timeout=10)
    with client:
        yield client
