"""Soft labels for more items than fit in memory, for Python and the command line.

files of embeddings, votes  ->  plan, checks  ->  Runner  ->  a folder of Parquet parts
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.arrow import check_arrow
from softspread._common.digests import digest_array
from softspread._common.threads import count_threads
from softspread._common.types import AnyArray
from softspread.annotators.models import ANNOTATOR_MODELS
from softspread.blocks.drivers import Driver, Serial
from softspread.blocks.inputs import Inputs
from softspread.blocks.job import BlockSettings, Job
from softspread.blocks.plan import DEFAULT_LIMIT, Need, check_disk, parse_size, plan
from softspread.blocks.run import Runner, check_out, made_from, open_store
from softspread.blocks.store import BlockStore
from softspread.diffusion.scales import SCALINGS
from softspread.errors import InputError
from softspread.graph.builders import affordable_neighbors
from softspread.graph.registry import SEARCHES
from softspread.intervals.registry import INTERVALS
from softspread.io.soft_labels import read_soft_labels
from softspread.io.stream import EmbeddingStream, open_stream
from softspread.spreading.evidence import SoftLabels
from softspread.votes.reading import NamedVotes, read_y
from softspread.votes.votes import Votes

if TYPE_CHECKING:
    from distributed import Client

IN_BLOCKS = (
    "wilson",
    "wilson_floor",
    "goodman",
    "sison_glaz",
    "dirichlet",
)  # intervals of an item's mass alone
WORK_ENDING = ".blocks"
PARTS_NEED = "a run in blocks, which writes parts of Parquet,"


@dataclass(frozen=True, slots=True)
class BlockResult:
    """What a run in blocks has written.

    Attributes
    ----------
    path : str
        Folder of Parquet parts, with one row per item.
    facts : dict
        Alpha, graph, solve, scales, verdicts and what the run needed.

    See Also
    --------
    spread_in_blocks : Makes one.

    Examples
    --------
    >>> BlockResult("labels.parquet", {"alpha": 0.9}).facts["alpha"]
    0.9
    """

    path: str
    facts: dict[str, Any]

    def read(self) -> SoftLabels:
        """All soft labels at once, where they fit in memory.

        Returns
        -------
        SoftLabels
            In the order of the parts, which is not that of the input: items are found by ``ids``.

        Examples
        --------
        >>> from softspread import BlockResult
        >>> BlockResult("nowhere.parquet", {}).read()
        Traceback (most recent call last):
        softspread.errors.InputError: no file at nowhere.parquet; check the path of the soft labels.
        """
        return read_soft_labels(self.path)


def spread_in_blocks(
    X: "str | Path | Sequence[str | Path] | ArrayLike | EmbeddingStream",
    y: "ArrayLike | Votes | NamedVotes",
    out: str | Path,
    *,
    work: str | Path | None = None,
    memory_limit: str | float = DEFAULT_LIMIT,
    client: "Client | None" = None,
    alpha: float | str = "auto",
    n_neighbors: int = 20,
    bandwidth: str | float = "kth",
    index: str = "auto",
    scaling: str = "peak",
    prior: ArrayLike | None = None,
    prior_strength: float | str = 1e-4,
    annotator_model: str = "auto",
    tol: float = 1e-6,
    confidence_level: float = 0.9,
    method: str = "wilson",
    item_ids: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    vector_column: str | None = None,
    block_items: int | None = None,
    tune_items: int = 200_000,
    restart: bool = False,
    keep_work: bool = False,
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> BlockResult:
    """Spread votes over more items than fit in memory, on one machine or on a Dask cluster.

    The method is that of :class:`ProbabilisticLabelSpreading`. Items are cut into blocks of near items; every
    step reads some blocks and writes one, whole. A run that was interrupted goes on where it stood when it is
    called again with the same arguments.

    Parameters
    ----------
    X : str, Path, sequence of them, or (n, d) array-like
        Files of embeddings, .npy or .parquet, which are read in parts; an array is written to the work
        folder.
    y : array-like, Votes or NamedVotes
        Votes in any form that an estimator takes.
    out : str or Path
        Folder for the results, one Parquet part per block; any fsspec URL. It appears when all parts are
        there.
    work : str or Path, optional
        Folder for blocks and checkpoints, any fsspec URL; by default ``out`` with the ending ``.blocks``.
        It is removed at the end.
    memory_limit : str or float, default "8GB"
        Of this process, or of each worker of a cluster.
    client : distributed.Client, optional
        Runs the tasks on a Dask cluster; its workers must see the files and the work folder.
    alpha : float or "auto", default "auto"
        How far votes travel; "auto" chooses it on up to ``tune_items`` items in whole cells.
    n_neighbors : int, default 20
        Neighbours per item.
    bandwidth : {"kth", "mean"} or float, default "kth"
        The kernel's sigma**2, see :func:`knn_graph`.
    index : str, default "auto"
        Neighbour search inside cells; "exact" finds the true neighbours across all cells.
    scaling : {"peak", "source", "none"}, default "peak"
        What a profile is divided by.
    prior : (n, n_classes) array-like, optional
        Probabilities that count as pseudo-votes; a memory map stays on disk.
    prior_strength : float or "auto", default 1e-4
        How many votes the prior counts as, at least 1e-4.
    annotator_model : {"auto", "none", "consistency", "confusion"}, default "auto"
        How annotators are weighted.
    tol : float, default 1e-6
        Accuracy of the solve, at least 1e-6: vectors are in single precision.
    confidence_level : float, default 0.9
        Level of the intervals.
    method : str, default "wilson"
        Intervals: "wilson", "wilson_floor", "goodman", "sison_glaz" or "dirichlet".
    item_ids : (n,) array-like, optional
        Names by which votes refer to items; by default positions.
    classes : (n_classes,) array-like, optional
        Class names in order.
    vector_column : str, optional
        Column with the vectors, or a pattern, of Parquet files.
    block_items : int, optional
        Items per block; by default as many as the memory limit allows, at most 100,000.
    tune_items : int, default 200_000
        Items on which alpha and annotators' weights are chosen.
    restart : bool, default False
        Remove what another run left in the work folder.
    keep_work : bool, default False
        Keep the work folder.
    n_jobs : int, optional
        Threads of this process; a cluster's workers use one per task.
    random_state : int, default 0
        Seed.
    verbose : bool, default False
        Show progress.

    Returns
    -------
    BlockResult
        Where the parts are, and the facts of the run.

    See Also
    --------
    ProbabilisticLabelSpreading : The same method in memory.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, size=(50, 2)) for c in (0, 4)])
    >>> y = np.full(100, -1)
    >>> y[0], y[99] = 0, 1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = spread_in_blocks(X, y, f"{folder}/labels.parquet", alpha=0.9, block_items=40)
    ...     labels = done.read()
    >>> labels.labels[np.argsort(labels.ids)].tolist() == [0] * 50 + [1] * 50
    True
    """
    check_arrow(PARTS_NEED)
    source, key = _source(X, vector_column)
    n, d = (source.n_items, source.n_dimensions) if isinstance(source, EmbeddingStream) else source.shape
    table, names = read_y(y, n, item_ids, classes)
    given = Inputs(table, names, None if prior is None else _checked_prior(prior, n, len(names.classes)))
    if n < 2:
        raise InputError("in blocks at least 2 items are needed; fit fewer in memory.")
    k = affordable_neighbors(n_neighbors, n)
    itemsize = source.itemsize if isinstance(source, EmbeddingStream) else source.dtype.itemsize
    need = plan(
        n,
        d,
        k,
        given.n_classes,
        parse_size(memory_limit),
        has_ids=names.item_ids is not None,
        itemsize=itemsize,
    )
    settings = BlockSettings(
        n_neighbors=k,
        bandwidth=bandwidth if isinstance(bandwidth, str) else validation.positive("bandwidth", bandwidth),
        index=SEARCHES.check(index),
        alpha=alpha,
        prior_strength=prior_strength,
        annotator_model=validation.choice("annotator_model", annotator_model, ANNOTATOR_MODELS),
        scaling=validation.choice("scaling", scaling, SCALINGS),
        tol=_checked_tol(tol),
        seed=validation.count("random_state", random_state),
        block_items=need.block_items
        if block_items is None
        else validation.count("block_items", block_items, 2),
        chunk_items=need.chunk_items,
        group_cells=need.group_cells,
        tune_items=validation.count("tune_items", tune_items, 1),
        interval=check_interval(method),
        confidence_level=validation.between_0_and_1("confidence_level", confidence_level),
    )
    target, folder = str(out), f"{out}{WORK_ENDING}" if work is None else str(work)
    check_out(target)
    store = open_store(folder, made_from(settings, key, given, target), restart=restart)
    stream = source if isinstance(source, EmbeddingStream) else _written(store, source)
    driver = _driver(client, n_jobs)
    job = Job(store, stream, settings, driver.n_threads, {"room": need.room_bytes, "out": target})
    _check_room(store, need)
    facts = _run(Runner(job, given, driver, verbose), need)
    if not keep_work:
        store.remove()
    return BlockResult(target, facts)


def _run(runner: Runner, need: Need) -> dict[str, Any]:
    """All stages; the facts of the run."""
    graph = runner.build_graph()
    chosen = runner.take_votes()
    scales = runner.find_scales()
    solve = runner.solve()
    facts = {
        "n_items": need.n_items,
        "method": "pls",
        **chosen,
        "graph": graph,
        "scales": scales,
        "solve": solve,
        "classes": runner.inputs.names.classes.tolist(),
        "interval": runner.job.settings.interval,
        "confidence_level": runner.job.settings.confidence_level,
        "expected_memory_bytes": need.memory_bytes,
        "expected_disk_bytes": need.disk_bytes,
    }
    return runner.write_labels(facts)


def check_interval(method: str) -> str:
    """Check that the interval needs an item's mass alone; others are refused, with the possible ones."""
    if INTERVALS.check(method) not in IN_BLOCKS:
        raise InputError(
            f"{method!r} intervals need all items in memory at once; in blocks there are "
            f"{', '.join(IN_BLOCKS)}."
        )
    return method


def _checked_tol(tol: float) -> float:
    if not 1e-6 <= validation.positive("tol", tol) <= 1e-2:
        raise InputError(
            f"in blocks tol must be from 1e-6 (vectors are in single precision) to 0.01, got {tol!r}."
        )
    return float(tol)


def _checked_prior(prior: Any, n: int, n_classes: int) -> AnyArray:
    if isinstance(prior, np.memmap):
        if prior.shape != (n, n_classes):
            raise InputError(f"prior must have shape {(n, n_classes)}, got {prior.shape}.")
        return prior
    return validation.prior(prior, n, n_classes)


def is_path(X: Any) -> bool:
    """Whether X names files instead of holding numbers."""
    if isinstance(X, Sequence) and not isinstance(X, str):
        return bool(X) and all(isinstance(path, str | Path) for path in X)
    return isinstance(X, str | Path)


def _source(X: Any, vector_column: str | None) -> "tuple[EmbeddingStream | AnyArray, str]":
    """Files as a stream, or a checked array, with a key of the content."""
    if isinstance(X, EmbeddingStream):
        return X, X.key
    if is_path(X):
        stream = open_stream([X] if isinstance(X, str | Path) else X, vector_column)
        return stream, stream.key
    features = validation.features(X)
    return features, digest_array(features).hex()


def _written(store: BlockStore, X: AnyArray) -> EmbeddingStream:
    """An array in a file of the work folder, for tasks to read in parts."""
    if not store.is_local:
        raise InputError("an array as X needs a local work folder; save it as .npy and pass its path.")
    path = Path(store.path("input.npy"))
    if not path.exists():
        from softspread._common.atomic import replaced_file

        with replaced_file(path) as temporary, temporary.open("wb") as file:
            np.save(file, X)
    return open_stream([path])


def _driver(client: "Client | None", n_jobs: int | None) -> Driver:
    if client is None:
        return Serial(count_threads(n_jobs))
    from softspread.blocks.cluster import OnCluster

    return OnCluster(client)


def _check_room(store: BlockStore, need: Need) -> None:
    """Refuse a disk with too little room for what is not there yet."""
    if store.is_local:
        folder = Path(store.path())
        used = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        check_disk(str(folder), need.disk_bytes, used)
