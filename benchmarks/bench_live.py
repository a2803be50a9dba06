"""One more vote on a fitted estimator: time, error and refinement of the immediate answer.

`python -m benchmarks.bench_live --live-sizes 100000`
"""

from pathlib import Path

from benchmarks._common import Report, Settings, prepare_dataset, run_task, say, seconds, show_table

ALPHA = 0.9
LARGEST_MEDIAN = {100_000: 5e-3, 1_000_000: 15e-3}  # seconds
HEADER = (
    "n",
    "median",
    "95 %",
    "max",
    "with answer",
    "votes",
    "mass off by",
    "bound",
    "p off by",
    "stale",
    "refine",
)


def run(settings: Settings, folder: Path, report: Report) -> None:
    """Measure every size, keep the records, show one table."""
    rows = []
    for n in settings.live_sizes:
        say(f"live votes, n = {n:,}")
        home = prepare_dataset(settings, folder, n, report)
        found = run_task("live", home, alpha=ALPHA, n_votes=settings.live_votes, seed=settings.seed)
        record = report.add(bench="live", n=n, alpha=ALPHA, **found)
        if n in LARGEST_MEDIAN:
            report.judge("median live update, s", record["median"], LARGEST_MEDIAN[n], n=n, alpha=ALPHA)
        for name in ("one", "many"):
            after = record[name]
            times = [
                seconds(record[key]) for key in ("median", "percentile_95", "largest", "median_with_answer")
            ]
            errors = [f"{after[key]:.1e}" for key in ("mass_error", "mass_bound", "p_error")]
            tail = [f"{after['stale_share']:.0%}", seconds(after["refine_seconds"])]
            rows.append((f"{n:,}", *times, str(after["votes"]), *errors, *tail))
    say(
        f"\nLive votes (alpha {ALPHA:g}; errors of the immediate answer after so many votes, against the "
        "refined one)"
    )
    show_table(HEADER, rows)


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(only="live")
