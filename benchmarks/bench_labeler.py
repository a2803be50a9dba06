"""How long SoftLabeler takes, from a graph and votes to every answer, and how much memory.

`python -m benchmarks.bench_labeler --items 1000000`

100 Gaussian clouds in 20 dimensions, 10 classes; votes on a tenth of the items, 15 % of them at random.
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softspread import SoftLabeler, SoftspreadWarning, Votes, knn_graph

N_CLOUDS, N_FEATURES, N_CLASSES, RANDOM_SHARE = 100, 20, 10, 0.15


def timed(name: str, work: Callable[[], Any]) -> Any:
    """Run, and print clock and processor seconds."""
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    took = time.perf_counter() - clock, time.process_time() - processor
    print(f"{name:<28} {took[0]:8.2f} s {took[1]:8.2f} s of processor time", flush=True)
    return found


def peak() -> float:
    """Largest memory of this process so far, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the data, then ask every question once."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_labeler", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    n, rng = options.items, np.random.default_rng(options.seed)
    cloud = rng.integers(N_CLOUDS, size=n)
    centres = 2.2 * rng.normal(size=(N_CLOUDS, N_FEATURES))
    X = (centres[cloud] + rng.normal(size=(n, N_FEATURES))).astype(np.float32)
    rows = rng.integers(n, size=n // 10)
    wrong = rng.random(len(rows)) < RANDOM_SHARE
    labels = np.where(wrong, rng.integers(N_CLASSES, size=len(rows)), cloud[rows] % N_CLASSES)
    votes = Votes.from_pairs(rows, labels, classes=range(N_CLASSES))
    print(f"{n:,} items, {len(rows):,} votes, {N_CLASSES} classes")
    graph = timed("graph", lambda: knn_graph(X, 20, random_state=0))
    print(f"{'peak memory so far':<28} {peak():8.2f} GiB")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        lab = timed("fit", lambda: SoftLabeler(random_state=0).fit(graph, votes))
        timed("soft labels with intervals", lab.soft_labels)
        timed("query(100)", lambda: lab.query(100))
        timed("explain", lambda: lab.explain(n // 2))
        timed("forecast", lambda: lab.forecast(max(1, n // 100)))
        timed("quality", lab.quality)
        timed("first vote and its label", lambda: lab.update([7], [3]).soft_labels_of([7]))
        timed("next vote and its label", lambda: lab.update([9], [3]).soft_labels_of([9]))
    print(f"{'peak memory':<28} {peak():8.2f} GiB")


if __name__ == "__main__":
    main()
