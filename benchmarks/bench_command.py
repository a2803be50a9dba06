"""The whole command, from Parquet to Parquet, in a process of its own: by stage, processor time, memory.

`python -m benchmarks.bench_command --items 1000000 --all`

Items and votes are those of the other benchmarks, with ids; alpha is chosen from the votes. ``--all`` goes on
with starts, neighbours, what a fitted estimator answers, one solve per vote and Dask beside memory. All
targets stand at the end.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import bench_answers, bench_neighbors, bench_start, bench_whole_job
from benchmarks._common import (
    ROOT,
    Record,
    Report,
    Settings,
    open_report,
    say,
    seconds,
    show_table,
    show_targets,
    write_files,
)

MILLION = 1_000_000
WAYS = {
    "pls": ["--method", "pls", "--interval", "wilson"],
    "calibrated": ["--method", "pls", "--interval", "calibrated"],
    "posterior": [],  # what happens without any option
}
LONGEST = {"pls": 60.0, "calibrated": 90.0, "posterior": 150.0}  # seconds at a million items, two quiet cores
MOST_MEMORY = 3.0  # GiB
OTHERS = (bench_start, bench_neighbors, bench_answers, bench_whole_job)
ALPHA = 0.9  # of the answers and of one solve per vote
STAGE = re.compile(r"(?P<name>[a-z ]+?)(?: \(\w+\))?(?:: .*)? \((?P<seconds>[0-9.]+) s\)")


def run(ways: Sequence[str], n: int, folder: Path, report: Report) -> None:
    """Measure every way, keep the records, show one table."""
    embeddings, votes = write_files(folder, n, report.records[0]["settings"]["seed"])
    rows, stages = [], {}
    for way in ways:
        say(f"softspread spread, {way}, n = {n:,}")
        out = folder / f"{way}.parquet"
        files = ["--embeddings", str(embeddings), "--votes", str(votes), "--out", str(out)]
        record = report.add(bench="command", way=way, n=n, **measured(["spread", *WAYS[way], *files]))
        stages[way] = record["stages"]
        rows.append(
            (way, seconds(record["seconds"]), seconds(record["cpu_seconds"]), f"{record['peak_gib']:.2f}")
        )
        if n == MILLION:
            report.judge(f"softspread spread, {way}, s", record["seconds"], LONGEST[way], n=n)
            report.judge(f"softspread spread, {way}, memory, GiB", record["peak_gib"], MOST_MEMORY, n=n)
    say(f"\nsoftspread spread, {n:,} items, from Parquet to Parquet")
    show_table(("way", "whole process", "processor time", "memory, GiB"), rows)
    say("\nIts stages")
    names = list(dict.fromkeys(name for found in stages.values() for name in found))
    show_table(
        ("stage", *stages), [(name, *(_time(found, name) for found in stages.values())) for name in names]
    )


def _time(stages: dict[str, float], name: str) -> str:
    return f"{stages[name]:.1f} s" if name in stages else "-"


def stages_of(text: str) -> dict[str, float]:
    """Seconds of each stage that the command reports on standard error."""
    found = (STAGE.fullmatch(line) for line in text.splitlines())
    return {match["name"]: float(match["seconds"]) for match in found if match}


def measured(arguments: Sequence[str]) -> Record:
    """One call of the command."""
    command = [sys.executable, "-c", "from softspread.cli.app import main; main()", *arguments]
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        told = errors.read().decode()
        if process.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{told}")
    return {
        "stages": stages_of(told),
        "seconds": took,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_gib": used.ru_maxrss / 2**20,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the files, then run the command in every way that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_command", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--all", action="store_true", help="go on with all that these sizes have targets for")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file for the JSON lines, appended")
    options = parser.parse_args(arguments)
    settings = Settings(sizes=(options.items,), alphas=(ALPHA,), seed=options.seed)
    report = open_report(settings, options.out)
    with tempfile.TemporaryDirectory() as folder:
        run(options.ways.split(","), options.items, Path(folder), report)
        for bench in OTHERS if options.all else ():
            bench.run(settings, Path(folder), report)
    show_targets(report)


if __name__ == "__main__":
    main()
