"""``softspread demo``: a table, a report, the same for the same seed."""

import functools
import json
import os

import pytest

from command_line import run
from softspread import demo
from softspread.report.layout import LayoutRule


@pytest.fixture
def quick(monkeypatch):
    """The first 300 digits, one setting of each method, soft labels of ten trees, a short layout."""
    short = {"gammas": (1.0,), "neighbor_counts": (5,)}
    small = {"n_items": 300, "n_trees": 10, "layout": LayoutRule(rounds=5)}
    monkeypatch.setattr(demo, "DemoPlan", functools.partial(demo.DemoPlan, **short, **small))


def test_demo_prints_the_table_and_writes_the_report(quick, tmp_path):
    """Table and verdict on standard output, progress on standard error, one file in the folder."""
    out = tmp_path / "demo.html"
    result = run("demo", "--draws", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert "Nearest votes" in result.stdout
    assert "SoftLabeler has RMSE" in result.stdout
    assert "4/4" not in result.stdout
    assert "4/4" in result.stderr
    assert os.listdir(tmp_path) == ["demo.html"]
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_same_seed_same_json(quick, tmp_path):
    """Standard output is one JSON document that the seed decides."""
    first, again, other = (
        run("demo", "--draws", 1, "--json", "--quiet", "--seed", seed, "--out", tmp_path / "d.html")
        for seed in (1, 1, 2)
    )
    assert first.stdout == again.stdout
    assert first.stderr == ""
    data = json.loads(first.stdout)
    assert data["seed"] == 1
    assert data["results"] != json.loads(other.stdout)["results"]


def test_quiet_says_nothing(quick, tmp_path):
    """The report is all there is."""
    result = run("demo", "--draws", 1, "--quiet", "--out", tmp_path / "d.html")
    assert (result.exit_code, result.output) == (0, "")
    assert os.listdir(tmp_path) == ["d.html"]


@pytest.mark.parametrize("name", ["missing/d.html", "file/d.html", "."])
def test_unwritable_output_is_refused_before_any_work(tmp_path, monkeypatch, name):
    """One line on standard error, exit code 2, nothing left behind."""
    monkeypatch.setattr(demo, "run_demo", lambda *_: pytest.fail("worked for nothing"))
    (tmp_path / "file").write_text("")
    result = run("demo", "--out", tmp_path / name)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "cannot write" in result.stderr
    assert "Traceback" not in result.stderr
    assert os.listdir(tmp_path) == ["file"]
