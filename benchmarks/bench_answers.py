"""How long a fitted estimator takes for intervals, queries, explanations, quality, forecasts.

`python -m benchmarks.bench_answers --sizes 1000000`
"""

from pathlib import Path

from benchmarks._common import Record, Report, Settings, prepare_dataset, run_task, say, seconds, show_table

ALPHA = 0.9
JUDGED_FROM = 1_000_000  # items
LONGEST = {  # seconds
    "next query of 100": 1.0,
    "calibrated intervals": 30.0,
    "explain one item": 0.5,
    "forecast": 15.0,
}


def run(settings: Settings, folder: Path, report: Report) -> None:
    """Measure every size, keep the records, show one table."""
    found = {}
    for n in settings.sizes:
        say(f"answers, n = {n:,}")
        home = prepare_dataset(settings, folder, n, report)
        found[n] = report.add(
            bench="answers", n=n, alpha=ALPHA, **run_task("answers", home, alpha=ALPHA, seed=settings.seed)
        )
        if n >= JUDGED_FROM:
            for name, limit in LONGEST.items():
                report.judge(f"{name}, s", found[n]["times"][name], limit, n=n, alpha=ALPHA)
    say(
        f"\nAnswers of a fitted estimator (alpha {ALPHA:g}, votes on 10 % of the items, a fifth of them "
        "voted twice; in brackets processor time)"
    )
    names = list(next(iter(found.values()))["times"])
    rows = [(name, *(_both(record, name) for record in found.values())) for name in names]
    rows.append(("peak memory, GiB", *(f"{record['peak_gib']:.2f}" for record in found.values())))
    show_table(("call", *(f"n = {n:,}" for n in found)), rows)


def _both(record: Record, name: str) -> str:
    return f"{seconds(record['times'][name])} ({seconds(record['cpu_times'][name])})"


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(only="answers")
