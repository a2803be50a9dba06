"""`python -m benchmarks`: everything in one run, from the root of the repository."""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import bench_answers, bench_live, bench_neighbors, bench_start, bench_whole_job
from benchmarks._common import Report, Settings, open_report, say, show_targets

BENCHES: dict[str, Callable[[Settings, Path, Report], None]] = {
    "whole_job": bench_whole_job.run,
    "live": bench_live.run,
    "answers": bench_answers.run,
    "neighbors": bench_neighbors.run,
    "start": bench_start.run,
}
LIVE_FROM = 100_000


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(float(part)) for part in text.split(","))


def _files(text: str) -> tuple[str, ...]:
    return tuple(str(Path(part).resolve()) for part in text.split(","))


def _shares(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _parser() -> argparse.ArgumentParser:
    default = Settings()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("--sizes", type=_numbers, default=default.sizes, help="numbers of items (default 1000,10000,100000)")
    add("--alphas", type=_shares, default=default.alphas, help="spreading intensities (default 0.5,0.9,0.99)")
    add(
        "--live-sizes",
        type=_numbers,
        help="sizes for live votes; default: the sizes from 100000 on, else the largest",
    )
    add("--live-votes", type=int, default=default.live_votes)
    add(
        "--tight-up-to",
        type=int,
        default=default.tight_up_to,
        help="largest size at which tol=1e-8 is measured too",
    )
    add("--repeats", type=int, default=default.repeats, help="fits per setting, the median counts; one at 1M")
    add("--start-repeats", type=int, default=default.start_repeats)
    add(
        "--rival-votes",
        type=int,
        default=default.rival_votes,
        help="largest sample of votes solved one by one",
    )
    add("--rival-seconds", type=float, default=default.rival_seconds, help="time for that sample")
    add("--label-spreading-seconds", type=float, default=default.label_spreading_seconds)
    add(
        "--truth-seconds",
        type=float,
        default=default.truth_seconds,
        help="time for exact scales beyond 10000 items",
    )
    add("--search-seconds", type=float, default=default.search_seconds, help="longest search to wait for")
    add("--embeddings", type=_files, default=(), help=".npy files to search for neighbours, too")
    add("--seed", type=int, default=default.seed)
    add("--only", default=",".join(BENCHES), help=f"some of {','.join(BENCHES)}")
    add(
        "--out", type=Path, help="file for the JSON lines (default benchmarks/results/<date>.jsonl, appended)"
    )
    return parser


def main(arguments: Sequence[str] | None = None, only: str | None = None) -> None:
    """Read the command line, run the benchmarks, show the targets."""
    parser = _parser()
    options = vars(parser.parse_args(arguments))
    chosen = (only or options["only"]).split(",")
    path = options.pop("out")
    options.pop("only")
    if unknown := set(chosen) - set(BENCHES):
        parser.error(f"--only takes some of {','.join(BENCHES)}, got {','.join(sorted(unknown))}")
    if options["live_sizes"] is None:
        options["live_sizes"] = tuple(n for n in options["sizes"] if n >= LIVE_FROM) or (
            max(options["sizes"]),
        )
    settings = replace(Settings(), **options)
    report = open_report(settings, path)
    facts = report.records[0]
    machine = facts["machine"]
    say(
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, load {machine['load']:.1f}"
    )
    say(
        f"commit {facts['commit']}, seed {settings.seed}, "
        + ", ".join(f"{k} {v}" for k, v in facts["versions"].items())
    )
    if machine["load"] > 0.5:
        say("the machine is busy: times are too long, ratios rough")
    with tempfile.TemporaryDirectory(prefix="softspread-bench-") as folder:
        for name in chosen:
            BENCHES[name](settings, Path(folder), report)
    show_targets(report)
    say(f"\nJSON lines: {report.path}")


if __name__ == "__main__":
    main()
