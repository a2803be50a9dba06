"""A small benchmark: the fit as it is, and the paper's loop with one solve per vote, on the same made-up
data.

The estimator holds both (`solver="literal"` is the loop), so the comparison runs wherever the package is
installed.
"""

import time
from typing import Any

import numpy as np

from softspread.cli.runs import Run
from softspread.errors import InputError
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.graph import knn_graph
from softspread.votes.votes import Votes

LOOP_SECONDS = 10.0  # of the loop at most; beyond, its first votes are timed and the rest is extrapolated
LOOP_START = 8  # votes that are timed first, to know how many fit
CLUSTERS_PER_CLASS = 3
RIGHT_VOTES = 0.8  # share of votes that name the item's own class
LEAST_EVIDENCE = 1e-3  # below, a soft label is mostly prior, and digits of it mean nothing


def run_bench(
    run: Run, n_items: int, n_votes: int, n_classes: int, dimension: int, alpha: float, threads: int | None
) -> dict[str, Any]:
    """Time graph, fit and loop; the figures as plain values."""
    if n_votes < LOOP_START:
        raise InputError(f"--n-votes must be at least {LOOP_START}, got {n_votes}.")
    rng = np.random.default_rng(run.common.seed)
    X, votes = make_data(n_items, n_votes, n_classes, dimension, rng)
    classes = np.arange(n_classes)

    def fit(solver: str, count: int) -> tuple[ProbabilisticLabelSpreading, float]:
        est = ProbabilisticLabelSpreading(alpha=alpha, annotator_model="none", solver=solver, n_jobs=threads)
        some = Votes.from_pairs(votes.items[:count], votes.labels[:count])
        begin = time.perf_counter()
        est.fit(graph, some, classes=classes)
        return est, time.perf_counter() - begin

    with run.stage("graph") as tell:
        begin = time.perf_counter()
        graph = knn_graph(X, n_jobs=threads, random_state=run.common.seed)
        graph_seconds = time.perf_counter() - begin
        tell(f"{n_items:,} items")
    with run.stage("warming up"):
        fit("auto", n_votes)  # loads compiled code
    with run.stage("fit"):
        _, fit_seconds = fit("auto", n_votes)
    with run.stage("one solve per vote") as tell:
        _, few = fit("literal", LOOP_START)
        count = int(min(n_votes, max(LOOP_START, LOOP_SECONDS / max(few / LOOP_START, 1e-6))))
        literal, seconds = fit("literal", count)
        tell(f"{count:,} of {n_votes:,} votes")
    same, _ = fit("auto", count)
    known = literal.evidence_ > LEAST_EVIDENCE
    difference = float(np.abs(same.predict_proba() - literal.predict_proba())[known].max(initial=0.0))
    loop_seconds = seconds * n_votes / count
    return {
        "command": "bench",
        "n_items": n_items,
        "n_votes": n_votes,
        "n_classes": n_classes,
        "dimension": dimension,
        "alpha": alpha,
        "graph_seconds": graph_seconds,
        "fit_seconds": fit_seconds,
        "loop_seconds": loop_seconds,
        "loop_votes_timed": count,
        "times_faster": loop_seconds / fit_seconds,
        "largest_difference": difference,
    }


def make_data(
    n_items: int, n_votes: int, n_classes: int, dimension: int, rng: np.random.Generator
) -> tuple[Any, Votes]:
    """Clusters of points, three for each class, and votes that are mostly right."""
    centres = 2.0 * rng.normal(size=(CLUSTERS_PER_CLASS * n_classes, dimension))
    cluster = rng.integers(len(centres), size=n_items)
    X = (centres[cluster] + rng.normal(size=(n_items, dimension))).astype(np.float32)
    items = rng.integers(n_items, size=n_votes)
    right = rng.random(n_votes) < RIGHT_VOTES
    labels = np.where(right, cluster[items] % n_classes, rng.integers(n_classes, size=n_votes))
    return X, Votes.from_pairs(items, labels)


def show_bench(console: Any, found: dict[str, Any]) -> None:
    """The figures as a table."""
    from rich.table import Table

    table = Table(title=f"{found['n_items']:,} items, {found['n_votes']:,} votes, alpha {found['alpha']:g}")
    table.add_column("step")
    table.add_column("seconds", justify="right")
    whole = found["loop_votes_timed"] == found["n_votes"]
    table.add_row("graph of nearest neighbours", f"{found['graph_seconds']:.3f}")
    table.add_row("fit", f"{found['fit_seconds']:.3f}", style="bold green")
    loop = "one solve per vote" + ("" if whole else f" (from {found['loop_votes_timed']:,} votes)")
    table.add_row(loop, f"{found['loop_seconds']:.3f}")
    console.print(table)
    console.print(
        f"{found['times_faster']:.0f} times as fast; the soft labels differ by at most "
        f"{found['largest_difference']:.1e} where there is evidence."
    )
