"""Runs in blocks: processor seconds by stage, memory and disk by size; Dask beside a fit in memory.

`python -m benchmarks.bench_blocks --sizes 300000,1000000 --cluster 1000000 --out blocks.json`

Each size is a process of its own, with one thread unless told otherwise. With `--kill 60,300` the process is
killed (SIGKILL) after so many seconds, and again after so many more, and each time started again; what all
attempts took is added up. `python -m experiments.blocks blocks.json` fits a cost model to the records and
stores the tables of the documentation. A `--folder` is kept: the same call goes on where an earlier one,
killed from outside, has stood. `--cells 100,1000` measures the parts that grow with the number of cells.
"""

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from experiments.stored import this_run

from benchmarks._common import (
    N_NEIGHBORS,
    ROOT,
    Record,
    Report,
    Settings,
    describe_machine,
    make_items,
    make_votes,
    say,
)

ALPHA = 0.9
SEARCHED = 40_000  # items whose nearest centres are found
TOUCHED = 13  # blocks that a block touches in the measured runs
SAMPLED = 2.0  # seconds between two looks at memory and disk
LIMIT = "4GB"  # memory of a process
MOST_TIMES, MOST_GIB = 2.0, 2.0  # Dask with two workers: times as long as in memory, and memory of each


@dataclass
class Spent:
    """What this process has taken so far, by stage; written down as it goes, as it may be killed."""

    file: Path
    stages: dict[str, float] = field(default_factory=dict)
    open: tuple[str, float] | None = None  # the stage that is running, and the processor time at its start
    disk: int = 0
    began: float = field(default_factory=time.perf_counter)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts what a stage takes."""
        self.open = name, time.process_time()
        try:
            yield
        finally:
            self.stages, self.open = self._by_stage(), None

    def _by_stage(self) -> dict[str, float]:
        if self.open is None:
            return dict(self.stages)
        name, begin = self.open
        return self.stages | {name: self.stages.get(name, 0.0) + time.process_time() - begin}

    def write(self) -> None:
        """What was taken until now."""
        record = {
            "wall": time.perf_counter() - self.began,
            "cpu": time.process_time(),
            "peak": peak_bytes(),
            "disk": self.disk,
            "stages": self._by_stage(),
        }
        self.file.write_text(json.dumps(record))


def make_files(given: argparse.Namespace) -> Record:
    """Items of one size, and votes on a tenth of them as labels."""
    folder, n = given.folder, given.sizes[0]
    X, classes = make_items(n, 0)
    np.save(folder / "X.npy", X)
    rows, labels = make_votes(classes, 0)
    y = np.full(n, -1)
    y[rows] = labels
    np.save(folder / "y.npy", y)
    return {}


def in_memory(given: argparse.Namespace) -> Record:
    """The estimator, from arrays to soft labels with intervals."""
    from softspread import ProbabilisticLabelSpreading

    folder, wall, cpu = given.folder, time.perf_counter(), time.process_time()
    est = ProbabilisticLabelSpreading(
        alpha=ALPHA, n_neighbors=given.neighbors, n_jobs=given.threads, random_state=0
    )
    est.fit(np.load(folder / "X.npy"), np.load(folder / "y.npy"))
    est.soft_labels(0.9, "wilson").to_frame().to_parquet(folder / "memory.parquet")
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "peak": peak_bytes()}


def in_blocks(given: argparse.Namespace) -> Record:
    """A run in blocks by one process; what it took is in the files of its attempts."""
    from softspread import spread_in_blocks

    with watched(given.folder):
        done = spread_in_blocks(*arguments(given), **settings(given), n_jobs=given.threads)
    return facts_of(done)


def on_dask(given: argparse.Namespace) -> Record:
    """The same by two workers of a local cluster, whose processor time is read at the end."""
    from softspread import spread_in_blocks
    from softspread.blocks.cluster import connected
    from softspread.blocks.plan import parse_size

    wall, cpu = time.perf_counter(), time.process_time()
    with connected("local", parse_size(given.limit)) as client:
        started = time.perf_counter() - wall
        done = spread_in_blocks(*arguments(given), **settings(given), client=client)
        workers = list(client.run(lambda: (time.process_time(), peak_bytes())).values())
    return {
        "wall": time.perf_counter() - wall,
        "cluster_start": started,
        "cpu": time.process_time() - cpu + sum(seconds for seconds, _ in workers),
        "peak": max(size for _, size in workers),
        "peak_of_driver": peak_bytes(),
        **facts_of(done),
    }


def many_cells(n_cells: int) -> Record:
    """What grows with the number of cells: their centres, the search among them, what each task is told."""
    from sklearn.metrics import pairwise_distances_argmin

    from softspread._common.threads import Workers
    from softspread.blocks.partition import RULE, choose_centres, two_nearest

    sample, rng = make_items(RULE.sample_per_cell * n_cells, 0)[0], np.random.default_rng(0)
    spent = [time.process_time()]
    centres = choose_centres(sample, n_cells, rng, Workers(1))
    spent.append(time.process_time())
    some = sample[:SEARCHED]
    two_nearest(some, np.arange(len(some)), centres, Workers(1))
    spent.append(time.process_time())
    pairwise_distances_argmin(some, centres.astype(np.float32))
    spent.append(time.process_time())
    found, nearest, compared = np.diff(spent).tolist()
    blocks = [rng.integers(len(centres), size=TOUCHED).tolist() for _ in centres]
    told = {"sizes": [10**5] * len(centres), "visitors": blocks, "pointing": blocks, "touched": blocks}
    return {
        "way": "cells",
        "cells": n_cells,
        "centres": found,
        "nearest": 1e6 * nearest / len(some),
        "compared": 1e6 * compared / len(some),
        "told": len(pickle.dumps(told | {"radii": [1.0] * len(centres)})),
    }


def arguments(given: argparse.Namespace) -> tuple[Path, np.ndarray, Path]:
    """Items, votes, target."""
    return given.folder / "X.npy", np.load(given.folder / "y.npy"), given.folder / "soft.parquet"


def settings(given: argparse.Namespace) -> dict[str, Any]:
    """What all runs in blocks are given."""
    return {
        "alpha": ALPHA,
        "n_neighbors": given.neighbors,
        "block_items": given.block_items,
        "memory_limit": given.limit,
    }


def facts_of(done: Any) -> Record:
    """What a run says about itself."""
    facts = done.facts
    return {
        "steps": facts["solve"]["iterations"],
        "residual": facts["solve"]["residual"],
        "recall": facts["graph"]["recall"],
        "blocks": facts["graph"]["blocks"],
        "touched": facts["graph"]["touched_per_block"],
        "halo": facts["graph"]["halo_per_item"],
        "global_solves": facts["scales"]["global_solves"],
        "certified": facts["scales"]["certified"],
        "expected_memory": facts["expected_memory_bytes"],
        "expected_disk": facts["expected_disk_bytes"],
    }


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Write down, again and again, what this process takes and how much of the disk the folder does."""
    from softspread.blocks.run import Runner

    spent = Spent(folder / f"attempt-{attempts(folder)}.json")
    spent.write()
    for name in ("complete", "take_votes", "solve"):
        setattr(Runner, name, _counted(getattr(Runner, name), name, spent))
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(SAMPLED):
            spent.disk = max(spent.disk, bytes_in(folder))
            spent.write()

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    yield
    stop.set()
    watcher.join()
    spent.write()


def _counted(method: Any, name: str, spent: Spent) -> Any:
    def call(self: Any, *given: Any) -> Any:
        with spent.stage(given[0] if name == "complete" else name):
            return method(self, *given)

    return call


def bytes_in(folder: Path) -> int:
    """Size of all files below a folder, as far as they stay there."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(path) / name).stat().st_size
            except FileNotFoundError:  # removed meanwhile
                continue
    return total


def peak_bytes() -> int:
    """Largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


WAYS = {"files": make_files, "memory": in_memory, "blocks": in_blocks, "dask": on_dask}


def fresh(way: str, given: argparse.Namespace, n: int, folder: Path) -> Record:
    """One fit in a process of its own; killed and started again as asked."""
    command = [sys.executable, "-m", "benchmarks.bench_blocks", "--one", way, "--sizes", str(n)]
    command += ["--folder", str(folder), "--limit", given.limit, "--neighbors", str(given.neighbors)]
    command += ["--threads", str(given.threads)]
    if given.block_items:
        command += ["--block-items", str(given.block_items)]
    waits: list[float | None] = [*given.kill, None] if way == "blocks" else [None]
    for wait in waits[attempts(folder) if way == "blocks" else 0 :] or [None]:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            out, errors = process.communicate(timeout=wait)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    if process.returncode:
        raise RuntimeError(errors[-2000:])
    record: Record = {"way": way, "n": n, "n_neighbors": given.neighbors, "threads": given.threads}
    record |= json.loads(out.splitlines()[-1])
    return record | of_attempts(folder) if way == "blocks" else record


def attempts(folder: Path) -> int:
    """How many attempts at a run have begun."""
    return len(list(folder.glob("attempt-*.json")))


@contextmanager
def home(folder: Path | None, n: int) -> Iterator[Path]:
    """Where the items and blocks of one size are kept: for good in a folder that was asked for."""
    if folder is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    kept = folder / f"n{n}"
    kept.mkdir(parents=True, exist_ok=True)
    yield kept


def of_attempts(folder: Path) -> Record:
    """What all attempts at one run took."""
    found = [
        json.loads((folder / f"attempt-{number}.json").read_text()) for number in range(attempts(folder))
    ]
    stages: dict[str, float] = {}
    for attempt in found:
        for name, seconds in attempt["stages"].items():
            stages[name] = stages.get(name, 0.0) + seconds
    summed = {name: sum(attempt[name] for attempt in found) for name in ("wall", "cpu")}
    most = {name: max(attempt[name] for attempt in found) for name in ("peak", "disk")}
    return summed | most | {"stages": stages, "kills": len(found) - 1}


def run(settings: Settings, folder: Path, report: Report) -> None:
    """A fit in memory with two threads, then two Dask workers, judged side by side."""
    given = argparse.Namespace(
        limit=LIMIT, neighbors=N_NEIGHBORS, threads=2, block_items=None, kill=[], sizes=settings.sizes
    )
    for n in settings.sizes:
        say(f"in memory and on Dask, n = {n:,}")
        with home(folder / "blocks", n) as there:
            fresh("files", given, n, there)
            found = {way: fresh(way, given, n, there) for way in ("memory", "dask")}
        for record in found.values():
            show(report.add(bench="blocks", **record))
        ratio = found["dask"]["wall"] / found["memory"]["wall"]
        report.judge("Dask with two workers, times in memory", ratio, MOST_TIMES, n=n)
        report.judge("memory of a Dask worker, GiB", found["dask"]["peak"] / 2**30, MOST_GIB, n=n)


def show(record: Record) -> None:
    """One line for one fit."""
    disk = f", disk {record['disk'] / 1e9:.2f} GB" if "disk" in record else ""
    say(
        f"{record['way']:>7} n {record['n']:>10,}: {record['cpu']:8.1f} CPU s, {record['wall']:8.1f} s wall, "
        f"{1e6 * record['cpu'] / record['n']:6.0f} us per item, peak {record['peak'] / 1e9:.2f} GB{disk}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=_numbers, default=[30_000, 100_000, 300_000])
    parser.add_argument("--cluster", type=int, default=0, help="also memory and Dask at this size")
    parser.add_argument("--cells", type=_numbers, default=[], help="also the parts that grow with the cells")
    parser.add_argument("--neighbors", type=int, default=N_NEIGHBORS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", default=LIMIT, help="memory of a process")
    parser.add_argument("--block-items", type=int, help="by default what the limit allows")
    parser.add_argument("--kill", type=_numbers, default=[], help="seconds after which a run is killed")
    parser.add_argument("--one", choices=tuple(WAYS), help="in this process")
    parser.add_argument("--folder", type=Path, help="where items and blocks are kept")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(WAYS[given.one](given)))
        return
    about = {"machine": describe_machine(), "run": this_run()}
    records: list[Record] = []
    ways = [("blocks", n) for n in given.sizes]
    ways += [(way, given.cluster) for way in ("memory", "dask") if given.cluster]
    for way, n in ways:
        with home(given.folder, n) as folder:
            if not (folder / "y.npy").exists():
                fresh("files", given, n, folder)
            records.append(fresh(way, given, n, folder))
        show(records[-1])
        if given.out:
            given.out.write_text(json.dumps(about | {"records": records}, indent=1))
    for n_cells in given.cells:
        records.append(many_cells(n_cells))
        say(json.dumps(records[-1]))
        if given.out:
            given.out.write_text(json.dumps(about | {"records": records}, indent=1))


def _numbers(text: str) -> list[int]:
    return [int(float(part)) for part in text.split(",") if part]


if __name__ == "__main__":
    main()
