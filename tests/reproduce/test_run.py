"""Plans become trials, trials become rows that can be resumed and shared, rows become tables and pages."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from softspread.errors import InputError
from softspread.reproduce import pool
from softspread.reproduce.measures import Bench, measure
from softspread.reproduce.plan import Trial, load_plan, plan_names, read_plan
from softspread.reproduce.pool import Processes, pieces
from softspread.reproduce.present.page import present, write_page
from softspread.reproduce.present.tables import make_table, paper_numbers, percent
from softspread.reproduce.run import Progress, read_rows, run_plan, run_plans, setting

SMALL = """
title = "Small"
measure = "scores"
table = "methods"
figure = "trajectories"
budgets = [0.1, 0.5]
draws = 2
datasets = [{ name = "sine_curve", n_items = 80 }, "cifar10h"]

[[methods]]
name = "pls"
alpha = [0.5, 0.9]
n_neighbors = 10

[[methods]]
name = "histogram"

[quick]
draws = 1
"""


def small_plan(text=SMALL, quick=False):
    return read_plan("small", text, quick)


def one_trial(**changes):
    base = {
        "measure": "scores",
        "dataset": {"name": "sine_curve", "n_items": 80},
        "method": "pls",
        "parameters": {"alpha": 0.9, "n_neighbors": 10},
        "budget": 0.5,
        "n_votes": None,
        "design": {},
        "options": {},
        "draw": 0,
        "seed": 0,
    }
    return Trial(**(base | changes))


# ------------------------------------------------------------------------------------------------------ plans
def test_lists_are_axes():
    """2 datasets x 2 budgets x (2 alphas + 1) x 2 draws; quick mode replaces what it names."""
    assert len(small_plan().trials()) == 2 * 2 * 3 * 2
    assert len(small_plan(quick=True).trials()) == 2 * 2 * 3


def test_equal_descriptions_have_equal_keys_and_others_do_not():
    """The key is the description; order of entries does not matter."""
    trial = one_trial()
    same = one_trial(parameters={"n_neighbors": 10, "alpha": 0.9})
    assert trial.key == same.key
    changed = [
        one_trial(budget=0.4),
        one_trial(seed=1),
        one_trial(draw=1),
        one_trial(parameters={"alpha": 0.8}),
    ]
    assert len({trial.key, *(other.key for other in changed)}) == 5


def test_methods_of_one_draw_see_the_same_votes():
    """Votes depend on dataset, budget, design and draw, not on the method."""
    bench = Bench()
    first, _ = bench.task(one_trial())
    second, _ = bench.task(one_trial(method="histogram", parameters={}))
    other, _ = bench.task(one_trial(draw=1))
    assert_array_equal(first.votes.items, second.votes.items)
    assert_array_equal(first.votes.labels, second.votes.labels)
    assert not np.array_equal(first.votes.items, other.votes.items)


@pytest.mark.parametrize("name", plan_names())
@pytest.mark.parametrize("quick", [True, False])
def test_every_plan_is_readable(name, quick):
    """Each has trials, and known measure, table and figure."""
    from softspread.reproduce.measures import MEASURES
    from softspread.reproduce.present.figures import FIGURES
    from softspread.reproduce.present.tables import TABLES

    plan = load_plan(name, quick)
    trials = plan.trials()
    assert trials
    assert len({trial.key for trial in trials}) == len(trials)
    assert plan.measure in MEASURES
    assert plan.table in {"", *TABLES}
    assert plan.figure in {"", *FIGURES}
    assert plan.table or plan.figure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "no valid TOML"),
        ('title = "x"', "lacks measure, datasets"),
        ('title = "x"\nmeasure = "scores"\ndatasets = ["digits"]\ncolour = 1', "unknown entries colour"),
        ('title = "x"\nmeasure = "scores"\ndatasets = [{ features = "pca2" }]', "needs a name"),
    ],
)
def test_bad_plans_are_explained(text, message):
    """What is wrong, and what is allowed."""
    with pytest.raises(InputError, match=message):
        read_plan("bad", text)


def test_unknown_experiments_are_explained(tmp_path):
    """The message lists what there is; a path that is no file is named."""
    with pytest.raises(InputError, match="rmse_10"):
        load_plan("rmse_11")
    with pytest.raises(InputError, match="there is no plan"):
        load_plan(str(tmp_path / "mine.toml"))


def test_a_plan_of_ones_own_is_read_from_its_path(tmp_path):
    """The file's name is the experiment's."""
    (tmp_path / "mine.toml").write_text(SMALL)
    assert load_plan(str(tmp_path / "mine.toml")).name == "mine"


# ---------------------------------------------------------------------------------------------------- running
def test_a_run_has_one_row_a_trial_with_everything_in_it(tmp_path):
    """Errors, time and versions; what is not in the data folder is left out with what to download."""
    progress = Progress()
    frame = run_plan(small_plan(), tmp_path, progress=progress)
    assert len(frame) == 12
    assert progress.n_run == 12
    wanted = {
        "dataset",
        "method",
        "parameters",
        "budget",
        "seed",
        "rmse",
        "mae",
        "kl",
        "total_variation",
        "accuracy",
    }
    assert wanted | {"seconds", "versions"} <= set(frame.columns)
    assert setting(frame["versions"].iloc[0], "softspread")
    ((reason, number),) = progress.skipped.items()
    assert "github.com/jcpeterson" in reason
    assert number == 12
    assert_allclose(pd.read_csv(tmp_path / "small" / "trials.csv")["rmse"], frame["rmse"])


def test_a_second_run_computes_nothing_and_gives_the_same(tmp_path, monkeypatch):
    """Results are read back, also by another experiment that asks for the same trials."""
    first = run_plan(small_plan(), tmp_path)
    monkeypatch.setattr(pool, "measure", None)  # calling it would fail
    progress = Progress()
    again = run_plan(small_plan(), tmp_path, progress=progress)
    other = run_plan(read_plan("other", SMALL, quick=True), tmp_path, progress=progress)
    assert progress.n_run == 0
    assert_array_equal(first["rmse"], again["rmse"])
    assert len(other) == 6


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    """A torn last line costs that trial only; the table is the same as without interruption."""
    whole = run_plan(small_plan(), tmp_path / "whole")
    calls = []

    def stop_at_fourth(trial, bench):
        calls.append(trial)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return measure(trial, bench)

    monkeypatch.setattr(pool, "measure", stop_at_fourth)
    with pytest.raises(KeyboardInterrupt):
        run_plan(small_plan(), tmp_path / "torn")
    path = tmp_path / "torn" / "small" / "trials.jsonl"
    assert len(read_rows(path)) == 3
    path.write_bytes(path.read_bytes()[:-20])  # the machine went down while writing
    monkeypatch.setattr(pool, "measure", measure)
    progress = Progress()
    resumed = run_plan(small_plan(), tmp_path / "torn", progress=progress)
    assert (progress.n_kept, progress.n_run) == (2, 10)
    columns = ["dataset", "method", "parameters", "budget", "draw", "rmse"]
    pd.testing.assert_frame_equal(resumed[columns], whole[columns])


def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    """Two processes, same numbers in the same order."""
    text = SMALL.replace("draws = 2", "draws = 5")
    alone = run_plan(small_plan(text), tmp_path / "one")
    with Processes(2) as processes:
        shared = run_plan(small_plan(text), tmp_path / "two", processes=processes)
    pd.testing.assert_series_equal(alone["rmse"], shared["rmse"])


def test_plans_that_share_trials_run_them_once(tmp_path):
    """Both tables are whole, each trial was computed once, and a plan is handed over when its last trial is
    there."""
    progress, handed = Progress(), []
    plans = [small_plan(quick=True), read_plan("other", SMALL, quick=True)]
    tables = run_plans(
        plans,
        tmp_path,
        progress=progress,
        finished=lambda plan, frame: handed.append((plan.name, len(frame))),
    )
    assert (progress.n_run, progress.n_kept) == (6, 6)
    assert_array_equal(tables["small"]["rmse"], tables["other"]["rmse"])
    assert sorted(handed) == [("other", 6), ("small", 6)]
    assert len(read_rows(tmp_path / "other" / "trials.jsonl")) == 6


def test_work_is_cut_into_pieces_on_one_dataset_the_longest_first():
    """Every trial is in one piece, a piece has one dataset, and no cheap dataset comes before a dear one."""
    jobs = [(trial.key, trial) for name in ("rmse_10", "moons_raw") for trial in load_plan(name).trials()]
    cut = list(pieces(jobs))
    assert sorted(key for piece in cut for key, _ in piece) == sorted(key for key, _ in jobs)
    assert all(len({str(trial.dataset) for _, trial in piece}) == 1 for piece in cut)
    costs: dict[str, float] = {}
    for piece in cut:
        name = str(piece[0][1].dataset)
        costs[name] = costs.get(name, 0.0) + sum(pool.expected_seconds(trial) for _, trial in piece)
    assert list(costs.values()) == sorted(costs.values(), reverse=True)


def test_another_seed_gives_other_votes(tmp_path):
    """And does not reuse the first one's results."""
    first, second = (run_plan(small_plan(quick=True), tmp_path, seed=seed)["rmse"] for seed in (0, 1))
    assert (first != second).any()


def test_a_missing_library_is_a_reason_not_a_failure(tmp_path, monkeypatch):
    """The trial is left out with the message that names the extra."""
    import builtins

    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("crowdkit"):
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    text = SMALL.replace('name = "histogram"', 'name = "dawid_skene"')
    progress = Progress()
    frame = run_plan(small_plan(text, quick=True), tmp_path, progress=progress)
    assert set(frame["method"]) == {"pls"}
    assert any("softspread[compare]" in reason for reason in progress.skipped)


# ---------------------------------------------------------------------------------------------------- designs
def test_votes_of_a_subset_stay_there_and_the_test_items_get_none():
    """subset_share and train_share limit the items that are voted on."""
    bench = Bench()
    task, among = bench.task(one_trial(design={"subset_share": 0.1}, budget=2.0))
    assert len(among) == 8
    assert set(task.votes.items.tolist()) <= set(among.tolist())
    (row,) = measure(
        one_trial(design={"train_share": 0.8}, budget=20.0, method="histogram", parameters={}), bench
    )
    assert row["rmse_test"] > row["rmse_train"]
    assert_allclose(row["rmse"] ** 2, 0.8 * row["rmse_train"] ** 2 + 0.2 * row["rmse_test"] ** 2)


def test_a_sequence_is_drawn_from_one_generator():
    """Budget by budget, draw by draw: items, then the numbers that choose their classes."""
    design = {"sequence": [5, 8], "sequence_draws": 2, "sequence_seed": 4}
    bench = Bench()
    n = 80
    rng = np.random.default_rng(4)
    for n_votes in (5, 8):
        for number in (0, 1):
            items, chance = rng.integers(n, size=n_votes), rng.random(n_votes)
            task, _ = bench.task(one_trial(budget=None, n_votes=n_votes, draw=number, design=design))
            assert_array_equal(task.votes.items, items)
            assert_array_equal(task.votes.labels, (chance >= task.p_true[items, 0]).astype(int))
    with pytest.raises(InputError, match="not in the sequence"):
        bench.task(one_trial(budget=None, n_votes=7, design=design))


def test_n_items_takes_a_part_of_the_dataset():
    """A random part, with its own graph."""
    (row,) = measure(one_trial(design={"n_items": 30}, budget=None, n_votes=10), Bench())
    assert (row["n_items"], row["votes"]) == (30, 10)


@pytest.mark.parametrize("crowd", ["honest", "mixed", "spammers"])
def test_crowds_sign_their_votes(crowd):
    """Votes carry names."""
    task, _ = Bench().task(one_trial(design={"crowd": crowd, "n_annotators": 6}))
    assert set(task.votes.annotators) <= {f"annotator {number}" for number in range(1, 7)}


def test_unknown_words_are_refused():
    """Measure, crowd and method."""
    with pytest.raises(InputError, match="measure"):
        measure(one_trial(measure="magic"), Bench())
    with pytest.raises(InputError, match="crowd must be"):
        measure(one_trial(design={"crowd": "angels"}), Bench())
    with pytest.raises(InputError, match="method 'magic' is unknown"):
        measure(one_trial(method="magic"), Bench())


def test_estimated_rmse_is_near_the_true_one_with_many_votes():
    """Histograms of one vote exaggerate; the corrected estimate from ten votes an item does not."""
    trial = one_trial(
        measure="estimated_rmse",
        dataset={"name": "sine_curve", "n_items": 2000},
        design={"train_share": 0.5},
        options={"sizes": [1000], "votes_per_item": [1, 10]},
    )
    one, ten = measure(trial, Bench())
    assert one["estimate"] > 2 * one["rmse"]
    assert_allclose(ten["corrected"], ten["rmse"], rtol=0.15)


# ----------------------------------------------------------------------------------------------------- tables
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
    write_page([shown], tmp_path, "softspread reproduce small", progress.skipped)
    html = (tmp_path / "report.html").read_text()
    assert "data:image/png;base64" in html
    assert "src='http" not in html
    assert "jcpeterson" in html
    assert (tmp_path / "small" / "table.tex").read_text().count(r"\midrule") == 1
    assert "PLS (0.9)" in (tmp_path / "report.md").read_text()
    assert json.loads((tmp_path / "findings.json").read_text()) == []
