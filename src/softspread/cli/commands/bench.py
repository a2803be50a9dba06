"""``softspread bench``: time a fit against the paper's loop with one solve per vote, on the same data.

The estimator holds both (`solver="literal"` is the loop), so the comparison runs wherever the package is
installed.
"""

import time
from typing import TYPE_CHECKING, Annotated, Any

from softspread.cli.options import ThreadsOption, option
from softspread.cli.runner import Run, command, print_table

if TYPE_CHECKING:
    import numpy as np

    from softspread.estimators.spreading import ProbabilisticLabelSpreading
    from softspread.votes.votes import Votes

# Longest time of the loop; beyond, its first votes are timed and the rest is extrapolated
LOOP_SECONDS = 10.0
LOOP_START = 8  # votes that are timed first, to know how many fit
CLUSTERS_PER_CLASS = 3  # a class is rarely one cloud
RIGHT_VOTES = 0.8  # share of votes that name the item's own class
LEAST_EVIDENCE = 1e-3  # below, a soft label is mostly prior, and its digits mean nothing


@command(own=("alpha", "n_items", "n_votes"))
def bench(
    run: Run,
    n_items: Annotated[int, option("Items of the made-up data.", min=100)] = 5_000,
    n_votes: Annotated[int, option("Votes on them.", min=10)] = 500,
    n_classes: Annotated[int, option("Classes.", min=2)] = 10,
    dimension: Annotated[int, option("Dimensions of the embedding.", min=1)] = 20,
    alpha: Annotated[float, option("How far votes travel.")] = 0.9,
    threads: ThreadsOption = None,
) -> None:
    """Time a fit here against the loop with one solve per vote.

    Both give the same soft labels; the largest difference is shown. The second is the paper's loop as
    written.

    Example: softspread bench --n-items 10000 --n-votes 1000
    """
    import numpy as np

    from softspread.estimators.spreading import ProbabilisticLabelSpreading
    from softspread.graph.builders import knn_graph
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

    from softspread.simulate import draw_votes

    centres = 2.0 * rng.normal(size=(CLUSTERS_PER_CLASS * n_classes, dimension))
    cluster = rng.integers(len(centres), size=n_items)
    X = (centres[cluster] + rng.normal(size=(n_items, dimension))).astype(np.float32)
    p_true = RIGHT_VOTES * np.eye(n_classes)[cluster % n_classes] + (1 - RIGHT_VOTES) / n_classes
    return X, draw_votes(p_true, n_votes, rng)


def _show(console: Any, found: dict[str, Any]) -> None:
    timed, n_votes = found["loop_votes_timed"], found["n_votes"]
    steps = {
        "graph of nearest neighbours": found["graph_seconds"],
        "fit": found["fit_seconds"],
        "one solve per vote" + (f" (from {timed:,} votes)" if timed < n_votes else ""): found["loop_seconds"],
    }
    title = f"{found['n_items']:,} items, {n_votes:,} votes, alpha {found['alpha']:g}"
    rows = [(step, f"{seconds:.3f}") for step, seconds in steps.items()]
    print_table(console, title, ("step",), ("seconds",), rows, best={1})
    console.print(
        f"{found['times_faster']:.0f} times as fast; the soft labels differ by at most "
        f"{found['largest_difference']:.1e} where there is evidence."
    )
