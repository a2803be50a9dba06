"""Estimated time and memory of `spread`, from constants measured on two cores, within a factor of two.

seconds = start + reading + neighbours + choice of alpha + scales and solve + intervals and writing
bytes   = the libraries + X + the larger of (neighbours, graph) and (graph, masses, answers)
"""

import math
import os
from dataclasses import asdict, dataclass
from typing import Any

from softspread.cli.options import FitInputs
from softspread.cli.runner import Run
from softspread.estimators.methods import BLEND, method_of
from softspread.graph.default_search import exact_by_size
from softspread.graph.neighbors import TREE_DIMENSIONS


@dataclass(frozen=True, slots=True)
class CostModel:
    """Processor seconds and bytes of each step.

    All are fits to timed runs of `spread` on synthetic clusters with 1e4 to 1e6 items, 20 dimensions and 10
    classes, on one machine with two cores. How far votes travel is not known before they are read: a fit
    with chosen alpha is priced at alpha = 0.95; at 0.9 it is a third, at 0.99 three times as much.
    """

    start_seconds: float = 2.5  # loading libraries and compiled code
    measured_threads: int = 2
    gain: float = 1.8  # what that many threads divide the seconds of graph and spreading by
    tree_seconds: float = 5e-6  # per item ** tree_power, at usual_dimensions: a k-d tree is superlinear
    tree_power: float = 1.35
    brute_seconds: float = 1e-10  # per pair of items and dimension
    cell_seconds: float = 3e-5  # per item, at usual_dimensions
    library_seconds: float = 8e-5  # the same for searches of other libraries
    usual_dimensions: int = 20
    affinity_seconds: float = 2e-7  # per item and neighbour: weights, symmetry, degrees
    scale_seconds: float = 2.6e-4  # per voted item at alpha 0.9 among scale_items ...
    scale_items: int = 10_000
    # ... growing with this power of the number of items, as caches no longer hold them
    scale_power: float = 0.3
    scale_limit: float = 5e-4  # ... up to this: profiles are local
    chosen_fit: float = 2.5  # a fit at alpha 0.95, in fits at 0.9
    tune_seconds: float = 1.7e-5  # per item and class: the solves of all settings tried
    tune_vote_seconds: float = 1e-3  # per voted item: their scales
    annotator_fits: float = 2.0  # weighting annotators repeats the choice of alpha and the fit this often
    several_annotators: int = 3  # annotators are weighted from here on ...
    enough_votes: int = 100  # ... and with this many votes, as the estimator's "auto" does
    blend_seconds: float = 0.8  # of a blend, however small: many small models
    blend_item_seconds: float = 4e-6  # per item and class: the solves at eight alphas, and predictions
    blend_vote_seconds: float = 1e-5  # per voted item and class: classifiers, held-out predictions
    blend_one_alpha: float = 0.3  # share of the solves where alpha is given
    feature_seconds: float = 1e-7  # per item and dimension of unreduced features
    answer_seconds: float = 6e-7  # per item and class: soft labels, intervals, the file
    read_seconds: float = 2e-9  # per byte of embeddings
    vote_seconds: float = 8e-6  # per vote
    library_bytes: float = 340e6
    blend_bytes: float = 100e6  # further libraries, and what a blend keeps however small it is
    neighbor_bytes: float = 60  # per item and neighbour while the graph is made symmetric
    edge_bytes: float = 12 * 1.35  # per item and neighbour: about a third of neighbours are not mutual
    mass_arrays: int = 10  # arrays of items by classes that are alive at once ...
    blend_arrays: int = 20  # ... and of a blend, whose experts are in single precision
    vote_bytes: float = 800  # per vote, as Python values while a file is read
    x_copies: int = 3  # of the embeddings while neighbours are searched

    def blend_work(self, n: int, n_voted: float, n_classes: int, n_features: int, tunes: bool) -> float:
        """Processor seconds of a blend of experts."""
        solves = self.blend_item_seconds * n * (1.0 if tunes else self.blend_one_alpha)
        models = self.blend_vote_seconds * n_voted
        return self.blend_seconds + n_classes * (solves + models) + self.feature_seconds * n * n_features

    def search_seconds(self, n: int, d: int, index: str) -> float:
        """Processor seconds of the neighbour search."""
        if index == "auto":
            index = "exact" if exact_by_size(n, d) else "cells"
        if index == "exact":
            index = "tree" if d <= TREE_DIMENSIONS else "brute"
        if index == "tree":
            return float(self.tree_seconds * n**self.tree_power * d / self.usual_dimensions)
        if index == "brute":
            return self.brute_seconds * n * n * d
        share = d / self.usual_dimensions
        return (self.cell_seconds if index == "cells" else self.library_seconds) * n * share


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated time and memory of a run."""

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
    blends: bool = True,
    n_features: int = 0,
    tunes: bool = True,
    n_annotators: int = 0,
    index: str = "auto",
    threads: int = 2,
    model: CostModel | None = None,
) -> Cost:
    """Expected time and memory of `spread`.

    Parameters
    ----------
    blends : the default, a blend of experts; False = spreading alone
    n_features : dimensions of unreduced features, 0 = none
    tunes : alpha is chosen, or several are blended
    n_annotators : of votes that are weighed by who cast them

    Examples
    --------
    >>> small = estimate_cost(10_000, 20, 1_000, 10)
    >>> large = estimate_cost(1_000_000, 20, 100_000, 10)
    >>> small.total_seconds < large.total_seconds, small.peak_bytes < large.peak_bytes
    (True, True)
    """
    m = model or CostModel()
    speed = 1 / (1 + (m.gain - 1) * (threads - 1) / (m.measured_threads - 1))
    n_voted = n_items * -math.expm1(n_votes * math.log1p(-1 / max(2, n_items)))
    scale = min(m.scale_limit, m.scale_seconds * (n_items / m.scale_items) ** m.scale_power)
    fit = scale * n_voted * (m.chosen_fit if tunes else 1.0)
    tuning = (m.tune_seconds * n_items * n_classes + m.tune_vote_seconds * n_voted) if tunes else 0.0
    spreading = (fit + tuning) * (not blends)
    blending = m.blend_work(n_items, n_voted, n_classes, n_features, tunes) * blends
    rates = n_annotators >= m.several_annotators and n_votes >= m.enough_votes
    search = m.search_seconds(n_items, n_dimensions, index) + m.affinity_seconds * n_items * n_neighbors
    X_bytes = n_items * n_dimensions * itemsize
    seconds = {
        "start": m.start_seconds,
        "reading": m.read_seconds * X_bytes + m.vote_seconds * n_votes,
        "graph": search * speed,
        "fit": (spreading + blending + (fit + tuning) * m.annotator_fits * rates) * speed,
        "answer": m.answer_seconds * n_items * n_classes,
    }
    graph_bytes = n_items * n_neighbors * m.neighbor_bytes + m.x_copies * X_bytes
    arrays = m.blend_arrays if blends else m.mass_arrays
    answer_bytes = n_items * n_neighbors * m.edge_bytes + arrays * 8 * n_items * n_classes + X_bytes
    feature_bytes = m.x_copies * 4 * n_items * n_features
    libraries = m.library_bytes + m.blend_bytes * blends
    peak = libraries + max(graph_bytes, answer_bytes) + m.vote_bytes * n_votes + feature_bytes
    return Cost(n_items, n_dimensions, n_votes, n_classes, n_annotators, seconds, peak)


def show_cost(run: Run, inputs: FitInputs) -> None:
    """Estimate time and memory from the shapes of the files, without reading their numbers."""
    from softspread._common.threads import count_threads
    from softspread.io.embeddings import look_at_embeddings
    from softspread.io.matching import read_classes
    from softspread.io.votes import read_vote_files

    parameters = inputs.parameters
    files = [*inputs.items.files(), *(inputs.fit.add or ())]
    shapes = [look_at_embeddings(path, inputs.items.vector_column) for path in files]
    unreduced = inputs.fit.features
    with run.stage("votes") as tell:
        file = read_vote_files(*inputs.votes.files(), how=inputs.votes.reading())
        tell(f"{len(file):,}")
    classes = read_classes(inputs.votes.classes) or {str(label) for label in file.labels.tolist()}
    names = () if file.annotators is None else set(file.annotators.tolist()) - {None}
    k = parameters["n_neighbors"]
    cost = estimate_cost(
        sum(shape.n_items for shape in shapes),
        shapes[0].n_dimensions,
        len(file),
        len(classes),
        n_neighbors=40 if k == "auto" else k,
        itemsize=max(shape.itemsize for shape in shapes),
        blends=method_of(inputs.fit.method) == BLEND,
        n_features=0 if unreduced is None else look_at_embeddings(unreduced).n_dimensions,
        tunes="auto" in (parameters["alpha"], k, parameters.get("prior_strength")),
        n_annotators=0 if parameters["annotator_model"] == "none" else len(names),
        index=parameters["index"],
        threads=count_threads(parameters["n_jobs"]),
    )
    document = asdict(cost) | {
        "dry_run": True,
        "expected_seconds": cost.total_seconds,
        "seconds_by_step": cost.seconds,
        "expected_memory_bytes": round(cost.peak_bytes),
        "free_memory_bytes": free_memory(),
    }
    del document["seconds"], document["peak_bytes"]
    run.answer(document, lambda console: _show(console, cost))


def free_memory() -> int | None:
    """Bytes that this machine could still give; None where it does not say."""
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return None


def _show(console: Any, cost: Cost) -> None:
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
