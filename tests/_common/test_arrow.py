"""Without pyarrow everything works but Parquet, and that names the extra before any work is done."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from softspread._common.arrow import arrow, check_parquet, has_arrow
from softspread.io.soft_labels import read_soft_labels

BLOCKED = """
import sys

class NoArrow:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

sys.meta_path.insert(0, NoArrow())
"""
EXTRA = "pip install 'softspread[parquet]'"


@pytest.fixture
def without_arrow(tmp_path):
    """Run Python code in a process of its own in which pyarrow cannot be imported."""

    def run(code, *words):
        home = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.run(
            [sys.executable, "-c", BLOCKED + code, *words],
            check=False,
            cwd=tmp_path,
            env=home,
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture
def command(without_arrow):
    """The command line in such a process: exit code, JSON answer, messages."""

    def run(*words):
        done = without_arrow("from softspread.cli.app import main\nmain()", *words)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def files(tmp_path):
    """Forty items in two clouds, and a vote for each second one."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.normal(size=(40, 2)) + 6 * (np.arange(40) % 2)[:, None])
    votes = "".join(f"{row},{'cat' if row % 2 else 'dog'}\n" for row in range(0, 40, 3))
    (tmp_path / "votes.csv").write_text("item,label\n" + votes)
    return tmp_path


def test_here_it_is_installed():
    """The library itself, by module; other endings need nothing."""
    assert has_arrow()
    assert arrow("pyarrow.parquet").__name__ == "pyarrow.parquet"
    check_parquet("a.parquet")
    check_parquet("a.csv")


def test_spread_needs_no_parquet(files, command):
    """From .npy and .csv to every other kind of file, with a report and a workspace; and from there on."""
    words = ["spread", "-e", "X.npy", "-v", "votes.csv", "--workspace", "w", "--json"]
    code, answer, messages = command(*words, "--out", "soft.csv", "--report", "r.html")
    assert code == 0, messages
    assert json.loads(answer)["n_items"] == 40
    assert (files / "r.html").exists()
    code, answer, messages = command(*words, "--out", "soft.jsonl")
    assert code == 0, messages
    assert json.loads(answer)["reused"]
    assert (
        read_soft_labels(files / "soft.jsonl").p.tolist() == read_soft_labels(files / "soft.csv").p.tolist()
    )
    code, _, messages = command("export", "soft.csv", "--out", "tasks.json")
    assert code == 0, messages
    code, _, messages = command("query", "-e", "X.npy", "-v", "votes.csv", "--out", "next.csv")
    assert code == 0, messages


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("spread", "-e", "X.npy", "-v", "votes.csv", "--out", "soft.parquet"), "soft.parquet"),
        (("spread", "-e", "X.npy", "-v", "votes.csv", "--out", "folder"), "the datasets folder folder"),
        (("spread", "-e", "X.parquet", "-v", "votes.csv", "--out", "soft.csv"), "X.parquet"),
        (("spread", "-e", "X.npy", "-v", "v.parquet", "--out", "soft.csv"), "v.parquet"),
        (("spread", "-e", "X.npy", "-v", "votes.csv", "--kind", "rating", "--out", "r.parquet"), "r.parquet"),
        (
            (
                *("spread", "-e", "X.npy", "-v", "votes.csv", "--out", "soft.parquet", "--method", "pls"),
                *("--interval", "wilson", "--memory-limit", "1GB"),
            ),
            "a run in blocks",
        ),
        (("export", "soft.parquet", "--out", "train.csv", "--format", "weighted"), "soft.parquet"),
        (("embed", "X.npy", "--encoder", "none", "-o", "E.parquet"), "E.parquet"),
    ],
)
def test_parquet_names_the_extra_before_any_work(files, command, words, named):
    """One sentence, the exit code of bad input, and nothing is read, computed or left behind."""
    for name in ("X.parquet", "v.parquet", "soft.parquet"):
        if name not in words[-2:] or words[0] == "export":
            (files / name).write_bytes(b"PAR1")
    before = sorted(files.iterdir())
    code, _, messages = command(*words)
    assert code == 2
    assert EXTRA in messages
    assert named in messages
    assert "Traceback" not in messages
    assert sorted(files.iterdir()) == before


def test_the_check_costs_nothing(files, without_arrow):
    """No numerical library has been imported when the message comes."""
    done = without_arrow(
        "from softspread.cli.app import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(sorted({'numpy', 'scipy', 'pandas'} & set(sys.modules)))\n",
        *("spread", "-e", "X.npy", "-v", "votes.csv", "--out", "soft.parquet"),
    )
    assert done.stdout.splitlines() == ["[]"], done.stdout + done.stderr
    assert EXTRA in done.stderr


def test_python_without_parquet(without_arrow):
    """Fit, frames, lists of numbers in a frame, save and load work; a frame of polars names the extra."""
    done = without_arrow(
        "import numpy as np, pandas as pd, polars as pl\n"
        "from softspread import MissingExtraError, SoftLabeler, Votes, embed, load, save\n"
        "X = np.random.default_rng(0).normal(size=(30, 4))\n"
        "frame = pd.DataFrame({'item': range(30), 'v': list(X)})\n"
        "space = embed(frame, encoder='none', reduce='pca', dim=2)\n"
        "votes = pd.DataFrame({'item': [0, 1, 2], 'label': ['a', 'b', 'a']})\n"
        "lab = SoftLabeler(random_state=0).fit(space.X, Votes.from_frame(votes))\n"
        "lab.soft_labels().to_frame().to_csv('soft.csv')\n"
        "save(lab, 'lab.softspread')\n"
        "assert (load('lab.softspread').transduction_ == lab.transduction_).all()\n"
        "for use in (lambda: Votes.from_frame(pl.DataFrame({'item': [0], 'label': ['a']})),\n"
        "            lambda: space.save('space.parquet')):\n"
        "    try:\n"
        "        use()\n"
        "    except MissingExtraError as error:\n"
        "        print(error)\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"a table of polars needs pyarrow: {EXTRA}.",
        f"space.parquet needs pyarrow: {EXTRA}.",
    ]
