"""What every command does: options from a workspace, warnings, errors, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import FILES, refused, run
from softspread import demo
from softspread.cli.runner import explain
from softspread.errors import ConvergenceError, InputError, MissingExtraError


def test_a_workspace_brings_options_and_the_command_line_wins(folder):
    """Paths start at the workspace; a name that no command has is refused."""
    (folder / "ws").mkdir()
    settings = (
        'embeddings = "../X.npz"\nvotes = "../votes.csv"\nout = "soft.csv"\nalpha = 0.25\nn-neighbors = 7\n'
    )
    (folder / "ws" / "softspread.toml").write_text(settings + "batch-size = 2\nskip-unknown = true\n")
    document = json.loads(run("spread", "-w", "ws", "--json", "--n-neighbors", 8).stdout)
    assert document["parameters"]["alpha"] == 0.25
    assert document["parameters"]["n_neighbors"] == 8
    assert (folder / "ws" / "soft.csv").is_file()
    assert len(json.loads(run("query", "-w", "ws", "--json").stdout)["items"]) == 2
    for content, message in {
        "alphabet = 0.25": "no command has an option 'alphabet'",
        "skip-unknown = 1": "skip-unknown must be true or false, got 1",
        'seed = "x"': "seed must be a whole number, got 'x'",
        'alpha = ["0.1", "0.2"]': "alpha must be a single value, got ['0.1', '0.2']",
        "votes = [1, 2]": "votes must be a text, a list of texts, a number or true/false, got [1, 2]",
    }.items():
        (folder / "ws" / "softspread.toml").write_text(content)
        refused(run("spread", "-w", "ws"), message)


def test_a_table_of_the_workspace_is_for_one_command(folder):
    """``out`` at the top is where spread writes; query writes where its own table says."""
    (folder / "ws").mkdir()
    common = 'embeddings = "../X.npz"\nvotes = "../votes.csv"\nout = "soft.csv"\nalpha = 0.25\n'
    (folder / "ws" / "softspread.toml").write_text(common + '[query]\nout = "next.csv"\nbatch-size = 3\n')
    assert run("spread", "-w", "ws", "-q").exit_code == 0
    soft_labels = (folder / "ws" / "soft.csv").read_bytes()
    document = json.loads(run("query", "-w", "ws", "--json").stdout)
    assert len(document["items"]) == 3
    assert document["out"] == str(Path("ws") / "next.csv")
    assert (folder / "ws" / "soft.csv").read_bytes() == soft_labels
    assert json.loads(run("graph", "-w", "ws", "--json").stdout)["out"] is None
    for content, message in {
        "[quary]\nout = 'a'": "no command is called 'quary'",
        "[query]\nreport = 'a.html'": "the command 'query' has no option 'report'",
        "seed = -1": "seed must be at least 0, got -1",
    }.items():
        (folder / "ws" / "softspread.toml").write_text(content)
        refused(run("spread", "-w", "ws"), message)


def test_a_workspace_may_set_common_options(folder):
    """json, quiet and seed stand in the file as on the command line."""
    (folder / "ws").mkdir()
    (folder / "ws" / "softspread.toml").write_text("json = true\nquiet = true\n[bench]\nn-items = 100\n")
    result = run("bench", "-w", "ws", "--n-votes", 10, "--n-classes", 2)
    assert result.stderr == ""
    assert json.loads(result.stdout)["n_items"] == 100


def test_every_document_names_its_command_and_warnings(folder):
    """Also where nothing is fitted."""
    document = json.loads(run("plan", "-d", 1, "--json").stdout)
    assert (document["command"], document["warnings"]) == ("plan", [])
    document = json.loads(run("graph", "-e", "X.npy", "--n-neighbors", 500, "--json", "-q").stdout)
    assert document["command"] == "graph"
    assert "n_neighbors=500" in document["warnings"][0]


def test_warnings_of_the_library_are_lines_not_tracebacks(folder):
    """More neighbours asked than there are items: the run goes on and says so."""
    result = run("spread", *FILES, "-o", "s.parquet", "--n-neighbors", 500, "--alpha", 0.5)
    assert result.exit_code == 0
    assert "softspread: warning: n_neighbors=500 but there are only 150 items" in result.stderr
    assert ".py" not in result.stderr


@pytest.mark.parametrize(
    "options",
    [["--draws", "0"], ["--draws", "x"], ["--seed", "-1"], ["--unknown"], ["unexpected"], ["--out"]],
)
def test_bad_options_exit_with_2(options):
    """The parser names the option; nothing is run."""
    result = run("demo", *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("came this, allowed that"), 2),
        (MissingExtraError("install softspread[x]"), 2),
        (ConvergenceError("no"), 1),
        (RuntimeError("a bug"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_become_a_message_and_an_exit_code(monkeypatch, tmp_path, error, code):
    """At most two lines on standard error, no traceback, no file."""

    def fail(*_):
        raise error

    monkeypatch.setattr(demo, "run_demo", fail)
    result = run("demo", "--quiet", "--out", tmp_path / "d.html")
    assert result.exit_code == code
    assert result.stderr.startswith("softspread: ")
    assert str(error) in result.stderr
    assert result.stderr.count("\n") <= 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("Unable to allocate 7.45 GiB"), "out of memory: Unable to allocate 7.45 GiB."),
        (MemoryError(), "out of memory: the run held "),
    ],
)
def test_out_of_memory_says_how_much(capsys, error, message):
    """What was asked for, or else what the run held."""
    assert explain(error) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"softspread: {message}")
    assert "--dry-run" in shown
    assert "()" not in shown


def test_debug_lets_the_error_through(monkeypatch, tmp_path):
    """The exception itself reaches Python, which prints its traceback."""

    def fail(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(demo, "run_demo", fail)
    result = run("demo", "--quiet", "--debug", "--out", tmp_path / "d.html")
    assert isinstance(result.exception, RuntimeError)
    assert result.exit_code == 1


def test_the_real_command_fails_politely(tmp_path):
    """In a process of its own, a bad output folder costs one line and exit code 2."""
    command = [sys.executable, "-m", "softspread", "demo", "--out", str(tmp_path / "no" / "d.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("softspread: cannot write")
