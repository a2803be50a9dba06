"""``softspread reproduce`` does what its help says, for people and for machines."""

import json

import pytest

import command_line
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
        (["PLAN", "--data", "nowhere"], "is no folder"),
        (["missing.toml"], "there is no plan"),
    ],
)
def test_mistakes_are_explained(run, tmp_path, words, message):
    """Exit code 2 and a message."""
    done = run(*words, "--out", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert message in done.stderr
