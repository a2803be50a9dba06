"""Runs in blocks as the documentation shows them: what was measured, the cost model, the plan to a billion.

    bench_blocks --sizes 300000,1000000,3000000 --neighbors 15 --limit 12GiB --kill 60,120 --out A
    bench_blocks --sizes 10000000 --neighbors 15 --threads 2 --limit 12GiB --out B
    bench_blocks --sizes 100000 --cluster 100000 --neighbors 15 --threads 2 --limit 2GiB --out C
    bench_blocks --sizes "" --cells 100,1000 --out D            (each by python -m benchmarks.bench_blocks)
    python -m experiments.blocks A B C D

reads the records and stores tables (``experiments/results/blocks.json``). The smallest size pays for
compilation and is left out of the model, which is fitted on the middle sizes and judged on the largest.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks.bench_blocks import of_attempts
from experiments.stored import store

Record = dict[str, Any]
PLANNED = (10**8, 10**9)
BLOCK = 100_000  # items
CORES = {10**8: 32, 10**9: 512}  # one worker per core
CLASSES, BYTES = 10, 4  # of the measured runs; single precision
CHUNK, GROUP = 1_000_000, 64  # items read at once, cells gathered at once
TASKS_PER_BLOCK, TASKS_PER_SECOND = 10, 1_000  # outside the solve; a scheduler's, cautiously
GROUPS = {
    "neighbours": ("cells", "assign", "gathered", "vectors", "lists", "merged", "neighbors", "recall"),
    "graph": ("halves", "affinity", "operator"),
    "scales": ("remainder", "scales", "far"),
    "mass": ("solve",),
    "soft labels": ("take_votes", "labels"),
}
WAYS = {"memory": "in memory", "blocks": "blocks, one process", "dask": "blocks, Dask, two workers"}


def runs_in_blocks(records: list[Record]) -> list[Record]:
    """The runs of one process, the smallest first."""
    return sorted((one for one in records if one["way"] == "blocks"), key=lambda one: one["n"])


def measured(records: list[Record]) -> pd.DataFrame:
    """Every run in blocks, a row each."""
    rows = [
        {
            "items": f"{one['n']:,}",
            "CPU s": round(one["cpu"], 1),
            "us per item": round(1e6 * one["cpu"] / one["n"]),
            "wall s": round(one["wall"]),
            "killed and resumed": one["kills"],
            "peak, GB": round(one["peak"] / 1e9, 2),
            "peak said before": round(one["expected_memory"] / 1e9, 2),
            "disk, GB": round(one["disk"] / 1e9, 1),
            "disk said before": round(one["expected_disk"] / 1e9, 1),
            "recall": round(one["recall"], 5),
            "blocks": one["blocks"],
            "halo per item": round(one["halo"], 2),
        }
        for one in runs_in_blocks(records)
    ]
    return pd.DataFrame(rows)


def by_stage(records: list[Record]) -> pd.DataFrame:
    """Microseconds per item of each stage, a column per size."""
    runs = runs_in_blocks(records)
    names = [(stage, group) for group, stages in GROUPS.items() for stage in stages]
    rows = [
        {"part": group, "stage": stage}
        | {f"{one['n']:,}": round(1e6 * one["stages"].get(stage, 0.0) / one["n"], 2) for one in runs}
        for stage, group in names
    ]
    whole = {f"{one['n']:,}": round(1e6 * sum(one["stages"].values()) / one["n"], 1) for one in runs}
    return pd.DataFrame([*rows, {"part": "all", "stage": ""} | whole])


def beside_memory(records: list[Record]) -> pd.DataFrame:
    """A fit in memory, one process in blocks, two Dask workers: at the sizes at which there is the first."""
    found = {(one["n"], one["way"]): one for one in records if "n" in one}
    rows = [
        {
            "items": f"{n:,}",
            "how": WAYS[way],
            "threads or workers": one["threads"],
            "CPU s": round(one["cpu"], 1),
            "wall s": round(one["wall"]),
            "CPU, times in memory": round(one["cpu"] / found[n, "memory"]["cpu"], 2),
            "peak of a process, GB": round(one["peak"] / 1e9, 2),
        }
        for n, way in sorted(found, key=lambda key: (key[0], list(WAYS).index(key[1])))
        if (n, "memory") in found
        for one in [found[n, way]]
    ]
    return pd.DataFrame(rows)


def seconds_of(record: Record, group: str) -> float:
    """Processor seconds of a group of stages."""
    return sum(record["stages"].get(stage, 0.0) for stage in GROUPS[group])


def model(records: list[Record]) -> pd.DataFrame:
    """Cost per item over the middle sizes, and what it predicts for the largest, which took no part."""
    _, *fitted, judged = runs_in_blocks(records)
    sizes = " and ".join(f"{one['n']:,}" for one in fitted)
    rows = []
    for name in (*GROUPS, "all, CPU s", "disk, GB"):
        each = sum(_value(one, name) for one in fitted) / sum(one["n"] for one in fitted)
        predicted, truth = each * judged["n"], _value(judged, name)
        rows.append(
            {
                "part": name,
                f"per million items, from {sizes}": round(1e6 * each, 2),
                f"predicted at {judged['n']:,}": round(predicted, 1),
                "measured": round(truth, 1),
                "measured / predicted": round(truth / predicted, 2),
            }
        )
    return pd.DataFrame(rows)


def _value(record: Record, name: str) -> float:
    if name == "disk, GB":
        return float(record["disk"]) / 1e9
    return float(record["cpu"]) if name == "all, CPU s" else seconds_of(record, name)


def unfinished(folder: Path) -> pd.DataFrame:
    """How far a run came whose folder is kept: blocks that stand, and what its stages took until now."""
    spent, blocks = of_attempts(folder), folder / "soft.parquet.blocks"
    n = int(folder.name.removeprefix("n"))
    rows = [
        {
            "items": f"{n:,}",
            "stage": stage,
            "blocks that stand": len(list((blocks / stage).glob("[0-9]*.npz"))),
            "CPU s until now": round(seconds, 1),
            "us per item": round(1e6 * seconds / n, 2),
        }
        for stage, seconds in spent["stages"].items()
    ]
    total = {"items": f"{n:,}", "stage": f"all, in {spent['kills'] + 1} attempts", "blocks that stand": None}
    rows.append(total | {"CPU s until now": round(spent["cpu"], 1), "us per item": None})
    return pd.DataFrame(rows)


def many_cells(records: list[Record]) -> pd.DataFrame:
    """What grows with the number of cells, measured by itself."""
    rows = [
        {
            "cells": f"{one['cells']:,}",
            "stands for items": f"{one['cells'] * BLOCK:,}",
            "finding the centres, CPU s": round(one["centres"], 1),
            "nearest two centres, us per item": round(one["nearest"], 2),
            "all centres compared, us per item": round(one["compared"], 1),
            "what a task is told, MB": round(one["told"] / 1e6, 2),
        }
        for one in records
        if one["way"] == "cells"
    ]
    return pd.DataFrame(rows)


def planned(records: list[Record]) -> pd.DataFrame:
    """Larger runs at what an item took in the largest measured one, with what grows with the cells."""
    last, cells = runs_in_blocks(records)[-1], {one["cells"]: one for one in records if one["way"] == "cells"}
    each, disk = last["cpu"] / last["n"], last["disk"] / last["n"]
    rows = []
    for n in PLANNED:
        blocks, there = n // BLOCK, cells.get(n // BLOCK)
        more = 0.0 if there is None else 1e-6 * there["nearest"] * n + there["centres"]
        hours = (each * n + more) / 3600
        traffic = last["halo"] * CLASSES * BYTES * last["steps"] * n
        tasks = blocks * TASKS_PER_BLOCK + 2 * CORES[n] * last["steps"]  # two per worker and step
        rows.append(
            {
                "items": f"{n:,}",
                "core hours": round(hours, 1),
                "workers of one core": CORES[n],
                "hours": round(hours / CORES[n], 2),
                "scheduler, hours": round(tasks / TASKS_PER_SECOND / 3600, 2),
                "disk, GB": round(disk * n / 1e9),
                "sent in all steps, GB": round(traffic / 1e9),
                "vectors of a worker, GB": round(2 * CLASSES * BYTES * n / CORES[n] / 1e9, 2),
                "pieces read while gathering": f"{n // CHUNK * -(-blocks // GROUP):,}",
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument(
        "--unfinished", type=Path, help="folder of a run that is not complete, such as n10000000"
    )
    given = parser.parse_args()
    documents = [json.loads(path.read_text()) for path in given.files]
    everything = [record for document in documents for record in document["records"]]
    alone = [one for one in documents if all(record["way"] != "dask" for record in one["records"])]
    records = [record for document in alone for record in document["records"]]
    tables = {"Blocks beside a fit in memory": beside_memory(everything)}
    if runs_in_blocks(records):
        tables = {
            "Runs in blocks": measured(records),
            "Time per item by stage, microseconds": by_stage(records),
            "A cost model, judged on a size it was not fitted on": model(records),
            **tables,
            "What grows with the number of cells": many_cells(records),
            "Larger runs, extrapolated": planned(records),
        }
    tables = {title: table for title, table in tables.items() if len(table)}
    if given.unfinished:
        tables["A run that is not complete"] = unfinished(given.unfinished)
    for title, table in tables.items():
        print(f"\n{title}\n{table.to_string(index=False)}")
    print(store("blocks", tables, [document["run"] for document in documents]))


if __name__ == "__main__":
    main()
