"""How long SoftLabeler takes, from a graph and votes to every answer, and how much memory.

`python -m benchmarks.bench_labeler --items 1000000`

100 Gaussian clouds in 20 dimensions, 10 classes; votes on a tenth of the items, 15 % of them at random.
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import Report, Settings, open_report
from softspread import SoftLabeler, SoftspreadWarning, Votes, knn_graph

N_CLOUDS, N_FEATURES, N_CLASSES, RANDOM_SHARE = 100, 20, 10, 0.15


class Clock:
    """Seconds of each step, printed and kept.

    Parameters
    ----------
    report : where they are kept
    n : number of items
    """

    def __init__(self, report: Report, n: int) -> None:
        self.report, self.n = report, n

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        """Run, and note clock and processor seconds."""
        clock, processor = time.perf_counter(), time.process_time()
        found = work()
        took = time.perf_counter() - clock, time.process_time() - processor
        print(f"{name:<28} {took[0]:8.2f} s {took[1]:8.2f} s of processor time", flush=True)
        self.report.add(bench="labeler", n=self.n, what=name, value=took[1], clock=took[0])
        return found

    def memory(self) -> None:
        """Note the largest memory so far."""
        print(f"{'peak memory so far':<28} {peak():8.2f} GiB")
        self.report.add(bench="labeler", n=self.n, what="peak memory, GiB", value=peak())


def peak() -> float:
    """Largest memory of this process so far, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the data, then ask every question once."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_labeler", description=__doc__)
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
    votes = Votes.from_pairs(rows, labels, classes=range(N_CLASSES))
    clock = Clock(open_report(Settings(sizes=(n,), seed=options.seed), options.out), n)
    print(f"{n:,} items, {len(rows):,} votes, {N_CLASSES} classes")
    graph = clock.timed("graph", lambda: knn_graph(X, 20, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        lab = clock.timed("fit", lambda: SoftLabeler(random_state=0).fit(graph, votes))
        clock.timed("soft labels with intervals", lab.soft_labels)
        clock.timed("query(100)", lambda: lab.query(100))
        clock.timed("explain", lambda: lab.explain(n // 2))
        clock.timed("forecast", lambda: lab.forecast(max(1, n // 100)))
        clock.timed("quality", lab.quality)
        clock.timed("first vote and its label", lambda: lab.update([7], [3]).soft_labels_of([7]))
        clock.timed("next vote and its label", lambda: lab.update([9], [3]).soft_labels_of([9]))
    clock.memory()


if __name__ == "__main__":
    main()
