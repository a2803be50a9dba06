"""The paper's experiments, rerun quickly and without downloads, as the documentation shows them.

    python -m experiments.paper --out DIR

runs ``softspread reproduce all`` into DIR (it continues what is there) and stores the findings and the tables
(``experiments/results/paper.json``).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
from experiments.stored import store

TABLES = ("rmse_10", "rmse_1", "moons_raw", "competitors", "crowds", "dcic")


def read_table(path: Path) -> tuple[str, pd.DataFrame]:
    """Title and rows of a table in Markdown."""
    lines = path.read_text().splitlines()
    rows = [
        [cell.strip().replace("**", "") for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]
    return lines[0].removeprefix("# "), pd.DataFrame(rows[2:], columns=rows[0])


def findings(path: Path) -> pd.DataFrame:
    """The paper's statements, with what was found."""
    found = pd.DataFrame(json.loads(path.read_text()))
    found["holds"] = found["holds"].map({True: "yes", False: "NO"})
    return found[["experiment", "dataset", "statement", "holds", "number"]]


def main() -> None:
    """Run, then store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the results; continued")
    parser.add_argument("--jobs", default="1", help="processes")
    given = parser.parse_args()
    words = ["reproduce", "all", "--out", str(given.out), "--jobs", given.jobs]
    subprocess.run([sys.executable, "-m", "softspread", *words], check=True)
    tables = {"The paper's statements": findings(given.out / "findings.json")}
    tables |= dict(read_table(given.out / name / "table.md") for name in TABLES)
    print(store("paper", tables))


if __name__ == "__main__":
    main()
