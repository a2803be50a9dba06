"""``softspread reproduce`` does what its help says, for people and for machines."""

import json

import numpy as np
import pytest

import command_line
from paper_data import write_cifar, write_models
from softspread.reproduce.plan import plan_names

PLAN = """
title = "Small"
measure = "scores"
table = "methods"
budgets = [0.5]
draws = 2
datasets = [{ name = "sine_curve", n_items = 60 }, "cifar10h"]

[[methods]]
name = "pls"
alpha = 0.9
n_neighbors = 10
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "small.toml").write_text(PLAN)
    plan = str(tmp_path / "small.toml")
    return lambda *words: command_line.run("reproduce", *[plan if word == "PLAN" else word for word in words])


def test_list_names_every_experiment(run):
    """One line each; as JSON with the number of trials."""
    text = run("list").stdout
    assert all(name in text for name in plan_names())
    rows = json.loads(run("list", "--json").stdout)
    assert {row["name"] for row in rows} == set(plan_names())
    assert all(row["trials"] > 0 for row in rows)


def test_a_run_prints_its_table_and_where_the_report_is(run, tmp_path):
    """And what was left out, on standard error."""
    done = run("PLAN", "--out", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert "PLS (0.9)" in done.stdout
    assert "2 trials run, 0 already there" in done.stdout
    assert "cifar10h is not in the data folder" in done.stderr
    assert (tmp_path / "out" / "report.html").exists()


def test_json_is_one_document_and_a_second_run_keeps_everything(run, tmp_path):
    """Nothing is computed twice."""
    run("PLAN", "--out", str(tmp_path / "out"), "--quiet")
    document = json.loads(run("PLAN", "--out", str(tmp_path / "out"), "--json").stdout)
    assert (document["run"], document["kept"]) == (0, 2)
    assert list(document["cpu_seconds"]) == ["small"]


def test_a_workspace_sets_the_folder_for_results(run, tmp_path):
    """In the command's own table; paths start at the workspace."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "softspread.toml").write_text('out = "soft.csv"\n[reproduce]\nout = "results"\n')
    document = json.loads(run("PLAN", "-w", str(tmp_path / "ws"), "--json").stdout)
    assert document["report"] == str(tmp_path / "ws" / "results" / "report.html")
    assert document["command"] == "reproduce"


def test_quiet_says_nothing(run, tmp_path):
    """Not even the table."""
    assert run("PLAN", "--out", str(tmp_path / "out"), "--quiet").stdout == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rmse_11"], "rmse_11' is unknown"),
        (["PLAN", "--data", "nowhere"], "is not a folder"),
        (["missing.toml"], "there is no plan"),
    ],
)
def test_mistakes_are_explained(run, tmp_path, words, message):
    """Exit code 2 and a message."""
    done = run(*words, "--out", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert message in done.stderr


TABLE_1 = """
title = "RMSE on tiny data"
measure = "scores"
table = "methods"
reference = "rmse_10"
budgets = [0.5]
draws = 2
datasets = ["cifar10h", "cifar10"]

[[methods]]
name = "pls"
alpha = 0.9
n_neighbors = 5

[[methods]]
name = "model"
"""


@pytest.mark.slow
def test_from_original_files_to_a_table_by_commands_alone(tmp_path, monkeypatch):
    """Dry run, prepare, reproduce: the paper's numbers stand beside ours, the zero-shot row too."""
    pytest.importorskip("umap", reason="needs softspread[embed]")
    monkeypatch.chdir(tmp_path)
    write_cifar(tmp_path / "data", np.random.default_rng(0))
    write_models(tmp_path / "models")
    (tmp_path / "tiny.toml").write_text(TABLE_1)
    where = ("--data", "data", "--models", "models")
    first = command_line.run("reproduce", "prepare", "cifar10h", "cifar10", *where, "--dry-run")
    assert first.exit_code == 0, first.output
    assert "features_clip_umap20.npy" in first.stdout
    assert "To do: 15 files" in first.stdout
    made = command_line.run("reproduce", "prepare", "cifar10h", "cifar10", *where, "--json")
    assert made.exit_code == 0, made.output
    assert {step["state"] for step in json.loads(made.stdout)["steps"]} == {"made"}
    table = command_line.run("reproduce", "tiny.toml", "--data", "data", "--out", "out")
    assert table.exit_code == 0, table.output
    header = next(line for line in table.stdout.splitlines() if line.startswith("| Method"))
    ours = [f"{name} | paper | agrees | authors' runs" for name in ("cifar10h", "cifar10")]
    assert header == f"| Method | {' | '.join(ours)} | mtsd, paper | mtsd, authors' runs |"
    zero_shot = next(line for line in table.stdout.splitlines() if line.startswith("| Model alone"))
    assert "0.1105" in zero_shot
    assert "0.1265" in zero_shot
    assert "Not set beside" not in table.stdout


def test_prepare_says_what_is_missing_and_fails(tmp_path):
    """Where to get it; exit code 1 for scripts. Wrong options are refused."""
    (tmp_path / "data").mkdir()
    done = command_line.run("reproduce", "prepare", "cifar10", "--data", tmp_path / "data")
    assert done.exit_code == 1
    assert "cifar-10-python.tar.gz" in done.stdout.replace("\n", "")
    refuse = command_line.refused
    refuse(command_line.run("reproduce", "prepare", "cifar10"), "prepare needs --data")
    wrong = ("--data", tmp_path / "data", "--only", "nonsense")
    refuse(command_line.run("reproduce", "prepare", "cifar10", *wrong), "--only takes features")
    refuse(
        command_line.run("reproduce", "prepare", "two_moons", "--data", tmp_path / "data"),
        "cannot be prepared",
    )
