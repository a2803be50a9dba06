"""``softspread bench``: time a fit beside the paper's loop with one solve per vote, on the same made-up data.

The estimator holds both (`solver="literal"` is the loop), so the comparison runs wherever the package is
installed.
"""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread.cli.options import ThreadsOption
from softspread.cli.runner import Run, command

if TYPE_CHECKING:
    import numpy as np

    from softspread.estimators.spreading import ProbabilisticLabelSpreading
    from softspread.votes.votes import Votes

LOOP_SECONDS = (
    10.0  # longest time of the loop; beyond, its first votes are timed and the rest is extrapolated
)
LOOP_START = 8  # votes that are timed first, to know how many fit
CLUSTERS_PER_CLASS = 3
RIGHT_VOTES = 0.8  # share of votes that name the item's own class
LEAST_EVIDENCE = 1e-3  # below, a soft label is mostly prior, and its digits mean nothing


@command(own=("alpha", "n_items", "n_votes"))
def bench(
    run: Run,
    n_items: Annotated[int, typer.Option(min=100, help="Items of the made-up data.")] = 5_000,
    n_votes: Annotated[int, typer.Option(min=10, help="Votes on them.")] = 500,
    n_classes: Annotated[int, typer.Option(min=2, help="Classes.")] = 10,
    dimension: Annotated[int, typer.Option(min=1, help="Dimensions of the embedding.")] = 20,
    alpha: Annotated[float, typer.Option(help="How far votes travel.")] = 0.9,
    threads: ThreadsOption = None,
) -> None:
    """Time a fit here, beside the loop with one solve per vote.

    Both give the same soft labels; the largest difference is shown. The second is the paper's loop as
    written.

    Example: softspread bench --n-items 10000 --n-votes 1000
    """
    import numpy as np

    from softspread.estimators.spreading import ProbabilisticLabelSpreading
    from softspread.graph import knn_graph
    from softspread.votes.votes import Votes

    X, votes = make_data(n_items, n_votes, n_classes, dimension, np.random.default_rng(run.seed))

    def fit(solver: str, count: int) -> "tuple[ProbabilisticLabelSpreading, float]":
        est = ProbabilisticLabelSpreading(alpha=alpha, annotator_model="none", solver=solver, n_jobs=threads)
        some = Votes.from_pairs(votes.items[:count], votes.labels[:count])
        begin = time.perf_counter()
        est.fit(graph, some, classes=np.arange(n_classes))
        return est, time.perf_counter() - begin

    with run.stage("graph") as tell:
        begin = time.perf_counter()
        graph = knn_graph(X, n_jobs=threads, random_state=run.seed)
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
    loop_seconds = seconds * n_votes / count
    found = {
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
        "largest_difference": np.abs(same.predict_proba() - literal.predict_proba())[known].max(initial=0.0),
    }
    run.answer(found, lambda console: _show(console, found))


def make_data(
    n_items: int, n_votes: int, n_classes: int, dimension: int, rng: "np.random.Generator"
) -> "tuple[Any, Votes]":
    """Clusters of points, three for each class, and votes that are mostly right."""
    import numpy as np

    from softspread.votes.votes import Votes

    centres = 2.0 * rng.normal(size=(CLUSTERS_PER_CLASS * n_classes, dimension))
    cluster = rng.integers(len(centres), size=n_items)
    X = (centres[cluster] + rng.normal(size=(n_items, dimension))).astype(np.float32)
    items = rng.integers(n_items, size=n_votes)
    right = rng.random(n_votes) < RIGHT_VOTES
    labels = np.where(right, cluster[items] % n_classes, rng.integers(n_classes, size=n_votes))
    return X, Votes.from_pairs(items, labels)


def _show(console: Any, found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(
        "step", title=f"{found['n_items']:,} items, {found['n_votes']:,} votes, alpha {found['alpha']:g}"
    )
    table.add_column("seconds", justify="right")
    table.add_row("graph of nearest neighbours", f"{found['graph_seconds']:.3f}")
    table.add_row("fit", f"{found['fit_seconds']:.3f}", style="bold green")
    whole = found["loop_votes_timed"] == found["n_votes"]
    loop = "one solve per vote" + ("" if whole else f" (from {found['loop_votes_timed']:,} votes)")
    table.add_row(loop, f"{found['loop_seconds']:.3f}")
    console.print(table)
    console.print(
        f"{found['times_faster']:.0f} times as fast; the soft labels differ by at most "
        f"{found['largest_difference']:.1e} where there is evidence."
    )
