"""What new items cost a graph and a fit that are there: seconds and processor seconds of one run.

`python -m benchmarks.bench_growing --items 1000000 --new 1000`

New items lie near old ones. They join the graph (`with_items`), beside a new build of all; then a SoftLabeler
with votes on one item in a hundred takes in as many again.
"""

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks._common import Settings, open_report
from benchmarks.bench_labeler import N_CLASSES, N_CLOUDS, N_FEATURES, Clock
from softspread import SoftLabeler, SoftspreadWarning, Votes, knn_graph
from softspread._common.threads import Workers, count_threads
from softspread.graph.growing import with_items

MOST_SECONDS = 5.0  # of 1,000 new items among a million


def main(arguments: Sequence[str] | None = None) -> None:
    """Build once, then let items join."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_growing", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--new", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file for the JSON lines, appended")
    options = parser.parse_args(arguments)
    n, rng = options.items, np.random.default_rng(options.seed)
    cloud = rng.integers(N_CLOUDS, size=n)
    X = (2.2 * rng.normal(size=(N_CLOUDS, N_FEATURES))[cloud] + rng.normal(size=(n, N_FEATURES))).astype(
        np.float32
    )

    def newcomers(number: int) -> np.ndarray:
        near = X[rng.integers(n, size=number)]
        return (near + 0.1 * rng.normal(size=near.shape)).astype(np.float32)

    report = open_report(Settings(sizes=(n,), seed=options.seed), options.out)
    clock, workers = Clock(report, n), Workers(count_threads(None))
    graph = clock.timed("graph, a new build", lambda: knn_graph(X, 20, random_state=0))
    with_items(graph, newcomers(2), None, workers)  # compiles, and reads kernels from disk
    new = newcomers(options.new)
    clock.timed(f"graph, {options.new:,} new items", lambda: with_items(graph, new, None, workers))
    report.judge("new items join the graph, seconds", report.records[-1]["clock"], MOST_SECONDS, n=n)
    rows = rng.integers(n, size=n // 100)
    votes = Votes.from_pairs(rows, cloud[rows] % N_CLASSES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        lab = clock.timed("SoftLabeler, a fit", lambda: SoftLabeler(random_state=0).fit(graph, votes))
        clock.timed(f"SoftLabeler, {options.new:,} new items", lambda: lab.add_items(new).predict_proba())
    clock.memory()


if __name__ == "__main__":
    main()
