"""Our search by cells beside faiss, pynndescent and a k-d tree, on one thread, in one run.

`python -m benchmarks.bench_neighbors --sizes 70000,300000,1000000 --embeddings mnist.npy`

Every search runs in a process of its own. Processor seconds are those of the search alone, items already in
leaf order as in `knn_graph`, after a first call on few items that loads or compiles whatever is needed; that
call is timed, too. Recall is measured on 512 items, by the same code for all.
"""

from pathlib import Path

from benchmarks._common import N_NEIGHBORS, Record, Report, Settings, run_task, say, seconds, show_table

SEARCHES = ("cells", "faiss", "pynndescent", "tree")
RIVAL, LARGEST_SHARE, JUDGED_FROM = "faiss", 0.5, 1_000_000  # of its time; items
LEAST_RECALL = 0.999


def run(settings: Settings, folder: Path, report: Report) -> None:
    """Measure every set of items, keep the records, show one table."""
    rows = []
    for source in (*settings.sizes, *map(str, settings.embeddings)):
        name = f"{source:,} made items" if isinstance(source, int) else Path(source).stem
        say(f"neighbours, {name}")
        found = {index: _measure(index, source, settings, folder, report) for index in SEARCHES}
        rows += [_line(name, index, record) for index, record in found.items()]
        ours, rival = found["cells"], found[RIVAL]
        if ours["skipped"] or rival["skipped"] or ours["n"] < JUDGED_FROM:
            continue
        share = ours["cpu_seconds"] / rival["cpu_seconds"]
        report.judge("neighbours, share of faiss's time", share, LARGEST_SHARE, n=ours["n"])
        report.judge("recall of neighbours", ours["recall"], LEAST_RECALL, at_least=True, n=ours["n"])
    say(f"\nNearest {N_NEIGHBORS} neighbours, one thread")
    header = ("items", "search", "dimensions", "processor time", "recall", "memory, GiB", "first call")
    show_table(header, rows, left=("search",))


def _measure(index: str, source: int | str, settings: Settings, folder: Path, report: Report) -> Record:
    limit = settings.search_seconds
    record = run_task("search", folder, index=index, source=source, seed=settings.seed, time_limit=limit)
    return report.add(bench="search", index=index, source=Path(str(source)).stem, **record)


def _line(name: str, index: str, record: Record) -> tuple[str, ...]:
    if record["skipped"]:
        return name, index, str(record["d"]), record["skipped"], "", "", ""
    return (
        name,
        index,
        str(record["d"]),
        seconds(record["cpu_seconds"]),
        f"{record['recall']:.5f}",
        f"{record['peak_gib']:.2f}",
        seconds(record["first_seconds"]),
    )


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(only="neighbors")
