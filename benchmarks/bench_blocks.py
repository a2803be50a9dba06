"""Runs in blocks: processor seconds by stage, memory and disk by size; Dask beside a fit in memory.

`python -m benchmarks.bench_blocks --sizes 30000,100000,300000 --cluster 100000 --out blocks.json`

Each size is a process of its own, with one thread. `python -m experiments.blocks blocks.json` fits a cost
model to the records and stores the tables of the documentation.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from experiments.stored import this_run

from benchmarks._common import (
    N_NEIGHBORS,
    ROOT,
    Record,
    describe_machine,
    make_items,
    make_votes,
    say,
)

ALPHA, LIMIT = 0.9, "4GB"
BLOCK = 50_000


def files(folder: Path, n: int) -> tuple[Path, np.ndarray]:
    """Items of one size in a file, and votes on a tenth of them as labels."""
    path = folder / "X.npy"
    X, classes = make_items(n, 0)
    np.save(path, X)
    rows, labels = make_votes(classes, 0)
    y = np.full(n, -1)
    y[rows] = labels
    return path, y


def measure(way: str, n: int) -> Record:
    """One fit, in this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, y = files(folder, n)
        before = peak_bytes()
        record = (in_memory if way == "memory" else in_blocks)(folder, path, y, way)
        return {"way": way, "n": n, "items_bytes": before, **record}


def in_memory(folder: Path, path: Path, y: np.ndarray, way: str) -> Record:
    """The estimator, from arrays to soft labels with intervals."""
    from softspread import ProbabilisticLabelSpreading

    wall, cpu = time.perf_counter(), time.process_time()
    est = ProbabilisticLabelSpreading(alpha=ALPHA, n_neighbors=N_NEIGHBORS, random_state=0)
    est.fit(np.load(path), y).soft_labels(0.9, "wilson").to_frame().to_parquet(folder / "s.parquet")
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "peak": peak_bytes()}


def in_blocks(folder: Path, path: Path, y: np.ndarray, way: str) -> Record:
    """A run in blocks, by one process or by two workers of a local cluster; seconds by stage."""
    from softspread import spread_in_blocks
    from softspread.blocks.cluster import connected
    from softspread.blocks.run import Runner

    stages: dict[str, float] = {}
    for name in ("complete", "take_votes", "solve"):
        setattr(Runner, name, _timed(getattr(Runner, name), name, stages))
    given: dict[str, Any] = {
        "alpha": ALPHA,
        "n_neighbors": N_NEIGHBORS,
        "block_items": BLOCK,
        "memory_limit": LIMIT,
    }
    wall, cpu = time.perf_counter(), time.process_time()
    with watched(folder) as disk:
        if way == "dask":
            with connected("local", 2 * 10**9) as client:
                started = time.perf_counter() - wall
                done = spread_in_blocks(path, y, folder / "s.parquet", client=client, **given)
                workers = client.run(lambda: (time.process_time(), peak_bytes()))
        else:
            done, workers, started = (
                spread_in_blocks(path, y, folder / "s.parquet", n_jobs=1, **given),
                {},
                0.0,
            )
    facts, times = done.facts, list(workers.values())
    return {
        "wall": time.perf_counter() - wall,
        "cluster_start": started,
        "cpu": time.process_time() - cpu + sum(seconds for seconds, _ in times),
        "peak": max([peak_bytes(), *(size for _, size in times)]),
        "disk": disk["bytes"],
        "stages": stages,
        "steps": facts["solve"]["iterations"],
        "residual": facts["solve"]["residual"],
        "recall": facts["graph"]["recall"],
        "blocks": facts["graph"]["blocks"],
        "touched": facts["graph"]["touched_per_block"],
        "halo": facts["graph"]["halo_per_item"],
        "global_solves": facts["scales"]["global_solves"],
    }


def _timed(method: Any, name: str, stages: dict[str, float]) -> Any:
    def call(self: Any, *arguments: Any) -> Any:
        begin = time.process_time()
        try:
            return method(self, *arguments)
        finally:
            stage = arguments[0] if name == "complete" else name
            stages[stage] = stages.get(stage, 0.0) + time.process_time() - begin

    return call


@contextmanager
def watched(folder: Path) -> Any:
    """The most bytes that files in a folder have taken."""
    found, stop = {"bytes": 0}, threading.Event()

    def look() -> None:
        while not stop.wait(0.5):
            sizes = []
            for file in folder.rglob("*"):
                try:
                    sizes.append(file.stat().st_size if file.is_file() else 0)
                except FileNotFoundError:  # removed meanwhile
                    continue
            found["bytes"] = max(found["bytes"], sum(sizes))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    yield found
    stop.set()
    watcher.join()


def peak_bytes() -> int:
    """Largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fresh(way: str, n: int) -> Record:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_blocks", "--one", way, "--sizes", str(n)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    record: Record = json.loads(done.stdout.splitlines()[-1])
    return record


def show(record: Record) -> None:
    """One line for one fit."""
    disk = f", disk {record['disk'] / 1e9:.2f} GB" if "disk" in record else ""
    say(
        f"{record['way']:>7} n {record['n']:>10,}: {record['cpu']:8.1f} CPU s, {record['wall']:8.1f} s wall, "
        f"{1e6 * record['cpu'] / record['n']:6.0f} us per item, peak {record['peak'] / 1e9:.2f} GB{disk}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="30000,100000,300000")
    parser.add_argument("--cluster", type=int, default=0, help="also memory and Dask at this size")
    parser.add_argument("--one", choices=("memory", "blocks", "dask"))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    sizes = [int(float(size)) for size in given.sizes.split(",")]
    if given.one:
        print(json.dumps(measure(given.one, sizes[0])))
        return
    about = {"machine": describe_machine(), "run": this_run()}
    records: list[Record] = []
    for way, n in [("blocks", n) for n in sizes] + [
        (way, given.cluster) for way in ("memory", "dask") if given.cluster
    ]:
        records.append(fresh(way, n))
        show(records[-1])
        if given.out:
            given.out.write_text(json.dumps(about | {"records": records}, indent=1))


if __name__ == "__main__":
    main()
