"""What choosing alpha costs: a fit with ``alpha="auto"`` beside the same fit with alpha 0.9.

`python -m benchmarks.bench_alpha --items 10000,100000 --wrong 0,0.2,0.6`

Processor seconds on one thread, medians of fits that alternate; one vote each on a tenth of the items and a
second one on a fifth of those, so that the noise of votes can be seen. The fit starts from the embeddings
("from X", neighbours included) or from a graph that exists ("from graph").
"""

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import (
    N_CLASSES,
    N_NEIGHBORS,
    Report,
    Settings,
    make_items,
    make_votes,
    median,
    open_report,
    say,
    show_table,
    show_targets,
)
from softspread import ProbabilisticLabelSpreading, SoftspreadWarning, Votes, knn_graph

PLAIN_ALPHA = 0.9
MOST = 3.0  # times the plain fit
SECOND_SHARE = 0.2  # of the voted items


def votes_with_noise(classes: Any, wrong: float, seed: int) -> Votes:
    """Votes on a tenth of the items, a fifth of them twice; this share names one of the other classes."""
    rng = np.random.default_rng([seed, 7])
    rows, _ = make_votes(classes, seed)
    rows = np.concatenate([rows, rows[: int(SECOND_SHARE * len(rows))]])
    others = (classes[rows] + rng.integers(1, N_CLASSES, size=len(rows))) % N_CLASSES
    labels = np.where(rng.random(len(rows)) < wrong, others, classes[rows])
    return Votes.from_pairs(rows, labels, classes=range(N_CLASSES))


def fit_seconds(items: Any, votes: Votes, alpha: float | str) -> tuple[float, float]:
    """Processor seconds of one fit, and the alpha it took."""
    est = ProbabilisticLabelSpreading(alpha=alpha, n_neighbors=N_NEIGHBORS, n_jobs=1, random_state=0)
    begin = time.process_time()
    est.fit(items, votes)
    return time.process_time() - begin, float(est.alpha_)


def measure(report: Report, n: int, wrong: float, repeats: int, seed: int) -> list[tuple[str, ...]]:
    """Rows of the table for one size and one share of wrong votes."""
    X, classes = make_items(n, seed)
    votes = votes_with_noise(classes, wrong, seed)
    rows = []
    for start, items in (("from X", X), ("from graph", knn_graph(X, N_NEIGHBORS, n_jobs=1, random_state=0))):
        plain, auto, chosen = [], [], np.nan
        for _ in range(repeats):
            plain.append(fit_seconds(items, votes, PLAIN_ALPHA)[0])
            took, chosen = fit_seconds(items, votes, "auto")
            auto.append(took)
        ratio = median(auto) / median(plain)
        report.add(bench="alpha", n=n, wrong=wrong, start=start, plain=plain, auto=auto, alpha=chosen)
        report.judge(f"auto / plain {start}", ratio, MOST, n=n, wrong=wrong)
        figures = (f"{value:.3f}" for value in (median(plain), median(auto), ratio))
        rows.append((start, f"{n:,}", f"{wrong:g}", f"{chosen:g}", *figures))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Warm the compiled loops up, then measure every size and share."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_alpha", description=__doc__)
    parser.add_argument("--items", default="10000,100000")
    parser.add_argument("--wrong", default="0,0.2,0.4,0.6,0.8")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file for the JSON lines, appended")
    options = parser.parse_args(arguments)
    sizes = tuple(int(float(part)) for part in options.items.split(","))
    report = open_report(Settings(sizes=sizes, seed=options.seed, repeats=options.repeats), options.out)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        X, classes = make_items(5_000, 1)
        for alpha in (0.05, PLAIN_ALPHA, 0.99, 0.999, "auto"):
            fit_seconds(X, votes_with_noise(classes, 0.6, 1), alpha)
        for n in sizes:
            for wrong in options.wrong.split(","):
                rows += measure(report, n, float(wrong), options.repeats, options.seed)
                say(" ".join(rows[-2]) + " | " + " ".join(rows[-1]))
    show_table(("start", "items", "wrong", "alpha", "plain", "auto", "ratio"), rows)
    show_targets(report)


if __name__ == "__main__":
    main()
