"""The page shows every experiment and loads nothing."""

import json

import pytest

from small_plans import SMALL, run_plan, small_plan
from softspread.reproduce.plan import read_plan
from softspread.reproduce.present.page import present, write_page
from softspread.reproduce.run import Progress, run_plans


def test_a_page_of_several_experiments_links_to_those_that_were_run(tmp_path):
    """Every link has its target; an experiment without rows is named, not shown."""
    plans = [
        small_plan(quick=True),
        read_plan("empty", SMALL.replace('{ name = "sine_curve", n_items = 80 }, ', "")),
    ]
    tables = run_plans(plans, tmp_path)
    write_page(
        [present(plan, tables[plan.name], tmp_path) for plan in plans], tmp_path, "softspread reproduce", {}
    )
    html = (tmp_path / "report.html").read_text()
    assert "href='#small'" in html
    assert "id='small'" in html
    assert "Nothing to show for empty" in html
    assert "id='empty'" not in html


def test_the_page_is_complete_in_itself(tmp_path):
    """Table, figure, findings and what was left out; nothing is loaded from elsewhere."""
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    plan, progress = small_plan(), Progress()
    frame = run_plan(plan, tmp_path, progress=progress)
    shown = present(plan, frame, tmp_path)
    write_page([shown], tmp_path, "softspread reproduce all --seed 7", progress.skipped, "--seed 7")
    html = (tmp_path / "report.html").read_text()
    assert "data:image/png;base64" in html
    for page in ("report.html", "report.md"):  # every number carries its command
        assert "softspread reproduce small --seed 7" in (tmp_path / page).read_text()
    assert "small/figure.pdf" in html
    assert "src='http" not in html
    assert "jcpeterson" in html
    assert (tmp_path / "small" / "table.tex").read_text().count(r"\midrule") == 1
    assert "PLS (0.9)" in (tmp_path / "report.md").read_text()
    assert json.loads((tmp_path / "findings.json").read_text()) == []
