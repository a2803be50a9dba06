"""``softspread spread --memory-limit SIZE`` or ``--cluster WHERE``: from options to a run in blocks.

files  ->  plan (said before the start)  ->  blocks.spread_in_blocks  ->  a folder of parts, facts
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.arrow import check_arrow
from softspread._common.types import AnyArray
from softspread._common.wording import counted
from softspread.blocks.plan import DEFAULT_LIMIT, Need, parse_size, plan
from softspread.blocks.spread import PARTS_NEED, check_interval, spread_in_blocks
from softspread.cli.cost import free_memory
from softspread.cli.fitting import load_votes
from softspread.cli.options import FitInputs, IntervalOptions, SizeOptions, check_confidence, needed
from softspread.cli.runner import Run
from softspread.errors import InputError
from softspread.estimators.methods import SPREADING, method_of
from softspread.io.matching import MatchedVotes
from softspread.io.soft_labels import read_prior
from softspread.io.stream import EmbeddingStream, open_stream, read_stream_ids

ENDING = ".parquet"


def check_blocks(inputs: FitInputs, intervals: IntervalOptions, others: Mapping[str, Any]) -> None:
    """Refuse options that a run in blocks does not take; the message lists those that it takes."""
    if method_of(inputs.fit.method) != SPREADING:
        raise InputError(
            "--memory-limit and --cluster need --method pls: the blend's experts and its posterior hold all "
            "items in memory at once. Add --method pls --interval wilson, or leave them out."
        )
    if intervals.interval == "posterior":
        raise InputError("posterior intervals need all items in memory at once; add --interval wilson.")
    check_interval(intervals.interval)
    check_confidence(intervals.confidence)
    refused = dict(others) | {
        "--solver": None if inputs.fit.solver == "auto" else 1,
        "--metric": None if inputs.graph.metric == "euclidean" else 1,
        "--add": inputs.fit.add,
        "--model-annotators": 1 if inputs.fit.models else None,
        "--prior votes": 1 if inputs.fit.of_votes else None,
        "--n-neighbors auto": 1 if inputs.graph.n_neighbors == "auto" else None,
    }
    for name, given in refused.items():
        if given is not None:
            raise InputError(
                f"{name} does not work in blocks; leave it out, or --memory-limit and --cluster."
            )


def spread_any_size(
    run: Run,
    inputs: FitInputs,
    intervals: IntervalOptions,
    size: SizeOptions,
    out: Path | None,
    others: Mapping[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Check, say what the run needs, run."""
    check_blocks(inputs, intervals, others)
    if not dry_run:
        check_arrow(PARTS_NEED)
    limit = parse_size(size.memory_limit or DEFAULT_LIMIT)
    stream = open_stream(inputs.items.files(), inputs.items.vector_column)
    with run.stage("ids"):
        ids = read_stream_ids(stream, inputs.items.id_column, inputs.items.ids)
    votes = load_votes(run, inputs.votes, ids, stream.n_items)
    need = _need(stream, votes, inputs, limit, ids is not None)
    if dry_run:
        _answer_need(run, need, limit)
        return
    target = needed(out, "--out")
    if target.suffix.lower() != ENDING:
        raise InputError(f"in blocks --out is a folder of Parquet parts; name it *{ENDING}, got {target}.")
    run.note(_in_words(need))
    _spread(run, inputs, intervals, size, (stream, votes, limit, target))


def _spread(
    run: Run,
    inputs: FitInputs,
    intervals: IntervalOptions,
    size: SizeOptions,
    given: tuple[EmbeddingStream, MatchedVotes, int, Path],
) -> None:
    stream, votes, limit, target = given
    parameters = inputs.parameters
    del parameters["solver"], parameters["metric"]  # as checked: there is one of each
    with ExitStack() as stack:
        client = None
        if size.cluster is not None:
            from softspread.blocks.cluster import connected

            client = stack.enter_context(connected(size.cluster, limit))
        with run.stage("blocks", own_bars=True) as tell:
            done = spread_in_blocks(
                stream,
                votes.found,
                target,
                work=size.work,
                memory_limit=limit,
                client=client,
                prior=_prior(inputs, stream, votes),
                confidence_level=intervals.confidence,
                method=intervals.interval,
                block_items=size.block_items,
                restart=size.restart,
                random_state=run.seed,
                verbose=run.shows_bars,
                **parameters,
            )
            tell(f"alpha {done.facts['alpha']:g}, {counted(done.facts['parts'], 'part')}")
    document = done.facts | {"out": [done.path], "seconds": run.seconds}
    run.answer(document, lambda console: _show(console, document))


def _prior(inputs: FitInputs, stream: EmbeddingStream, votes: MatchedVotes) -> AnyArray | None:
    """Predictions of a file; those of a .npy file stay on disk."""
    path, names = inputs.fit.prior, votes.found.names
    if path is None:
        return None
    if path.suffix.lower() == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    return read_prior(path, names.items(np.arange(stream.n_items)), names.classes)


def _need(stream: EmbeddingStream, votes: MatchedVotes, inputs: FitInputs, limit: int, has_ids: bool) -> Need:
    k = int(inputs.graph.n_neighbors)
    shape = stream.n_items, stream.n_dimensions, k, len(votes.classes)
    return plan(*shape, limit, has_ids=has_ids, itemsize=stream.itemsize)


def _in_words(need: Need) -> str:
    return (
        f"{need.n_items:,} items in blocks of up to {need.block_items:,}: about "
        f"{need.memory_bytes / 1e9:.1f} GB of memory per process and {need.disk_bytes / 1e9:.1f} GB of disk"
    )


def _answer_need(run: Run, need: Need, limit: int) -> None:
    document = {
        "dry_run": True,
        "n_items": need.n_items,
        "block_items": need.block_items,
        "memory_limit_bytes": limit,
        "expected_memory_bytes": need.memory_bytes,
        "expected_disk_bytes": need.disk_bytes,
        "free_memory_bytes": free_memory(),
    }
    run.answer(document, _in_words(need) + ". Nothing was written.")


def _show(console: Any, document: Mapping[str, Any]) -> None:
    graph, solve = document["graph"], document["solve"]
    parts, blocks = counted(document["parts"], "part"), counted(graph["blocks"], "block")
    console.print(f"[bold]{document['n_items']:,} items[/] in {parts}: {document['out'][0]}")
    console.print(f"alpha {document['alpha']:g}, prior strength {document['prior_strength']:g}")
    console.print(f"{graph['edges']:,} edges, recall {graph['recall']:.4f}, {blocks}")
    console.print(f"{solve['iterations']} steps, relative residual {solve['residual']:.1e}")
    counts = ", ".join(f"{count:,} {word}" for word, count in document["verdicts"].items())
    console.print(f"verdicts: {counts}")
