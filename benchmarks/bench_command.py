"""The whole command, from Parquet to Parquet, in a process of its own: clock, processor time, memory.

`python -m benchmarks.bench_command --items 1000000 --ways pls,calibrated,posterior`

Items and votes are those of the other benchmarks, with ids; alpha is chosen from the votes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks._common import (
    ROOT,
    Record,
    Report,
    Settings,
    open_report,
    say,
    seconds,
    show_table,
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


def run(ways: Sequence[str], n: int, folder: Path, report: Report) -> None:
    """Measure every way, keep the records, show one table."""
    embeddings, votes = write_files(folder, n, report.records[0]["settings"]["seed"])
    rows = []
    for way in ways:
        say(f"softspread spread, {way}, n = {n:,}")
        out = folder / f"{way}.parquet"
        files = ["--embeddings", str(embeddings), "--votes", str(votes), "--out", str(out)]
        record = report.add(bench="command", way=way, n=n, **measured(["spread", *WAYS[way], *files]))
        rows.append(
            (way, seconds(record["seconds"]), seconds(record["cpu_seconds"]), f"{record['peak_gib']:.2f}")
        )
        if n == MILLION:
            report.judge(f"softspread spread, {way}, s", record["seconds"], LONGEST[way], n=n)
            report.judge(f"softspread spread, {way}, memory, GiB", record["peak_gib"], MOST_MEMORY, n=n)
    say(f"\nsoftspread spread, {n:,} items, from Parquet to Parquet")
    show_table(("way", "whole process", "processor time", "memory, GiB"), rows)


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
        if process.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{errors.read().decode()}")
    return {
        "seconds": took,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_gib": used.ru_maxrss / 2**20,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the files, then run the command in every way that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_command", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file for the JSON lines, appended")
    options = parser.parse_args(arguments)
    report = open_report(Settings(sizes=(options.items,), seed=options.seed), options.out)
    with tempfile.TemporaryDirectory() as folder:
        run(options.ways.split(","), options.items, Path(folder), report)


if __name__ == "__main__":
    main()
