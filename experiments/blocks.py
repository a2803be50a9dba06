"""Runs in blocks as the documentation shows them: what was measured, the cost model, the plan to a billion.

    python -m benchmarks.bench_blocks --sizes 20000,60000,150000 --cluster 60000 --out FILE
    python -m experiments.blocks FILE

reads the records and stores tables (``experiments/results/blocks.json``). The first size pays for compilation
and is left out of the model, which is judged on the largest: a size that it was not fitted on.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd
from experiments.stored import store

Record = dict[str, Any]
PLANNED = (10**6, 10**7, 10**8, 10**9)
CORES = {10**6: 2, 10**7: 2, 10**8: 32, 10**9: 512}  # one worker per core
CLASSES, BYTES = 10, 4  # of the measured runs; single precision
GROUPS = {
    "neighbours": ("cells", "assign", "vectors", "lists", "merged", "neighbors", "recall"),
    "graph": ("halves", "affinity", "operator"),
    "scales": ("remainder", "scales", "far"),
    "mass": ("solve",),
    "soft labels": ("take_votes", "labels"),
}


def measured(records: list[Record]) -> pd.DataFrame:
    """Every run, a row each."""
    ways = {"blocks": "blocks, one process", "memory": "in memory", "dask": "blocks, Dask, two workers"}
    rows = [
        {
            "items": one["n"],
            "how": ways[one["way"]],
            "CPU s": round(one["cpu"], 1),
            "us per item": round(1e6 * one["cpu"] / one["n"]),
            "wall s": round(one["wall"]),
            "peak of a process, GB": round(one["peak"] / 1e9, 2),
            "disk, GB": round(one["disk"] / 1e9, 2) if "disk" in one else None,
            "recall": one.get("recall"),
            "blocks": one.get("blocks"),
            "halo per item": round(one["halo"], 2) if "halo" in one else None,
        }
        for one in records
    ]
    return pd.DataFrame(rows)


def seconds_of(record: Record, group: str) -> float:
    """Processor seconds of a group of stages."""
    return sum(record["stages"].get(stage, 0.0) for stage in GROUPS[group])


def model(records: list[Record]) -> pd.DataFrame:
    """Cost per item at the second size, and what it predicts for the largest, on which it was not fitted."""
    runs = sorted((one for one in records if one["way"] == "blocks"), key=lambda one: one["n"])
    fitted, judged = runs[1], runs[-1]
    rows = []
    for name in (*GROUPS, "all, CPU s", "disk, GB"):
        each = _value(fitted, name) / fitted["n"]
        predicted, truth = each * judged["n"], _value(judged, name)
        rows.append(
            {
                "part": name,
                f"per million items, from {fitted['n']:,}": round(1e6 * each, 2),
                f"predicted at {judged['n']:,}": round(predicted, 2),
                "measured": round(truth, 2),
                "measured / predicted": round(truth / predicted, 2),
            }
        )
    return pd.DataFrame(rows)


def _value(record: Record, name: str) -> float:
    if name == "disk, GB":
        return float(record["disk"]) / 1e9
    return float(record["cpu"]) if name == "all, CPU s" else seconds_of(record, name)


def planned(records: list[Record]) -> pd.DataFrame:
    """Core hours, disk and traffic of larger runs, at what an item took in the largest measured run."""
    last = max((one for one in records if one["way"] == "blocks"), key=lambda one: one["n"])
    each, disk = last["cpu"] / last["n"], last["disk"] / last["n"]
    rows = []
    for n in PLANNED:
        hours = each * n / 3600
        traffic = last["halo"] * CLASSES * BYTES * last["steps"] * n
        rows.append(
            {
                "items": f"{n:,}",
                "core hours": round(hours, 1),
                "workers of one core": CORES[n],
                "hours": round(hours / CORES[n], 1),
                "disk, GB": round(disk * n / 1e9),
                "sent in all steps, GB": round(traffic / 1e9, 1),
                "vectors of a worker, GB": round(2 * CLASSES * BYTES * n / CORES[n] / 1e9, 2),
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    document = json.loads(parser.parse_args().file.read_text())
    records = [one for one in document["records"] if one["way"] != "model"]
    tables = {
        "Runs in blocks": measured(records),
        "A cost model, judged on a size it was not fitted on": model(records),
        "Larger runs, extrapolated": planned(records),
    }
    print(store("blocks", tables, [document["run"]]))


if __name__ == "__main__":
    main()
