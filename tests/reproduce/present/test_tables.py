"""Tables put the paper's numbers beside ours."""

import json

import pandas as pd
import pytest

from softspread.errors import InputError
from softspread.reproduce.plan import load_plan
from softspread.reproduce.present.tables import make_table, paper_numbers, percent


def test_tables_put_the_papers_numbers_beside_ours():
    """A row within the paper's spread says so; the lowest of a column is bold in Markdown and LaTeX."""
    plan = load_plan("rmse_10")
    rows = [
        {
            "dataset": "two_moons",
            "features": "",
            "method": method,
            "parameters": json.dumps(parameters),
            "budget": 0.1,
            "votes": 100,
            "design": "{}",
            "rmse": value,
        }
        for method, parameters, value in (("pls", {"alpha": 0.9}, 0.0503), ("gkr", {"gamma": 10.0}, 0.2))
    ]
    table = make_table(plan, pd.DataFrame(rows))
    assert table.header == ("Method", "two_moons", "paper", "within")
    assert [cell.text for cell in table.rows[0]] == ["PLS (0.9)", "0.0503", "0.0503 ± 0.0069", "yes"]
    assert table.rows[1][3].text == "no"
    assert "**0.0503**" in table.to_markdown()
    assert r"\textbf{0.0503}" in table.to_latex()
    assert r"two\_moons" in table.to_latex()


def test_the_papers_tables_are_complete():
    """13 methods at both budgets; the benchmark's best row is the paper's method."""
    assert len(paper_numbers("rmse_10")) == len(paper_numbers("rmse_1")) == 13
    benchmark = paper_numbers("dcic")
    assert min(benchmark, key=lambda name: benchmark[name]["0.1"][1]) == "PLS"
    with pytest.raises(InputError, match="rmse_10"):
        paper_numbers("nonsense")


def test_percent_has_no_needless_digits():
    """From tenths of a percent to a thousand."""
    assert [percent(share) for share in (0.001, 0.025, 0.1, 10)] == ["0.1 %", "2.5 %", "10 %", "1000 %"]


def rows_of(dataset, entries):
    """Trials of one dataset: method, parameters, RMSE, why it is a stand-in."""
    common = {"dataset": dataset, "features": "", "budget": 0.1, "votes": 100, "design": "{}"}
    return [
        common | {"method": method, "parameters": json.dumps(settings), "rmse": value, "stand_in": reason}
        for method, settings, value, reason in entries
    ]


def test_stand_ins_are_never_set_beside_the_papers():
    """A whole column whose truth is made otherwise has no paper column; a single row has no number there."""
    pls = ("pls", {"alpha": 0.9}, 0.1)
    frame = pd.DataFrame(
        rows_of("cifar10", [(*pls, "soft labels of trees"), ("model", {}, 0.2, "soft labels of trees")])
        + rows_of("cifar10h", [(*pls, None), ("model", {}, 0.1, "predictions are another model's")])
    )
    table = make_table(load_plan("rmse_10"), frame)
    assert table.header == ("Method", "cifar10", "cifar10h", "paper", "within")
    assert [cell.text for cell in table.rows[0]][3:] == ["0.1098 ± 0.0009", "no"]
    assert [cell.text for cell in table.rows[1]] == ["Model alone", "0.2000", "0.1000", "-", ""]
    assert "Not set beside the paper's: cifar10 (soft labels of trees)" in table.note
    assert "cifar10h, Model alone (predictions are another model's)" in table.note
