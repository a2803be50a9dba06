"""What benchmarks measured, as the documentation shows it.

    python -m benchmarks --sizes 1000,10000,100000 --alphas 0.9 --out FILE
    python -m benchmarks.bench_command --items 1000000 --all --out FILE
    python -m benchmarks.bench_labeler --out FILE
    python -m benchmarks.bench_web load --out FILE
    python -m experiments.speed FILE

reads the JSON lines of the runs and stores tables (``experiments/results/speed.json``).
"""

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd
from experiments.stored import store

Record = dict[str, Any]
NAMES = {
    "ours": "softspread",
    "fgmres": "PyAMG FGMRES, one solve per vote",
    "cg": "SciPy CG, one solve per vote",
    "label_spreading": "scikit-learn LabelSpreading",
}


def whole_jobs(records: list[Record]) -> pd.DataFrame:
    """Times of whole jobs from a built graph, and how exact they are."""
    rows = [
        {
            "items": one["n"],
            "alpha": one["alpha"],
            "method": NAMES.get(one["what"], one["what"]) + (f", tol {one['tol']:g}" if "tol" in one else ""),
            "seconds": f"{one['seconds']:.3g}" if "seconds" in one else one.get("skipped", ""),
            "largest error of p": f"{one['error']:.1e}" if one.get("error") is not None else None,
            "memory, GiB": one.get("memory_gib"),
        }
        for one in records
        if one["bench"] == "whole_job"
    ]
    return pd.DataFrame(rows)


def ratios(records: list[Record]) -> pd.DataFrame:
    """How much longer others take for the same job."""
    rows = [
        {"items": one["n"], "alpha": one["alpha"], "over": NAMES.get(one["over"], one["over"])}
        | {"ratio": f"{one['ratio']:.3g}"}
        for one in records
        if one["bench"] == "ratio"
    ]
    return pd.DataFrame(rows)


def flat(records: list[Record], bench: str) -> pd.DataFrame:
    """Numbers of one benchmark, a row per number."""
    rows = []
    for one in records:
        if one["bench"] == bench:
            about = {"items": one.get("n"), "what": one.get("what", "")}
            numbers = {key: value for key, value in one.items() if isinstance(value, int | float)}
            shown = {key: value for key, value in numbers.items() if key != "n"}
            rows += [about | {"measured": key, "value": f"{value:.3g}"} for key, value in shown.items()]
    return pd.DataFrame(rows)


def commands(records: list[Record]) -> pd.DataFrame:
    """The whole command, with its stages."""
    rows = []
    for one in records:
        if one["bench"] == "command":
            row = {"items": one["n"], "way": one["way"], "whole process, s": f"{one['seconds']:.3g}"}
            row |= {"processor, s": f"{one['cpu_seconds']:.3g}", "memory, GiB": f"{one['peak_gib']:.3g}"}
            rows.append(row | {f"{name}, s": value for name, value in one["stages"].items()})
    return pd.DataFrame(rows)


def answers(records: list[Record]) -> pd.DataFrame:
    """Seconds of each answer of a fitted estimator, by the clock and of the processor."""
    rows = [
        {"items": one["n"], "answer": name, "seconds": f"{value:.3g}"}
        | {"processor, s": f"{one['cpu_times'][name]:.3g}"}
        for one in records
        if one["bench"] == "answers"
        for name, value in one["times"].items()
    ]
    return pd.DataFrame(rows)


def searches(records: list[Record]) -> pd.DataFrame:
    """Neighbour searches on one thread."""
    rows = [
        {
            "items": one["n"],
            "dimensions": one["d"],
            "search": one["index"],
            "processor, s": f"{one['cpu_seconds']:.3g}",
            "recall": f"{one['recall']:.5f}",
            "memory, GiB": f"{one['peak_gib']:.3g}",
        }
        for one in records
        if one["bench"] == "search" and not one["skipped"]
    ]
    return pd.DataFrame(rows)


def targets(records: list[Record]) -> pd.DataFrame:
    """What was aimed at."""
    rows = [
        {
            "target": one["what"],
            "items": one.get("n"),
            "measured": f"{one['value']:.3g}",
            "wanted": f"{one['sense']} {one['limit']:g}",
            "reached": "yes" if one["reached"] else "NO",
        }
        for one in records
        if one["bench"] == "target"
    ]
    return pd.DataFrame(rows)


def main() -> None:
    """Read and store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="JSON lines of benchmarks")
    records = [json.loads(line) for line in parser.parse_args().file.read_text().splitlines()]
    tables = {
        "The whole command, from Parquet to Parquet": commands(records),
        "What a fitted estimator answers": answers(records),
        "Neighbours, on one thread": searches(records),
        "SoftLabeler: processor seconds of each answer": labeler(records),
        "Spreading from a built graph, votes on a tenth of the items": whole_jobs(records),
        "How many times longer others take": ratios(records),
        "Live votes": flat(records, "live"),
        "Starting": flat(records, "start"),
        "The voting page under load": flat(records, "web_load"),
        "Targets": targets(records),
    }
    runs = [
        {"command": one["command"], "commit": one["commit"], "date": one["run"][:10]}
        for one in records
        if one["bench"] == "run"
    ]
    print(store("speed", {title: table for title, table in tables.items() if len(table)}, runs))


def labeler(records: list[Record]) -> pd.DataFrame:
    """What SoftLabeler takes for each answer, one column per number of items."""
    found = [one for one in records if one["bench"] == "labeler"]
    if not found:
        return pd.DataFrame()
    table = pd.DataFrame(found).pivot_table(
        index="what", columns="n", values="value", aggfunc="last", sort=False
    )
    table.columns = [f"{number:,} items" for number in table.columns]
    return table.map(lambda value: f"{value:.3g}").reset_index()


if __name__ == "__main__":
    main()
