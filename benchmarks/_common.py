"""Shared by all benchmarks: synthetic items, votes, fresh processes, targets, tables, JSON lines.

items (n, 20), votes on 10 % of them  ->  tasks in processes of their own  ->  records  ->  table, JSON lines
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
N_CLASSES = 10
N_FEATURES = 20
MANIFOLD_DIMENSIONS = 4
N_NEIGHBORS = 20
VOTES_SHARE = 0.1  # votes per item
LABEL_NOISE = 0.2  # share of votes that name a class at random
LIBRARIES = ("softspread", "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "pyamg")

Record = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What to measure; every field can be set on the command line."""

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    alphas: tuple[float, ...] = (0.5, 0.9, 0.99)
    live_sizes: tuple[int, ...] = (100_000,)
    live_votes: int = 200
    # Largest n at which tol=1e-8 is measured as well: there every scale is a tight solve
    tight_up_to: int = 10_000
    repeats: int = 3  # fits per setting, the median counts; one at 1M
    start_repeats: int = 5
    rival_votes: int = 100  # largest sample of votes solved one by one
    rival_seconds: float = 20.0  # ... and after this long no further vote is begun
    label_spreading_seconds: float = 180.0  # scikit-learn is skipped where its search alone would take longer
    truth_seconds: float = 120.0  # time for tight scales where not all of them can be had
    search_seconds: float = 600.0  # searches that would take longer are skipped
    embeddings: tuple[str, ...] = ()  # .npy files whose items are searched for neighbours as well
    seed: int = 0


@dataclass
class Report:
    """Records of one run, written as they come; failed targets are counted, never raised."""

    path: Path
    run: str
    records: list[Record] = field(default_factory=list)

    def add(self, **record: Any) -> Record:
        """Keep one record and append it to the file as a line of JSON."""
        record = {"run": self.run, **record}
        self.records.append(record)
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        return record

    def judge(self, what: str, value: float, limit: float, *, at_least: bool = False, **where: Any) -> Record:
        """Keep a measured value beside its target."""
        reached = value >= limit if at_least else value <= limit
        sense = "at least" if at_least else "at most"
        return self.add(
            bench="target", what=what, **where, value=value, sense=sense, limit=limit, reached=reached
        )


def make_items(n: int, seed: int) -> "tuple[NDArray[np.float32], NDArray[np.int64]]":
    """Ten classes, each a curved 4-dimensional sheet in 20 dimensions, with a little noise around it.

    x = c_k + 0.5 Z A0 + 0.3 sin(2 Z) A1 + 0.2 cos(3 Z) A2 + 0.05 N(0, I_20),   Z ~ N(0, I_4),   c_k ~ 1.2
    N(0, I_20)

    The entries of A0, A1, A2 (4, 20) are standard normal, drawn for each class. Classes touch and partly
    overlap.

    Returns
    -------
    X : (n, 20) float32
    classes : (n,) true class of each item
    """
    import numpy as np

    rng = np.random.default_rng([seed, 1])
    classes = rng.integers(N_CLASSES, size=n)
    X = np.empty((n, N_FEATURES), dtype=np.float32)
    for number in range(N_CLASSES):
        centre = 1.2 * rng.normal(size=N_FEATURES)
        A0, A1, A2 = rng.normal(size=(3, MANIFOLD_DIMENSIONS, N_FEATURES))
        rows = np.flatnonzero(classes == number)
        Z = rng.normal(size=(len(rows), MANIFOLD_DIMENSIONS))
        noise = rng.normal(size=(len(rows), N_FEATURES))
        X[rows] = centre + 0.5 * Z @ A0 + 0.3 * np.sin(2 * Z) @ A1 + 0.2 * np.cos(3 * Z) @ A2 + 0.05 * noise
    return X, classes


def make_votes(classes: "NDArray[np.int64]", seed: int) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """One vote each on 10 % of the items, all different (our worst case: every vote costs a scale).

    A fifth of the votes names a class at random.

    Returns
    -------
    rows, labels : (m,) each; the first ten votes name each class once, so that no class is missing
    """
    import numpy as np

    rng = np.random.default_rng([seed, 2])
    m = max(N_CLASSES, round(VOTES_SHARE * len(classes)))
    rows = rng.choice(len(classes), m, replace=False)
    labels = np.where(rng.random(m) < LABEL_NOISE, rng.integers(N_CLASSES, size=m), classes[rows])
    labels[:N_CLASSES] = np.arange(N_CLASSES)
    return rows, labels


def write_files(folder: Path, n: int, seed: int) -> tuple[Path, Path]:
    """The same items with ids as Parquet, float32 vectors in one column, and their votes as CSV."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, classes = make_items(n, seed)
    rows, labels = make_votes(classes, seed)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), N_FEATURES)
    embeddings, votes = folder / f"X{n}.parquet", folder / f"votes{n}.csv"
    pq.write_table(pa.table({"item": [f"i{row}" for row in range(n)], "vector": vectors}), embeddings)
    lines = [f"i{row},c{label}\n" for row, label in zip(rows, labels, strict=True)]
    votes.write_text("item,label\n" + "".join(lines), encoding="utf-8")
    return embeddings, votes


def run_task(task: str, folder: Path, **arguments: Any) -> Record:
    """Run one task of ``benchmarks._tasks`` in a fresh process and return its record."""
    command = [sys.executable, "-m", "benchmarks._tasks", task, str(folder), json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"benchmark task {task} {arguments} failed:\n{done.stderr}")
    record: Record = json.loads(done.stdout.strip().splitlines()[-1])
    return record


def prepare_dataset(settings: Settings, folder: Path, n: int, report: Report) -> Path:
    """Items, votes and graph of one size in a folder of their own; made once per run."""
    home = folder / f"n{n}"
    if not home.exists():
        home.mkdir()
        found = run_task("dataset", home, n=n, seed=settings.seed)
        report.add(bench="neighbors", n=n, **found)
    return home


def describe_machine() -> Record:
    """Processor, cores this process may use, memory in GiB, load when asked."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": model, "cores": cores, "memory_gib": round(memory, 1), "load": os.getloadavg()[0]}


def describe_versions() -> Record:
    """Python, the libraries that matter, and the commit."""
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "absent"
    try:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    return {"versions": versions, "commit": commit}


def open_report(settings: Settings, path: Path | None) -> Report:
    """Start a run: its facts are the first line that it writes."""
    now = datetime.now().astimezone()
    path = path or RESULTS / f"{now:%Y-%m-%d}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    report = Report(path, now.isoformat(timespec="seconds"))
    words = [Path(sys.argv[0]).stem.replace("__main__", "benchmarks"), *sys.argv[1:]]
    if "--out" in words:  # where files lie differs from machine to machine
        del words[words.index("--out") : words.index("--out") + 2]
    command = "python -m " + ("" if words[0] == "benchmarks" else "benchmarks.") + " ".join(words)
    facts = {"machine": describe_machine(), **describe_versions(), "command": command}
    report.add(bench="run", **facts, settings=vars(settings))
    return report


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return percentile(values, 0.5)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


def say(text: str) -> None:
    """A line for the reader, at once."""
    print(text, flush=True)


def show_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[str] = ()) -> None:
    """Print columns as wide as their widest entry.

    The first column and those named in ``left`` are text, the others numbers.
    """
    table = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    for row in table:
        cells = [
            cell.ljust(width) if name in (header[0], *left) else cell.rjust(width)
            for cell, width, name in zip(row, widths, header, strict=True)
        ]
        say("  " + "  ".join(cells).rstrip())


def show_targets(report: Report) -> None:
    """Every target of the run with what was measured."""
    judged = [record for record in report.records if record["bench"] == "target"]
    if not judged:
        return
    say("\nTargets")
    rows = []
    for record in judged:
        where = ", ".join(f"{key} {record[key]:g}" for key in ("n", "alpha", "tol") if key in record)
        wanted = f"{record['sense']} {record['limit']:g}"
        rows.append(
            (
                record["what"],
                where,
                f"{record['value']:.4g}",
                wanted,
                "reached" if record["reached"] else "MISSED",
            )
        )
    show_table(("target", "where", "measured", "wanted", "result"), rows, left=("where", "wanted", "result"))


def seconds(value: float | None) -> str:
    """A time for the table."""
    if value is None:
        return "-"
    for limit, factor, unit in ((1.0, 1e3, "ms"), (600.0, 1.0, "s"), (36_000.0, 1 / 60, "min")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value / 3600:.3g} h"
