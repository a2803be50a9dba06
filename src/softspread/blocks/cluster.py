"""The same tasks on a Dask cluster: it schedules, moves and repeats them; blocks and checkpoints are files.

    stage of blocks        one task per block, as soon as a worker is free
    segment of the solve   one static graph: step of a block <- its last state and its neighbours' boundaries

A worker that dies takes only its tasks with it, which Dask runs again elsewhere; a lost scheduler ends the
run, and the next call goes on from the files. There are no sums over all items between steps, so no step
waits for the slowest block, only for the neighbours.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from softspread._common.extras import needs_extra
from softspread._common.threads import Workers
from softspread._common.types import AnyArray
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
                saved = self.client.compute(
                    segment_graph(job, first, last, n_columns, final=last == spans[-1][1])
                )
                self.client.gather(saved)
            yield last


def _same(job: Job) -> Job:
    return job


def segment_graph(job: Job, first: int, last: int, n_columns: int, *, final: bool) -> list[Any]:
    """Delayed writes of all blocks of the checkpoint after some steps."""
    from dask.delayed import delayed

    shared = delayed(job, pure=False)
    factors, blocks = omegas(job.facts["alpha"], last), range(job.layout.n_blocks)
    touched = job.facts["touched"]
    operators = [delayed(read_operator, pure=False)(shared, block) for block in blocks]
    rights = [delayed(right_side, pure=False)(shared, block) for block in blocks]
    states = [delayed(start_of, pure=False)(shared, block, first, n_columns) for block in blocks]
    move, edge = delayed(_step_task, pure=False), delayed(_edge_task, pure=False)
    for number in range(first, last):
        edges = [edge(operators[block], states[block]) for block in blocks]
        states = [
            move(
                shared,
                operators[block],
                factors[number],
                states[block],
                rights[block],
                touched[block],
                [edges[other] for other in touched[block]],
            )
            for block in blocks
        ]
    edges = [edge(operators[block], states[block]) if final else None for block in blocks]
    save = delayed(_save_task, pure=False)
    return [
        save(
            shared,
            block,
            last,
            operators[block],
            states[block],
            rights[block],
            touched[block],
            [edges[other] for other in touched[block]] if final else None,
        )
        for block in blocks
    ]


def _edge_task(operator: BlockOperator, state: State) -> tuple[AnyArray, AnyArray]:
    """The boundary of a block and its values: all that leaves a worker in a step."""
    return operator.boundary, boundary_of(operator, state)


def _step_task(
    job: Job,
    operator: BlockOperator,
    omega: float,
    state: State,
    right: RightSide,
    touched: list[int],
    edges: list[tuple[AnyArray, AnyArray]],
) -> State:
    halo = halo_of(job, operator, dict(zip(touched, edges, strict=True)), state.x.shape[1])
    return step(operator, job.facts["alpha"], omega, state, halo, right, Workers(1))


def _save_task(
    job: Job,
    block: int,
    after: int,
    operator: BlockOperator,
    state: State,
    right: RightSide,
    touched: list[int],
    edges: list[tuple[AnyArray, AnyArray]] | None,
) -> None:
    squares = None
    if edges is not None:
        halo = halo_of(job, operator, dict(zip(touched, edges, strict=True)), state.x.shape[1])
        squares = residual_of_block(operator, job.facts["alpha"], state.x, halo, right, Workers(1))
    save_state(job, block, after, state, squares)


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
