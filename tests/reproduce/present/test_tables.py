"""Tables put the paper's numbers beside ours."""

import json

import pandas as pd

from softspread.reproduce.plan import load_plan
from softspread.reproduce.present.tables import make_table, percent


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
    assert table.header == ("Method", "two_moons", "paper", "agrees", "mtsd, paper", "mtsd, authors' runs")
    texts = [cell.text for cell in table.rows[0]]
    assert texts == ["PLS (0.9)", "0.0503", "0.0503 ± 0.0069", "yes", "0.1224 ± 0.0004", "0.1226 ± 0.0004"]
    assert "MTSD is quoted" in table.note
    assert table.rows[1][3].text == "no"
    assert "**0.0503**" in table.to_markdown()
    assert r"\textbf{0.0503}" in table.to_latex()
    assert r"two\_moons" in table.to_latex()


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
    assert table.header[:6] == ("Method", "cifar10", "cifar10h", "paper", "agrees", "authors' runs")
    assert [cell.text for cell in table.rows[0]][3:6] == ["0.1098 ± 0.0009", "no", "0.1091 ± 0.0008"]
    assert [cell.text for cell in table.rows[1]][:6] == ["Model alone", "0.2000", "0.1000", "-", "", "-"]
    assert "Not set beside the paper's: cifar10 (soft labels of trees)" in table.note
    assert "cifar10h, Model alone (predictions are another model's)" in table.note


def test_a_method_without_an_answer_is_not_defined():
    """As in the paper, whose table has no number there either."""
    frame = pd.DataFrame(rows_of("two_moons", [("knn", {"n_neighbors": 20}, None, None)]))
    frame["undefined"] = "10 items have votes, fewer than 20"
    table = make_table(load_plan("rmse_1"), frame)
    assert table.rows[0][1].text == "not defined"
    assert "fewer items have votes" in table.note


def test_table_2_has_the_papers_layout_and_all_its_numbers():
    """Rows: encoder and alpha; columns: datasets, printed and of the authors' runs, ours where it was run."""
    frame = pd.DataFrame(rows_of("cifar10h", [("pls", {"alpha": 0.9}, 0.2, None)])).assign(
        features="clip_umap20"
    )
    table = make_table(load_plan("features"), frame)
    clip, *others = table.rows
    at = table.header.index("cifar10h")
    assert [cell.text for cell in clip[at : at + 3]] == ["0.2000", "0.111", "0.1099 ± 0.0007"]
    assert clip[table.header.index("mtsd, paper")].text == "0.123"
    assert [row[0].text for row in others] == ["ResNet-101 (0.9)", "ViT-B/32 (0.9)"]


def test_sweeps_name_the_best_value_of_each_budget():
    """Ours and the authors', with the value in hindsight."""
    entries = [("gkr", {"gamma": gamma}, value, None) for gamma, value in ((1.0, 0.2), (10.0, 0.1))]
    table = make_table(load_plan("baseline_sweeps"), pd.DataFrame(rows_of("digits", entries)))
    assert [cell.text for cell in table.rows[0]] == ["digits: GKR", "0.1000 (10)"]
    assert [cell.text for cell in table.rows[1]] == ["authors, cifar10h with CLIP: GKR", "0.1111 (10)"]


def test_the_table_of_features_leaves_stand_ins_out():
    """Beside the paper's Table 2 there is no number of another truth; the note says which is missing."""
    pls = ("pls", {"alpha": 0.9}, 0.1234)
    frame = pd.DataFrame(
        rows_of("cifar10", [(*pls, "soft labels of trees")]) + rows_of("cifar10h", [(*pls, "")])
    )
    table = make_table(load_plan("features"), frame.assign(features="clip_umap20"))
    assert "cifar10h" in table.header
    assert "cifar10" not in table.header
    shown = [cell.text for row in table.rows for cell in row]
    assert sum("0.1234" in text for text in shown) == 1
    assert "Not set beside the paper's: cifar10 (soft labels of trees)" in table.note
