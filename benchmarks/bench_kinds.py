"""What each kind of votes costs, against one class per vote on the same items: processor seconds of one run.

`python -m benchmarks.bench_kinds --items 100000`

The votes of `bench_labeler`: 10 classes, a tenth of the items voted on. "multilabel" says yes to the class of
the vote and no to the nine others; "ordinal" takes the classes as grades; "rating" their numbers.
"""

import argparse
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._common import Settings, open_report
from benchmarks.bench_labeler import N_CLASSES, N_CLOUDS, N_FEATURES, RANDOM_SHARE, Clock
from softspread import RatingSpreading, SoftLabeler, SoftspreadWarning, Votes, knn_graph

MOST = 2.0  # times the job of one class per vote


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the data once, then fit every kind and ask for its intervals."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_kinds", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file for the JSON lines, appended")
    options = parser.parse_args(arguments)
    n, rng = options.items, np.random.default_rng(options.seed)
    cloud = rng.integers(N_CLOUDS, size=n)
    centres = 2.2 * rng.normal(size=(N_CLOUDS, N_FEATURES))
    X = (centres[cloud] + rng.normal(size=(n, N_FEATURES))).astype(np.float32)
    rows = rng.integers(n, size=n // 10)
    wrong = rng.random(len(rows)) < RANDOM_SHARE
    labels = np.where(wrong, rng.integers(N_CLASSES, size=len(rows)), cloud[rows] % N_CLASSES)
    report = open_report(Settings(sizes=(n,), seed=options.seed), options.out)
    clock = Clock(report, n)
    graph = clock.timed("graph", lambda: knn_graph(X, 20, random_state=0))

    def labeler(kind: str, votes: Votes) -> Callable[[], Any]:
        return lambda: SoftLabeler(kind=kind, random_state=0, n_jobs=1).fit(graph, votes).soft_labels()

    one = Votes.from_pairs(rows, labels, classes=range(N_CLASSES))
    several = Votes.from_multilabel(labels[:, None] == np.arange(N_CLASSES), rows)
    table = pd.DataFrame({"item": rows, "rating": labels.astype(np.float64)})
    jobs = {
        "single": labeler("single", one),
        "ordinal": labeler("ordinal", one),
        "rating": lambda: (
            RatingSpreading(estimator=SoftLabeler(n_jobs=1)).fit(graph, table).predict_interval()
        ),
        "multilabel": labeler("multilabel", several),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        labeler("single", one)()  # compiles, and reads kernels from disk
        took = {}
        for name, job in jobs.items():
            clock.timed(name, job)
            took[name] = report.records[-1]["value"]
    for name in jobs:
        report.judge(f"{name}, times single", took[name] / took["single"], MOST, n=n)
    clock.memory()


if __name__ == "__main__":
    main()
