"""What a run will take, from a few constants that were measured on two cores: within a factor of two, not
more.

    seconds = start + reading + neighbours + choice of alpha + scales and solve + intervals and writing
    bytes   = the libraries + X + the larger of (neighbours, graph) and (graph, masses, answers)

The constants hold for one machine, 20 dimensions and 10 classes being typical. How far votes travel is not
known before they are read: the cost of the last fit is that of alpha = 0.95; at 0.9 it is a third, at 0.99
three times as much.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softspread.cli.options import FitOptions, GraphOptions, ItemOptions, VoteOptions
from softspread.cli.runs import Run, needed
from softspread.graph.neighbors import EXACT_ITEMS, EXACT_WORK, TREE_DIMENSIONS
from softspread.io.embeddings import look_at_embeddings
from softspread.io.votes import VoteReading, read_votes

START_SECONDS = 2.5  # loading libraries and compiled code
MEASURED_THREADS, GAIN = (
    2,
    1.8,
)  # the constants below are processor seconds; two threads divide them by so much
TREE_SECONDS, TREE_POWER = 5e-6, 1.35  # per item ** power, at 20 dimensions
BRUTE_SECONDS = 1e-10  # per pair and dimension
FAISS_SECONDS = 8e-5  # per item, at 20 dimensions
USUAL_DIMENSIONS = 20
AFFINITY_SECONDS = 2e-7  # per item and neighbour: weights, symmetry, degrees
SCALE_SECONDS, SCALE_LIMIT = (
    2.6e-4,
    5e-4,
)  # per voted item at alpha 0.9, among 10,000 items and among very many
SCALE_ITEMS, SCALE_POWER = 10_000, 0.3  # how the first grows into the second
FAR_FIT = 2.5  # a fit at alpha 0.95, in fits at 0.9
TUNE_SECONDS = 1.7e-5  # per item and class: the solves of all settings tried
TUNE_VOTE_SECONDS = 1e-3  # per voted item: their scales
ANNOTATOR_FITS = 2.0  # telling annotators apart takes so many times the choice of alpha and the fit
ANSWER_SECONDS = 6e-7  # per item and class: soft labels, intervals, the file
READ_SECONDS = 2e-9  # per byte of embeddings
VOTE_SECONDS = 8e-6  # per vote
LIBRARY_BYTES = 340e6
NEIGHBOR_BYTES = 60  # per item and neighbour while the graph is made symmetric
EDGE_BYTES = (
    12 * 1.35
)  # per item and neighbour of the finished graph: about a third of neighbours are not mutual
MASS_ARRAYS = 10  # arrays of items by classes that are alive at once
VOTE_BYTES = 800  # per vote, as Python values while a file is read
X_COPIES = 3  # of the embeddings while neighbours are searched
SEVERAL_ANNOTATORS = 3  # from here on they are told apart ...
ENOUGH_VOTES = 100  # ... if there are so many votes


@dataclass(frozen=True, slots=True)
class Cost:
    """What is expected."""

    n_items: int
    n_dimensions: int
    n_votes: int
    n_classes: int
    n_annotators: int
    seconds: dict[str, float]  # by step
    peak_bytes: float

    @property
    def total_seconds(self) -> float:
        """All steps together."""
        return sum(self.seconds.values())


def estimate_cost(
    n_items: int,
    n_dimensions: int,
    n_votes: int,
    n_classes: int,
    *,
    n_neighbors: int = 20,
    itemsize: int = 4,
    tunes: bool = True,
    n_annotators: int = 0,
    index: str = "auto",
    threads: int = MEASURED_THREADS,
) -> Cost:
    """Expected time and memory of `spread`.

    Examples
    --------
    >>> small = estimate_cost(10_000, 20, 1_000, 10)
    >>> large = estimate_cost(1_000_000, 20, 100_000, 10)
    >>> small.total_seconds < large.total_seconds, small.peak_bytes < large.peak_bytes
    (True, True)
    """
    speed = 1 / (1 + (GAIN - 1) * (threads - 1) / (MEASURED_THREADS - 1))
    n_voted = n_items * -math.expm1(n_votes * math.log1p(-1 / max(2, n_items)))
    scale = min(SCALE_LIMIT, SCALE_SECONDS * (n_items / SCALE_ITEMS) ** SCALE_POWER)
    fit = scale * n_voted * (FAR_FIT if tunes else 1.0)
    tuning = (TUNE_SECONDS * n_items * n_classes + TUNE_VOTE_SECONDS * n_voted) if tunes else 0.0
    rates = n_annotators >= SEVERAL_ANNOTATORS and n_votes >= ENOUGH_VOTES
    search = _search_seconds(n_items, n_dimensions, index) + AFFINITY_SECONDS * n_items * n_neighbors
    seconds = {
        "start": START_SECONDS,
        "reading": READ_SECONDS * n_items * n_dimensions * itemsize + VOTE_SECONDS * n_votes,
        "graph": search * speed,
        "spreading": (fit + tuning) * (1 + ANNOTATOR_FITS * rates) * speed,
        "answer": ANSWER_SECONDS * n_items * n_classes,
    }
    X_bytes = n_items * n_dimensions * itemsize
    graph_bytes = n_items * n_neighbors * NEIGHBOR_BYTES + X_COPIES * X_bytes
    answer_bytes = n_items * n_neighbors * EDGE_BYTES + MASS_ARRAYS * 8 * n_items * n_classes + X_bytes
    peak = LIBRARY_BYTES + max(graph_bytes, answer_bytes) + VOTE_BYTES * n_votes
    return Cost(n_items, n_dimensions, n_votes, n_classes, n_annotators, seconds, peak)


def _search_seconds(n: int, d: int, index: str) -> float:
    if index == "auto":
        affordable = d <= TREE_DIMENSIONS or n * n * d <= EXACT_WORK
        index = "exact" if n <= EXACT_ITEMS and affordable else "faiss"
    if index == "exact":
        index = "tree" if d <= TREE_DIMENSIONS else "brute"
    if index == "tree":
        return float(TREE_SECONDS * n**TREE_POWER * d / USUAL_DIMENSIONS)
    if index == "brute":
        return BRUTE_SECONDS * n * n * d
    return FAISS_SECONDS * n * d / USUAL_DIMENSIONS


def tell_cost(run: Run, items: ItemOptions, votes: VoteOptions, graph: GraphOptions, fit: FitOptions) -> None:
    """Look at the files, not at the numbers in them, and say what the run would take."""
    from softspread._common.threads import count_threads
    from softspread.cli.jobs import auto_or_number
    from softspread.io.matching import read_classes

    shape = look_at_embeddings(needed(items.embeddings, "--embeddings"), items.vector_column)
    path: Path = needed(votes.votes, "--votes")
    reading = VoteReading(
        votes.votes_format, votes.item_column, votes.label_column, votes.annotator_column, votes.multi_choice
    )
    with run.stage("votes") as tell:
        file = read_votes(path, reading)
        tell(f"{len(file):,}")
    classes = read_classes(votes.classes) or sorted({str(label) for label in file.labels.tolist()})
    named = (
        set() if file.annotators is None else {name for name in file.annotators.tolist() if name is not None}
    )
    k = auto_or_number("n-neighbors", graph.n_neighbors, int)
    tunes = "auto" in (fit.alpha, graph.n_neighbors, fit.strength)
    cost = estimate_cost(
        shape.n_items,
        shape.n_dimensions,
        len(file),
        len(classes),
        n_neighbors=40 if k == "auto" else k,
        itemsize=shape.itemsize,
        tunes=tunes,
        n_annotators=0 if fit.annotator_model == "none" else len(named),
        index=graph.index,
        threads=count_threads(graph.threads),
    )
    document = {
        "command": "spread",
        "dry_run": True,
        "n_items": cost.n_items,
        "n_dimensions": cost.n_dimensions,
        "n_votes": cost.n_votes,
        "n_classes": cost.n_classes,
        "n_annotators": cost.n_annotators,
        "expected_seconds": cost.total_seconds,
        "seconds_by_step": cost.seconds,
        "expected_memory_bytes": round(cost.peak_bytes),
        "free_memory_bytes": free_memory(),
    }
    run.answer(document, lambda console: _show_cost(console, cost))


def free_memory() -> int | None:
    """Bytes that this machine could still give; None where it does not say."""
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return None


def _show_cost(console: Any, cost: Cost) -> None:
    console.print(
        f"[bold]{cost.n_items:,} items[/] in {cost.n_dimensions} dimensions, {cost.n_votes:,} votes for "
        f"{cost.n_classes} classes"
    )
    steps = ", ".join(f"{name} {_time(value)}" for name, value in cost.seconds.items() if value >= 0.5)
    console.print(f"Expected time    about {_time(cost.total_seconds)} ({steps})")
    free = free_memory()
    left = "" if free is None else f"; {free / 2**30:.1f} GiB are free now"
    console.print(f"Expected memory  about {cost.peak_bytes / 2**30:.1f} GiB{left}")
    console.print("Both may be off by a factor of two. Nothing was written.", style="dim")


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
