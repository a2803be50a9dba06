"""How long until a fresh process is useful, with compiled loops already in the cache?

`python -m benchmarks.bench_start`
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks._common import ROOT, Record, Report, Settings, median, say, seconds, show_table, write_files

LONGEST_IMPORT, LONGEST_FIRST_FIT, LONGEST_SPREAD = 1.0, 2.0, 2.0  # seconds, of the whole process
FIT_ITEMS = 1_000
_TIMED = "import time; begin = time.perf_counter(); {code}; print(time.perf_counter() - begin)"
_FIT = (
    "import softspread, sys; from benchmarks._common import make_items, make_votes; X, classes = "
    "make_items({n}, 0); begin = time.perf_counter(); "
    "softspread.ProbabilisticLabelSpreading(alpha=0.9).fit(X, "
    "softspread.Votes.from_pairs(*make_votes(classes, 0)))"
)
_COMMAND = [sys.executable, "-c", "from softspread.cli.app import main; main()"]
STARTS = {
    "python alone": "pass",
    "import softspread": "import softspread",
    "the same and its estimator": "import softspread; softspread.ProbabilisticLabelSpreading",
    f"first fit of {FIT_ITEMS:,} items": _FIT.format(n=FIT_ITEMS),
}


def run(settings: Settings, folder: Path, report: Report) -> None:
    """Measure every start, keep the records, show one table."""
    say("start of a fresh process")
    rows = []
    for name, code in STARTS.items():
        record = _measure(
            name, [sys.executable, "-c", _TIMED.format(code=code)], settings.start_repeats, report
        )
        rows.append((name, *(seconds(record[key]) for key in ("inside", "seconds", "cpu_seconds"))))
        if "estimator" in name:
            report.judge("import of softspread and its estimator, s", record["inside"], LONGEST_IMPORT)
        if "fit" in name:
            report.judge("first fit in a fresh process, all of it, s", record["seconds"], LONGEST_FIRST_FIT)
    record = _measure("softspread --help", [*_COMMAND, "--help"], settings.start_repeats, report)
    rows.append((record["what"], "-", seconds(record["seconds"]), seconds(record["cpu_seconds"])))
    for name, arguments in _spread_commands(folder, settings.seed).items():
        record = _measure(name, [*_COMMAND, *arguments], settings.start_repeats, report)
        rows.append((name, "-", seconds(record["seconds"]), seconds(record["cpu_seconds"])))
        report.judge(f"{name} of {FIT_ITEMS:,} items, s", record["seconds"], LONGEST_SPREAD)
    say("\nStart (median of fresh processes; the first run, which may compile, is not counted)")
    show_table(("what", "inside", "whole process", "processor time"), rows)


def _spread_commands(folder: Path, seed: int) -> dict[str, list[str]]:
    """Arguments of ``softspread spread`` from Parquet to Parquet, for each method."""
    embeddings, votes = write_files(folder, FIT_ITEMS, seed)
    files = ["--embeddings", str(embeddings), "--votes", str(votes), "--out", str(folder / "labels.parquet")]
    return {
        "softspread spread": ["spread", *files],
        "softspread spread --method pls": ["spread", "--method", "pls", "--interval", "wilson", *files],
    }


def _measure(name: str, command: list[str], repeats: int, report: Report) -> Record:
    inside, whole, cpu = [], [], []
    for number in range(repeats + 1):
        begin, cpu_begin = time.perf_counter(), _children_seconds()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        took = time.perf_counter() - begin
        if done.returncode != 0:
            raise RuntimeError(f"{name} failed:\n{done.stderr}")
        if number > 0:
            whole.append(took)
            cpu.append(_children_seconds() - cpu_begin)
            inside.append(_last_number(done.stdout))
    known = [value for value in inside if value is not None]
    return report.add(
        bench="start",
        what=name,
        seconds=median(whole),
        times=whole,
        cpu_seconds=median(cpu),
        inside=median(known) if known else None,
    )


def _children_seconds() -> float:
    """Processor time of all processes that this one has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _last_number(text: str) -> float | None:
    try:
        return float(json.loads(text.strip().splitlines()[-1]))
    except (ValueError, TypeError, IndexError):
        return None


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(only="start")
